/** The proof before `verified`: repetitions and the planted failure, side by side, over kills, and where nothing could be planted. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fact, FactOf, FactType } from "../../src/events.ts";
import type { RunSpec } from "../../src/spec.ts";
import { summary } from "../../src/views/summary.ts";
import { aCheck, judgedBy, judgedSpec, type Asked, type Says } from "../support/judging.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeWorld, PLANTED, type Death, type portsOf, type World } from "../support/world.ts";

const act = (lines: string[], claim = true): Behaviour => ({ lines, claim, faults: [], usd: 0 });
const ofType = <T extends FactType>({ facts }: { facts: readonly Fact[] }, type: T): FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);
const isPlant = ({ lines }: Asked): boolean => lines.includes(PLANTED);
const honest = (asked: Asked): Says => (isPlant(asked) ? [PLANTED] : []);
/** Of the delivered tree, after its first pass. */
const isProof = (asked: Asked): boolean => asked.lines.includes("a") && (isPlant(asked) || asked.calls > 0);
const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface How {
  atOnce?: number;
  plants?: boolean;
  deaths?: readonly Death[];
  /** Before a check answers. */
  meanwhile?: (asked: Asked, signal: AbortSignal) => Promise<void>;
}

async function proven(spec: RunSpec, say: (asked: Asked) => Says, how: How = {}) {
  const world = makeWorld();
  world.plants = how.plants ?? true;
  const asked: Asked[] = [];
  const judged = judgedBy(world, spec, say, asked);
  const adjust = (ports: ReturnType<typeof portsOf>): void => {
    if (how.atOnce !== undefined) ports.checksAtOnce = how.atOnce;
    judged(ports);
    ports.checks = ports.checks.map((check) => ({
      ...check,
      judge: async (tree, signal, about) => {
        const verdict = await check.judge(tree, signal, about);
        const one = asked.findLast((it) => it.about === about);
        if (one !== undefined) await how.meanwhile?.(one, signal);
        return verdict;
      },
    }));
  };
  const end = await live(world, spec, [act(["a"]), act(["a", "b"])], { adjust, deaths: how.deaths ?? [] });
  return { world, end, asked };
}

const spec = judgedSpec({ passes: 3 });

describe("the proof before the end", () => {
  it("runs repetitions and the planted failure at the same time: each waits until all have begun", async () => {
    let begun = 0;
    const all = Promise.withResolvers<void>();
    const meanwhile = async (asked: Asked): Promise<void> => {
      if (!isProof(asked)) return;
      begun += 1;
      if (begun === 3) all.resolve();
      await all.promise;
    };
    const { end, world } = await proven(spec, honest, { meanwhile });
    expect(end.outcome?.is).toBe("verified");
    const facts = world.facts.filter(({ type }) => type.startsWith("proof-")).map(({ type }) => type);
    expect(facts.slice(0, 3)).toEqual(["proof-start", "proof-start", "proof-start"]);
    expect(ofType(world, "check-end").at(-1)?.verdict).toMatchObject({
      is: "pass",
      evidence: { runs: 3, control: "seen", suspicions: [] },
    });
  });

  it.each([1, 2, 3])("never runs more at the same time than the machine is said to take: %d", async (atOnce) => {
    let [now, most] = [0, 0];
    const meanwhile = async (): Promise<void> => {
      most = Math.max(most, (now += 1));
      for (let i = 0; i < 5; i += 1) await soon();
      now -= 1;
    };
    const { end } = await proven(spec, honest, { atOnce, meanwhile });
    expect(end.outcome?.is).toBe("verified");
    expect(most).toBe(atOnce);
  });

  it.each(["metric", "custom"] as const)(
    "leaves a %s alone: what runs beside it may change what it says",
    async (kind) => {
      let [now, most] = [0, 0];
      const meanwhile = async ({ check }: Asked): Promise<void> => {
        now += 1;
        if (check === "other") most = Math.max(most, now);
        for (let i = 0; i < 5; i += 1) await soon();
        now -= 1;
      };
      const checks = [aCheck("tests"), aCheck("other", { kind })];
      const { end, asked } = await proven(judgedSpec({ passes: 3 }, { checks }), honest, { meanwhile });
      expect(end.outcome?.is).toBe("verified");
      expect(asked.filter(({ check, lines }) => check === "other" && lines.includes("a"))).toHaveLength(3);
      expect(most).toBe(1);
    },
  );

  it("ends at the first repetition that fails: it is flaky, and the others are not waited for (F17)", async () => {
    const ended: string[] = [];
    const isSecond = ({ lines, calls }: Asked): boolean => lines.join() === "a" && calls === 1;
    const meanwhile = async (asked: Asked, signal: AbortSignal): Promise<void> => {
      if (asked.lines.includes("b") || !isProof(asked) || isSecond(asked)) return;
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      ended.push(isPlant(asked) ? "plant" : `call ${asked.calls}`);
    };
    const { world, end } = await proven(spec, (asked) => (isSecond(asked) ? ["shaky"] : honest(asked)), { meanwhile });
    expect(ended.toSorted()).toEqual(["call 2", "plant"]);
    const first = ofType(world, "check-end").filter(({ iteration }) => iteration === 1);
    expect(first.map(({ verdict }) => verdict.is)).toEqual(["pass", "flaky"]);
    expect(first.at(-1)?.verdict).toMatchObject({ runs: 2 });
    expect(end.flakes.get("tests")).toEqual(["shaky"]);
    expect(end.outcome?.is).toBe("verified");
  });

  it("asks what could not judge beside others once more, alone: there may not have been room for all", async () => {
    let now = 0;
    const crowded = new Set<Asked>();
    const meanwhile = async (asked: Asked): Promise<void> => {
      now += 1;
      for (let i = 0; i < 5; i += 1) await soon();
      if (now > 1) crowded.add(asked);
      for (let i = 0; i < 5; i += 1) await soon();
      now -= 1;
    };
    const world = makeWorld();
    world.plants = true;
    const asked: Asked[] = [];
    const judged = judgedBy(world, spec, honest, asked);
    const end = await live(world, spec, [act(["a"])], {
      adjust(ports) {
        judged(ports);
        ports.checks = ports.checks.map((check) => ({
          ...check,
          judge: async (tree, signal, about) => {
            const verdict = await check.judge(tree, signal, about);
            const one = asked.at(-1);
            if (one !== undefined) await meanwhile(one);
            return one !== undefined && crowded.has(one) ? { is: "unverifiable", reason: "no memory" } : verdict;
          },
        }));
      },
    });
    expect(crowded.size).toBeGreaterThan(0);
    expect(end.outcome?.is).toBe("verified");
    expect(ofType(world, "wait-start")).toEqual([]);
    expect(ofType(world, "check-end").at(-1)?.verdict).toMatchObject({ evidence: { runs: 3, control: "seen" } });
  });

  it("ends in the same verdict wherever its driver is killed, and what had ended is not done again (F1)", async () => {
    const deaths = fc.array(fc.record({ touch: fc.integer({ min: 1, max: 40 }), afterEffect: fc.boolean() }), {
      maxLength: 3,
    });
    const calm = await proven(spec, honest);
    await fc.assert(
      fc.asyncProperty(deaths, fc.integer({ min: 1, max: 3 }), async (killed, atOnce) => {
        const stormy = await proven(spec, honest, { deaths: killed, atOnce });
        expect(stormy.end.outcome).toEqual(calm.end.outcome);
        expect(ofType(stormy.world, "check-end").at(-1)?.verdict).toEqual(
          ofType(calm.world, "check-end").at(-1)?.verdict,
        );
        const parts = (world: World): string[] =>
          ofType(world, "proof-end")
            .map(({ part }) => JSON.stringify(part))
            .toSorted();
        expect(parts(stormy.world)).toEqual(parts(calm.world));
      }),
      { numRuns: 150 },
    );
  });
});

describe("where nothing could be planted", () => {
  const last = ({ facts }: World): FactOf<"check-end"> | undefined => ofType({ facts }, "check-end").at(-1);
  const NO_CONTROL = "no planted failure could be tried";
  /** A check that does not look at tests, a base that could not take a plant, a tree without any test of a known language. */
  const deaf = (): Says => [];
  const never = (asked: Asked): Says => (isPlant(asked) ? "unverifiable" : []);
  const ways: [string, (asked: Asked) => Says, How][] = [
    ["in no file of the base", honest, { plants: false }],
    ["so that the check sees it, on the base either", deaf, {}],
    ["without keeping it from judging, on the base either", never, {}],
  ];

  it.each(ways)("%s, evidence and summary say so", async (_, say, how) => {
    const { end, world } = await proven(judgedSpec(), say, how);
    expect(end.outcome).toMatchObject({ is: "verified", rule: "all-required-pass" });
    expect(last(world)?.verdict).toMatchObject({ is: "pass", evidence: { control: "none", suspicions: [] } });
    expect(summary(end, { diff: undefined })).toContain(NO_CONTROL);
  });

  it.each(ways)("%s, the end is a person's where a control is required (A11)", async (_, say, how) => {
    const { end } = await proven(judgedSpec({ requireControl: true }), say, how);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "no-control" });
    expect(end.outcome?.reason).toContain(`${NO_CONTROL} with tests`);
    // The work is delivered all the same.
    expect(end.lanes.get("main")?.handOver).toBeUndefined();
  });

  it("is no matter of a check that runs no tests of its own, nor where one was seen", async () => {
    const checks = [aCheck("tests"), aCheck("rule", { kind: "requirement" })];
    const { end } = await proven(judgedSpec({ requireControl: true }, { checks }), honest);
    expect(end.outcome?.is).toBe("verified");
    expect(summary(end, { diff: undefined })).not.toContain(NO_CONTROL);
  });

  it("is said of each check by itself: one that saw the plant does not speak for another", async () => {
    const checks = [aCheck("tests"), aCheck("lint")];
    const say = (asked: Asked): Says => (asked.check === "lint" ? [] : honest(asked));
    const { end } = await proven(judgedSpec({ requireControl: true }, { checks }), say);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "no-control" });
    expect(end.outcome?.reason).toContain(`${NO_CONTROL} with lint`);
  });

  it("is not said where a person has turned it off", async () => {
    const { end, world } = await proven(judgedSpec({ control: "off" }), honest, { plants: false });
    expect(end.outcome?.is).toBe("verified");
    expect(last(world)?.verdict).not.toHaveProperty("evidence.control");
    expect(summary(end, { diff: undefined })).not.toContain(NO_CONTROL);
  });
});
