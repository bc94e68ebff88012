/** What verdicts come to: old failures, stages, several checks together, models that judge, and the control at the end. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import { NO_USAGE } from "../../src/loop/budget.ts";
import { accepted, type Stand, type Vote } from "../../src/loop/combine.ts";
import type { RunSpec } from "../../src/spec.ts";
import { aCheck, aJudge, judgedBy, judgedSpec, USUAL, type Asked, type Says } from "../support/judging.ts";
import { live, type LiveOptions } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { summary } from "../../src/views/summary.ts";
import { makeSpec, makeWorld, PLANTED, type portsOf, type World } from "../support/world.ts";

const act = (lines: string[], claim = true): Behaviour => ({ lines, claim, faults: [], usd: 0 });
const rules = (world: World): string[] =>
  world.facts.filter((f): f is FactOf<"decision-made"> => f.type === "decision-made").map((f) => f.rule);
const isBase = ({ lines }: Asked): boolean => lines.length === 0 || lines.join() === PLANTED;

async function judged(
  spec: RunSpec,
  say: (asked: Asked) => Says | Promise<Says>,
  acts: Behaviour[],
  more: LiveOptions = {},
) {
  const world = makeWorld();
  world.plants = true;
  const asked: Asked[] = [];
  const answer = judgedBy(world, spec, say, asked);
  const adjust = (ports: ReturnType<typeof portsOf>): void => {
    answer(ports);
    more.adjust?.(ports);
  };
  const end = await live(world, spec, acts, { ...more, adjust });
  return { world, end, asked };
}

describe("failures that the base has too", () => {
  const red = (): Says => ["old"];

  it("are refused by name as often as the limits allow, and then a person decides (row 7)", async () => {
    const spec = judgedSpec({}, { limits: { iterations: 4 } });
    const { world, end } = await judged(spec, red, [act(["a"]), act(["b"]), act(["c"]), act(["d"])]);
    expect(rules(world)).toEqual(["claim-refused", "claim-refused", "claim-refused", "pre-existing"]);
    expect(world.prompts[3]).toContain("nothing fails but what failed before your first change: tests: old failed");
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "pre-existing" });
    expect(end.outcome?.reason).toMatch(/^limit on iterations reached: 4 of 4; nothing fails but .*--leave-failing/);
    const told = summary(end, { diff: undefined });
    expect(told).toMatch(/red before +tests: old failed: failed before the run, too/);
    expect(told).toContain("pawl run 'make it green' --check 'tests=true' --leave-failing");
    expect(told).toContain("pawl resume r-1 --max-iterations 8");
  });

  it("do not keep an agent from being right the third time, or the tenth (row 7)", async () => {
    const wrong = Array.from({ length: 9 }, (_, n) => act([`try ${n}`]));
    const better = ({ lines }: Asked): Says =>
      lines.includes("good") ? [] : ["one", "two", "three", "four"].slice(Math.floor(lines.length / 3));
    for (const tries of [2, 9]) {
      const { world, end } = await judged(judgedSpec(), better, [...wrong.slice(0, tries), act(["good"])]);
      expect(end.outcome).toMatchObject({ is: "verified", rule: "all-required-pass" });
      expect(rules(world).filter((rule) => rule === "all-required-pass")).toHaveLength(1);
      expect(world.facts.filter((f) => f.type === "iteration-start")).toHaveLength(tries + 1);
    }
  });

  it("end with a person where the struggle ladder ends the run, too (row 7)", async () => {
    const { world, end } = await judged(judgedSpec(), red, [act(["a"])]);
    expect(rules(world).slice(-3)).toEqual(["struggle:hint", "struggle:fresh-session", "pre-existing"]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "pre-existing" });
    expect(end.outcome?.reason).toMatch(/^struggling: .*; nothing fails but what failed before the run/);
    const ask = judgedSpec({}, { struggle: { patience: 3, shortTurnMs: 0, ladder: ["ask"] } });
    expect((await judged(ask, red, [act(["a"])])).end.outcome).toMatchObject({ rule: "pre-existing" });
  });

  it("that are left when some were mended are a person's at a limit; without a claim the work is not finished", async () => {
    const left = ({ lines }: Asked): Says => ["one", "two"].filter((name) => !lines.includes(name));
    const spec = judgedSpec({}, { limits: { iterations: 2 } });
    const claimed = await judged(spec, left, [act(["one"]), act(["x"])]);
    expect(claimed.end.outcome).toMatchObject({ is: "needs-human", rule: "pre-existing" });
    const silent = await judged(spec, left, [act(["one"]), act(["x"], false)]);
    expect(silent.end.outcome).toMatchObject({ is: "exhausted", rule: "budget:iterations" });
    const worse = await judged(spec, (one) => (isBase(one) ? ["one"] : ["one", "new"]), [act(["a"]), act(["b"])]);
    expect(worse.end.outcome).toMatchObject({ is: "exhausted", rule: "budget:iterations" });
  });

  it("stay the agent's to mend after an edit of a protected test was undone (row 7)", async () => {
    const spec = judgedSpec();
    const world = makeWorld();
    const answer = judgedBy(world, spec, ({ lines }) => (lines.includes("good") ? [] : ["old"]));
    const end = await live(world, spec, [act(["cheat"]), act(["cheat"]), act(["good"])], {
      adjust(ports) {
        answer(ports);
        const { snapshot } = ports.workspace;
        ports.workspace.snapshot = async (n, about) => {
          const isCheat = world.content.includes("cheat");
          world.content = world.content.filter((line) => line !== "cheat");
          const taken = await snapshot(n, about);
          return isCheat ? { ...taken, protected: [{ path: "a.test.ts", how: "edited" as const }] } : taken;
        };
      },
    });
    expect(rules(world)).toEqual(["claim-refused", "claim-refused", "all-required-pass"]);
    expect(end.outcome?.is).toBe("verified");
  });

  it("are the agent's own to mend once it has mended some: a claim is refused like any other, as often as it takes", async () => {
    const left = ({ lines }: Asked): Says => ["one", "two"].filter((name) => !lines.includes(name));
    const acts = [act(["one"]), act(["one", "a"]), act(["one", "a", "b"]), act(["one", "two"])];
    const { world, end } = await judged(judgedSpec(), left, acts);
    expect(rules(world)).toEqual(["claim-refused", "claim-refused", "claim-refused", "all-required-pass"]);
    expect(end.outcome?.is).toBe("verified");
  });

  it("end verified when the agent mends them", async () => {
    const { end } = await judged(judgedSpec(), ({ lines }) => (lines.includes("good") ? [] : ["old"]), [
      act(["a"]),
      act(["a", "good"]),
    ]);
    expect(end.outcome).toMatchObject({ is: "verified", rule: "all-required-pass" });
  });

  it("do not count with leave, are named, and are nobody's fault", async () => {
    const { world, end } = await judged(judgedSpec({ preExisting: "leave" }), red, [act(["a"])]);
    expect(end.outcome).toMatchObject({ is: "verified", rule: "left-failing" });
    expect(end.outcome?.reason).toContain("nothing fails there but what failed before the run");
    expect(world.facts.some((f) => f.type === "failure-recorded")).toBe(false);
    expect(end.lanes.get("main")?.track.failingCounts).toEqual([0]);
  });

  it("are none that were there by chance: a base that fails once is run again with leave", async () => {
    const say = ({ lines, calls }: Asked): Says => (lines.length > 0 || calls === 0 ? ["real"] : []);
    const spec = judgedSpec({ preExisting: "leave" }, { limits: { iterations: 2 } });
    const { end } = await judged(spec, say, [act(["a"])]);
    expect(end.baselines.get("tests")?.is).toBe("flaky");
    expect(end.outcome?.is).toBe("exhausted");
  });

  it("hide no new failure with leave, which alone is remembered", async () => {
    const say = ({ lines }: Asked): Says => (lines.includes("bad") ? ["old", "new"] : ["old"]);
    const { world, end } = await judged(judgedSpec({ preExisting: "leave" }, { limits: { iterations: 2 } }), say, [
      act(["bad"]),
    ]);
    expect(end.outcome?.is).not.toBe("verified");
    const lesson = world.facts.find((f): f is FactOf<"failure-recorded"> => f.type === "failure-recorded");
    expect(lesson?.fingerprints).toEqual(["new"]);
  });

  it.each(["ask", "leave"] as const)(
    "cannot be told apart where only an exit code speaks: with %s such a check is simply red",
    async (preExisting) => {
      const spec = judgedSpec({ preExisting }, { limits: { iterations: 3 } });
      const { world } = await judged(spec, () => false, [act(["a"]), act(["b"]), act(["c"])]);
      expect(rules(world)).toEqual(["claim-refused", "claim-refused", "budget:iterations"]);
    },
  );

  it("have to go with require", async () => {
    const { world } = await judged(judgedSpec({ preExisting: "require" }, { limits: { iterations: 3 } }), red, [
      act(["a"]),
    ]);
    expect(rules(world)).toEqual(["claim-refused", "claim-refused", "budget:iterations"]);
  });

  it("are not chased without a claim: until-green goes on", async () => {
    const spec = judgedSpec({}, { claim: { promise: "COMPLETE", required: false, confirmations: 1 } });
    const { end } = await judged(spec, ({ lines }) => (lines.includes("good") ? [] : ["old"]), [
      act(["a"], false),
      act(["b"], false),
      act(["c"], false),
      act(["good"], false),
    ]);
    expect(end.outcome?.is).toBe("verified");
  });
});

describe("the base's tests without the new ones", () => {
  /** The tree without its new test is the one without the line `test`. */
  const staged = (ports: ReturnType<typeof portsOf>, world: World): void => {
    const { snapshot } = ports.workspace;
    ports.workspace.snapshot = async (n, about) => {
      const lines = world.content;
      if (!lines.includes("test")) return await snapshot(n, about);
      world.content = lines.filter((line) => line !== "test");
      const { judged: baseTests } = await snapshot(n, about);
      world.content = lines;
      return { ...(await snapshot(n, about)), baseTests };
    };
  };
  const run = async (say: (asked: Asked) => Says, checks = [aCheck("tests")]) => {
    const spec = judgedSpec({ reruns: 0, control: "off" }, { checks, limits: { iterations: 1 } });
    const world = makeWorld();
    const asked: Asked[] = [];
    const answer = judgedBy(world, spec, say, asked);
    const adjust = (ports: ReturnType<typeof portsOf>): void => {
      answer(ports);
      staged(ports, world);
    };
    const end = await live(world, spec, [act(["code", "test"])], { adjust });
    const verdict = world.facts.findLast((f): f is FactOf<"check-end"> => f.type === "check-end")?.verdict;
    return { world, end, verdict, seen: asked.map(({ lines }) => lines.join()) };
  };

  it("run first; a new test that keeps them from running is found out", async () => {
    const { verdict, seen, end } = await run(({ lines }) =>
      lines.length === 0 || lines.includes("test") ? [] : ["real"],
    );
    expect(seen).toEqual(["", "code"]);
    expect(verdict).toMatchObject({ is: "fail", failures: [{ fingerprint: "real" }] });
    expect(verdict?.is === "fail" && verdict.excerpt).toContain("the base's own tests, without the new ones");
    expect(verdict?.is === "fail" && verdict.failures[0].message).toMatch(
      /^without the tests you added.*: real failed$/,
    );
    expect(end.outcome?.is).not.toBe("verified");
  });

  it("and then all together, under one verdict", async () => {
    const { world, seen, end } = await run(() => []);
    expect(seen).toEqual(["", "code", "code,test"]);
    expect(world.facts.filter((f) => f.type === "check-end")).toHaveLength(1);
    expect(end.outcome?.is).toBe("verified");
  });

  it("are not run again where that tree has passed already", async () => {
    const spec = judgedSpec({ control: "off" });
    const world = makeWorld();
    const asked: Asked[] = [];
    const answer = judgedBy(world, spec, () => [], asked);
    const adjust = (ports: ReturnType<typeof portsOf>): void => {
      answer(ports);
      staged(ports, world);
    };
    const end = await live(world, spec, [act(["code"], false), act(["test"])], { adjust });
    expect(asked.map(({ lines }) => lines.join())).toEqual(["", "code", "code,test"]);
    expect(end.outcome?.is).toBe("verified");
  });

  it("may be as red as the base was where all of them pass: a threshold that new tests reach", async () => {
    const coverage = (asked: Asked): Says => (asked.lines.includes("test") ? [] : ["coverage"]);
    const counted = await run(coverage);
    expect(counted.end.outcome?.is).not.toBe("verified");
    const all = { ids: "0".repeat(64), passed: 5, failed: 0, skipped: 0 };
    const spec = judgedSpec({ control: "off" });
    const again = makeWorld();
    const end = await live(again, spec, [act(["code", "test"])], {
      adjust(ports) {
        judgedBy(again, spec, coverage)(ports);
        staged(ports, again);
        ports.checks = ports.checks.map((check) => ({
          ...check,
          async judge(tree, signal, about) {
            const verdict = await check.judge(tree, signal, about);
            return verdict.is === "fail" ? { ...verdict, evidence: { ...verdict.evidence, tests: all } } : verdict;
          },
        }));
      },
    });
    expect(end.outcome?.is).toBe("verified");
  });

  it("are not asked for of a metric", async () => {
    const { seen } = await run(() => [], [aCheck("size", { kind: "metric", value: { line: "size" } })]);
    expect(seen).toEqual(["", "code,test"]);
  });
});

describe("several checks", () => {
  /** Most pass: of eight that may stand anywhere, all are green once in a million times. */
  const stands = fc.oneof(
    { weight: 5, arbitrary: fc.constant<Stand>("pass") },
    { weight: 1, arbitrary: fc.constantFrom<Stand>("left", "unsure", "old", "flaky", "red") },
  );
  const vote = fc.record({ stand: stands, judge: fc.boolean(), weight: fc.integer({ min: 1, max: 5 }) });
  const voted = (list: readonly { stand: Stand; judge: boolean; weight: number }[]): Vote[] =>
    list.map(({ stand, judge, weight }, n) => ({ stand, check: (judge ? aJudge : aCheck)(`c${n}`, { weight }) }));
  const combine = fc.constantFrom("veto" as const, "all" as const, "weighted" as const, "quorum" as const);
  const policy = fc.record({ combine, threshold: fc.double({ min: 0.01, max: 1, noNaN: true }) });

  it("are never made green by a judge: without it they would have been", () => {
    const RUNS = 2_000;
    let [green, tempting] = [0, 0];
    fc.assert(
      fc.property(fc.array(vote, { minLength: 1, maxLength: 8 }), policy, (list, how) => {
        const votes = voted(list);
        const facts = votes.filter(({ check }) => check.kind !== "judge");
        const policies = { ...USUAL, ...how };
        if (facts.length === 0 || facts.length === votes.length) return;
        const isEnough = accepted(facts, policies, ["pass"]);
        if (accepted(votes, policies, ["pass"])) {
          expect(isEnough).toBe(true);
          green += 1;
        }
        const asEquals = voted(list.map((one) => ({ ...one, judge: false })));
        if (!isEnough && accepted(asEquals, policies, ["pass"])) tempting += 1;
      }),
      { numRuns: RUNS },
    );
    expect(green).toBeGreaterThan(RUNS / 4);
    expect(tempting).toBeGreaterThan(RUNS / 80);
  });

  it("are green under veto and all only when each is", () => {
    const RUNS = 100;
    let greens = 0;
    fc.assert(
      fc.property(fc.array(vote, { minLength: 1, maxLength: 8 }), fc.constantFrom("veto", "all"), (list, how) => {
        const green = accepted(voted(list), { ...USUAL, combine: how }, ["pass"]);
        expect(green).toBe(list.every(({ stand }) => stand === "pass"));
        if (green) greens += 1;
      }),
      { numRuns: RUNS },
    );
    expect(greens).toBeGreaterThan(RUNS / 4);
  });

  it.each([
    ["weighted", 0.7, [7, 3], true],
    ["weighted", 0.7, [6, 4], false],
    ["quorum", 0.7, [1, 1], false],
    ["quorum", 0.7, [1, 1, 1], true],
  ] as const)("%s %s: the last of %j red is green: %s", (how, threshold, weights, green) => {
    const last = weights.length - 1;
    const votes = weights.map((weight, n): Vote => ({
      stand: n === last ? "red" : "pass",
      check: aCheck(`${n}`, { weight }),
    }));
    expect(accepted(votes, { ...USUAL, combine: how, threshold }, ["pass"])).toBe(green);
  });

  it("say who was outvoted", async () => {
    const spec = judgedSpec(
      { combine: "quorum", reruns: 0, control: "off" },
      { checks: [aCheck("a"), aCheck("b"), aCheck("c")] },
    );
    const { end } = await judged(spec, (one) => isBase(one) || one.check !== "c", [act(["x"])]);
    expect(end.outcome).toMatchObject({ is: "verified", rule: "quorum" });
    expect(end.outcome?.reason).toContain("c did not pass and was outvoted (quorum)");
  });

  it("count those that are not required only with all", async () => {
    const checks = [aCheck("tests"), aCheck("lint", { required: false })];
    const say = ({ check }: Asked): Says => check === "tests";
    const veto = await judged(judgedSpec({ control: "off" }, { checks }), say, [act(["x"])]);
    expect(veto.end.outcome?.is).toBe("verified");
    const all = await judged(
      judgedSpec({ control: "off", combine: "all", preExisting: "require" }, { checks, limits: { iterations: 2 } }),
      say,
      [act(["x"])],
    );
    expect(all.end.outcome?.is).toBe("exhausted");
  });
});

describe("a model that judges", () => {
  const checks = [
    aJudge("taste"),
    aJudge("tone"),
    aCheck("tests"),
    aCheck("file", { kind: "requirement", require: [{ file: "x" }] }),
  ];

  it("is asked last, and not paid for where a check without a model is red", async () => {
    const say = ({ check, lines }: Asked): Says => check !== "tests" || lines.length === 0 || lines.includes("good");
    const spec = judgedSpec({ control: "off", reruns: 0 }, { checks });
    const { world, asked, end } = await judged(spec, say, [act(["a"]), act(["a", "good"])]);
    const first = asked.filter(({ lines }) => lines.join() === "a").map(({ check }) => check);
    expect(first).toEqual(["file", "tests"]);
    const skipped = world.facts.filter(
      (f): f is FactOf<"check-end"> => f.type === "check-end" && f.verdict.is === "skipped",
    );
    expect(skipped.map(({ check }) => check)).toEqual(["taste", "tone"]);
    expect(asked.at(-1)?.check).toMatch(/taste|tone/);
    expect(end.outcome?.is).toBe("verified");
  });

  it("is asked beside the other, and each knows what the checks before it said", async () => {
    let inside = 0;
    let most = 0;
    const say = async ({ check }: Asked): Promise<Says> => {
      if (check !== "taste" && check !== "tone") return true;
      most = Math.max(most, (inside += 1));
      for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
      return true;
    };
    const { asked } = await judged(judgedSpec({ control: "off" }, { checks }), say, [act(["a"])]);
    expect(most).toBe(2);
    expect([...(asked.at(-1)?.about.verdicts.keys() ?? [])]).toEqual(["tests", "file"]);
  });

  it("is not paid to say the same again", async () => {
    const spec = judgedSpec({ control: "off" }, { checks, limits: { iterations: 2 } });
    const { asked } = await judged(spec, ({ check, lines }) => check !== "tone" || lines.length < 2, [
      act(["a"], false),
      act(["a", "b"]),
    ]);
    expect(asked.filter(({ check }) => check === "tone")).toHaveLength(2);
  });

  it("says no: a red judge keeps the run from ending", async () => {
    const spec = judgedSpec({ control: "off" }, { checks, limits: { iterations: 2 } });
    const { end } = await judged(spec, ({ check }) => check !== "tone", [act(["a"])]);
    expect(end.outcome?.is).toBe("exhausted");
  });

  it("is charged to the budget, also when it gave no judgement", async () => {
    const usage = { ...NO_USAGE, requests: 1, inputTokens: 100, usd: 0.25 };
    const say = ({ check }: Asked): Says => (check === "taste" || check === "tone" ? { usage } : true);
    const { end } = await judged(judgedSpec({ control: "off" }, { checks }), say, [act(["a"])]);
    expect(end.spent.usd).toBeCloseTo(0.5, 9);
    expect(end.spent.turns).toBe(1);
    const poor = judgedSpec({ control: "off" }, { checks, limits: { usd: 0.3, iterations: 5 } });
    const none = (ports: ReturnType<typeof portsOf>): void => {
      ports.checks = ports.checks.map((check) =>
        check.name === "taste"
          ? { ...check, judge: async () => ({ is: "unverifiable" as const, reason: "429", usage }) }
          : check,
      );
    };
    const { end: over } = await judged(poor, () => true, [act(["a"])], { adjust: none });
    expect(over.spent.usd).toBeGreaterThan(0.3);
    expect(over.outcome?.is).toBe("needs-human");
  });

  it("is not asked when nothing is left to pay it with, and is when the budget is raised", async () => {
    const usage = { ...NO_USAGE, requests: 1, inputTokens: 100, usd: 0.25 };
    const spec = judgedSpec({ control: "off" }, { checks, limits: { usd: 0.1, iterations: 5 } });
    const say = ({ check }: Asked): Says => (check === "taste" || check === "tone" ? { usage } : true);
    const dear = [
      { ...act(["a"]), usd: 0.1 },
      { ...act([]), usd: 0.01 },
    ];
    const { end, world } = await judged(spec, say, dear);
    expect(end.outcome?.rule).toBe("budget:usd");
    expect(end.spent.usd).toBeLessThan(0.25);
    const adjust = judgedBy(world, spec, say);
    const again = await live(world, spec, dear, { adjust, reopen: { limits: { usd: 5 } } });
    expect(again.outcome?.is).toBe("verified");
    expect(again.spent.usd).toBeGreaterThan(0.5);
  });
});

describe("the control before the end", () => {
  const honest = ({ lines }: Asked): Says => !lines.includes(PLANTED);

  it("asks once more with a planted failure, and its being seen is in the evidence", async () => {
    const { world, end, asked } = await judged(judgedSpec(), honest, [act(["a"])]);
    expect(end.outcome?.is).toBe("verified");
    expect(asked.map(({ lines }) => lines.join())).toEqual(["", "a", `a,${PLANTED}`]);
    const last = world.facts.findLast((f): f is FactOf<"check-end"> => f.type === "check-end");
    expect(last?.verdict).toMatchObject({ is: "pass", evidence: { control: "seen", suspicions: [] } });
  });

  it("finds out a runner whose word is forged, where the base shows the plant", async () => {
    const forged = (one: Asked): Says => (one.lines.includes("forges") ? true : honest(one));
    const { end } = await judged(judgedSpec(), forged, [act(["forges"])]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
    expect(end.outcome?.reason).toContain("planted");
  });

  it("finds it out on a red base too, by a failure that is there with the plant alone", async () => {
    const forged = ({ lines }: Asked): Says => {
      if (lines.includes("forges")) return [];
      return lines.includes(PLANTED) ? ["old", "plant"] : ["old"];
    };
    const { end } = await judged(judgedSpec(), forged, [act(["forges"])]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
  });

  it("says nothing of a check that does not look at tests", async () => {
    const { end, asked } = await judged(judgedSpec(), () => true, [act(["a"])]);
    expect(end.outcome?.is).toBe("verified");
    // The base, the change; both with one more test, and with files that fail.
    expect(asked).toHaveLength(6);
  });

  it("is not made where no test file can hold a plant, and the evidence says so", async () => {
    const world = makeWorld();
    const spec = judgedSpec();
    const end = await live(world, spec, [act(["a"])], { adjust: judgedBy(world, spec, honest) });
    expect(end.outcome?.is).toBe("verified");
    const ends = world.facts.filter((f): f is FactOf<"check-end"> => f.type === "check-end");
    expect(ends.map(({ verdict }) => verdict)).toMatchObject([{ is: "pass", evidence: { control: "none" } }]);
  });

  it("leaves it to a person when it cannot be made", async () => {
    const away = (one: Asked): Says => (one.lines.join() === `a,${PLANTED}` ? "unverifiable" : honest(one));
    const { end } = await judged(judgedSpec(), away, [act(["a"])]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
  });

  it("says nothing where the base cannot take the plant either", async () => {
    const never = ({ lines }: Asked): Says => (lines.includes(PLANTED) ? "unverifiable" : true);
    const { end, world } = await judged(judgedSpec(), never, [act(["a"])]);
    expect(end.outcome?.is).toBe("verified");
    const last = world.facts.findLast((f): f is FactOf<"check-end"> => f.type === "check-end");
    expect(last?.verdict).toMatchObject({ evidence: { control: "none", suspicions: [] } });
  });

  it("is not made when it is off, nor before the last confirmation", async () => {
    const off = await judged(judgedSpec({ control: "off" }), honest, [act(["a"])]);
    expect(off.asked).toHaveLength(2);
    const claim = { promise: "COMPLETE", required: true, confirmations: 2 };
    const twice = await judged(judgedSpec({}, { claim }), honest, [act(["a"]), act([])]);
    expect(twice.end.outcome?.is).toBe("verified");
    expect(twice.asked.map(({ lines }) => lines.join())).toEqual(["", "a", `a,${PLANTED}`]);
  });
});

describe("verdicts that are none", () => {
  it.each(["429", "timed out", "no credit"])(
    "could not judge (%s) is tried again, counts for no failure, and then a person is asked (row 6)",
    async (reason) => {
      const world = makeWorld();
      const end = await live(world, makeSpec(), [act(["good"])], {
        adjust(ports) {
          const judge = async () => ({ is: "unverifiable" as const, reason });
          ports.checks = ports.checks.map((check) => ({ ...check, judge }));
        },
      });
      expect(world.facts.filter((f) => f.type === "check-end")).toHaveLength(3);
      expect(world.facts.filter((f) => f.type === "wait-start")).toHaveLength(2);
      expect(world.facts.some((f) => f.type === "failure-recorded")).toBe(false);
      expect(end.outcome).toMatchObject({ is: "needs-human", rule: "unverifiable" });
      expect(end.outcome?.reason).toContain(reason);
    },
  );

  it("a word outside the five stops the run and asks, and is never taken for a pass (row 13)", async () => {
    const world = makeWorld();
    const end = await live(world, makeSpec(), [act(["good"])], {
      adjust(ports) {
        ports.checks = ports.checks.map((check) => ({ ...check, judge: async () => ({ is: "approved" }) as never }));
      },
    });
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "unverifiable" });
    expect(end.outcome?.reason).toContain("approved");
    expect(world.requests).toBeGreaterThan(0);
    expect(world.facts.filter((f) => f.type === "turn-start")).toHaveLength(1);
  });

  it("keeps every counter when a claim turns out red (row 14)", async () => {
    const world = makeWorld();
    const acts = [act(["a"]), act(["b"]), act(["good"])].map((one) => ({ ...one, usd: 0.1 }));
    const end = await live(world, makeSpec(), acts);
    expect(rules(world)).toEqual(["claim-refused", "claim-refused", "all-required-pass"]);
    expect(end.lanes.get("main")?.iteration).toBe(3);
    const paid = world.facts.flatMap((f) => (f.type === "turn-end" ? [f.usage.usd ?? 0] : []));
    expect(end.spent.usd).toBeCloseTo(
      paid.reduce((sum, usd) => sum + usd, 0),
      9,
    );
    expect(world.facts.flatMap((f) => (f.type === "decision-made" ? [f.numbers["iteration"]] : []))).toEqual([1, 2, 3]);
  });
});
