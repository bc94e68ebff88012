/** The rules by which a run that solves converges, each in the simulated world; and its laws over kills. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FactOf, FactType } from "../../src/events.ts";
import { fold } from "../../src/loop/fold.ts";
import { solveOf } from "../../src/loop/solve-state.ts";
import { wanted } from "../../src/loop/wanted.ts";
import { solveRecipe } from "../../src/recipes/solve.ts";
import type { RunSpec } from "../../src/spec.ts";
import { live, type LiveOptions } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { solveSpec } from "../support/solve-spec.ts";
import { makeWorld, type World } from "../support/world.ts";

type Proposed = Record<string, unknown>;
const run = (code: string): Proposed => ({ do: "run", note: `try ${code}`, language: "python", code });
const lastRun = (code: string): Proposed => ({ ...run(code), final: true });
const answer = (text: string): Proposed => ({ do: "answer", note: "it is clear", answer: text });
const plan = (...steps: [string, ...string[]][]): Proposed => ({
  do: "plan",
  note: "in parts",
  steps: steps.map(([id, ...needs]) => ({ id, title: `do ${id}`, needs, expect: "a number" })),
});

/** Refuses the first tree it is asked about. */
function fromSecond(): NonNullable<LiveOptions["passes"]> {
  let asked = 0;
  return () => (asked += 1) > 1;
}

const acts = (...proposals: unknown[]): Behaviour[] =>
  proposals.map((one) => ({ lines: [], claim: false, faults: [], usd: 0.01, answer: () => one }));

async function solving(
  proposals: Behaviour[],
  { spec = solveSpec(), ...options }: LiveOptions & { spec?: RunSpec } = {},
): Promise<{ world: World; outcome: string; rule: string }> {
  const world = makeWorld();
  const { outcome } = await live(world, spec, proposals, { recipe: solveRecipe, ...options });
  return { world, outcome: outcome?.is ?? "", rule: outcome?.rule ?? "" };
}

const factsOf = <T extends FactType>({ facts }: World, type: T): FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

describe("convergence", () => {
  it("ends verified when a check passes on what a program printed, without the model's word (S5)", async () => {
    const checked = solveSpec({
      checks: [{ name: "c", kind: "command", command: "true", required: true, timeoutMs: 1 }],
    });
    const end = await solving(acts(run("print 24"), run("print 25"), run("print 26")), {
      spec: checked,
      passes: fromSecond(),
    });
    expect(end).toMatchObject({ outcome: "verified", rule: "all-required-pass" });
    expect(end.world.memos.get("answer.txt")).toBe("25\n");
    expect(end.world.memos.get("solution.py")).toBe("print 25");
  });

  it("ends claimed with the model's explicit answer where nothing checks it (S5)", async () => {
    const end = await solving(acts(run("fail no such file"), answer("25")));
    expect(end).toMatchObject({ outcome: "claimed", rule: "done" });
    expect(end.world.memos.get("answer.txt")).toBe("25\n");
  });

  it("does not take an answer that a check refuses, and goes on", async () => {
    const checked = solveSpec({
      checks: [{ name: "c", kind: "command", command: "true", required: true, timeoutMs: 1 }],
    });
    const end = await solving(acts(answer("24"), answer("25")), { spec: checked, passes: fromSecond() });
    expect(end).toMatchObject({ outcome: "verified" });
    expect(factsOf(end.world, "decision-made")[0]).toMatchObject({ rule: "answer-refused" });
  });

  it("ends claimed when two programs in a row print exactly the same (S5)", async () => {
    const end = await solving(acts(run("print 25"), run("print 25 # counted otherwise"), run("print 26")));
    expect(end).toMatchObject({ outcome: "claimed", rule: "repeated-output" });
    expect(end.world.executed).toHaveLength(2);
  });

  it("takes as many identical outputs as it is told", async () => {
    const end = await solving(acts(run("print 25"), run("print 25 #2"), run("print 25 #3")), {
      spec: solveSpec({}, { repeats: 3 }),
    });
    expect(end).toMatchObject({ rule: "repeated-output" });
    expect(end.world.executed).toHaveLength(3);
  });

  it("ends claimed when the last line stays the same though the rest is printed otherwise (S5)", async () => {
    const end = await solving(acts(run("print took 3 s\n25"), run("print took 4 s\n25")));
    expect(end).toMatchObject({ outcome: "claimed", rule: "unchanged-answer" });
  });

  it("does not count a failure between two identical outputs as nothing", async () => {
    const end = await solving(acts(run("print 25"), run("fail oops"), run("print 25 #2"), answer("25")));
    expect(end).toMatchObject({ rule: "done" });
  });

  it("ends stuck when results go to and fro (S5)", async () => {
    const end = await solving(acts(run("print 1"), run("print 2"), run("print 1 #"), run("print 2 #")));
    expect(end).toMatchObject({ outcome: "stuck", rule: "oscillation" });
  });

  it("ends stuck when the same failure comes again and again", async () => {
    const fails = Array.from({ length: 9 }, (_, n) => run(`fail same error #${n}`));
    const end = await solving(acts(...fails));
    expect(end).toMatchObject({ outcome: "stuck", rule: "same-result" });
  });

  it("counts the same failure whatever line it is in, remembers it, and tells the model how often it came (S6)", async () => {
    const end = await solving(acts(run("fail same error"), run("fail same error\n#2"), answer("1")));
    const recorded = factsOf(end.world, "failure-recorded").map(({ fingerprints }) => fingerprints);
    expect(recorded).toHaveLength(2);
    expect(recorded[1]).toEqual(recorded[0]);
    const [, second, third] = end.world.prompts;
    expect(second).not.toContain("This very failure");
    expect(third).toContain("This very failure has come 2 times");
  });

  it("ends exhausted at its limit of iterations, and of money (S5)", async () => {
    const fails = Array.from({ length: 9 }, (_, n) => run(`fail error ${"x".repeat(n)}`));
    expect(await solving(acts(...fails), { spec: solveSpec({ limits: { iterations: 4 } }) })).toMatchObject({
      outcome: "exhausted",
      rule: "budget:iterations",
    });
    expect(await solving(acts(...fails), { spec: solveSpec({ limits: { usd: 0.03 } }) })).toMatchObject({
      outcome: "exhausted",
      rule: "budget:usd",
    });
  });

  it("sends back what is no proposal, with the reason, and never runs it", async () => {
    const end = await solving(
      acts(undefined, { do: "run", note: "" }, { do: "run", note: "", code: "x", language: "perl" }, answer("1")),
    );
    expect(end).toMatchObject({ outcome: "claimed" });
    expect(factsOf(end.world, "proposal-made").map((fact) => fact.problem)).toEqual([
      "it did not answer in the form that was asked for",
      "`do` is run, and there is no `code`",
      'there is no language "perl"; one of python, javascript, typescript, shell',
      undefined,
    ]);
    expect(end.world.executed).toEqual([]);
    expect(end.world.prompts[1]).toContain("it did not answer in the form that was asked for");
  });
});

describe("plans", () => {
  const results = (prompt: string): unknown => {
    const step = /^Step (\S+), attempt (\d+)/m.exec(prompt);
    if (step !== null) return step[1] === "bad" ? run(`fail ${step[0]}`) : lastRun(`print result of ${step[1]}`);
    return prompt.includes("result of c") || prompt.includes("bad: do bad: failed") ? answer("42") : undefined;
  };
  const planned = (...steps: [string, ...string[]][]): Behaviour[] =>
    [plan(...steps), undefined].map((first, at) => ({
      lines: [],
      claim: false,
      faults: [],
      usd: 0.01,
      answer: (prompt) => (/^Step /m.test(prompt) || at > 0 ? results(prompt) : first),
    }));

  it("runs steps in the order of their needs, independent ones beside each other, and goes on with the results", async () => {
    const end = await solving(planned(["a"], ["b"], ["c", "a", "b"]));
    expect(end).toMatchObject({ outcome: "claimed", rule: "done" });
    const order = end.world.facts.flatMap((fact) =>
      fact.type === "turn-start" || fact.type === "step-end" ? [`${fact.type} ${fact.lane}`] : [],
    );
    expect(order.indexOf("turn-start step/b")).toBeLessThan(order.indexOf("step-end step/a"));
    expect(order.indexOf("turn-start step/c")).toBeGreaterThan(order.indexOf("step-end step/b"));
    expect(end.world.prompts.find((prompt) => prompt.includes("Step c,"))).toContain("result of a");
  });

  it("tries a step as often as allowed, skips what needs it, and tells the model", async () => {
    const end = await solving(planned(["bad"], ["c", "bad"]));
    expect(end).toMatchObject({ outcome: "claimed", rule: "done" });
    expect(factsOf(end.world, "step-end").map(({ step, is }) => `${step} ${is}`)).toEqual(["bad failed", "c skipped"]);
    expect(factsOf(end.world, "proposal-made").filter(({ lane }) => lane === "step/bad")).toHaveLength(3);
  });

  const stepping = (says: (attempt: number, prompt: string) => unknown): Behaviour[] =>
    [plan(["a"]), undefined].map((first, at) => ({
      lines: [],
      claim: false,
      faults: [],
      usd: 0.01,
      answer(prompt) {
        const step = /^Step a, attempt (\d+)/m.exec(prompt);
        return step === null ? (at === 0 ? first : answer("42")) : says(Number(step[1]), prompt);
      },
    }));

  it("shows a step what its program printed, and is done with it when the model says that it is as expected", async () => {
    const end = await solving(
      stepping((n) => (n === 1 ? run("print columns: b, c") : n === 2 ? run("print 7") : answer("7"))),
    );
    expect(end.world.executed).toEqual(["print columns: b, c", "print 7"]);
    expect(factsOf(end.world, "step-end")).toMatchObject([{ is: "done", result: { text: "7" } }]);
    const [, second] = end.world.prompts.filter((prompt) => /^Step a/m.test(prompt));
    expect(second).toContain("columns: b, c");
    expect(second).toContain("What is expected of it: a number");
    // Who goes on can compare.
    expect(end.world.prompts.at(-1)).toContain("done (expected: a number)");
  });

  it("is done with a step that prints the same twice, and with what it printed last when its attempts are used up", async () => {
    const same = await solving(stepping((n) => run(`print 7 #${n}`)));
    expect(same.world.executed).toHaveLength(2);
    const other = await solving(stepping((n) => run(`print ${n}`)));
    expect(other.world.executed).toHaveLength(3);
    expect(factsOf(other.world, "step-end")).toMatchObject([{ is: "done", result: { text: "3" } }]);
  });

  it("counts a turn that its own limit ended as a try of its step: none is tried without end", async () => {
    const endless: Behaviour = {
      lines: Array.from({ length: 40 }, (_, n) => `line ${n}`),
      claim: false,
      faults: [],
      usd: 0.01,
      answer: () => run("print 1"),
    };
    const spec = solveSpec(
      { limits: { iterations: 4, turns: 20, turnUsd: 0.005 } },
      { plan: [{ id: "c", title: "count", needs: [], expect: "" }] },
    );
    const { world } = await solving([endless, ...acts(answer("42"))], { spec });
    expect(factsOf(world, "step-end")).toMatchObject([{ step: "c", is: "failed" }]);
    expect(factsOf(world, "turn-start").filter(({ lane }) => lane === "step/c")).toHaveLength(3);
  });

  it("carries out a person's plan before the first turn of its own", async () => {
    const steps = [{ id: "c", title: "count", needs: [], expect: "" }];
    const end = await solving(planned(["never"]).slice(1), { spec: solveSpec({}, { plan: steps }) });
    expect(end).toMatchObject({ outcome: "claimed" });
    expect(factsOf(end.world, "turn-start")[0]?.lane).toBe("step/c");
  });

  it("ends with the plan where that is all that is wanted, and carries it out when reopened", async () => {
    const world = makeWorld();
    const spec = solveSpec({}, { planOnly: true });
    const first = await live(world, spec, planned(["a"], ["c", "a"]), { recipe: solveRecipe });
    expect(first.outcome).toMatchObject({ is: "claimed", rule: "plan-only" });
    expect(world.executed).toEqual([]);
    const second = await live(world, spec, planned(["a"], ["c", "a"]), { recipe: solveRecipe, reopen: { limits: {} } });
    expect(second.outcome).toMatchObject({ rule: "done" });
    expect(world.executed).toHaveLength(2);
  });

  it("is all that a run for a plan alone does, whatever the model proposes", async () => {
    const spec = solveSpec({ limits: { iterations: 3 } }, { planOnly: true });
    const end = await solving(acts(run("print 1"), answer("42"), plan(["a"])), { spec });
    expect(end).toMatchObject({ outcome: "claimed", rule: "plan-only" });
    expect(end.world.executed).toEqual([]);
  });

  it("keeps the result of a step that a new plan has again, and does the others", async () => {
    const replan: Behaviour[] = [plan(["a"], ["bad"]), plan(["a"], ["c"]), answer("42")].map((first) => ({
      lines: [],
      claim: false,
      faults: [],
      usd: 0.01,
      answer: (prompt) => (/^Step /m.test(prompt) ? results(prompt) : first),
    }));
    // Prompts of steps are answered by the first behaviour: only main prompts differ.
    const end = await solving(replan);
    expect(end).toMatchObject({ outcome: "claimed" });
    expect(end.world.executed.filter((code) => code === "print result of a")).toHaveLength(1);
    expect(factsOf(end.world, "plan-made").map(({ revision }) => revision)).toEqual([1, 2]);
  });
});

const proposal = fc.oneof(
  fc.constantFrom("1", "2", "3").map((n) => run(`print ${n}`)),
  fc.constantFrom("a", "b").map((word) => run(`fail ${word}`)),
  fc.constant(undefined),
  fc.constantFrom(plan(["a"], ["b"], ["c", "a"]), plan(["bad"], ["c", "bad"])),
  fc.constant(answer("7")),
);
/** Each program is told from all others, so that one that runs twice is seen. */
const distinct = (proposals: readonly unknown[], faults: Behaviour["faults"] = []): Behaviour[] =>
  proposals.map((one) => ({
    lines: [],
    claim: false,
    faults,
    usd: 0,
    answer: (prompt) => {
      const step = /^Step (\S+), attempt \d+/m.exec(prompt);
      if (step !== null) return lastRun(`${step[1] === "bad" ? "fail" : "print"} ${step[0]}`);
      const given = one as Proposed | undefined;
      const iteration = /^Iteration \d+/m.exec(prompt)?.[0];
      return typeof given?.["code"] === "string" ? { ...given, code: `${given["code"]} #${iteration}` } : given;
    },
  }));
const steps = (world: World): string[] =>
  factsOf(world, "step-end")
    .map(({ step, is }) => `${step} ${is}`)
    .toSorted();

describe("laws of solving", () => {
  it("ends as the undisturbed run does wherever drivers are killed, and runs nothing again that has a result (S4)", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(proposal, { minLength: 1, maxLength: 5 }),
        fc.array(fc.record({ touch: fc.integer({ min: 1, max: 60 }), afterEffect: fc.boolean() }), { maxLength: 4 }),
        fc.constantFrom("pruned", "full"),
        async (proposals, deaths, history) => {
          const spec = solveSpec({ limits: { iterations: 6 } }, { history });
          const calm = makeWorld();
          const calmEnd = await live(calm, spec, distinct(proposals), { recipe: solveRecipe });
          const stormy = makeWorld();
          const stormyEnd = await live(stormy, spec, distinct(proposals), { recipe: solveRecipe, deaths });
          expect(stormyEnd.outcome).toEqual(calmEnd.outcome);
          expect(stormy.memos.get("answer.txt")).toEqual(calm.memos.get("answer.txt"));
          expect(stormy.executedTwice).toEqual([]);
          expect(stormy.executed.length).toBeLessThanOrEqual(calm.executed.length + 2 * deaths.length);
          expect(steps(stormy)).toEqual(steps(calm));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("comes to the same answer over faults of the provider, of which none stops a step that runs beside it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(proposal, { minLength: 1, maxLength: 4 }),
        fc.array(fc.constantFrom("limited" as const, "limited-reset" as const, "crash" as const), { maxLength: 2 }),
        async (proposals, faults) => {
          const spec = solveSpec({ limits: { iterations: 6 }, maxErrors: 9 });
          const calm = makeWorld();
          const calmEnd = await live(calm, spec, distinct(proposals), { recipe: solveRecipe });
          const faulty = makeWorld();
          const end = await live(faulty, spec, distinct(proposals, faults), { recipe: solveRecipe });
          expect(end.outcome).toEqual(calmEnd.outcome);
          expect(steps(faulty)).toEqual(steps(calm));
          const ends = factsOf(faulty, "turn-end").map(({ outcome }) => outcome.is);
          expect(ends).not.toContain("interrupted");
        },
      ),
      { numRuns: 60 },
    );
  });

  it("goes on with its plan when it was stopped in the middle of it, and does nothing again (S4)", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 5, max: 40 }),
        fc.constantFrom("now" as const, "after" as const),
        async (touch, when) => {
          const world = makeWorld();
          world.letters = [{ touch, directive: { kind: "stop", when } }];
          const acts = distinct([plan(["a"], ["b"], ["c", "a", "b"]), answer("7")]);
          const spec = solveSpec();
          const first = await live(world, spec, acts, { recipe: solveRecipe });
          const end =
            first.outcome?.is === "stopped"
              ? await live(world, spec, acts, { recipe: solveRecipe, reopen: { limits: {} } })
              : first;
          expect(end.outcome).toMatchObject({ is: "claimed", rule: "done" });
          expect(world.executedTwice).toEqual([]);
          expect(new Set(steps(world))).toEqual(new Set(["a done", "b done", "c done"]));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("tells the model once what a person says, in the next prompt of the main line", async () => {
    const world = makeWorld();
    world.letters = [{ touch: 12, directive: { kind: "say", text: "[[count carefully]]", when: "next" } }];
    await live(world, solveSpec(), distinct([plan(["a"], ["b"]), run("print 1"), answer("7")]), {
      recipe: solveRecipe,
    });
    expect(world.shown).toEqual(["count carefully"]);
    expect(world.prompts.filter((prompt) => /^Step /m.test(prompt)).join("")).not.toContain("count carefully");
  });

  it("has an answer for every prefix of every journal", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(proposal, { minLength: 1, maxLength: 5 }), async (proposals) => {
        const world = makeWorld();
        await live(world, solveSpec({ limits: { iterations: 5 } }), distinct(proposals), { recipe: solveRecipe });
        for (let n = 1; n <= world.facts.length; n += 1) {
          const state = fold(world.facts.slice(0, n));
          const { actions } = wanted(solveRecipe, state, { wall: state.at, elapsed: state.elapsed });
          expect(state.outcome !== undefined || state.wait !== undefined || actions.size > 0).toBe(true);
        }
        const plan = solveOf(fold(world.facts)).plan;
        expect(plan?.steps.every(({ is }) => is !== "todo") ?? true).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
