/** What a run may call itself at its end, on a simulated run through the real kernel. */
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import type { HookSpec, RunSpec } from "../../src/spec.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type World } from "../support/world.ts";

const GONE = { is: "missing" as const, reason: "the branch pawl/x was deleted", kept: "refs/pawl/r/main/head" };
const act = (lines: string[], claim: boolean): Behaviour => ({ lines, claim, faults: [], usd: 0 });
const endOf = (world: World): FactOf<"run-end"> | undefined =>
  world.facts.findLast((fact): fact is FactOf<"run-end"> => fact.type === "run-end");
const hook = (on: HookSpec["on"]): HookSpec => ({
  name: "h",
  on,
  command: "true",
  policy: "warn",
  toPrompt: false,
  timeoutMs: 1_000,
});
const withoutCommit = (): RunSpec => {
  const spec = makeSpec({ hooks: [hook(["iteration-end"])] });
  return { ...spec, workspace: { ...spec.workspace, commit: "none" } };
};

describe("the end of a run", () => {
  it("is not verified where the branch does not hold the work: a person is told what is wrong and where it is kept", async () => {
    const world = makeWorld();
    world.standing = GONE;
    await live(world, makeSpec(), [act(["good"], true)]);
    expect(endOf(world)?.outcome).toEqual({
      is: "needs-human",
      rule: "work-missing",
      reason: "the branch pawl/x was deleted; the work is kept as refs/pawl/r/main/head",
    });
  });

  it("is handed over again when that run is reopened, though nothing is changed", async () => {
    const world = makeWorld();
    world.standing = GONE;
    const acts = [act(["good"], true)];
    await live(world, makeSpec(), acts);
    world.standing = { is: "whole", warnings: [] };
    await live(world, makeSpec(), acts, { reopen: { limits: {} } });
    expect(endOf(world)?.outcome.is).toBe("verified");
    expect(world.facts.filter(({ type }) => type === "change-accepted")).toHaveLength(2);
  });

  it("tells the hook of its end what is so, not what the decision said", async () => {
    const world = makeWorld();
    world.standing = GONE;
    const inputs: string[] = [];
    await live(world, makeSpec({ hooks: [hook(["run-end"])] }), [act(["good"], true)], {
      adjust(ports) {
        const { hook: run } = ports;
        ports.hook = async (spec, input, signal) => {
          inputs.push(input);
          return await run(spec, input, signal);
        };
      },
    });
    expect(inputs.map((input) => JSON.parse(input) as unknown)).toMatchObject([{ outcome: { is: "needs-human" } }]);
  });

  it("that promised nothing keeps its outcome, with a warning", async () => {
    const world = makeWorld();
    world.standing = GONE;
    await live(world, makeSpec({ limits: { iterations: 1 } }), [act(["a"], false)]);
    expect(endOf(world)).toMatchObject({
      outcome: { is: "exhausted" },
      warnings: ["the branch pawl/x was deleted; the work is kept as refs/pawl/r/main/head"],
    });
  });

  it("without commits is not verified where the tree is not as it was judged", async () => {
    const world = makeWorld();
    world.hookResult = () => {
      world.content = [];
      return {};
    };
    await live(world, withoutCommit(), [act(["good"], true)]);
    expect(endOf(world)?.outcome).toMatchObject({
      is: "needs-human",
      rule: "work-missing",
      reason: expect.stringMatching(/not as it was judged.*kept as salvage\/end-0.*kept as snap\/1$/) as string,
    });
    const calm = makeWorld();
    await live(calm, withoutCommit(), [act(["good"], true)]);
    expect(endOf(calm)?.outcome.is).toBe("verified");
  });

  it("tells what was written after the last snapshot, where the branch has all that was judged", async () => {
    const world = makeWorld();
    world.hookResult = () => {
      world.content = [...world.content, "late"];
      return {};
    };
    await live(world, makeSpec({ hooks: [hook(["iteration-end"])] }), [act(["good"], true)]);
    expect(endOf(world)).toMatchObject({
      outcome: { is: "verified" },
      warnings: [expect.stringContaining("changed after the last snapshot")],
    });
  });
});
