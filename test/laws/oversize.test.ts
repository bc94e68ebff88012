/** More new files than a snapshot holds: the agent is told, and a person where that does not help. */
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import { live, type LiveOptions } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type portsOf, type World } from "../support/world.ts";

const act = (lines: string[], claim = true): Behaviour => ({ lines, claim, faults: [], usd: 0, rewrites: true });
const rules = (world: World): string[] =>
  world.facts.filter((f): f is FactOf<"decision-made"> => f.type === "decision-made").map((f) => f.rule);
const turns = (world: World): number => world.facts.filter(({ type }) => type === "turn-start").length;
const WHY = '300 MB of new or changed files are more than the 256 MB of a snapshot, most of them in "data/"';

/** A tree with the line `huge` is more than a snapshot holds. */
const capped = (world: World) => (ports: ReturnType<typeof portsOf>) => {
  const { snapshot } = ports.workspace;
  ports.workspace.snapshot = async (n, about) => {
    const lines = world.content;
    if (!lines.includes("huge")) return await snapshot(n, about);
    world.content = [...(world.snapshots.get(about.parent ?? 0) ?? [])];
    const taken = await snapshot(n, about);
    world.content = lines;
    return { ...taken, files: [], fileCount: 0, refused: WHY };
  };
};
const run = async (world: World, acts: Behaviour[], more: LiveOptions & { iterations?: number } = {}) =>
  await live(world, makeSpec({ limits: { iterations: more.iterations ?? 6 } }), acts, {
    ...more,
    adjust: capped(world),
  });

describe("a change that is more than a snapshot holds", () => {
  it("is told to the agent, which has one iteration to remove what is no work (F13)", async () => {
    const world = makeWorld();
    const end = await run(world, [act(["good", "huge"]), act(["good"])]);
    expect(rules(world)).toEqual(["snapshot-refused", "all-required-pass"]);
    expect(world.prompts[1]).toContain(WHY);
    expect(world.prompts[1]).toMatch(/Remove .*\.gitignore/);
    expect(world.prompts[1]).not.toContain("What the checks said");
    expect(end.outcome?.is).toBe("verified");
    expect(world.trees.get(world.commits.at(-1)?.tree ?? "")).toEqual(["good"]);
  });

  it("is a person's where it stays, with what to do; nothing green beneath it is taken for its pass", async () => {
    const world = makeWorld();
    const end = await run(world, [act(["good"], false), act(["good", "huge"]), act(["good", "huge", "x"])]);
    expect(rules(world)).toEqual(["green-unclaimed", "snapshot-refused", "snapshot-refused"]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "snapshot-refused" });
    expect(end.outcome?.reason).toContain(WHY);
    expect(end.outcome?.reason).toMatch(/\.gitignore.*resume.*max-snapshot-size/);
    expect(world.content).toContain("huge");
  });

  it("is told anew when it comes again later", async () => {
    const world = makeWorld();
    await run(world, [act(["huge"]), act(["a"]), act(["huge"]), act(["good"])]);
    expect(rules(world)).toEqual(["snapshot-refused", "claim-refused", "snapshot-refused", "all-required-pass"]);
  });

  it("is a person's at once where no iteration is left", async () => {
    const world = makeWorld();
    const end = await run(world, [act(["huge"])], { iterations: 1 });
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "snapshot-refused" });
  });

  it("ends the same wherever drivers die", async () => {
    for (let touch = 1; touch <= 40; touch += 1) {
      const world = makeWorld();
      const end = await run(world, [act(["huge"]), act(["good"])], {
        deaths: [{ touch, afterEffect: touch % 2 === 0 }],
      });
      expect([touch, end.outcome?.is, world.boughtTwice]).toEqual([touch, "verified", []]);
    }
  });
});

describe("files of a person that are more than a snapshot holds", () => {
  it("are never the agent's to remove: the run ends before a turn is paid", async () => {
    const world = makeWorld();
    world.content = ["huge"];
    const end = await run(world, [act(["good"])]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "snapshot-refused" });
    expect(turns(world)).toBe(0);
  });

  it("that come between two turns end the run before the next; once they are gone it goes on", async () => {
    const world = makeWorld();
    const between: LiveOptions["between"] = async ({ lanes }) => {
      if (lanes.get("main")?.iteration !== 1 || world.content.includes("huge")) return;
      world.content.push("huge");
      // Driven time passes, so that the workspace is looked at.
      world.mono += 5_000;
    };
    const acts = [act(["a"], false), act(["good"])];
    const end = await run(world, acts, { between });
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "snapshot-refused" });
    expect(turns(world)).toBe(1);
    const still = await run(world, acts, { reopen: { limits: {} } });
    expect([still.outcome?.rule, turns(world)]).toEqual(["snapshot-refused", 1]);
    world.content = ["a"];
    expect((await run(world, acts, { reopen: { limits: {} } })).outcome?.is).toBe("verified");
  });

  it("are not meant where the agent's own are still there when the workspace is looked at", async () => {
    const world = makeWorld();
    const end = await run(world, [act(["good", "huge"]), act(["good"])], {
      between: async () => void (world.mono += 5_000),
    });
    expect(end.outcome?.is).toBe("verified");
  });
});
