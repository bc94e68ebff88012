import { describe, expect, it } from "vitest";
import type { Verdict } from "../events.ts";
import { judgedSpec, USUAL, verdictFrom, type Says } from "../../test/support/judging.ts";
import { isOldOnly, redBefore } from "./pre-existing.ts";
import { afterQuarantine, besidesQuarantine } from "./quarantine.ts";
import { verdictOfRuns } from "./repeat.ts";
import { onBaseTests } from "./stages.ts";

const TREE = "0".repeat(40);
const WALL = Date.UTC(2026, 10, 16);
const of = (says: Says): Verdict => verdictFrom(TREE, says);
/** Of a report with this many failures, however many are listed. */
function counted(verdict: Verdict, failed: number): Verdict {
  if (verdict.is !== "fail" || verdict.evidence.tests === null || verdict.evidence.tests === undefined) return verdict;
  return { ...verdict, evidence: { ...verdict.evidence, tests: { ...verdict.evidence.tests, failed } } };
}
const names = (verdict: Verdict): string[] =>
  verdict.is === "fail" ? verdict.failures.map(({ fingerprint }) => fingerprint) : [];

describe("old failures", () => {
  const spec = judgedSpec({});
  const state = { spec, baselines: new Map([["tests", of(["old"])]]) };

  it("are all there is only where the whole list is known", () => {
    expect(isOldOnly(state, "tests", of(["old"]))).toBe(true);
    expect(isOldOnly(state, "tests", counted(of(["old"]), 2))).toBe(false);
  });

  it("excuse no test of the base that was not run, and do not make the list whole by it", () => {
    expect(isOldOnly(state, "tests", counted(of(["old", "tests-missing:old"]), 1))).toBe(false);
    const missing = { spec, baselines: new Map([["tests", of(["old", "tests-missing:old"])]]) };
    expect(isOldOnly(missing, "tests", counted(of(["old", "tests-missing:old"]), 1))).toBe(true);
    expect(isOldOnly(missing, "tests", counted(of(["old", "tests-missing:old"]), 2))).toBe(false);
  });

  it("of a forked run are those of the run it comes from: what that one broke is new", () => {
    const fork = { run: "r", snapshot: 1, iteration: 1 };
    const baselines = new Map([["tests", of(["old", "broken"])]]);
    const forked = (redBefore?: Record<string, string[]>) => ({
      spec: { ...spec, fork: { ...fork, redBefore } },
      baselines,
    });
    for (const [before, found] of [
      [{ tests: ["old", "mended"] }, ["old"]],
      [{ tests: [] }, []],
      [{}, []],
      [undefined, ["old", "broken"]],
    ] as const)
      expect([...redBefore(forked(before && ({ ...before } as Record<string, string[]>)), "tests")]).toEqual(found);
    expect(isOldOnly(forked({ tests: ["old"] }), "tests", of(["old", "broken"]))).toBe(false);
    expect(isOldOnly(forked({ tests: ["old"] }), "tests", of(["old"]))).toBe(true);
  });

  it("stay known where another failure was there in the first run alone", () => {
    const again = judgedSpec({ reruns: 1 });
    const runs: [Verdict, Verdict] = [of(["old", "chance"]), of(["old"])];
    const latest = new Map([["tests", of([])]]);
    const verdict = verdictOfRuns({ spec: again, latest, flakes: new Map() }, { name: "tests", kind: "command" }, runs);
    expect(verdict).toMatchObject({ evidence: { runs: 2, tests: { failed: 1 } } });
    expect(isOldOnly(state, "tests", verdict)).toBe(true);
  });
});

describe("quarantine", () => {
  const policy = { ...USUAL, quarantine: [{ test: "shaky", until: "2026-11-16" }] };

  it("is of a test that fails, not of one that was not run", () => {
    expect(afterQuarantine(of(["tests-missing:shaky"]), policy, WALL).is).toBe("fail");
    expect(afterQuarantine(of(["a > shaky", "tests-missing:shaky"]), policy, WALL).is).toBe("fail");
  });

  it("leaves what fails besides", () => {
    expect(names(besidesQuarantine(of(["a > shaky", "real"]), policy, WALL))).toEqual(["real"]);
    expect(besidesQuarantine(of(["a > shaky"]), policy, WALL).is).toBe("pass");
    expect(besidesQuarantine(counted(of(["shaky"]), 2), policy, WALL).is).toBe("unverifiable");
    expect(besidesQuarantine(of(false), policy, WALL)).toEqual(of(false));
  });
});

it("a failure without the new tests says so, and which they are, but not all", () => {
  const left = Array.from({ length: 7 }, (_, n) => ({ path: `t/${n}.test.ts` }));
  const said = onBaseTests(of(["real", "other"]), left);
  expect(said.is === "fail" && said.failures.map(({ message }) => message)).toEqual([
    "without the tests you added (t/0.test.ts, t/1.test.ts, t/2.test.ts, t/3.test.ts, t/4.test.ts and 2 more): real failed",
    "other failed",
  ]);
});
