/** Rules of claims: giving up, confirmations, the structured call. Each on a simulated run through the real kernel. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import { claimOf, misplacedPromise } from "../../src/loop/claim.ts";
import { summary } from "../../src/views/summary.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type World } from "../support/world.ts";

const act = (lines: string[], claim = false, more: Partial<Behaviour> = {}): Behaviour => ({
  lines,
  claim,
  faults: [],
  usd: 0,
  ...more,
});
const rules = (world: World): string[] =>
  world.facts.filter((f): f is FactOf<"decision-made"> => f.type === "decision-made").map((f) => f.rule);
const withClaim = (claim: object) =>
  makeSpec({ claim: { promise: "COMPLETE", required: true, confirmations: 1, ...claim } });
const GIVE_UP = "The interface is gone.\n\n<promise>ABORT</promise>";

describe("giving up", () => {
  it("ends the run failed with the agent's reason, its work handed over below the best that was judged, and no check run", async () => {
    const world = makeWorld();
    const end = await live(world, withClaim({ abort: "ABORT" }), [
      act(["half"]),
      act(["more"], false, { says: GIVE_UP }),
    ]);
    expect(end.outcome).toEqual({
      is: "failed",
      rule: "claim:abort",
      reason: "the agent gives up: The interface is gone.",
    });
    expect(world.commits.map(({ tree }) => world.trees.get(tree))).toEqual([["half"], ["half", "more"], ["half"]]);
    expect(world.facts.filter((f) => f.type === "check-end")).toHaveLength(1);
  });

  it("by a structured call needs no promise to be configured", async () => {
    const world = makeWorld();
    const end = await live(world, makeSpec(), [act(["a"], false, { call: { is: "abort", text: "no way" } })]);
    expect(end.outcome).toMatchObject({ is: "failed", rule: "claim:abort", reason: "the agent gives up: no way" });
  });

  it("can be reopened: the run goes on with its next iteration", async () => {
    const world = makeWorld();
    const spec = withClaim({ abort: "ABORT" });
    const acts = [act(["a"], false, { says: GIVE_UP }), act(["good"], true)];
    await live(world, spec, acts);
    const end = await live(world, spec, acts, { reopen: { limits: {} } });
    expect(end.outcome?.is).toBe("verified");
    expect(world.facts.filter((f) => f.type === "iteration-start")).toHaveLength(2);
  });

  it("is not meant by the word elsewhere, or without a word for it", async () => {
    const quotedWord = act(["a"], false, { says: "I could say\n\n> <promise>ABORT</promise>" });
    const first = makeWorld();
    await live(first, withClaim({ abort: "ABORT" }), [quotedWord, act(["good"], true)]);
    expect(rules(first)).toEqual(["promise-misplaced", "all-required-pass"]);
    const second = makeWorld();
    await live(second, makeSpec(), [act(["a"], false, { says: GIVE_UP }), act(["good"], true)]);
    expect(rules(second)).toEqual(["promise-misplaced", "all-required-pass"]);
  });
});

describe("confirmations", () => {
  it("asks for as many claims in a row, tells which one it is, and does not take looking again for struggle", async () => {
    const world = makeWorld();
    const end = await live(world, withClaim({ confirmations: 6 }), [act(["good"], true)]);
    expect(rules(world)).toEqual([...Array<string>(5).fill("claim-unconfirmed"), "all-required-pass"]);
    expect(end.outcome?.is).toBe("verified");
    expect(world.prompts[1]).toContain("confirmation 2 of 6");
    expect(world.prompts[5]).toContain("confirmation 6 of 6");
  });

  it("begins anew after an iteration without a claim, and after red checks", async () => {
    const world = makeWorld();
    const acts = [
      act(["good"], true),
      act(["more"]),
      act(["even more"], true),
      act(["bad"], true, { rewrites: true }),
      act(["good", "x"], true, { rewrites: true }),
      act([], true),
    ];
    await live(world, withClaim({ confirmations: 2 }), acts);
    expect(rules(world)).toEqual([
      "claim-unconfirmed",
      "green-unclaimed",
      "claim-unconfirmed",
      "claim-refused",
      "claim-unconfirmed",
      "all-required-pass",
    ]);
  });

  it("holds without checks too, and a budget ends it earlier", async () => {
    const spec = { ...withClaim({ confirmations: 3 }), checks: [] };
    const claimed = makeWorld();
    await live(claimed, spec, [act(["a"], true)]);
    expect(rules(claimed)).toEqual(["claim-unconfirmed", "claim-unconfirmed", "claim"]);
    const short = makeWorld();
    const end = await live(short, { ...spec, limits: { iterations: 2 } }, [act(["a"], true)]);
    expect(end.outcome?.is).toBe("exhausted");
  });

  it("never counts more claims than there are in a row, wherever drivers die", async () => {
    const RUNS = 200;
    let several = 0;
    const acts = fc.array(fc.tuple(fc.boolean(), fc.constantFrom("good", "x")), { minLength: 1, maxLength: 7 });
    const deaths = fc.array(fc.record({ touch: fc.integer({ min: 1, max: 60 }), afterEffect: fc.boolean() }), {
      maxLength: 3,
    });
    await fc.assert(
      fc.asyncProperty(acts, fc.integer({ min: 1, max: 3 }), deaths, async (list, confirmations, dying) => {
        const world = makeWorld();
        const spec = { ...withClaim({ confirmations }), limits: { iterations: list.length } };
        const end = await live(
          world,
          spec,
          list.map(([claim, line]) => act([line], claim)),
          { deaths: dying },
        );
        if (end.outcome?.is !== "verified") return;
        if (end.outcome.rule === "settled") {
          expect(confirmations).toBe(1);
          return;
        }
        if (confirmations > 1) several += 1;
        const ends = world.facts.filter(
          (f): f is FactOf<"turn-end"> => f.type === "turn-end" && f.outcome.is === "done",
        );
        expect(ends.slice(-confirmations).map((f) => f.claim?.is)).toEqual(Array(confirmations).fill("done"));
      }),
      { numRuns: RUNS },
    );
    expect(several).toBeGreaterThan(RUNS / 15);
  });
});

describe("a promise that is no claim", () => {
  const TAG = "<promise>COMPLETE</promise>";
  const seen = (text: string) => misplacedPromise(text, ["COMPLETE"])?.how;

  it.each([
    [`All done: ${TAG}`, "with-text"],
    [`${TAG}.`, "with-text"],
    [`**${TAG}**`, "with-text"],
    [`> ${TAG}`, "with-text"],
    [`- ${TAG}`, "with-text"],
    [`It is done. <Promise>complete</Promise> Thank you.\nBye.`, "with-text"],
    [`${TAG}\nbut wait`, "not-last"],
    [`\`\`\`\n${TAG}\n\`\`\``, "in-code"],
    [`\`\`\`\n${TAG}`, "in-code"],
    ["done\n<promise>DONE</promise>", "other-word"],
    ["nothing of the kind", undefined],
    ["<promise>", undefined],
  ])("in %j is seen: %s (row 2)", (text, how) => {
    expect(seen(text)).toBe(how);
  });

  it("is told to the agent and to the person, and stays no claim (row 2)", async () => {
    const world = makeWorld();
    const says = `Everything is done. ${TAG}`;
    const acts = [act(["good"], false, { says }), act(["x"], false, { says }), act(["y"])];
    const end = await live(world, makeSpec({ limits: { iterations: 3 } }), acts);
    expect(end.outcome?.is).toBe("exhausted");
    expect(rules(world)).toEqual(["promise-misplaced", "promise-misplaced", "budget:iterations"]);
    const [first] = world.facts.filter((f): f is FactOf<"turn-end"> => f.type === "turn-end");
    expect(first).toMatchObject({ claim: null, misplaced: { how: "with-text", line: says } });
    expect(world.prompts[1]).toContain("in a line with other text");
    expect(world.prompts[1]).toMatch(/every required check passes/i);
    expect(world.prompts[1]).toContain(`with this line alone:\n\n${TAG}\n`);
    expect(summary(end, { diff: undefined })).toMatch(/promise +iteration 2: .*in a line with other text/);
    const last = world.facts.find((f): f is FactOf<"decision-made"> => f.type === "decision-made");
    expect(last?.reason).toContain("it must stand alone on the last line");
  });

  it("is told beside red checks, beside the ladder's words and of a task, too", async () => {
    const red = makeWorld();
    await live(red, makeSpec({ limits: { iterations: 2 } }), [act(["bad"], false, { says: `so ${TAG}` })]);
    expect(red.prompts[1]).toContain("in a line with other text");
    expect(red.prompts[1]).toContain("exited with 1");
    const stuck = makeWorld();
    await live(stuck, makeSpec(), [act(["bad"], false, { says: `so ${TAG}` })]);
    expect(rules(stuck)).toContain("struggle:hint");
    for (const prompt of stuck.prompts.slice(1)) expect(prompt).toContain("in a line with other text");
    const tasks = { file: "TASKS.md", promise: "NEXT", minIterations: 1 };
    const listed = makeWorld();
    listed.memos.set("TASKS.md", "- [ ] one\n");
    const says = "one: <promise>NEXT</promise>";
    await live(listed, makeSpec({ tasks, limits: { iterations: 2 } }), [act(["good"], false, { says })]);
    expect(listed.prompts[1]).toContain("in a line with other text");
  });

  it("lets no change pass a reviewer who put its rejection into other words", async () => {
    const review = { agent: { agent: "sim" }, prompt: "look at it" };
    const world = makeWorld();
    const unclear = { lines: [], rejects: true, says: "Tests are gone, so <promise>REJECTED</promise> it is." };
    const acts = [act(["good"], true, { review: unclear }), act(["good", "x"], true)];
    await live(world, makeSpec({ review }), acts);
    expect(rules(world)).toEqual(["review-failed", "all-required-pass"]);
  });
});

describe("a structured call", () => {
  it("is a claim like the promise: checked, refused with red checks, and early without work", async () => {
    const world = makeWorld();
    const done = { call: { is: "done" as const, text: "all of it" } };
    await live(world, makeSpec(), [act([], false, done), act(["x"], false, done), act(["good"], false, done)], {
      passes: (lines) => lines.length === 0 || lines.includes("good"),
    });
    expect(rules(world)).toEqual(["claim-early", "claim-refused", "all-required-pass"]);
    const ends = world.facts.filter((f): f is FactOf<"turn-end"> => f.type === "turn-end");
    expect(ends[0]?.claim).toEqual({ is: "done", how: "call", text: "all of it" });
  });

  it("gives way to the promise, which is the last word", () => {
    const spec = { ...makeSpec(), claim: { promise: "COMPLETE", required: true, confirmations: 1, abort: "STOP" } };
    const call = { is: "done" as const, text: "x" };
    expect(claimOf({ finalText: "no\n<promise>STOP</promise>", call }, spec)?.is).toBe("abort");
    expect(claimOf({ finalText: "words", call }, spec)).toMatchObject({ is: "done", how: "call" });
    expect(claimOf({ finalText: "words", call: null }, spec)).toBeNull();
  });
});
