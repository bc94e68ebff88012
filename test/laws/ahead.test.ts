/** An agent that was started ahead of its run's first driver. */
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type World } from "../support/world.ts";

const GOOD: Behaviour = { lines: ["good"], claim: true, faults: [], usd: 0 };
const REF = "started-ahead";

const sessionsOf = (world: World): string[] =>
  world.facts.filter((f): f is FactOf<"turn-start"> => f.type === "turn-start").map((f) => f.session.ref);

/** Drives to the end; says how often was swept and how many sessions were opened by the driver. */
async function drive(world: World, { isNew }: { isNew: boolean }): Promise<{ swept: number; opened: string[] }> {
  const seen = { swept: 0, opened: [] as string[] };
  let first = isNew;
  const spec = makeSpec();
  const request = { run: spec.run, lane: "main", workspace: "/w", home: "/h", instructions: "", environment: {} };
  await live(world, spec, [GOOD], {
    adjust(ports) {
      const { [spec.agent.name]: agent } = ports.agents;
      if (agent === undefined) throw new Error("no agent");
      const { open } = agent;
      agent.open = (asked) => {
        seen.opened.push(asked.session.ref);
        return open(asked);
      };
      ports.sweep = async () => (seen.swept += 1);
      if (!first) return;
      first = false;
      const session = open({ ...request, session: { ref: REF, mode: "new" }, agent: spec.agent, model: undefined });
      void session.then((opened) => (ports.ahead = { ref: REF, session: opened }));
    },
  });
  return seen;
}

describe("an agent that is started ahead", () => {
  it("takes the first turn, and is not swept by the driver that began the run", async () => {
    const world = makeWorld();
    expect(await drive(world, { isNew: true })).toEqual({ swept: 0, opened: [] });
    expect(sessionsOf(world)[0]).toBe(REF);
  });

  it("is swept by a first driver that did not begin the run: who began it may have died before it drove", async () => {
    const world = makeWorld();
    const { swept, opened } = await drive(world, { isNew: false });
    expect(swept).toBe(1);
    expect(sessionsOf(world)[0]).toBe(opened[0]);
  });
});
