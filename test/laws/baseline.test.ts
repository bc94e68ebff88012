/** The tree before the first turn is judged beside that turn, once, and everything later is told from it. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fact, FactOf } from "../../src/events.ts";
import { judgedBy, judgedSpec, aCheck, aJudge, type Asked } from "../support/judging.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeWorld, PLANTED, type World } from "../support/world.ts";

const act = (lines: string[], claim = false, more: Partial<Behaviour> = {}): Behaviour => ({
  lines,
  claim,
  faults: [],
  usd: 0,
  ...more,
});
const ofType = <T extends Fact["type"]>(world: World, type: T): FactOf<T>[] =>
  world.facts.filter((fact): fact is FactOf<T> => fact.type === type);
const order = (world: World): string[] => world.facts.map(({ type }) => type);

describe("the baseline", () => {
  it("is a fact of every check that can judge a base, before the first decision, and given to later judgements", async () => {
    const world = makeWorld();
    const spec = judgedSpec({}, { checks: [aCheck("tests"), aCheck("lint"), aJudge("taste")] });
    const asked: Asked[] = [];
    const end = await live(world, spec, [act(["good"], true)], { adjust: judgedBy(world, spec, () => true, asked) });
    expect(end.outcome?.is).toBe("verified");
    expect(ofType(world, "baseline-recorded").map(({ check, verdict }) => `${check} ${verdict.is}`)).toEqual([
      "tests pass",
      "lint pass",
    ]);
    const firstJudged = order(world).indexOf("check-start");
    expect(order(world).lastIndexOf("baseline-recorded")).toBeLessThan(firstJudged);
    expect(asked.filter(({ lines }) => lines.length === 0).map(({ about }) => about.baseline)).toEqual([
      undefined,
      undefined,
    ]);
    const later = asked.filter(({ lines, check }) => lines.includes("good") && check !== "taste");
    expect(later.map(({ about }) => about.baseline?.is)).toEqual(["pass", "pass"]);
  });

  it("runs beside the first turn, and the first judgement waits for one that takes longer", async () => {
    const world = makeWorld();
    const spec = judgedSpec();
    const slow = async ({ lines }: Asked): Promise<boolean> => {
      while (lines.length === 0 && !order(world).includes("turn-end"))
        await new Promise((resolve) => setImmediate(resolve));
      return lines.length > 0;
    };
    const end = await live(world, spec, [act(["good"], true)], { adjust: judgedBy(world, spec, slow) });
    expect(end.outcome?.is).toBe("verified");
    const facts = order(world);
    expect(facts.indexOf("baseline-recorded")).toBeGreaterThan(facts.indexOf("turn-end"));
    expect(facts.indexOf("baseline-recorded")).toBeLessThan(facts.indexOf("check-start"));
  });

  it("goes on while the first turn waits for its provider", async () => {
    const world = makeWorld();
    const spec = judgedSpec();
    await live(world, spec, [act(["good"], true, { faults: ["limited"] })]);
    expect(order(world).indexOf("baseline-recorded")).toBeLessThan(order(world).indexOf("wait-end"));
    expect(ofType(world, "baseline-recorded")).toHaveLength(1);
  });

  it("is written down when it could not judge, and then nothing is told from it", async () => {
    const world = makeWorld();
    const spec = judgedSpec();
    const asked: Asked[] = [];
    const say = ({ lines }: Asked) => (lines.length === 0 ? ("unverifiable" as const) : true);
    const end = await live(world, spec, [act(["good"], true)], { adjust: judgedBy(world, spec, say, asked) });
    expect(end.outcome?.is).toBe("verified");
    expect(end.baselines.get("tests")?.is).toBe("unverifiable");
    expect(asked.at(-1)?.about.baseline).toBeUndefined();
  });

  it("is not made in a run that had its first decision before there were any", async () => {
    const world = makeWorld();
    const spec = judgedSpec({}, { limits: { iterations: 1 } });
    await live(world, spec, [act(["a"])]);
    world.facts = world.facts.filter(({ type }) => type !== "baseline-recorded").map((fact, seq) => ({ ...fact, seq }));
    const end = await live(world, spec, [act(["a"]), act(["good"], true)], { reopen: { limits: { iterations: 5 } } });
    expect(end.outcome?.is).toBe("verified");
    expect(ofType(world, "baseline-recorded")).toEqual([]);
  });

  it("stands for a change that is none: the same tree is not judged again", async () => {
    const world = makeWorld();
    const spec = judgedSpec({ control: "off" });
    const asked: Asked[] = [];
    const end = await live(world, spec, [act([]), act([], true)], { adjust: judgedBy(world, spec, () => true, asked) });
    expect(asked.filter(({ lines }) => lines.length === 0)).toHaveLength(1);
    expect(ofType(world, "check-start")).toEqual([]);
    expect(end.outcome?.is).toBe("verified");
  });

  it("is ended with the run, by a stop", async () => {
    const world = makeWorld();
    world.letters = [{ touch: 6, directive: { kind: "stop", when: "now" } }];
    const end = await live(world, judgedSpec(), [act(["a"])]);
    expect(end.outcome?.is).toBe("stopped");
  });
});

describe("with everything the verdict engine does", () => {
  const acts = fc.array(
    fc.record({
      lines: fc.uniqueArray(fc.constantFrom("a", "b", "good", "bad"), { maxLength: 3 }),
      claim: fc.boolean(),
      faults: fc.array(fc.constantFrom("limited" as const, "crash" as const), { maxLength: 1 }),
      usd: fc.constant(0),
    }),
    { minLength: 1, maxLength: 5 },
  );
  const policies = fc.record({
    preExisting: fc.constantFrom("ask" as const, "require" as const, "leave" as const),
    reruns: fc.integer({ min: 0, max: 2 }),
    control: fc.constantFrom("auto" as const, "off" as const),
    combine: fc.constantFrom("veto" as const, "all" as const, "weighted" as const, "quorum" as const),
  });
  const deaths = fc.array(fc.record({ touch: fc.integer({ min: 1, max: 60 }), afterEffect: fc.boolean() }), {
    maxLength: 4,
  });
  /** What a tree is worth does not change, and a plant is seen by the tests alone. */
  const say = ({ check, lines }: Asked): readonly string[] => {
    if (check === "lint") return lines.includes("b") ? ["style"] : [];
    const red = lines.includes("good") ? [] : ["old"];
    return [...red, ...(lines.includes("bad") ? ["new"] : []), ...(lines.includes(PLANTED) ? ["planted"] : [])];
  };
  const checks = [aCheck("tests"), aCheck("lint", { required: false }), aJudge("taste")];

  it("ends as the undisturbed run does, wherever drivers are killed", async () => {
    await fc.assert(
      fc.asyncProperty(acts, policies, deaths, async (behaviours, policy, killed) => {
        const spec = judgedSpec(policy, { checks, limits: { iterations: 6 }, maxErrors: 9 });
        const run = async (how: typeof killed): Promise<[World, Awaited<ReturnType<typeof live>>]> => {
          const world = makeWorld();
          world.plants = true;
          return [world, await live(world, spec, behaviours, { deaths: how, adjust: judgedBy(world, spec, say) })];
        };
        const [calm, calmEnd] = await run([]);
        const [stormy, stormyEnd] = await run(killed);
        expect(stormyEnd.outcome).toEqual(calmEnd.outcome);
        expect(stormy.content).toEqual(calm.content);
        expect(new Set(ofType(stormy, "check-end").map(({ verdict }) => JSON.stringify(verdict)))).toEqual(
          new Set(ofType(calm, "check-end").map(({ verdict }) => JSON.stringify(verdict))),
        );
        const twice = ofType(stormy, "baseline-recorded").map(({ check }) => check);
        expect(new Set(twice).size).toBe(twice.length);
      }),
      { numRuns: 250 },
    );
  });
});
