/** Several agents in one run: who may take a turn, what each costs, who reviews; under every sequence of failures. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fact, FactOf } from "../../src/events.ts";
import { noSpending } from "../../src/loop/budget.ts";
import { apply, fold } from "../../src/loop/fold.ts";
import type { RunState } from "../../src/loop/state.ts";
import { wanted } from "../../src/loop/wanted.ts";
import { runRecipe } from "../../src/recipes/run.ts";
import type { MixSpec, RunSpec } from "../../src/spec.ts";
import { complaintsAbout } from "../support/journal-grammar.ts";
import { live } from "../support/live.ts";
import { mixAgents, RESET_MS, type Failure, type Troubles } from "../support/mixed-agents.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type Death, type World } from "../support/world.ts";

const MIX: MixSpec = { fallback: [], rotate: [], escalate: [], benchMs: 60_000, benchMaxMs: 240_000 };
const NAMES = ["sim", "two", "three"];

const act = (lines: string[], claim = false, more: Partial<Behaviour> = {}): Behaviour => ({
  lines,
  claim,
  faults: [],
  usd: 0.01,
  ...more,
});
const many = (n: number, make: (i: number) => Behaviour): Behaviour[] => Array.from({ length: n }, (_, i) => make(i));
const of = <T extends Fact["type"]>(world: World, type: T): FactOf<T>[] =>
  world.facts.filter((fact): fact is FactOf<T> => fact.type === type);
const seats = (world: World): string[] =>
  of(world, "turn-start").map(({ seat = "-", role }) => (role ? `(${seat})` : seat));
const rules = (world: World): string[] => of(world, "decision-made").map(({ rule }) => rule);

interface Setting {
  over?: Partial<RunSpec>;
  mix?: Partial<MixSpec>;
  troubles?: Record<string, Failure[]>;
  deaths?: readonly Death[];
}

async function run(acts: readonly Behaviour[], { over = {}, mix, troubles = {}, deaths = [] }: Setting) {
  const world = makeWorld();
  const left: Troubles = new Map(Object.entries(troubles).map(([seat, list]) => [seat, [...list]]));
  const spec = makeSpec({ ...over, ...(mix === undefined ? {} : { mix: { ...MIX, ...mix } }) });
  const adjust = (ports: Parameters<typeof mixAgents>[0]): void =>
    mixAgents(ports, { world, names: NAMES, troubles: left });
  const end = await live(world, spec, acts, { deaths, adjust });
  return { world, end, spec };
}

describe("--fallback", () => {
  it("goes on with the next agent in the same iteration, from the same tree, and returns after the reset", async () => {
    const acts = [act(["a"]), act(["b"]), act(["good"], true)];
    const { world, end } = await run(acts, {
      mix: { fallback: [{ agent: "two" }] },
      troubles: { sim: ["fine", "reset"] },
    });
    expect(end.outcome?.is).toBe("verified");
    expect(seats(world)).toEqual(["sim", "sim", "two", "two"]);
    expect(of(world, "iteration-start")).toHaveLength(3);
    expect(of(world, "agent-benched")).toMatchObject([
      { seat: "sim", reason: "usage limit: limit", until: expect.any(Number) },
    ]);
    expect(of(world, "wait-start")).toEqual([]);
    expect(world.prompts.at(-2)).toContain(
      "It was done by another agent, sim; now it is yours. It cannot go on now (usage limit: limit).",
    );
  });

  it("returns to the first when its time on the bench is over, longer each time it crashes in a row", async () => {
    const acts = many(6, (i) => act([`${i}`], false, { faults: [] }));
    const quick = { ...MIX, fallback: [{ agent: "two" }], benchMs: 1, benchMaxMs: 2 };
    const over = { limits: { iterations: 3 }, struggle: { patience: 9, shortTurnMs: 0, ladder: [] } };
    const { world } = await run(acts, {
      mix: quick,
      over,
      troubles: { sim: ["crash", "crash", "crash"], two: ["crash", "crash"] },
    });
    expect(seats(world)).toEqual(
      ["sim", "two", "sim", "two", "sim", "two", "two", "two"].slice(0, seats(world).length),
    );
    const benched = of(world, "agent-benched").filter(({ seat }) => seat === "sim");
    expect(benched.map(({ untilElapsed, elapsed }) => Math.round(untilElapsed - elapsed))).toEqual([1, 2, 2]);
  });

  it("resumes the agent's own session when it comes back, and says what happened meanwhile", async () => {
    const { world } = await run(
      many(5, (i) => act([`${i}`])),
      {
        mix: { rotate: [{ agent: "sim" }, { agent: "two" }] },
        over: { limits: { iterations: 4 }, struggle: { patience: 9, shortTurnMs: 0, ladder: ["stop"] } },
      },
    );
    const turns = of(world, "turn-start");
    expect(turns.map(({ seat, session }) => `${seat} ${session.mode}`)).toEqual([
      "sim new",
      "two new",
      "sim continue",
      "two continue",
    ]);
    expect(turns[2]?.session.ref).toBe(turns[0]?.session.ref);
    expect(world.prompts[2]).toContain(
      "Since your last turn, in iteration 1, others (the last of them two) worked on these files",
    );
  });

  it("waits for the earliest when all are benched, each for its own time", async () => {
    const { world, end } = await run([act(["good"], true)], {
      mix: { fallback: [{ agent: "two" }, { agent: "sim", model: "big" }] },
      troubles: { sim: ["reset"], two: ["crash"], "sim:big": ["hang", "crash"] },
    });
    expect(end.outcome?.is).toBe("verified");
    expect(seats(world)).toEqual(["sim", "two", "sim:big", "two"]);
    const [wait] = of(world, "wait-start");
    expect((wait?.untilElapsed ?? 0) - (wait?.elapsed ?? 0)).toBeLessThanOrEqual(MIX.benchMs);
    expect(RESET_MS).toBeGreaterThan(MIX.benchMs);
  });

  it("ends failed when no agent is left: one without a login, the other crashed too often", async () => {
    const { end } = await run([act(["good"], true)], {
      mix: { fallback: [{ agent: "two" }] },
      troubles: { sim: Array.from({ length: 9 }, () => "login" as const), two: ["crash", "crash", "crash", "crash"] },
    });
    expect(end.outcome).toMatchObject({ is: "failed", rule: "agent:errors" });
    const both = await run([act(["good"], true)], {
      mix: { fallback: [{ agent: "two" }] },
      troubles: { sim: ["login", "login"], two: ["login", "login"] },
    });
    expect(both.end.outcome).toMatchObject({ is: "failed", rule: "agent:login" });
    expect(seats(both.world)).toEqual(["sim", "two"]);
  });
});

describe("--escalate", () => {
  it("goes on with the stronger ones when stuck, one after the other, and back to the first with progress", async () => {
    const acts = [act(["a"]), act([]), act([]), act(["good"]), act(["done"], true)];
    const { world, end } = await run(acts, {
      mix: { escalate: [{ agent: "sim", model: "big" }, { agent: "two" }] },
      over: { struggle: { patience: 1, shortTurnMs: 0, ladder: ["other-agent", "stop"] } },
    });
    expect(end.outcome?.is).toBe("verified");
    expect(rules(world).filter((rule) => rule.startsWith("struggle:"))).toEqual([
      "struggle:other-agent",
      "struggle:other-agent",
    ]);
    expect(seats(world)).toEqual(["sim", "sim", "sim:big", "two", "sim"]);
  });
});

describe("--review", () => {
  const review: RunSpec["review"] = { agent: { agent: "two" }, prompt: "look at it" };

  it("looks at each change before the checks, in a fresh session, and its mending is judged and delivered", async () => {
    const acts = [act(["a"], true, { review: { lines: ["good"], rejects: false } })];
    const { world, end } = await run(acts, { over: { review } });
    expect(end.outcome?.is).toBe("verified");
    expect(seats(world)).toEqual(["sim", "(two)"]);
    expect(of(world, "turn-start")[1]?.session.mode).toBe("new");
    const order = world.facts
      .map(({ type }) => type)
      .filter((type) => /^(turn-end|change-recorded|check-end)$/.test(type));
    expect(order).toEqual([
      "change-recorded",
      "turn-end",
      "change-recorded",
      "turn-end",
      "change-recorded",
      "check-end",
    ]);
    expect(world.content).toEqual(["a", "good"]);
    expect(end.spentBy.size).toBe(2);
    expect(world.prompts[1]).toContain("look at it");
    expect(world.prompts[1]).toContain("<promise>REJECTED</promise>");
  });

  it("has no goal loop of its own, though it is the agent that has one while it works", async () => {
    const own = makeSpec({}).agent;
    const world = makeWorld();
    const agent = { ...own, options: { nativeGoal: "the goal" } };
    const spec = makeSpec({ agent, review: { agent: { agent: own.name }, prompt: "look at it" } });
    const goals: unknown[] = [];
    const adjust = (ports: Parameters<typeof mixAgents>[0]): void => {
      const { [own.name]: sim } = ports.agents;
      if (sim === undefined) return;
      const open: typeof sim.open = (request) => {
        goals.push(request.agent.options["nativeGoal"]);
        return sim.open(request);
      };
      ports.agents = { ...ports.agents, [own.name]: { ...sim, open } };
    };
    await live(world, spec, [act(["good"], true, { review: { lines: [], rejects: false } })], { deaths: [], adjust });
    expect(goals).toEqual(["the goal", undefined]);
  });

  it("sends a change back that it rejects, with its words, though the checks pass", async () => {
    const acts = [
      act(["good"], true, { review: { lines: [], rejects: true } }),
      act(["better"], true, { review: { lines: [], rejects: false } }),
    ];
    const { world, end } = await run(acts, { over: { review } });
    expect(rules(world)).toEqual(["review-rejected", "all-required-pass"]);
    expect(end.outcome?.is).toBe("verified");
    expect(world.prompts[2]).toContain("It rejects the change as it is.");
    expect(world.prompts[2]).toContain("it is wrong");
  });

  it("fails the iteration when it fails, waits for its own limit, and ends the run when its agent cannot work at all", async () => {
    const crashed = await run([act(["good"], true), act(["more"], true)], {
      over: { review },
      troubles: { two: ["crash", "hang", "crash"] },
    });
    expect(rules(crashed.world)).toEqual(["review-failed", "all-required-pass"]);
    const limited = await run([act(["good"], true)], { over: { review }, troubles: { two: ["reset"] } });
    expect(rules(limited.world)).toEqual(["all-required-pass"]);
    expect(of(limited.world, "wait-start")).toHaveLength(1);
    const hopeless = await run([act(["good"], true)], { over: { review }, troubles: { two: ["login"] } });
    expect(hopeless.end.outcome).toMatchObject({ is: "failed", rule: "review:login" });
  });

  it("is no review where nothing changed, and a spent budget is no pass", async () => {
    const idle = await run([act([]), act(["good"], true)], { over: { review } });
    expect(seats(idle.world)).toEqual(["sim", "sim", "(two)"]);
    const poor = await run([act(["good"], true)], { over: { review, limits: { turns: 1 } } });
    expect(poor.end.outcome).toMatchObject({ is: "exhausted", rule: "budget:turns" });
  });
});

const failure = fc.constantFrom<Failure>("fine", "fine", "overloaded", "reset", "crash", "hang", "login", "context");
const troubled = fc.record({
  sim: fc.array(failure, { maxLength: 5 }),
  "sim:big": fc.array(failure, { maxLength: 4 }),
  two: fc.array(failure, { maxLength: 5 }),
  three: fc.array(failure, { maxLength: 3 }),
});
const mixes = fc.record({
  fallback: fc.constantFrom<MixSpec["fallback"][]>(
    [{ agent: "two" }],
    [{ agent: "two" }, { agent: "three" }],
    [{ agent: "sim", model: "big" }],
  ),
  rotate: fc.constantFrom<MixSpec["fallback"][]>(
    [],
    [{ agent: "sim" }, { agent: "two" }],
    [{ agent: "sim" }, { agent: "sim", model: "big" }],
  ),
  escalate: fc.constantFrom<MixSpec["fallback"][]>(
    [],
    [{ agent: "sim", model: "big" }],
    [{ agent: "three" }, { agent: "sim", model: "big" }],
  ),
});
const behaviours = fc.array(
  fc.record({
    lines: fc.uniqueArray(fc.constantFrom("a", "b", "c", "good"), { maxLength: 2 }),
    claim: fc.boolean(),
    faults: fc.constant<Behaviour["faults"]>([]),
    usd: fc.constantFrom(0, 0.01, null),
    review: fc.record({ lines: fc.constantFrom<string[]>([], ["r"], ["good"]), rejects: fc.boolean() }),
  }),
  { minLength: 1, maxLength: 4 },
);
const shapes = fc.record({
  context: fc.constantFrom<RunSpec["agent"]["context"]>("persistent", "fresh", "auto"),
  reviewed: fc.boolean(),
  iterations: fc.integer({ min: 1, max: 6 }),
});
const deaths = fc.array(fc.record({ touch: fc.integer({ min: 1, max: 50 }), afterEffect: fc.boolean() }), {
  maxLength: 3,
});

function overFrom({
  context,
  reviewed,
  iterations,
}: {
  context: RunSpec["agent"]["context"];
  reviewed: boolean;
  iterations: number;
}) {
  const { agent } = makeSpec();
  return {
    agent: { ...agent, context },
    limits: { iterations },
    struggle: { patience: 1, shortTurnMs: 0, ladder: ["hint", "other-agent", "stop"] as const },
    ...(reviewed ? { review: { agent: { agent: "three" }, prompt: "look" } } : {}),
  } as Partial<RunSpec>;
}

/** Turns of agents that were on the bench. */
function tooEarly(facts: readonly Fact[]): string[] {
  const benches = new Map<string, FactOf<"agent-benched">>();
  const found: string[] = [];
  for (const fact of facts) {
    if (fact.type === "agent-benched") benches.set(fact.seat, fact);
    if (fact.type !== "turn-start") continue;
    const bench = benches.get(fact.seat ?? "");
    const isOver =
      bench === undefined || fact.elapsed >= bench.untilElapsed || (bench.until !== null && fact.at >= bench.until);
    if (!isOver) found.push(`turn ${fact.turn} of ${fact.seat}`);
  }
  return found;
}

const sumOf = (state: RunState): object => {
  const total: Record<string, number | boolean> = { ...noSpending() };
  for (const { agent: _, model: __, ...spent } of state.spentBy.values())
    for (const [name, value] of Object.entries(spent))
      total[name] = typeof value === "boolean" ? total[name] === true || value : Number(total[name]) + value;
  return total;
};

describe("with any sequence of failures, and drivers that die anywhere", () => {
  it("nobody works from the bench, what each cost is what all cost, and the journal folds the same from any prefix", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, mixes, troubled, shapes, deaths, async (acts, mix, troubles, shape, dying) => {
        const { world, end } = await run(acts, { mix, troubles, over: overFrom(shape), deaths: dying });
        expect(tooEarly(world.facts)).toEqual([]);
        expect(complaintsAbout(world.facts)).toEqual([]);
        expect(world.boughtTwice).toEqual([]);
        const { usd, ...counts } = sumOf(end) as RunState["spent"];
        const { usd: all, ...spent } = end.spent;
        expect(counts).toEqual(spent);
        expect(usd).toBeCloseTo(all, 9);
        let state: RunState | undefined;
        for (const fact of world.facts) {
          state = apply(state, fact);
          const { actions } = wanted(runRecipe, state, { wall: state.at, elapsed: state.elapsed });
          expect(state.outcome !== undefined || state.wait !== undefined || actions.size > 0).toBe(true);
        }
        expect(state).toEqual(fold(world.facts));
      }),
      { numRuns: 150 },
    );
  });

  it("a driver that dies changes neither the end nor the files nor who worked", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, mixes, shapes, deaths, async (acts, mix, shape, dying) => {
        const calm = await run(acts, { mix, over: overFrom(shape) });
        const stormy = await run(acts, { mix, over: overFrom(shape), deaths: dying });
        expect(stormy.end.outcome).toEqual(calm.end.outcome);
        expect(stormy.world.content).toEqual(calm.world.content);
        expect([...new Set(seats(stormy.world))]).toEqual([...new Set(seats(calm.world))]);
      }),
      { numRuns: 100 },
    );
  });
});
