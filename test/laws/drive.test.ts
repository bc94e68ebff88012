/** The kernel's laws, in a simulated world: see SKETCH's list. Each runs many random worlds and kills. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import { fold } from "../../src/loop/fold.ts";
import { wanted } from "../../src/loop/wanted.ts";
import { runRecipe } from "../../src/recipes/run.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type World } from "../support/world.ts";
import type { RunSpec } from "../../src/spec.ts";

const MAX_REQUEST_USD = 0.5;

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  lines: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "good"), { maxLength: 3 }),
  claim: fc.boolean(),
  faults: fc.array(fc.constantFrom("limited", "limited-reset", "crash", "timeout"), { maxLength: 2 }),
  usd: fc.constantFrom(0, 0.01, MAX_REQUEST_USD, null),
});
const behaviours = fc.array(behaviour, { minLength: 1, maxLength: 5 });
const specs = fc.record({
  iterations: fc.integer({ min: 1, max: 7 }),
  minIterations: fc.integer({ min: 1, max: 2 }),
  claimed: fc.boolean(),
  checked: fc.boolean(),
  context: fc.constantFrom("persistent", "fresh", "auto"),
  usdLimit: fc.constantFrom(undefined, 0.6, 2),
  notes: fc.boolean(),
});

function specFrom(s: {
  iterations: number;
  minIterations: number;
  claimed: boolean;
  checked: boolean;
  context: string;
  usdLimit: number | undefined;
  notes: boolean;
}): RunSpec {
  const base = makeSpec();
  return {
    ...base,
    agent: { ...base.agent, context: s.context as RunSpec["agent"]["context"] },
    checks: s.checked ? base.checks : [],
    claim: { promise: "COMPLETE", required: s.claimed || !s.checked, confirmations: 1 },
    minIterations: s.minIterations,
    ...(s.notes ? { notes: { file: "NOTES.md", maxBytes: 100 }, knowledge: { file: "K.md", maxBytes: 100 } } : {}),
    maxErrors: 9,
    limits: { iterations: s.iterations, ...(s.usdLimit === undefined ? {} : { usd: s.usdLimit, tokens: 1e9 }) },
  };
}

const verdictsOf = (world: World): string[] =>
  world.facts
    .filter((f): f is FactOf<"check-end"> => f.type === "check-end")
    .map((f) => `${f.iteration} ${f.tree} ${f.verdict.is}`);
const unique = (list: readonly string[]): string[] => [...new Set(list)];

describe("laws of the kernel", () => {
  it("ends as the undisturbed run does, wherever drivers are killed: same outcome, trees, verdicts and commits", async () => {
    await fc.assert(
      fc.asyncProperty(
        behaviours,
        specs,
        fc.array(fc.record({ touch: fc.integer({ min: 1, max: 60 }), afterEffect: fc.boolean() }), { maxLength: 4 }),
        async (acts, s, deaths) => {
          const spec = specFrom(s);
          const calm = makeWorld();
          const calmEnd = await live(calm, spec, acts);
          const stormy = makeWorld();
          const stormyEnd = await live(stormy, spec, acts, { deaths });
          const money = spec.limits.usd === undefined;
          // Under a dollar limit a wasted request may end the run earlier: then only the honesty laws below hold.
          if (money) {
            expect(stormyEnd.outcome).toEqual(calmEnd.outcome);
            expect(stormy.content).toEqual(calm.content);
            expect(unique(verdictsOf(stormy))).toEqual(unique(verdictsOf(calm)));
            expect(stormy.commits.map((c) => c.tree)).toEqual(calm.commits.map((c) => c.tree));
            expect(stormy.requests).toBeLessThanOrEqual(calm.requests + deaths.length);
          }
          expect(stormy.boughtTwice).toEqual([]);
          // A request that was out when its driver died is seen by nobody; everything else is in the ledger.
          const limit = spec.limits.usd;
          if (limit !== undefined)
            expect(stormy.billed).toBeLessThanOrEqual(limit + MAX_REQUEST_USD * (1 + deaths.length) + 1e-9);
        },
      ),
      { numRuns: 400 },
    );
  });

  it("has an answer for every prefix of every journal, with unique keys, and never wants what is finished", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, specs, async (acts, s) => {
        const spec = specFrom(s);
        const world = makeWorld();
        await live(world, spec, acts);
        for (let n = 1; n <= world.facts.length; n += 1) {
          const state = fold(world.facts.slice(0, n));
          const { actions } = wanted(runRecipe, state, { wall: state.at, elapsed: state.elapsed });
          const idle = state.outcome !== undefined || state.wait !== undefined;
          expect(idle || actions.size > 0).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
  });

  it("says verified only with a pass of every required check on the delivered tree", async () => {
    const RUNS = 300;
    let verified = 0;
    await fc.assert(
      fc.asyncProperty(behaviours, specs, async (acts, s) => {
        const spec = specFrom(s);
        const world = makeWorld();
        const end = await live(world, spec, acts);
        if (end.outcome?.is !== "verified") return;
        verified += 1;
        const delivered = world.commits.at(-1)?.tree;
        const last = world.facts.findLast((f): f is FactOf<"check-end"> => f.type === "check-end");
        expect(spec.checks.length).toBeGreaterThan(0);
        expect(last?.verdict.is).toBe("pass");
        expect(last?.tree).toBe(delivered);
      }),
      { numRuns: RUNS },
    );
    expect(verified).toBeGreaterThan(RUNS / 12);
  });

  it("spends the sum of its facts, and at most one request over a dollar limit", async () => {
    const RUNS = 200;
    let met = 0;
    /** Most of what is asked for costs much, in a run that may go on until the limit. */
    const dear = fc
      .array(fc.tuple(behaviour, fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 5 })
      .map((all) => all.map(([one, n]) => (n === 0 ? one : { ...one, usd: MAX_REQUEST_USD })));
    const limited = specs.map((s) => ({ ...s, usdLimit: s.usdLimit ?? 1, iterations: s.iterations + 3 }));
    await fc.assert(
      fc.asyncProperty(dear, limited, async (acts, s) => {
        const spec = specFrom(s);
        const world = makeWorld();
        const end = await live(world, spec, acts);
        const turns = world.facts.filter((f): f is FactOf<"turn-end"> => f.type === "turn-end");
        const usd = turns.reduce((sum, t) => sum + (t.usage.usd ?? 0), 0);
        expect(end.spent.usd).toBeCloseTo(usd, 9);
        expect(end.spent.unknownTurns).toBe(turns.filter((t) => t.usage.usd === null).length);
        const limit = spec.limits.usd;
        if (end.outcome?.rule === "budget:usd") met += 1;
        if (limit !== undefined) expect(end.spent.usd).toBeLessThanOrEqual(limit + MAX_REQUEST_USD + 1e-9);
      }),
      { numRuns: RUNS },
    );
    expect(met).toBeGreaterThan(RUNS / 8);
  });

  it("consumes no iteration for limits, crashes and hangs", async () => {
    const act = (faults: Behaviour["faults"], lines: string[], claim: boolean): Behaviour => ({
      lines,
      claim,
      faults,
      usd: 0,
    });
    const world = makeWorld();
    const end = await live(world, makeSpec(), [
      act(["limited", "limited-reset"], ["a"], false),
      act(["crash", "timeout"], ["good"], true),
    ]);
    expect(end.outcome?.is).toBe("verified");
    expect(world.facts.filter((f) => f.type === "iteration-start")).toHaveLength(2);
    expect(
      world.facts.filter((f) => f.type === "wait-start").map((f) => f.type === "wait-start" && f.until !== null),
    ).toEqual([false, true, false, false]);
  });
});
