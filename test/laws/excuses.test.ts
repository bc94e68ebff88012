/** What excuses a failure excuses nothing else: quarantine, old failures and a base that could not be judged. */
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import type { RunSpec } from "../../src/spec.ts";
import { summary } from "../../src/views/summary.ts";
import { judgedBy, judgedSpec, type Asked, type Says } from "../support/judging.ts";
import { live } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { LAX, makeWorld, PLANTED, type portsOf, type World } from "../support/world.ts";

const act = (lines: string[], claim = true): Behaviour => ({ lines, claim, faults: [], usd: 0 });
const isBase = ({ lines }: Asked): boolean => lines.length === 0;
const planted = ({ lines }: Asked): string[] => (lines.includes(PLANTED) ? ["plant"] : []);

async function judged(
  spec: RunSpec,
  say: (asked: Asked) => Says,
  {
    acts = [act(["a"])],
    adjust,
  }: { acts?: Behaviour[]; adjust?: (ports: ReturnType<typeof portsOf>, w: World) => void } = {},
) {
  const world = makeWorld();
  world.plants = true;
  const asked: Asked[] = [];
  const answer = judgedBy(world, spec, say, asked);
  const end = await live(world, spec, acts, {
    adjust(ports) {
      answer(ports);
      adjust?.(ports, world);
    },
  });
  const last = world.facts.findLast((f): f is FactOf<"check-end"> => f.type === "check-end")?.verdict;
  return { world, end, asked, last, seen: asked.map(({ lines }) => lines.join()) };
}

describe("a base with tests that could not be judged", () => {
  it("is asked again, and then a pass is a person's to believe", async () => {
    const { end, asked } = await judged(judgedSpec(), (one) => (isBase(one) ? "unverifiable" : []));
    expect(asked.filter(isBase)).toHaveLength(3);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
    expect(end.outcome?.reason).toContain("nothing tells whether tests vanished");
    expect(summary(end, { diff: undefined })).toMatch(/no baseline +tests: the judge was away/);
  });

  it("is as any other when a later try comes to a verdict", async () => {
    const say = (one: Asked): Says => (isBase(one) && one.calls < 2 ? "unverifiable" : planted(one));
    const { end } = await judged(judgedSpec(), say);
    expect(end.baselines.get("tests")?.is).toBe("pass");
    expect(end.outcome?.is).toBe("verified");
  });

  it("keeps no run from its end where the control is off", async () => {
    const { end } = await judged(judgedSpec({ control: "off" }), (one) => (isBase(one) ? "unverifiable" : []));
    expect(end.outcome?.is).toBe("verified");
  });
});

describe("tests that do not run", () => {
  it("are named in the summary when they are skipped and were not before", async () => {
    const skipping = (one: Asked): Says =>
      isBase(one) ? [] : one.lines.includes(PLANTED) ? ["plant"] : { skips: ["a > b"] };
    const { end } = await judged(judgedSpec(), skipping);
    expect(end.outcome?.is).toBe("verified");
    expect(summary(end, { diff: undefined })).toMatch(/skipped +tests: a > b: .*not seen so before the run/);
  });

  it("are named with what a person can do when they are gone", async () => {
    const { end } = await judged(judgedSpec(), (one) => (isBase(one) ? [] : ["tests-missing:a > b"]));
    expect(end.outcome?.is).not.toBe("verified");
    expect(summary(end, { diff: undefined })).toMatch(/tests gone +tests: .*a > b.*--allow-test-changes/);
  });
});

describe("a base whose tests could not be loaded", () => {
  const tests = { ids: "0".repeat(64), passed: 0, failed: 0, skipped: 0 };
  const unloaded = { fails: ["add.test.ts"], evidence: { tests: { ...tests, broken: 1 } } };

  it("shows no plant; what loads them now has to see it", async () => {
    const seen = await judged(judgedSpec(), (one) => (isBase(one) ? unloaded : planted(one)));
    expect(seen.end.outcome?.is).toBe("verified");
    const isOfBase = ({ lines }: Asked): boolean => !lines.includes("a");
    const { end } = await judged(judgedSpec(), (one) => (isOfBase(one) ? unloaded : []));
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
    expect(end.outcome?.reason).toContain("a failure planted in the base's tests is not seen");
  });

  it("raises no suspicion where nothing tells that tests were begun", async () => {
    const broken = { fails: ["add.rs"], evidence: { tests } };
    const { end } = await judged(judgedSpec(), ({ lines }) => (lines.includes("a") ? [] : broken));
    expect(end.outcome?.is).toBe("verified");
  });
});

describe("a command that is more than a runner", () => {
  const tests = { ids: "0".repeat(64), passed: 4, failed: 1, skipped: 0 };
  const some = (test: string): Says => ({ fails: [test], evidence: { tests } });

  it.each([
    ["an old failure", judgedSpec({ preExisting: "leave", control: "off" }), "old", "old"],
    [
      "a test in quarantine",
      judgedSpec({ quarantine: [{ test: "shaky", until: "2999-01-01" }], control: "off" }),
      "shaky",
      undefined,
    ],
  ] as const)("may hide a failure behind %s: a person looks", async (_, spec, test, before) => {
    const say = (one: Asked): Says => (isBase(one) && before === undefined ? [] : some(test));
    const { end } = await judged(spec, say);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
    expect(end.outcome?.reason).toContain("make each part a check of its own");
  });

  it("is believed where nothing is excused", async () => {
    const { end } = await judged(judgedSpec({ preExisting: "leave" }), () => true);
    expect(end.outcome?.is).toBe("verified");
  });
});

describe("what is left failing", () => {
  const leave = judgedSpec({ preExisting: "leave", reruns: 0 }, { limits: { iterations: 2 } });

  it("is controlled too: the plant adds a failure", async () => {
    const { end, last, seen } = await judged(leave, (one) => ["old", ...planted(one)]);
    expect(seen).toEqual(["", "a", `a,${PLANTED}`]);
    expect(last).toMatchObject({ is: "fail", evidence: { control: "seen" } });
    expect(end.outcome).toMatchObject({ is: "verified", rule: "left-failing" });
  });

  it("hides no plant that is not seen: an old failure is no sign of it", async () => {
    const forged = (one: Asked): Says => ["old", ...(one.lines.includes("a") ? [] : planted(one))];
    const { end, last } = await judged(leave, forged);
    expect(last).toMatchObject({ is: "fail", evidence: { control: "not-seen" } });
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
  });

  it("has to come out the same again, and what is new then is a flake", async () => {
    const spec = judgedSpec({ preExisting: "leave", reruns: 0, passes: 3 }, { limits: { iterations: 2 } });
    const say = (one: Asked): Says => [
      "old",
      ...planted(one),
      ...(one.lines.join() === "a" && one.calls === 2 ? ["shaky"] : []),
    ];
    const { end, world } = await judged(spec, say, { acts: [act(["a"]), act(["a", "b"])] });
    const verdicts = world.facts.flatMap((f) => (f.type === "check-end" ? [f.verdict.is] : []));
    expect(verdicts.slice(0, 2)).toEqual(["fail", "flaky"]);
    expect(end.flakes.get("tests")).toEqual(["shaky"]);
    expect(end.outcome?.is).toBe("verified");
  });
});

describe("a test in quarantine", () => {
  const aside = { quarantine: [{ test: "shaky", until: "2999-01-01" }], reruns: 0 };

  it("is no sign that a planted failure was seen", async () => {
    const forged = (one: Asked): Says => {
      if (one.lines.includes("a")) return ["shaky"];
      return planted(one);
    };
    const { end, last } = await judged(judgedSpec(aside), forged);
    expect(last).toMatchObject({ is: "pass", evidence: { control: "not-seen", quarantined: ["shaky"] } });
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
  });

  it("leaves the plant to be seen beside it", async () => {
    const { end, last } = await judged(judgedSpec(aside), (one) => [
      ...(isBase(one) ? [] : ["shaky"]),
      ...planted(one),
    ]);
    expect(last).toMatchObject({ is: "pass", evidence: { control: "seen" } });
    expect(end.outcome?.is).toBe("verified");
  });

  it.each([
    ["quarantine", judgedSpec({ ...aside, control: "off" }, { limits: { iterations: 1 } }), "shaky"],
    [
      "what is left failing",
      judgedSpec({ preExisting: "leave", reruns: 0, control: "off" }, { limits: { iterations: 1 } }),
      "old",
    ],
  ] as const)("or %s does not keep new tests from being run", async (_, spec, excused) => {
    const say = ({ lines }: Asked): Says => [excused, ...(lines.includes("test") ? ["mine"] : [])];
    const { end, seen } = await judged(spec, say, {
      acts: [act(["code", "test"])],
      adjust(ports, world) {
        const { snapshot } = ports.workspace;
        ports.workspace.snapshot = async (n, about) => {
          const lines = world.content;
          if (!lines.includes("test")) return await snapshot(n, about);
          world.content = lines.filter((line) => line !== "test");
          const { judged: baseTests } = await snapshot(n, about);
          world.content = lines;
          return { ...(await snapshot(n, about)), baseTests };
        };
      },
    });
    expect(seen).toEqual(["", "code", "code,test"]);
    expect(end.outcome?.is).toBe("exhausted");
  });
});

describe("a failure that is sent back", () => {
  it("is named by its test, beside what the test said", async () => {
    const { world } = await judged(judgedSpec({ control: "off" }), () => ["test:sum.test.ts > adds"], {
      adjust(ports) {
        ports.checks = ports.checks.map((check) => ({
          ...check,
          async judge(tree, signal, about) {
            const verdict = await check.judge(tree, signal, about);
            if (verdict.is !== "fail") return verdict;
            return { ...verdict, failures: [{ ...verdict.failures[0], message: "expected 1 to be 2" }] };
          },
        }));
      },
    });
    expect(world.prompts[1]).toContain("tests: sum.test.ts > adds (expected 1 to be 2)");
  });
});

describe("tests that a person changes between turns", () => {
  const run = async (more: { testsFollowed?: true }) =>
    await judged(judgedSpec(), planted, {
      acts: [act(["a"])],
      adjust(ports) {
        const { snapshot } = ports.workspace;
        // Before the first turn, when only a person can have done it.
        ports.workspace.snapshot = async (n, about) => ({
          ...(await snapshot(n, about)),
          ...(n === 0 ? { followed: [{ path: "a.test.ts", how: "removed" as const }], ...more } : {}),
        });
      },
    });

  it("are not compared with the base, which the end says", async () => {
    const { end, asked } = await run({ testsFollowed: true });
    expect(asked.find(({ lines }) => lines.join() === "a")?.about.baseline).toBeUndefined();
    expect(end.outcome?.is).toBe("verified");
    expect(end.outcome?.reason).toContain("not compared with those before the run");
    const other = await run({});
    expect(other.asked.find(({ lines }) => lines.join() === "a")?.about.baseline?.is).toBe("pass");
    expect(other.end.outcome?.reason).not.toContain("compared");
  });
});

describe("tests that fail beside a planted failure", () => {
  const noticed = (one: Asked): string[] => (isPlant(one) ? [PLANTED, "test:a > adds"] : []);
  const isPlant = ({ lines }: Asked): boolean => lines.includes(PLANTED);

  it("are a person's to look at, for without it they pass", async () => {
    const { end, last } = await judged(judgedSpec(), (one) => (one.lines.includes("a") ? noticed(one) : planted(one)));
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
    expect(last).toMatchObject({ is: "pass", evidence: { control: "seen" } });
    expect(end.outcome?.reason).toContain("beside a planted failure");
  });

  it("say nothing where they do so on the base, too", async () => {
    expect((await judged(judgedSpec(), noticed)).end.outcome?.is).toBe("verified");
  });

  it("say nothing where it was by chance", async () => {
    let times = 0;
    const once = (one: Asked): string[] => (isPlant(one) && (times += 1) > 1 ? planted(one) : noticed(one));
    const { end } = await judged(judgedSpec(), (one) => (one.lines.includes("a") ? once(one) : planted(one)));
    expect(end.outcome?.is).toBe("verified");
  });
});

describe("a file whose planted failure is gone while those of others are seen", () => {
  const plants = ["a", "b"].map((name) => ({ path: `${name}.test.js`, id: `plant-${name}` }));
  const two = {
    adjust(ports: ReturnType<typeof portsOf>): void {
      const { planted: plant } = ports.workspace;
      const planted: typeof plant = async (tree, about) => {
        const made = await plant(tree, about);
        return made === undefined ? undefined : { ...made, plants };
      };
      Object.assign(ports.workspace, { planted });
    },
  };
  const both = ({ lines }: Asked): string[] => (lines.includes(PLANTED) ? ["plant-a", "plant-b"] : []);
  const one = ({ lines }: Asked): string[] => (lines.includes(PLANTED) ? ["plant-a"] : []);

  it("was replaced by code under test, which is a person's to look at", async () => {
    const said = await judged(judgedSpec(), (asked) => (asked.lines.includes("a") ? one(asked) : both(asked)), two);
    expect(said.end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
    expect(said.end.outcome?.reason).toContain("b.test.js");
  });

  it("says nothing where the check does not run it on the base either", async () => {
    expect((await judged(judgedSpec(), one, two)).end.outcome?.is).toBe("verified");
  });
});

describe("an assertion that lets pass what is wrong", () => {
  const isPlanted = ({ lines }: Asked): boolean => lines.includes(PLANTED);
  const lax = (one: Asked): string[] => (isPlanted(one) ? [LAX] : []);

  it("is a person's to look at, though the plant is seen", async () => {
    const { end, last } = await judged(judgedSpec(), (one) => (one.lines.includes("a") ? lax(one) : planted(one)));
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "suspicions" });
    expect(last).toMatchObject({ is: "pass", evidence: { control: "not-seen" } });
    expect(end.outcome?.reason).toContain("lets pass what is wrong");
  });

  it("says nothing where it does so on the base, too", async () => {
    const { end, last } = await judged(judgedSpec(), lax);
    expect(end.outcome?.is).toBe("verified");
    expect(last).toMatchObject({ is: "pass", evidence: { control: "seen" } });
  });
});
