/** What both passes and fails on one tree is never green: reruns, quarantine, and how often a broken tree slips through (F17). */
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import { afterQuarantine } from "../../src/loop/quarantine.ts";
import { summary } from "../../src/views/summary.ts";
import { figure } from "../support/figure.ts";
import { judgedBy, judgedSpec, USUAL, verdictFrom, type Asked, type Says } from "../support/judging.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { makeWorld, type World } from "../support/world.ts";

const act = (lines: string[], claim = true): Behaviour => ({ lines, claim, faults: [], usd: 0 });
const verdicts = (world: World): string[] =>
  world.facts.flatMap((f) => (f.type === "check-end" ? [`${f.iteration} ${f.verdict.is}`] : []));
const rules = (world: World): string[] =>
  world.facts.filter((f): f is FactOf<"decision-made"> => f.type === "decision-made").map((f) => f.rule);
const spec = judgedSpec({ control: "off", passes: 3 });
const once = judgedSpec({ control: "off" });
const isBase = ({ lines }: Asked): boolean => lines.length === 0;

async function judged(say: (asked: Asked) => Says, acts: Behaviour[], over = spec) {
  const world = makeWorld();
  const asked: Asked[] = [];
  const end = await live(world, over, acts, { adjust: judgedBy(world, over, say, asked) });
  return { world, end, asked };
}

describe("a failure of what has passed before", () => {
  it("is run again, and flaky when it then passes (row 8): recorded, told, not accepted", async () => {
    const { world, end } = await judged(
      (asked) => (isBase(asked) || asked.calls !== 0 ? [] : ["shaky"]),
      [act(["a"]), act(["a", "b"])],
    );
    expect(verdicts(world)[0]).toBe("1 flaky");
    expect(rules(world)[0]).toBe("flaky");
    expect(world.prompts[1]).toContain("both passes and fails: tests: shaky failed");
    const first = world.facts.find((f): f is FactOf<"check-end"> => f.type === "check-end");
    expect(first?.verdict).toMatchObject({ runs: 2, evidence: { runs: 2 } });
    expect(end.flakes.get("tests")).toEqual(["shaky"]);
  });

  it("stays a failure when every rerun fails, with what failed every time", async () => {
    const sometimes = [["real", "x"], ["real"], ["real", "y"]];
    const { world, asked } = await judged(
      (one) => (isBase(one) || one.lines.includes("good") ? [] : (sometimes[one.calls] ?? ["real"])),
      [act(["a"]), act(["a", "good"])],
    );
    expect(verdicts(world)[0]).toBe("1 fail");
    expect(asked.filter(({ lines }) => lines.join() === "a")).toHaveLength(3);
    const fact = world.facts.find((f): f is FactOf<"check-end"> => f.type === "check-end");
    expect(fact?.verdict).toMatchObject({ is: "fail", failures: [{ fingerprint: "real" }], evidence: { runs: 3 } });
  });

  it("is not run again where it never passed, nor where it failed on the tree before", async () => {
    const { asked } = await judged(
      (one) => (one.lines.includes("good") ? [] : ["old"]),
      [act(["a"], false), act(["a", "b"], false), act(["a", "b", "good"])],
      once,
    );
    expect(asked.map(({ lines }) => lines.join())).toEqual(["", "a", "a,b", "a,b,good"]);
  });

  it("needs passes in a row once the check has been flaky, and one failure among them is a flake again", async () => {
    const flakes = new Set(["a/0", "a,b/2"]);
    const { world, asked, end } = await judged(
      ({ lines, calls }) => (flakes.has(`${lines.join()}/${calls}`) ? ["shaky"] : []),
      [act(["a"]), act(["a", "b"], false), act(["a", "b"])],
    );
    expect(verdicts(world)).toEqual(["1 flaky", "2 flaky", "3 pass"]);
    expect(asked.map(({ lines }) => lines.join())).toEqual(["", "a", "a", ...Array<string>(6).fill("a,b")]);
    expect(end.outcome?.is).toBe("verified");
  });

  it("is a person's to decide when a second claim is only flaky", async () => {
    const { end, world } = await judged(
      (one) => (isBase(one) || one.calls % 2 === 1 ? [] : ["shaky"]),
      [act(["a"]), act(["a", "b"])],
    );
    expect(rules(world)).toEqual(["flaky", "flaky"]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "flaky" });
    expect(end.outcome?.reason).toContain("shaky failed");
    expect(end.outcome?.reason).toContain("for the next run: this one keeps the settings it began with");
  });

  it("is left alone without reruns", async () => {
    const plain = judgedSpec({ control: "off", reruns: 0 });
    const { world, asked } = await judged((one) => (isBase(one) ? [] : ["x"]), [act(["a"])], {
      ...plain,
      limits: { iterations: 1 },
    });
    expect(verdicts(world)).toEqual(["1 fail"]);
    expect(asked).toHaveLength(2);
  });
});

describe("a pass that would end the run", () => {
  it("is asked for again, and the evidence says how often it passed", async () => {
    const { world, end, asked } = await judged(() => [], [act(["a"])]);
    expect(asked.map(({ lines }) => lines.join())).toEqual(["", "a", "a", "a"]);
    expect(end.outcome?.is).toBe("verified");
    const last = world.facts.findLast((f): f is FactOf<"check-end"> => f.type === "check-end");
    expect(last?.verdict).toMatchObject({ is: "pass", evidence: { runs: 3 } });
  });

  it("is a flake when one of the next fails, though the check never was flaky before", async () => {
    const { world, end } = await judged(
      ({ lines, calls }) => (lines.join() === "a" && calls === 2 ? ["shaky"] : []),
      [act(["a"]), act(["a", "b"])],
    );
    expect(verdicts(world).slice(0, 2)).toEqual(["1 pass", "1 flaky"]);
    expect(rules(world)[0]).toBe("flaky");
    expect(end.flakes.get("tests")).toEqual(["shaky"]);
  });

  it("is believed at once where the next would take too long", async () => {
    const slow: Says = { durationMs: 200_000 };
    const { end, asked } = await judged(() => slow, [act(["a"])]);
    expect(asked).toHaveLength(2);
    expect(end.outcome?.is).toBe("verified");
  });

  it("is not asked for again while the run goes on", async () => {
    const { asked } = await judged(() => [], [act(["a"], false), act(["a", "b"], false), act(["a", "b", "c"])]);
    expect(asked.map(({ lines }) => lines.join())).toEqual(["", "a", "a,b", "a,b,c", "a,b,c", "a,b,c"]);
  });
});

describe("quarantine", () => {
  const tree = "0".repeat(40);
  const day = Date.parse("2026-11-16T00:00:00Z");
  const policy = { ...USUAL, quarantine: [{ test: "shaky", until: "2026-11-16" }] };

  it.each([
    ["its only failure is in it", ["a.test.ts > shaky"], day, ["shaky"]],
    ["its last day is not over", ["shaky"], day + 86_399_999, ["shaky"]],
    ["the day is over", ["shaky"], day + 86_400_000, undefined],
    ["another test fails too", ["shaky", "other"], day, undefined],
    ["a test's name only ends like it", ["not-shaky"], day, undefined],
    ["there is no report", false, day, undefined],
  ] as const)("counts when %s", (_, says, wall, named) => {
    const verdict = afterQuarantine(verdictFrom(tree, says), policy, wall);
    expect(verdict.is).toBe(named === undefined ? "fail" : "pass");
    expect("evidence" in verdict ? verdict.evidence.quarantined : undefined).toEqual(named);
  });

  it("does not count while it lasts, and is named in the end", async () => {
    const aside = judgedSpec({ control: "off", quarantine: [{ test: "shaky", until: "2999-01-01" }] });
    const { end } = await judged((one) => (isBase(one) ? [] : ["shaky"]), [act(["a"])], aside);
    expect(end.outcome).toMatchObject({ is: "verified", rule: "all-required-pass" });
    expect(end.outcome?.reason).toContain("in quarantine: shaky");
    expect(summary(end, { diff: undefined })).toMatch(/quarantine +tests: shaky: failed and was not counted/);
  });

  it("takes no suspicion away", async () => {
    const seen: Says = { suspicions: ["its report was written twice"], quarantined: ["shaky"] };
    const { end } = await judged((one) => (isBase(one) ? true : seen), [act(["a"])]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
  });
});

/** Deterministic, from 0 to 1. */
function random(seed: number): () => number {
  let at = seed;
  return () => {
    at = (Math.imul(at ^ (at >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    let x = at;
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
  };
}

describe("a test that is wrong one time in ten", () => {
  const RUNS = 200;
  const WRONG = 0.1;

  it("accepts no broken tree in 200 runs, and names the flake wherever one showed (F17)", async () => {
    let [broken, accepted, flaked, named, asks] = [0, 0, 0, 0, 0];
    for (let n = 0; n < RUNS; n += 1) {
      const next = random(n + 1);
      // Every run breaks the work first and says that it is done; half of them mend it later.
      const mends = n % 2 === 0;
      const world = makeWorld();
      const run = judgedSpec({ control: "off", passes: 3 }, { limits: { iterations: 8 } });
      const asked: Asked[] = [];
      const say = ({ lines }: Asked): Says => {
        const red = lines.includes("broken") && !lines.includes("mended") ? ["real"] : [];
        return next() < WRONG ? [...red, "shaky"] : red;
      };
      const acts = [act(["broken"]), act(["more"]), ...(mends ? [act(["mended"])] : []), act(["x"]), act(["y"])];
      const end = await live(world, run, acts, { adjust: judgedBy(world, run, say, asked) });
      asks += asked.length;
      const isBroken = !world.content.includes("mended");
      if (isBroken) broken += 1;
      if (end.outcome?.is === "verified" && isBroken) accepted += 1;
      const seen = world.facts.some((f) => f.type === "check-end" && f.verdict.is === "flaky");
      if (seen) flaked += 1;
      if (seen && /flaky +tests: shaky/.test(summary(end, { diff: undefined }))) named += 1;
    }
    figure("F17", { runs: RUNS, broken, acceptedBroken: accepted, flaked, named, checksPerRun: asks / RUNS });
    expect(broken).toBeGreaterThan(RUNS / 3);
    expect(accepted / RUNS).toBeLessThanOrEqual(0.001);
    expect(flaked).toBeGreaterThan(0);
    expect(named).toBe(flaked);
  });

  it("passes a broken tree by luck about once in a thousand where nobody knows yet that it is flaky (F17)", async () => {
    const TREES = 1_000;
    let accepted = 0;
    for (let n = 0; n < TREES; n += 1) {
      const next = random(n + 50_001);
      const world = makeWorld();
      const run = judgedSpec({ control: "off", passes: 3 }, { limits: { iterations: 1 } });
      // The one tree is broken, and its one test says so nine times in ten.
      const say = ({ lines }: Asked): Says => (lines.length === 0 || next() < WRONG ? [] : ["shaky"]);
      const end = await live(world, run, [act(["broken"])], { adjust: judgedBy(world, run, say) });
      if (end.outcome?.is === "verified") accepted += 1;
    }
    figure("F17-unknown", { trees: TREES, acceptedBroken: accepted });
    // One in a thousand on average; of 1,000 more than 5 would be no luck.
    expect(accepted).toBeLessThanOrEqual(5);
  });

  it("passes a broken tree by luck about once in a thousand where it is known to be flaky (F17)", async () => {
    let accepted = 0;
    let tries = 0;
    for (let n = 0; n < RUNS; n += 1) {
      const next = random(n + 10_001);
      const world = makeWorld();
      const run = judgedSpec({ control: "off", passes: 3 }, { limits: { iterations: 6 } });
      // The flake shows in the first change; every later tree is broken, and its one test says so nine times in ten.
      const say = ({ lines, calls }: Asked): Says => {
        if (lines.length === 0) return [];
        if (lines.length === 1) return calls === 0 ? ["shaky"] : [];
        return next() < WRONG ? [] : ["shaky"];
      };
      const acts = Array.from({ length: 6 }, (_, i) =>
        act(
          Array.from({ length: i + 1 }, (__, k) => `l${k}`),
          i === 5,
        ),
      );
      const end = await live(world, run, acts, { adjust: judgedBy(world, run, say) });
      tries += world.facts.filter((f) => f.type === "check-end" && f.iteration > 1).length;
      if (end.outcome?.is === "verified") accepted += 1;
    }
    figure("F17-known", { runs: RUNS, trees: tries, acceptedBroken: accepted });
    expect(accepted / RUNS).toBeLessThanOrEqual(0.001);
  });
});
