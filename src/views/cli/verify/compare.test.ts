import { describe, expect, it } from "vitest";
import type { Evidence, Verdict } from "../../../events.ts";
import { differences, testsIn } from "./compare.ts";
import { answerOf } from "./repeat.ts";

const evidence = (over: Partial<Evidence> = {}): Evidence => ({
  tree: "a".repeat(40),
  command: "npm test",
  exitCode: 0,
  signal: null,
  durationMs: 5,
  log: null,
  logBytes: 0,
  isolation: "copy",
  suspicions: [],
  ...over,
});
const pass = (over: Partial<Evidence> = {}): Verdict => ({ is: "pass", evidence: evidence(over) });
const fail = (...prints: string[]): Verdict => {
  const [first = "x", ...rest] = prints;
  const failure = (fingerprint: string) => ({ fingerprint, message: fingerprint });
  return {
    is: "fail",
    evidence: evidence({ exitCode: 1 }),
    failures: [failure(first), ...rest.map(failure)],
    excerpt: "",
  };
};
const NO_TESTS = { was: undefined, now: undefined };
const counts = (passed: number, failed = 0) => ({ ids: "b".repeat(64), passed, failed, skipped: 0 });

describe("a verdict beside one that was just made", () => {
  it("is the same whatever time it took, wherever its log is, and however it was held", () => {
    const now = pass({ durationMs: 9_000, log: "c".repeat(64), logBytes: 7, isolation: "overlay" });
    expect(differences({ was: pass(), now }, NO_TESTS)).toEqual([]);
    expect(differences({ was: fail("a", "b"), now: fail("b", "a") }, NO_TESTS)).toEqual([]);
  });

  it("differs by verdict, exit code and failing set", () => {
    expect(differences({ was: pass(), now: fail("a") }, NO_TESTS)).toEqual([
      "pass then, fail now",
      "exit code 0 then, 1 now",
      "failing now and not then: a",
    ]);
    expect(differences({ was: fail("a", "b"), now: fail("b", "c") }, NO_TESTS)).toEqual([
      "failing then and not now: a",
      "failing now and not then: c",
    ]);
    expect(differences({ was: pass(), now: { is: "unverifiable", reason: "no program" } }, NO_TESTS)).toEqual([
      "pass then, unverifiable now (no program)",
    ]);
  });

  it("differs by the tests that ran, also where the exit code is the same", () => {
    const was = testsIn('{"one":"passed","two":"passed","three":"passed"}');
    const now = testsIn('{"one":"passed","two":"skipped","four":"passed"}');
    const verdicts = { was: pass({ tests: counts(3) }), now: pass({ tests: counts(2) }) };
    expect(differences(verdicts, { was, now })).toEqual([
      "tests: 3 passed, 0 failed, 0 skipped then, 2 passed, 0 failed, 0 skipped now",
      "tests then and not now: three",
      "tests now and not then: four",
      "changed: two passed → skipped",
    ]);
    expect(differences({ was: pass({ tests: counts(3) }), now: pass() }, { was, now: undefined })).toEqual([
      "tests: 3 passed, 0 failed, 0 skipped then, no report now",
    ]);
    expect([testsIn("{"), testsIn("3"), testsIn(undefined)]).toEqual([undefined, undefined, undefined]);
  });

  it("is the same where names are made while tests run, as long as as many of a file come to the same", () => {
    const was = testsIn(
      '{"a.test.js > at 1":"pass","a.test.js > at 2":"pass","t.py::x[1]":"pass","b.test.js > b":"pass"}',
    );
    const now = testsIn(
      '{"a.test.js > at 3":"pass","a.test.js > at 4":"pass","t.py::x[2]":"pass","b.test.js > b":"pass"}',
    );
    const verdicts = { was: pass({ tests: counts(4) }), now: pass({ tests: counts(4) }) };
    expect(differences(verdicts, { was, now })).toEqual([]);
    const other = testsIn(
      '{"a.test.js > at 3":"pass","c.test.js > at 4":"pass","t.py::x[2]":"pass","b.test.js > b":"pass"}',
    );
    expect(differences(verdicts, { was, now: other })).not.toEqual([]);
  });

  it("differs by a suspicion that it did not have", () => {
    const now = pass({ suspicions: ["exits early"] });
    expect(differences({ was: pass(), now }, NO_TESTS)).toEqual(["suspicious now: exits early"]);
    expect(differences({ was: now, now }, NO_TESTS)).toEqual([]);
  });

  it("that is the same only sometimes is no confirmation", () => {
    const other = { now: fail("a"), differs: ["pass then, fail now"] };
    const alike = { now: pass(), differs: [] };
    expect(answerOf([alike]).is).toBe("same");
    expect(answerOf([other, other, other])).toMatchObject({ is: "different", now: { is: "fail" } });
    const sometimes = answerOf([other, alike]);
    expect([sometimes.is, sometimes.now?.is, sometimes.says[0]]).toEqual([
      "different",
      "flaky",
      "as recorded in 1 of 2 runs",
    ]);
    expect(answerOf([]).is).toBe("unjudged");
  });
});
