/** The control point between iterations, and the last look at the end: laws in a simulated world, over kills. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Between } from "../../src/loop/between.ts";
import { mainLane } from "../../src/loop/state.ts";
import { live } from "../support/live.ts";
import { marked, type Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type World } from "../support/world.ts";

const behaviour: fc.Arbitrary<Behaviour> = fc.record({
  lines: fc.uniqueArray(fc.constantFrom("a", "b", "c", "good"), { maxLength: 2 }),
  claim: fc.boolean(),
  faults: fc.array(fc.constantFrom("limited", "crash"), { maxLength: 1 }),
  usd: fc.constant(0),
});
const acts = fc.array(behaviour, { minLength: 2, maxLength: 5 });
const deaths = fc.array(fc.record({ touch: fc.integer({ min: 1, max: 40 }), afterEffect: fc.boolean() }), {
  maxLength: 4,
});

/** Answers after a while with a word of its own for each boundary; the inbox takes the same word once. */
function asking(world: World, asked: string[]): Between {
  const said = new Set<string>();
  return async (state) => {
    const boundary = mainLane(state).iteration;
    asked.push(`${state.epoch}/${boundary + 1}`);
    for (let tick = 0; tick < 3; tick += 1) await new Promise((resolve) => setImmediate(resolve));
    const word = marked(`after ${boundary}`);
    if (said.has(word)) return;
    said.add(word);
    world.inbox.push({ id: word, directive: { kind: "say", text: word, when: "next" } });
  };
}

describe("the control point between iterations", () => {
  it("is asked once per boundary and driver, before the next iteration starts, and changes no outcome by itself", async () => {
    await fc.assert(
      fc.asyncProperty(acts, deaths, async (behaviours, kills) => {
        const spec = { ...makeSpec(), maxErrors: 9 };
        const calm = await live(makeWorld(), spec, behaviours);
        const world = makeWorld();
        const asked: string[] = [];
        const end = await live(world, spec, behaviours, { deaths: kills, between: asking(world, asked) });
        expect(end.outcome).toEqual(calm.outcome);
        expect(new Set(asked).size).toBe(asked.length);
        const begun = world.facts.flatMap((fact) =>
          fact.type === "turn-start" && fact.attempt === 1 && fact.iteration > 1 ? [fact] : [],
        );
        for (const fact of begun) {
          expect(asked).toContain(`${fact.epoch}/${fact.iteration}`);
          const word = marked(`after ${fact.iteration - 1}`);
          const received = world.facts.findIndex((one) => one.type === "directive-received" && one.id === word);
          expect(received).toBeGreaterThan(0);
          expect(received).toBeLessThan(fact.seq);
        }
        const received = world.facts.flatMap((fact) => (fact.type === "directive-received" ? [fact.id] : []));
        expect(new Set(received).size).toBe(received.length);
      }),
      { numRuns: 150 },
    );
  });

  it("that rejects stops the driving and leaves the run as it is; another driver goes on", async () => {
    const world = makeWorld();
    const behaviours: Behaviour[] = [
      { lines: ["a"], claim: false, faults: [], usd: 0 },
      { lines: ["good"], claim: true, faults: [], usd: 0 },
    ];
    const broken = live(world, makeSpec(), behaviours, { between: () => Promise.reject(new Error("mine")) });
    await expect(broken).rejects.toThrow("mine");
    expect(world.facts.filter(({ type }) => type === "run-end" || type === "iteration-start")).toHaveLength(1);
    expect((await live(world, makeSpec(), behaviours)).outcome?.is).toBe("verified");
  });
});

describe("the last look at the workspace", () => {
  it("keeps what was written after the last snapshot, wherever drivers are killed, and delivers none of it", async () => {
    const RUNS = 100;
    let killedSince = 0;
    /** The run is short: later than this it has ended. */
    const soon = fc.array(fc.record({ touch: fc.integer({ min: 1, max: 26 }), afterEffect: fc.boolean() }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(soon, async (kills) => {
        const world = makeWorld();
        let writtenBy = 0;
        const behaviours: Behaviour[] = [{ lines: ["good"], claim: true, faults: [], usd: 0 }];
        const end = await live(world, makeSpec(), behaviours, {
          deaths: kills,
          adjust(ports) {
            const { judge } = ports.checks[0] ?? {};
            const late: typeof judge = async (...given) => {
              // The base is judged too: what is written then is in the first snapshot.
              const isDone = world.trees.get(given[0].tree)?.includes("good") === true;
              if (isDone && !world.content.includes("late")) {
                world.content.push("late");
                writtenBy = world.epoch;
              }
              return (await judge?.(...given)) ?? { is: "skipped", reason: "" };
            };
            ports.checks = ports.checks.map((check) => ({ ...check, judge: late ?? check.judge }));
          },
        });
        expect(end.outcome?.is).toBe("verified");
        const delivered = world.trees.get(world.commits.at(-1)?.tree ?? "") ?? [];
        expect(delivered).toEqual(["good"]);
        expect(end.endWarnings?.[0]).toContain("neither judged nor delivered");
        expect(world.salvages.get("salvage/end-0")).toEqual(["good", "late"]);
        if (world.epoch > writtenBy) killedSince += 1;
      }),
      { numRuns: RUNS },
    );
    expect(killedSince).toBeGreaterThan(RUNS / 4);
  });
});
