/** What a run delivers when it ends without `verified`: the best state so far, and nobody's work is lost for it. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TerminalError } from "../../src/errors.ts";
import type { FactOf } from "../../src/events.ts";
import { mainLane } from "../../src/loop/state.ts";
import type { HookEvent, HookSpec, RunSpec } from "../../src/spec.ts";
import { complaintsAbout } from "../support/journal-grammar.ts";
import { live, type LiveOptions } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type portsOf, type World } from "../support/world.ts";

const make = (...lines: string[]): Behaviour => ({ lines, claim: false, faults: [], usd: 0, rewrites: true });
const ofType = <T extends World["facts"][number]["type"]>(world: World, type: T): FactOf<T>[] =>
  world.facts.filter((f): f is FactOf<T> => f.type === type);
const tip = (world: World): string[] | undefined => world.trees.get(world.commits.at(-1)?.tree ?? "");
const lastCommits = (world: World): (string | undefined)[] =>
  world.commits.slice(-2).map(({ message }) => message.split("\n")[0]);

const hook = (on: HookEvent): HookSpec => ({
  name: "h",
  on: [on],
  command: "true",
  policy: "warn",
  toPrompt: false,
  timeoutMs: 1_000,
});

/** It would climb no ladder. */
const patient = (over: Partial<RunSpec> = {}): RunSpec =>
  makeSpec({ limits: { iterations: 4 }, struggle: { patience: 99, shortTurnMs: 0, ladder: ["stop"] }, ...over });
/** Red, green, red, red. */
const SLIPS = [make("a"), make("good"), make("b"), make("c")];

/** One failure for each line but "good". */
const counting = (world: World, ports: ReturnType<typeof portsOf>): void => {
  for (const check of ports.checks) {
    const { judge } = check;
    check.judge = async (tree, signal, about) => {
      const verdict = await judge(tree, signal, about);
      const lines = world.trees.get(tree.tree) ?? [];
      const [first = "empty", ...rest] = lines.filter((line) => line !== "good");
      const failure = (line: string): { fingerprint: string; message: string } => ({
        fingerprint: line,
        message: line,
      });
      return verdict.is === "fail" ? { ...verdict, failures: [failure(first), ...rest.map(failure)] } : verdict;
    };
  }
};

describe("a run that ends without verified", () => {
  it("delivers the best state as a commit of its own, with the last one before it and kept", async () => {
    const world = makeWorld();
    const end = await live(world, patient(), SLIPS);
    expect(end.outcome?.is).toBe("exhausted");
    expect(tip(world)).toEqual(["good"]);
    expect(world.content).toEqual(["good"]);
    expect(lastCommits(world)).toEqual(["pawl: iteration 4", "pawl: restore the state of iteration 2"]);
    expect(world.commits.at(-1)?.message).toContain("Pawl-Verdict: green");
    expect(world.salvages.get("salvage/0")).toEqual(["c"]);
    expect(complaintsAbout(world.facts)).toEqual([]);
  });

  it("delivers the one with the fewest failures where none is green", async () => {
    const world = makeWorld();
    const acts = [make("a", "b"), make("a"), make("a", "b", "c")];
    await live(world, patient({ limits: { iterations: 3 } }), acts, { adjust: (ports) => counting(world, ports) });
    expect(tip(world)).toEqual(["a"]);
  });

  it("delivers the best of its iterations also where the tree before the first turn was better", async () => {
    const world = makeWorld();
    const acts = [make("a", "b"), make("a"), make("a", "b", "c")];
    const isGreenBefore: LiveOptions["passes"] = (lines) => lines.length === 0;
    const adjust = (ports: ReturnType<typeof portsOf>): void => counting(world, ports);
    await live(world, patient({ limits: { iterations: 3 } }), acts, { passes: isGreenBefore, adjust });
    expect(tip(world)).toEqual(["a"]);
  });

  it("is not brought back to the tree before the run, which an iteration that did nothing left as it was", async () => {
    const world = makeWorld();
    const acts = [make(), make("a", "b"), make("a", "b", "c")];
    const isGreenBefore: LiveOptions["passes"] = (lines) => lines.length === 0;
    const adjust = (ports: ReturnType<typeof portsOf>): void => counting(world, ports);
    await live(world, patient({ limits: { iterations: 3 } }), acts, { passes: isGreenBefore, adjust });
    expect(tip(world)).toEqual(["a", "b"]);
  });

  it.each([
    ["is the best itself", [make("a"), make("b"), make("good")]],
    ["is as good as the best", [make("a"), make("good"), make("good", "more")]],
    ["has as many failures as the best", [make("a"), make("b"), make("c")]],
    ["changed nothing since the best", [make("a"), make("good"), make("good")]],
  ])("leaves its last state alone where that %s", async (_, acts) => {
    const world = makeWorld();
    await live(world, patient({ limits: { iterations: 3 } }), acts);
    expect(ofType(world, "change-restored")).toEqual([]);
    expect(world.content).toEqual(acts.at(-1)?.lines);
  });

  it("leaves its last state alone with --at-end last", async () => {
    const world = makeWorld();
    await live(world, patient({ atEnd: "last" }), SLIPS);
    expect(tip(world)).toEqual(["c"]);
    expect(ofType(world, "change-restored")).toEqual([]);
  });

  it("leaves what no check could judge: a person is asked about just that", async () => {
    const world = makeWorld();
    const acts = [make("a"), { ...make("unclear"), claim: true }];
    const passes: LiveOptions["passes"] = (lines) => (lines.includes("unclear") ? "unverifiable" : false);
    const end = await live(world, patient(), acts, { passes });
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "unverifiable" });
    expect(tip(world)).toEqual(["unclear"]);
  });

  it("leaves work without any check, whatever it was before", async () => {
    const world = makeWorld();
    await live(world, patient({ checks: [] }), SLIPS);
    expect(tip(world)).toEqual(["c"]);
  });

  it.each<[string, Partial<RunSpec>, Behaviour[], Partial<World>]>([
    [
      "stuck",
      { struggle: { patience: 2, shortTurnMs: 0, ladder: ["stop"] } },
      [make("good"), make("b"), make("b"), make("b")],
      {},
    ],
    ["failed", { maxErrors: 1 }, [make("good"), make("b"), { ...make("c"), faults: ["crash"] }], {}],
    [
      "stopped",
      {},
      [make("good"), make("b"), make("c")],
      { letters: [{ touch: 30, directive: { kind: "stop", when: "after" } }] },
    ],
    [
      "stopped",
      {},
      [make("good"), make("b"), make("c", "d")],
      { letters: [{ touch: 30, directive: { kind: "stop", when: "now" } }] },
    ],
    [
      "needs-human",
      { struggle: { patience: 2, shortTurnMs: 0, ladder: ["ask"] } },
      [make("good"), make("b"), make("b"), make("b")],
      {},
    ],
  ])("delivers the best state when it is %s", async (is, over, acts, about) => {
    const world = { ...makeWorld(), ...about };
    const end = await live(world, patient({ limits: { iterations: 9 }, ...over }), acts);
    expect(end.outcome?.is).toBe(is);
    expect(tip(world)).toEqual(["good"]);
    expect(world.content).toEqual(["good"]);
  });

  it("runs the hook of its end on what is delivered", async () => {
    const world = makeWorld();
    let seen: string[] = [];
    world.hookResult = () => {
      seen = [...world.content];
      return {};
    };
    await live(world, patient({ hooks: [hook("run-end")] }), SLIPS);
    expect(seen).toEqual(["good"]);
  });
});

describe("what people do", () => {
  it("is never taken back for it, and the best iteration is still named", async () => {
    const world = makeWorld();
    world.hookResult = (_, runs) => {
      if (runs === 4) world.content = [...world.content, "by hand"];
      return {};
    };
    const grows = { ...make("c"), rewrites: false };
    const spec = patient({ hooks: [hook("iteration-start")] });
    const end = await live(world, spec, [make("a"), make("good"), make("b"), grows]);
    expect(end.outcome?.is).toBe("exhausted");
    expect(world.content).toEqual(["b", "by hand", "c"]);
    expect(tip(world)).toEqual(world.content);
    expect(mainLane(end).track.bestWork).toMatchObject({ iteration: 2 });
  });

  it("committed after files were put back belongs to no snapshot before, and is not written over either", async () => {
    const world = makeWorld();
    const spec = patient({ limits: { iterations: 5 } });
    const mine = "f".repeat(40);
    // The third try of one shape is put back; while that is handed over a person commits.
    const adjust = (ports: ReturnType<typeof portsOf>): void => {
      counting(world, ports);
      ports.workspace.diff = async () => "diff --git a/f.ts b/f.ts\n+const x = 1;";
      const { accept } = ports.workspace;
      ports.workspace.accept = async (request) => {
        const accepted = await accept(request);
        return request.message.startsWith("pawl: restore") ? { ...accepted, adopted: [mine] } : accepted;
      };
    };
    const acts = [make("a", "b"), make("a", "c"), make("a", "d"), make("a", "b", "c"), make("a", "b", "d")];
    await live(world, spec, acts, { adjust });
    expect(ofType(world, "change-restored").map(({ atEnd }) => atEnd)).not.toContain(true);
  });

  it("after the last snapshot stays as it is: nothing is put back over it (row 40)", async () => {
    const world = makeWorld();
    world.hookResult = (_, runs) => {
      if (runs === 4) world.content = [...world.content, "late"];
      return {};
    };
    const end = await live(world, patient({ hooks: [hook("iteration-end")] }), SLIPS);
    expect(world.content).toEqual(["c", "late"]);
    expect(tip(world)).toEqual(["c"]);
    expect(mainLane(end).track.setAside?.failed).toContain("changed after the last snapshot");
    expect(complaintsAbout(world.facts)).toEqual([]);
  });

  it("to the task list by directive is no reason to leave the last state, and is repeated in the best", async () => {
    const world = makeWorld();
    world.memos.set("TASKS.md", "- [ ] one\n");
    world.letters = [{ touch: 40, directive: { kind: "task-add", text: "two" } }];
    const tasks = { file: "TASKS.md", promise: "TASK", minIterations: 1 };
    await live(world, patient({ limits: { iterations: 6 }, tasks }), [
      make("a"),
      make("good"),
      ...[1, 2, 3, 4].map((n) => make(`b${n}`)),
    ]);
    expect(ofType(world, "tasks-recorded").some(({ edit }) => edit !== undefined)).toBe(true);
    expect(world.content).toEqual(["good"]);
    expect(world.memos.get("TASKS.md")).toContain("two");
  });
});

describe("a workspace that cannot be written any more", () => {
  it("does not keep the run from its end: it says that the best state could not be put back", async () => {
    const world = makeWorld();
    const end = await live(world, patient(), SLIPS, {
      adjust(ports) {
        ports.workspace.restore = async () => {
          throw new TerminalError("read-only file system");
        };
      },
    });
    expect(end.outcome?.is).toBe("exhausted");
    expect(mainLane(end).track.setAside?.failed).toContain("read-only file system");
  });
});

describe("a run that is reopened after it", () => {
  it("goes on from the best state, and the agent is told", async () => {
    const world = makeWorld();
    const longer = [...SLIPS, { ...make("d"), rewrites: false }];
    await live(world, patient(), longer);
    await live(world, patient(), longer, { reopen: { limits: { iterations: 5 } } });
    expect(world.trees.get(ofType(world, "change-recorded").at(-1)?.tree ?? "")).toEqual(["good", "d"]);
    expect(world.prompts.at(-1)).toMatch(/## Files put back[^]*iteration 2/);
    expect(complaintsAbout(world.facts)).toEqual([]);
  });

  /** Stopped now in its second iteration, at some point of it. */
  const acts = [make("good"), make("b", "c", "d"), { ...make("f"), rewrites: false }];
  const stoppedInside = async (touch: number): Promise<World | undefined> => {
    const world = makeWorld();
    world.letters = [{ touch, directive: { kind: "stop", when: "now" } }];
    const end = await live(world, patient(), acts);
    const isInside = mainLane(end).iteration === 2 && ofType(world, "check-end").length === 1;
    return isInside && ofType(world, "change-restored").length > 0 ? world : undefined;
  };
  const TOUCHES = Array.from({ length: 60 }, (_, n) => n);

  it("goes on with what a stop kept from being judged, in the same conversation", async () => {
    let seen = 0;
    for (const touch of TOUCHES) {
      const world = await stoppedInside(touch);
      if (world === undefined) continue;
      seen += 1;
      expect(world.content).toEqual(["good"]);
      const put = world.salvages.get("salvage/0") ?? [];
      await live(world, patient(), acts, { reopen: { limits: { iterations: 3 } } });
      const taken = ofType(world, "change-recorded").findLast(({ by }) => by === "agent");
      expect(world.trees.get(taken?.tree ?? "")).toEqual([...put, "f"]);
      expect(ofType(world, "turn-start").at(-1)?.session.mode).toBe("continue");
      expect(complaintsAbout(world.facts)).toEqual([]);
    }
    expect(seen).toBeGreaterThan(1);
  });

  it("goes on from what its user made of it meanwhile", async () => {
    let seen = 0;
    for (const touch of TOUCHES) {
      const world = await stoppedInside(touch);
      if (world === undefined) continue;
      seen += 1;
      world.content = [...world.content, "by hand"];
      await live(world, patient(), acts, { reopen: { limits: { iterations: 3 } } });
      const taken = ofType(world, "change-recorded").findLast(({ by }) => by === "agent");
      expect(world.trees.get(taken?.tree ?? "")).toEqual(["good", "by hand", "f"]);
    }
    expect(seen).toBeGreaterThan(1);
  });
});

describe("laws of the end", () => {
  const acts = fc.array(
    fc.record({
      lines: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "good"), { maxLength: 3 }),
      claim: fc.boolean(),
      faults: fc.array(fc.constantFrom("limited", "crash"), { maxLength: 1 }),
      usd: fc.constant(0),
      rewrites: fc.constant(true),
    }),
    { minLength: 2, maxLength: 6 },
  );
  const deaths = fc.array(fc.record({ touch: fc.integer({ min: 1, max: 60 }), afterEffect: fc.boolean() }), {
    maxLength: 4,
  });
  const stops = fc.option(
    fc.record({ touch: fc.integer({ min: 20, max: 70 }), when: fc.constantFrom("now", "after") }),
    {
      freq: 2,
      nil: undefined,
    },
  );

  it("no end without verified delivers more failures than the best iteration had, wherever drivers are killed (row 40)", async () => {
    const RUNS = 400;
    let restored = 0;
    await fc.assert(
      fc.asyncProperty(acts, deaths, stops, async (behaviours, dying, stop) => {
        const world = makeWorld();
        if (stop !== undefined) world.letters = [{ touch: stop.touch, directive: { kind: "stop", when: stop.when } }];
        const spec = patient({ limits: { iterations: behaviours.length }, maxErrors: 9 });
        const adjust = (ports: ReturnType<typeof portsOf>): void => counting(world, ports);
        const end = await live(world, spec, behaviours, { deaths: dying, adjust });
        expect(complaintsAbout(world.facts)).toEqual([]);
        expect(world.lost).toEqual([]);
        if (end.outcome?.is === "verified") return;
        if (ofType(world, "change-restored").length > 0) restored += 1;
        const failures = (lines: readonly string[]): number => (lines.includes("good") ? 0 : Math.max(1, lines.length));
        const judged = new Set(ofType(world, "check-end").map(({ tree }) => tree));
        const made = ofType(world, "change-recorded").filter(({ by, tree }) => by === "agent" && judged.has(tree));
        const fewest = Math.min(...made.map(({ tree }) => failures(world.trees.get(tree) ?? [])));
        const delivered = world.commits.at(-1)?.tree;
        if (delivered !== undefined && made.length > 0)
          expect(failures(world.trees.get(delivered) ?? [])).toBeLessThanOrEqual(fewest);
        expect(delivered === undefined ? world.content : world.trees.get(delivered)).toEqual(world.content);
      }),
      { numRuns: RUNS },
    );
    expect(restored).toBeGreaterThan(RUNS / 10);
  });
});
