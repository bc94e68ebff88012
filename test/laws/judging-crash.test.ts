/** What breaks while pawl judges, by a defect of its own, ends as a verdict or an outcome: never in a run that cannot go on. */
import { describe, expect, it } from "vitest";
import type { Ports } from "../../src/ports.ts";
import { judgedBy, judgedSpec, type Asked, type Says } from "../support/judging.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeWorld, PLANTED, type portsOf, type World } from "../support/world.ts";

const ACTS: Behaviour[] = [{ lines: ["a"], claim: true, faults: [], usd: 0 }];
const SPEC = judgedSpec({ passes: 2 });
const say = ({ lines }: Asked): Says => (lines.includes(PLANTED) ? ["plant"] : []);
/** More than any stage is come by in one run. */
const MAX_CALLS = 20;

const STAGES = ["verify tree", "plant", "check"] as const;
type Stage = (typeof STAGES)[number];

/** The n-th call of the stage throws what no port should, and with `always` every later one, too. */
function broken(ports: Ports, stage: Stage, breaks: () => boolean): void {
  const instead = <A extends unknown[], R>(real: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (breaks()) throw new TypeError("undefined is not iterable");
      return await real(...args);
    };
  };
  const { workspace } = ports;
  if (stage === "verify tree") workspace.verifyTree = instead(workspace.verifyTree);
  else if (stage === "plant") workspace.planted = instead(workspace.planted);
  else ports.checks = ports.checks.map((check) => ({ ...check, judge: instead(check.judge) }));
}

interface Crash {
  stage: Stage;
  at: number;
  always: boolean;
}

async function crashed(world: World, { stage, at, always }: Crash) {
  world.plants = true;
  let calls = 0;
  const answer = judgedBy(world, SPEC, say);
  const adjust = (ports: ReturnType<typeof portsOf>): void => {
    answer(ports);
    broken(ports, stage, () => (calls += 1) === at || (always && calls > at));
  };
  const end = await live(world, SPEC, ACTS, { adjust });
  return { end, isMet: calls >= at };
}

describe.each(STAGES)("a defect met at the stage %s", (stage) => {
  it.each([false, true])("ends the run with an outcome, wherever it is met (for good: %s)", async (always) => {
    let met = 0;
    for (let at = 1; at <= MAX_CALLS; at += 1) {
      const world = makeWorld();
      const { end, isMet } = await crashed(world, { stage, at, always });
      if (!isMet) break;
      met += 1;
      expect(end.outcome?.is).toMatch(/^(verified|needs-human)$/);
      const said = JSON.stringify(world.facts.filter(({ type }) => /^(check-end|baseline-recorded)$/.test(type)));
      expect(said).toContain("pawl broke while it judged: TypeError: undefined is not iterable");
      if (end.outcome?.is === "needs-human") expect(end.outcome.reason).toContain("undefined is not iterable");
      // With the defect mended, the same run goes on to its end.
      const reopened = await live(world, SPEC, ACTS, { adjust: judgedBy(world, SPEC, say), reopen: { limits: {} } });
      expect(reopened.outcome).toBeDefined();
    }
    expect(met).toBeGreaterThan(1);
  });
});

it("a kill at any touch of the world, planted failures and all, leaves a run that comes to the same end", async () => {
  const calm = makeWorld();
  calm.plants = true;
  const { outcome } = await live(calm, SPEC, ACTS, { adjust: judgedBy(calm, SPEC, say) });
  for (let touch = 1; touch <= calm.touches; touch += 1) {
    const world = makeWorld();
    world.plants = true;
    const deaths = [{ touch, afterEffect: touch % 2 === 0 }];
    const end = await live(world, SPEC, ACTS, { deaths, adjust: judgedBy(world, SPEC, say) });
    expect(end.outcome).toEqual(outcome);
  }
});

it("a full disk while pawl judges is still an error of the machine's, and the run goes on once there is room", async () => {
  const world = makeWorld();
  const full = (ports: Ports): void => {
    ports.workspace.verifyTree = async () => {
      throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    };
  };
  await expect(live(world, SPEC, ACTS, { adjust: full })).rejects.toThrow("no space left");
  expect((await live(world, SPEC, ACTS, { adjust: judgedBy(world, SPEC, () => []) })).outcome?.is).toBe("verified");
});
