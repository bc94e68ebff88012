/** Green trees: what ends a run whose agent does not say it is done, and what passing checks show. */
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import type { RunSpec } from "../../src/spec.ts";
import { summary } from "../../src/views/summary.ts";
import { aCheck, aJudge, judgedBy, judgedSpec, type Asked, type Says } from "../support/judging.ts";
import { live, type LiveOptions } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, PLANTED, type World } from "../support/world.ts";

const act = (lines: string[], claim = false, more: Partial<Behaviour> = {}): Behaviour => ({
  lines,
  claim,
  faults: [],
  usd: 0,
  ...more,
});
const rules = (world: World): string[] =>
  world.facts.filter((f): f is FactOf<"decision-made"> => f.type === "decision-made").map((f) => f.rule);
const claim = (over: Partial<RunSpec["claim"]>): Pick<RunSpec, "claim"> => ({
  claim: { promise: "COMPLETE", required: true, confirmations: 1, ...over },
});
const told = (state: Parameters<typeof summary>[0]): string => summary(state, { diff: undefined });
const GUARDS = "guard against regressions";

async function judged(spec: RunSpec, say: (asked: Asked) => Says, acts: Behaviour[], more: LiveOptions = {}) {
  const world = makeWorld();
  world.plants = true;
  const asked: Asked[] = [];
  const end = await live(world, spec, acts, { ...more, adjust: judgedBy(world, spec, say, asked) });
  return { world, end, asked };
}

describe("three green iterations in a row without a change", () => {
  const GREEN_ONCE = [act(["good"]), act([])];

  it("end the run verified: nothing is left to judge (row 11)", async () => {
    const world = makeWorld();
    const end = await live(world, makeSpec(), GREEN_ONCE);
    expect(rules(world)).toEqual(["green-unclaimed", "green-unclaimed", "green-unclaimed", "settled"]);
    expect(end.outcome).toMatchObject({ is: "verified", rule: "settled" });
    expect(end.outcome?.reason).toContain("3 iterations in a row changed nothing");
    expect(told(end)).toContain("git merge pawl/x");
  });

  it("begin to count anew when something is changed", async () => {
    const world = makeWorld();
    await live(world, makeSpec(), [act(["good"]), act([]), act([]), act(["more"]), act([])]);
    expect(rules(world)).toEqual([...Array<string>(6).fill("green-unclaimed"), "settled"]);
  });

  it("begin to count anew when a person changes something between them", async () => {
    const world = makeWorld();
    const between: LiveOptions["between"] = async ({ lanes }) => {
      if (lanes.get("main")?.iteration !== 3 || world.content.includes("theirs")) return;
      world.content.push("theirs");
      // Driven time passes, so that the workspace is looked at.
      world.mono += 5_000;
    };
    await live(world, makeSpec(), GREEN_ONCE, { between });
    expect(rules(world)).toEqual([...Array<string>(5).fill("green-unclaimed"), "settled"]);
  });

  it("win over the struggle ladder, however short its patience is", async () => {
    const world = makeWorld();
    const struggle = { patience: 1, shortTurnMs: 60_000, ladder: ["stop" as const] };
    const end = await live(world, makeSpec({ struggle }), GREEN_ONCE);
    expect(end.outcome).toMatchObject({ is: "verified", rule: "settled" });
  });

  it("are proved like any other end: repeated, and with a planted failure", async () => {
    const good = ({ lines }: Asked): boolean => lines.includes("good");
    const honest = (one: Asked): Says => [
      ...(good(one) ? [] : ["old"]),
      ...(one.lines.includes(PLANTED) ? ["plant"] : []),
    ];
    const sound = await judged(judgedSpec({ passes: 3 }), honest, GREEN_ONCE);
    expect(sound.end.outcome).toMatchObject({ is: "verified", rule: "settled" });
    const seen = sound.asked.map(({ lines }) => lines.join());
    expect(seen.filter((lines) => lines === "good")).toHaveLength(3);
    expect(seen.at(-1)).toContain(PLANTED);
    const forged = (one: Asked): Says => (good(one) ? [] : honest(one));
    const lie = await judged(judgedSpec(), forged, GREEN_ONCE);
    expect(lie.end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
  });

  it("end nothing before the minimum of iterations, nor where several claims are asked for", async () => {
    const early = makeWorld();
    await live(early, makeSpec({ minIterations: 6 }), GREEN_ONCE);
    expect(rules(early)).toEqual([...Array<string>(5).fill("green-unclaimed"), "settled"]);
    const world = makeWorld();
    const end = await live(world, makeSpec({ ...claim({ confirmations: 2 }), limits: { iterations: 5 } }), GREEN_ONCE);
    expect(end.outcome?.is).not.toBe("verified");
  });

  it("do not end a run with open tasks", async () => {
    const world = makeWorld();
    world.memos.set("TASKS.md", "- [ ] one\n");
    const tasks = { file: "TASKS.md", promise: "NEXT", minIterations: 1 };
    const end = await live(world, makeSpec({ tasks, limits: { iterations: 6 } }), GREEN_ONCE);
    expect(end.outcome?.is).not.toBe("verified");
  });

  it("do not end a run whose last change the reviewer rejects", async () => {
    const world = makeWorld();
    const review = { agent: { agent: "sim" }, prompt: "look at it" };
    const rejected = act(["good"], true, { review: { lines: [], rejects: true } });
    const end = await live(world, makeSpec({ review, limits: { iterations: 5 } }), [rejected, act([], true), act([])]);
    expect(rules(world).slice(0, 3)).toEqual(Array(3).fill("review-rejected"));
    expect(end.outcome?.is).not.toBe("verified");
  });
});

describe("an agent that does not say it is done", () => {
  it("is told that every required check passes and what to say", async () => {
    const world = makeWorld();
    await live(world, makeSpec({ limits: { iterations: 2 } }), [act(["good"]), act(["x"])]);
    expect(world.prompts[1]).toMatch(/every required check passes/i);
    expect(world.prompts[1]).toContain("\n\n<promise>COMPLETE</promise>\n\n");
  });

  it("leaves a green tree at a limit: the summary offers the merge, and --until-green for the next time", async () => {
    const end = await live(makeWorld(), makeSpec({ limits: { iterations: 2 } }), [act(["good"]), act(["x"])]);
    expect(end.outcome?.is).toBe("exhausted");
    expect(told(end)).toContain("git switch main && git merge pawl/x");
    expect(told(end)).toContain("pawl run 'make it green' --check 'tests=true' --until-green");
    const red = await live(makeWorld(), makeSpec({ limits: { iterations: 1 } }), [act(["bad"])]);
    expect(told(red)).not.toContain("git merge");
    expect(told(red)).not.toContain("--until-green");
  });
});

describe("checks that all passed before the first turn", () => {
  const always = (): Says => [];
  const notes = (world: World): (string | undefined)[] =>
    world.facts.flatMap((f) => (f.type === "baseline-recorded" ? [f.note] : []));

  it("guard against regressions and do not show the goal: facts, outcome and summary say so (row 4)", async () => {
    const { world, end } = await judged(judgedSpec({ control: "off" }), always, [act(["a"], true)]);
    expect(end.outcome).toMatchObject({ is: "verified" });
    expect(end.outcome?.reason).toContain(GUARDS);
    expect(notes(world)).toEqual([expect.stringContaining(GUARDS)]);
    expect(told(end)).toMatch(/unverified +the goal: .*guard against regressions/);
    const unended = await judged(judgedSpec({}, { limits: { iterations: 1 } }), always, [act(["a"])]);
    expect(told(unended.end)).toMatch(/unverified +the goal: .*guard against regressions/);
  });

  it("say nothing of the kind where one that is required was red, or a model judges the goal", async () => {
    const checks = [aCheck("tests"), aCheck("lint")];
    const one = (asked: Asked): Says => (asked.check === "lint" && asked.lines.length === 0 ? ["old"] : []);
    const red = await judged(judgedSpec({ control: "off" }, { checks }), one, [act(["a"], true)]);
    expect(red.end.outcome).toMatchObject({ is: "verified" });
    expect(JSON.stringify(red.world.facts)).not.toContain(GUARDS);
    const judge = judgedSpec({ control: "off" }, { checks: [aCheck("tests"), aJudge("goal")] });
    const asked = await judged(judge, always, [act(["a"], true)]);
    expect(JSON.stringify(asked.world.facts)).not.toContain(GUARDS);
  });

  it("are named once, when the last required one is known; what is not required does not matter", async () => {
    const checks = [aCheck("tests"), aCheck("lint"), aCheck("style", { required: false })];
    const style = ({ check }: Asked): Says => (check === "style" ? ["ugly"] : []);
    const { world } = await judged(judgedSpec({ control: "off" }, { checks }), style, [act(["a"], true)]);
    expect(notes(world).map((note) => note?.includes(GUARDS))).toEqual([undefined, true, undefined]);
  });

  it("prove nothing where nothing was changed: the outcome is claimed, and no empty branch is offered (row 4)", async () => {
    for (const acts of [[act([], true)], [act([])]]) {
      const { world, end } = await judged(judgedSpec(), always, acts);
      expect(end.outcome).toMatchObject({ is: "claimed", rule: "no-change" });
      expect(end.outcome?.reason).toContain("nothing was changed");
      expect(world.commits).toEqual([]);
      expect(told(end)).not.toContain("git merge");
      expect(world.facts.filter((f) => f.type === "iteration-start").length).toBeLessThanOrEqual(3);
    }
    const until = await judged(judgedSpec({}, claim({ required: false })), always, [act([])]);
    expect(until.end.outcome).toMatchObject({ is: "claimed", rule: "no-change" });
  });

  it("are enough for a fork that has nothing to add to the work of another run", async () => {
    const of = { run: "r-0", snapshot: 1, iteration: 1 };
    const worked = judgedSpec({ control: "off" }, { fork: { ...of, redBefore: { tests: ["old"] } } });
    const { end } = await judged(worked, always, [act([], true)]);
    expect(end.outcome).toMatchObject({ is: "verified", rule: "all-required-pass" });
    expect(end.outcome?.reason).not.toContain(GUARDS);
    expect(told(end)).toContain("git merge");
    const fresh = await judged(judgedSpec({}, { fork: of }), always, [act([], true)]);
    expect(fresh.end.outcome).toMatchObject({ is: "claimed", rule: "no-change" });
  });

  it("prove no more where all that was changed was taken back", async () => {
    const { end } = await judged(judgedSpec(), always, [act(["a"]), act([], true, { rewrites: true })]);
    expect(end.outcome).toMatchObject({ is: "claimed", rule: "no-change" });
  });
});
