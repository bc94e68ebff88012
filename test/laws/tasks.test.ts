/** Laws of tasks mode, in the simulated world: one task at a time, nothing counted that was not done, people's changes. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Directive, FactOf } from "../../src/events.ts";
import { fold } from "../../src/loop/fold.ts";
import { mainLane } from "../../src/loop/state.ts";
import { readTasks, taskId } from "../../src/loop/task-list.ts";
import { taskCounts } from "../../src/loop/tasks.ts";
import { wanted } from "../../src/loop/wanted.ts";
import { runRecipe } from "../../src/recipes/run.ts";
import type { RunSpec } from "../../src/spec.ts";
import { complaintsAbout } from "../support/journal-grammar.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type World } from "../support/world.ts";

const FILE = "TASKS.md";
const NEXT = "done with it\n<promise>NEXT</promise>";
const COMPLETE = "all of it\n<promise>COMPLETE</promise>";

const specOf = (over: Partial<RunSpec> = {}, minIterations = 1): RunSpec =>
  makeSpec({ tasks: { file: FILE, promise: "NEXT", minIterations }, ...over });

function worldOf(tasks: string): World {
  const world = makeWorld();
  world.memos.set(FILE, tasks);
  return world;
}

/** Writes a line, and ticks these tasks. */
function act(line: string | undefined, ticks: string[], more: Partial<Behaviour> = {}): Behaviour {
  const tick = (text: string): string =>
    ticks.reduce((so, task) => so.replace(new RegExp(`\\[[ /]\\] ${task}$`, "m"), `[x] ${task}`), text);
  return {
    lines: line === undefined ? [] : [line],
    claim: false,
    faults: [],
    usd: 0,
    memos: { [FILE]: tick },
    says: ticks.length > 0 ? NEXT : "not yet",
    ...more,
  };
}
const edited = (edit: (text: string) => string, more: Partial<Behaviour> = {}): Behaviour =>
  act("work", [], { memos: { [FILE]: edit }, ...more });

const of = <T extends FactOf<"decision-made">["type"] | "tasks-recorded" | "directive-delivered">(
  world: World,
  type: T,
) => world.facts.filter((f): f is FactOf<T> => f.type === type);
const rules = (world: World): string[] => of(world, "decision-made").map((f) => f.rule);
const suspicions = (world: World): string[] => of(world, "tasks-recorded").flatMap((f) => f.suspicions);

describe("tasks mode", () => {
  it("gives one task at a time, counts each, and ends only when all are done and claimed", async () => {
    const world = worldOf("- [ ] one\n  - [ ] part\n- [ ] two\n- [x] old\n");
    const acts = [act("a", ["one", "part"]), act("b", ["two"]), act("good", [], { says: COMPLETE })];
    const end = await live(world, specOf(), acts);
    expect(rules(world)).toEqual(["task-done", "tasks-done", "all-required-pass"]);
    expect(end.outcome?.is).toBe("verified");
    expect(world.prompts[0]).toMatch(/## Current task[^]*- \[ \] one\n {2}- \[ \] part\n/);
    expect(world.prompts[0]).toContain("1 of 3 tasks are done. After this one: “two”.");
    expect(world.prompts[1]).toContain("- [ ] two\n");
    expect(world.prompts[1]).toContain("task “one” is done; next: “two”");
    expect(world.prompts[1]).not.toContain("After this one");
    expect(world.prompts[2]).toContain("All tasks of TASKS.md are settled: 3 done");
    expect(suspicions(world)).toEqual([]);
  });

  it("refuses a completion with open tasks, naming them, though every check passes", async () => {
    const world = worldOf("- [ ] one\n- [ ] two\n");
    const acts = [act("good", [], { says: COMPLETE }), act("x", ["one"]), act("y", ["two"], { says: COMPLETE })];
    const end = await live(world, specOf(), acts);
    expect(rules(world)).toEqual(["claim-refused", "task-done", "all-required-pass"]);
    expect(of(world, "decision-made")[0]?.reason).toBe("the claim is refused: 2 tasks are open: “one”, “two”");
    expect(end.outcome?.is).toBe("verified");
  });

  it("does not end on green checks while tasks are open, with --until-green either", async () => {
    const world = worldOf("- [ ] one\n");
    const claim = { promise: "COMPLETE", required: false, confirmations: 1 };
    await live(world, specOf({ claim }), [act("good", []), act("more", ["one"])]);
    expect(rules(world)).toEqual(["green-unclaimed", "all-required-pass"]);
  });

  it("does not take the promise for the tick, nor a tick without its subtasks for done", async () => {
    const world = worldOf("- [ ] one\n  - [ ] part\n");
    const acts = [act("a", [], { says: NEXT }), act("b", ["one"]), act("good", ["part"], { says: COMPLETE })];
    await live(world, specOf(), acts);
    expect(rules(world)).toEqual(["task-refused", "task-refused", "all-required-pass"]);
    expect(of(world, "decision-made").map((f) => f.reason)).toEqual([
      expect.stringContaining("it is not ticked in TASKS.md"),
      expect.stringContaining("1 of its subtasks is open"),
      expect.anything(),
    ]);
  });

  it("gives every task its minimum of iterations, whenever it was ticked", async () => {
    const world = worldOf("- [ ] one\n- [ ] two\n");
    const acts = [
      act("a", ["one", "two"]),
      act("b", [], { says: NEXT }),
      act("c", []),
      act("good", [], { says: COMPLETE }),
    ];
    const end = await live(world, specOf({}, 2), acts);
    expect(rules(world)).toEqual(["task-refused", "task-done", "continue", "all-required-pass"]);
    expect(end.outcome?.is).toBe("verified");
    expect(world.prompts[1]).toContain("it has had 1 of at least 2 iterations");
  });

  it("reports a tick without work in the next prompt, once", async () => {
    const world = worldOf("- [ ] one\n- [ ] two\n");
    await live(world, specOf(), [act(undefined, ["one"]), act("a", []), act("good", ["two"], { says: COMPLETE })]);
    const told = "task “one” was ticked though nothing but TASKS.md changed";
    expect(suspicions(world)).toEqual([told]);
    expect(world.prompts.map((prompt) => prompt.includes(told))).toEqual([false, true, false]);
  });

  it("keeps a task that the agent took out until it is put back", async () => {
    const world = worldOf("- [ ] one\n- [ ] hard\n");
    const acts = [
      edited(() => "- [x] one\n", { says: NEXT }),
      act("good", [], { says: COMPLETE }),
      edited(() => "- [x] one\n- [x] hard\n", { says: COMPLETE }),
      act("x", [], { says: COMPLETE }),
    ];
    const end = await live(world, specOf(), acts);
    expect(suspicions(world)).toContain("open task “hard” is gone from TASKS.md");
    expect(world.prompts[1]).toContain("put them back as they were.\n\n- [ ] hard");
    expect(of(world, "decision-made")[1]?.reason).toContain("1 task is open: “hard”");
    expect(end.outcome?.is).toBe("verified");
  });

  it("counts finishing a task as progress, with the same red check all along", async () => {
    const names = ["a", "b", "c", "d", "e", "f"];
    const world = worldOf(names.map((name) => `- [ ] ${name}\n`).join(""));
    const struggle = { patience: 2, shortTurnMs: 0, ladder: ["stop" as const] };
    const acts = [...names.map((name) => act("red", [name])), act("good", [], { says: COMPLETE })];
    const end = await live(world, specOf({ struggle }), acts, {
      passes: (lines) => lines.includes("good"),
    });
    expect(end.outcome?.is).toBe("verified");
    expect(rules(world)).not.toContain("struggle:stop");
  });

  it("keeps the list of a file that grew beyond all measure, and says so once", async () => {
    const world = worldOf("- [ ] one\n");
    const acts = [
      edited(() => "- [ ] one\n".padEnd(200_000, "x")),
      act("b", []),
      edited(() => "- [x] one\n", { lines: ["good"], says: COMPLETE }),
    ];
    const end = await live(world, specOf(), acts);
    expect(suspicions(world)).toEqual(["TASKS.md has 200000 bytes, more than 131072: it was not read"]);
    expect(end.outcome?.is).toBe("verified");
  });
});

describe("people's changes of the tasks", () => {
  const add = (text: string): Directive => ({ kind: "task-add", text });
  const mark = (as: "done" | "skipped" | "removed", task?: string): Directive => ({
    kind: "task-mark",
    as,
    ...(task === undefined ? {} : { task }),
  });

  it("are done between iterations, are neither cheating nor the agent's, and hold up the end", async () => {
    const world = worldOf("- [ ] one\n- [ ] two\n");
    world.letters = [
      { touch: 8, directive: add("three") },
      { touch: 8, directive: mark("skipped", taskId("two")) },
    ];
    const acts = [act("good", ["one"], { says: COMPLETE }), act("x", ["three"], { says: COMPLETE })];
    const end = await live(world, specOf(), acts);
    expect(world.memos.get(FILE)).toBe("- [x] one\n- [-] two\n- [x] three\n");
    expect(end.outcome?.is).toBe("verified");
    expect(taskCounts(end)).toEqual({ done: 2, skipped: 1, total: 3 });
    expect(suspicions(world)).toEqual([]);
    expect(of(world, "directive-delivered").map((f) => f.how)).toEqual(["added: “three”", "skipped: “two”"]);
    const turns = world.facts.filter((f) => /^(turn-start|turn-end|tasks-recorded)$/.test(f.type));
    turns.forEach((fact, at) => {
      if (fact.type === "tasks-recorded" && fact.by === "person") expect(turns[at - 1]?.type).not.toBe("turn-start");
    });
    expect(world.commits.some(({ message }) => message.includes("the user's change"))).toBe(true);
  });

  it("without a task mean the current one; without a current one, or a list, the receipt says so", async () => {
    const world = worldOf("- [ ] one\n");
    world.letters = [
      { touch: 8, directive: mark("skipped") },
      { touch: 8, directive: mark("done") },
    ];
    await live(world, specOf(), [act("a", []), act("good", [], { says: COMPLETE })]);
    expect(of(world, "directive-delivered").map((f) => [f.how, f.refused])).toEqual([
      ["skipped: “one”", undefined],
      ["not done: there is no current task", true],
    ]);
    const none = makeWorld();
    none.letters = [{ touch: 8, directive: add("x") }];
    await live(none, makeSpec(), [act("good", [], { says: COMPLETE, memos: {} })]);
    expect(of(none, "directive-delivered").map((f) => f.how)).toEqual(["not done: this run has no task list"]);
  });

  it("let a task go that the agent took out", async () => {
    const world = worldOf("- [ ] one\n- [ ] hard\n");
    world.letters = [{ touch: 14, directive: mark("removed", taskId("hard")) }];
    const acts = [edited(() => "- [x] one\n"), act("good", [], { says: COMPLETE }), act("x", [], { says: COMPLETE })];
    const end = await live(world, specOf(), acts);
    expect(end.outcome?.is).toBe("verified");
    expect(world.memos.get(FILE)).toBe("- [x] one\n");
  });

  it("outlive a restore of an older state, wherever drivers die", async () => {
    const struggle = { patience: 1, shortTurnMs: 0, ladder: ["restore-best" as const, "stop" as const] };
    const bad = act(undefined, [], { lines: ["bad"], rewrites: true, says: NEXT });
    const acts = [act("good", ["one"]), bad, act("x", ["added"], { says: COMPLETE })];
    for (let touch = 0; touch < 80; touch += 1) {
      const world = worldOf("- [ ] one\n");
      world.letters = [{ touch: 8, directive: add("added") }];
      await live(world, specOf({ struggle }), acts, { deaths: touch === 0 ? [] : [{ touch, afterEffect: true }] });
      expect(world.facts.flatMap((f) => (f.type === "change-restored" ? [f.to] : []))).toHaveLength(1);
      expect(world.memos.get(FILE)).toBe("- [x] one\n- [x] added\n");
      expect(world.content).toEqual(["good", "x"]);
    }
  });

  it("are there once, wherever drivers die, and the run ends as it should", async () => {
    const edits = fc.array(
      fc.record({
        touch: fc.integer({ min: 1, max: 60 }),
        directive: fc.constantFrom(
          add("new"),
          add("one"),
          mark("skipped", taskId("two")),
          mark("removed", taskId("twin")),
          mark("removed", taskId("two")),
          mark("done"),
        ),
      }),
      { maxLength: 4 },
    );
    const deaths = fc.array(fc.record({ touch: fc.integer({ min: 1, max: 40 }), afterEffect: fc.boolean() }), {
      maxLength: 4,
    });
    const start = "- [ ] one\n- [ ] two\n- [ ] twin\n- [ ] twin\n";
    await fc.assert(
      fc.asyncProperty(edits, deaths, async (given, dying) => {
        const world = worldOf(start);
        world.letters = given.toSorted((a, b) => a.touch - b.touch);
        const tickAll = act(undefined, [], { memos: { [FILE]: (text) => text.replaceAll("[ ]", "[x]") } });
        const acts = [
          act("a", ["one"]),
          act("b", ["two"]),
          ...Array.from({ length: 12 }, () => ({ ...tickAll, lines: ["good"], says: COMPLETE })),
        ];
        const end = await live(world, specOf({ maxErrors: 9 }), acts, { deaths: dying });
        expect(complaintsAbout(world.facts)).toEqual([]);
        expect(end.outcome?.is).toBe("verified");
        const done = of(world, "tasks-recorded").flatMap(({ edit }) => (edit === undefined ? [] : [edit]));
        const tasks = readTasks(world.memos.get(FILE) ?? "");
        const times = (text: string): number => tasks.filter((task) => task.text === text).length;
        const added = (text: string): number => done.filter((e) => e.kind === "task-add" && e.text === text).length;
        const removed = (text: string): number =>
          done.filter((e) => e.kind === "task-mark" && e.as === "removed" && e.task === taskId(text)).length;
        expect(times("new")).toBe(added("new"));
        expect(times("one")).toBe(1 + added("one"));
        expect(times("twin")).toBe(2 - Math.min(2, removed("twin")));
        expect(times("two")).toBe(removed("two") > 0 ? 0 : 1);
        for (const { id, seq } of world.facts.filter((f) => f.type === "directive-received")) {
          const last = world.facts.findLast((f) => f.type === "decision-made")?.seq ?? 0;
          if (seq < last) expect(of(world, "directive-delivered").map((f) => f.id)).toContain(id);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("leave every journal well-formed with an answer for each of its prefixes, among all that people say", async () => {
    const directive = fc.constantFrom<Directive>(
      add("new"),
      mark("skipped"),
      mark("removed", taskId("two")),
      mark("done", "no such task"),
      { kind: "pause" },
      { kind: "resume" },
      { kind: "interrupt" },
      { kind: "stop", when: "after" },
      { kind: "say", text: "words", when: "now" },
    );
    const touch = fc.integer({ min: 1, max: 60 });
    const given = fc.array(fc.record({ touch, directive }), { maxLength: 5 });
    const deaths = fc.array(fc.record({ touch, afterEffect: fc.boolean() }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(given, deaths, async (letters, dying) => {
        const world = worldOf("- [ ] one\n- [ ] two\n");
        world.letters = letters.toSorted((a, b) => a.touch - b.touch);
        const faulty = act("a", ["one"], { faults: ["limited", "crash"] });
        const acts = [
          faulty,
          act("b", ["two"]),
          edited((text) => text.replaceAll("[ ]", "[x]"), { lines: ["good"], says: COMPLETE }),
        ];
        const end = await live(world, specOf({ maxErrors: 9, limits: { iterations: 6 } }), acts, { deaths: dying });
        expect(complaintsAbout(world.facts)).toEqual([]);
        expect(end.outcome).toBeDefined();
        for (let n = 1; n <= world.facts.length; n += 1) {
          const state = fold(world.facts.slice(0, n));
          const { actions } = wanted(runRecipe, state, { wall: state.at, elapsed: state.elapsed });
          const lane = mainLane(state);
          const idle =
            state.outcome !== undefined || state.wait !== undefined || state.paused || lane.open !== undefined;
          expect(idle || actions.size > 0).toBe(true);
          if (lane.open !== undefined)
            expect([...actions.keys()].filter((key) => key.startsWith("edit-tasks"))).toEqual([]);
        }
      }),
      { numRuns: 150 },
    );
  });
});
