/** The tree before the first turn is judged beside that turn, once, and everything later is told from it. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Fact, FactOf } from "../../src/events.ts";
import type { Agent, AgentSession, OpenRequest } from "../../src/ports.ts";
import { judgedBy, judgedSpec, aCheck, aJudge, type Asked, type Says } from "../support/judging.ts";
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

  it("lets the agent's start go first, and does not wait for ever for one that shows no sign of life", async () => {
    const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    /** `silence`: what passes before the agent's first event. */
    const judgedWith = async ({ silence, patient }: { silence: (world: World) => Promise<void>; patient: boolean }) => {
      const world = makeWorld();
      const spec = judgedSpec();
      const seen: string[] = [];
      const judged = judgedBy(world, spec, ({ lines }) => {
        if (lines.length === 0) seen.push("base judged");
        return true;
      });
      const adjust = (ports: Parameters<typeof judged>[0]): void => {
        judged(ports);
        const { agents, clock } = ports;
        const never = (_: number, signal: AbortSignal): Promise<void> =>
          new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        if (patient) ports.clock = { ...clock, sleep: never };
        ports.agents = Object.fromEntries(
          Object.entries(agents).map(([name, agent]) => [name, { ...agent, open: (it) => opened(agent, it) }]),
        );
      };
      const opened = async (agent: Agent, request: OpenRequest): Promise<AgentSession> => {
        const session = await agent.open(request);
        return {
          ...session,
          async *turn(...about) {
            await silence(world);
            seen.push("agent begins");
            yield* session.turn(...about);
          },
        };
      };
      const end = await live(world, spec, [act(["good"], true)], { adjust });
      expect(end.outcome?.is).toBe("verified");
      return seen.slice(0, 2);
    };
    const long = async (): Promise<void> => {
      for (let i = 0; i < 5; i += 1) await soon();
    };
    const untilJudged = async (world: World): Promise<void> => {
      while (!order(world).includes("baseline-recorded")) await soon();
    };
    expect(await judgedWith({ silence: long, patient: true })).toEqual(["agent begins", "base judged"]);
    expect(await judgedWith({ silence: untilJudged, patient: false })).toEqual(["base judged", "agent begins"]);
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

  describe("that does not end within its limit", () => {
    const HUNG = { fails: ["timeout"], evidence: { exitCode: null } };
    const judgedWith = async (say: (asked: Asked) => Says) => {
      const world = { ...makeWorld(), plants: true };
      const spec = judgedSpec();
      const asked: Asked[] = [];
      const end = await live(world, spec, [act(["good"], true)], { adjust: judgedBy(world, spec, say, asked) });
      return { end, onBase: asked.filter(({ lines }) => !lines.includes("good")) };
    };
    const passes = ({ lines }: Asked): Says => (lines.includes(PLANTED) ? ["planted"] : true);

    it("is red for that when it happens again, and a change that makes it end is verified (row 7)", async () => {
      const { end, onBase } = await judgedWith((one) => (one.lines.length === 0 ? HUNG : passes(one)));
      expect(end.outcome).toMatchObject({ is: "verified", rule: "all-required-pass" });
      expect(onBase).toHaveLength(2);
      expect(end.baselines.get("tests")).toMatchObject({ is: "fail", failures: [{ fingerprint: "timeout" }] });
    });

    it("is what it says when it ends the second time", async () => {
      const { end } = await judgedWith((one) => (one.lines.length === 0 && one.calls === 0 ? HUNG : passes(one)));
      expect(end.outcome?.is).toBe("verified");
      expect(end.baselines.get("tests")?.is).toBe("pass");
    });

    it("proves nothing for what ends without seeing a planted failure", async () => {
      const { end } = await judgedWith(({ lines }) => (lines.includes("good") ? true : HUNG));
      expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
    });

    it("goes on red while the change does not end either", async () => {
      const { end } = await judgedWith(() => HUNG);
      expect(end.outcome?.is).not.toBe("verified");
      expect([...end.latest.values()].map(({ is }) => is)).toEqual(["fail"]);
    });
  });

  it.each([
    ["by an agent that cannot work", act(["a"], false, { faults: ["crash"] }), []],
    ["by a stop", act(["a"]), [{ touch: 6, directive: { kind: "stop", when: "now" } }]],
  ] as const)("is made up for by a run that was ended before it, %s", async (_, first, letters) => {
    const world = makeWorld();
    const spec = judgedSpec({}, { maxErrors: 1 });
    const asked: Asked[] = [];
    // The first time the base takes longer than everything else.
    const say = async ({ lines }: Asked): Promise<boolean> => {
      while (lines.length === 0 && !order(world).includes("decision-made"))
        await new Promise((resolve) => setImmediate(resolve));
      return true;
    };
    const adjust = judgedBy(world, spec, say, asked);
    world.letters = [...letters];
    const early = await live(world, spec, [first], { adjust });
    expect(["failed", "stopped"]).toContain(early.outcome?.is);
    expect(ofType(world, "baseline-recorded")).toEqual([]);
    const reopen = { limits: { iterations: 5 } };
    const end = await live(world, spec, [first, act(["good"], true)], { adjust, reopen });
    expect(end.outcome?.is).toBe("verified");
    expect(ofType(world, "baseline-recorded")).toHaveLength(1);
    expect(order(world).indexOf("baseline-recorded")).toBeLessThan(order(world).indexOf("check-start"));
    expect(asked.at(-1)?.about.baseline?.is).toBe("pass");
  });

  it("is made up for by a run that is older than baselines", async () => {
    const world = makeWorld();
    const spec = judgedSpec({}, { limits: { iterations: 1 } });
    await live(world, spec, [act(["a"])]);
    world.facts = world.facts.filter(({ type }) => type !== "baseline-recorded").map((fact, seq) => ({ ...fact, seq }));
    const end = await live(world, spec, [act(["a"]), act(["good"], true)], { reopen: { limits: { iterations: 5 } } });
    expect(end.outcome?.is).toBe("verified");
    expect(ofType(world, "baseline-recorded")).toHaveLength(1);
  });

  it("stands for a change that is none: the same tree is not judged again", async () => {
    const world = makeWorld();
    const spec = judgedSpec({ control: "off" });
    const asked: Asked[] = [];
    const end = await live(world, spec, [act([]), act([], true)], { adjust: judgedBy(world, spec, () => true, asked) });
    expect(asked.filter(({ lines }) => lines.length === 0)).toHaveLength(1);
    expect(ofType(world, "check-start")).toEqual([]);
    expect(end.outcome?.is).toBe("claimed");
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
