import { array, assert, constantFrom, oneof, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprintsOf } from "./fingerprint.ts";
import { normalised } from "./normalise.ts";

const names = (output: string) => fingerprintsOf(output).map((failure) => failure.fingerprint);

describe("fingerprints", () => {
  it("are the ids of failing tests of the common runners, without what changes between runs", () => {
    const cases: [string, string[]][] = [
      ["ok 1 - a\nnot ok 2 - adds numbers # time=3.2ms\nnot ok 3 later # TODO not yet\n1..3", ["test:adds numbers"]],
      ["--- FAIL: TestAdd (0.03s)\n    --- FAIL: TestAdd/zero (0.00s)\nFAIL", ["test:TestAdd", "test:TestAdd/zero"]],
      [
        "FAILED tests/test_a.py::test_x[1-2] - assert 3 == 4\n= 1 failed in 0.12s =",
        ["test:tests/test_a.py::test_x[1-2]"],
      ],
      [" FAIL  src/a.test.ts > adds > two 12ms", ["test:src/a.test.ts > adds > two"]],
      ["test math::adds ... FAILED\ntest math::other ... ok", ["test:math::adds"]],
      ["\u001b[31m  ✖ answers 404 (1.25ms)\u001b[39m\n✖ failing tests:\n✖ answers 404 (1.25ms)", ["test:answers 404"]],
      [
        "   × adds one 3ms\n   ✕ adds two (5 ms)\n   ✗ adds 0x7ffe12",
        ["test:adds one", "test:adds two", "test:adds <hex>"],
      ],
    ];
    for (const [output, expected] of cases) expect(names(output)).toEqual(expected);
  });

  it("never take a line about a whole file or package for a test", () => {
    const cases: [string, string[]][] = [
      ["FAIL src/a.test.js (5.123 s)", ["error:src/a.test.js failed"]],
      ["FAIL ./x.spec.js\n  sums\n    ✕ adds (2 ms)\n    ✓ zero\n\n  ● sums › adds\n", ["test:adds"]],
      [
        "FAIL unit packages/a/x.spec.tsx\n  ● Console\n\n  ● sums › adds\n\nFAIL b.test.js\n  ● top",
        ["test:sums › adds", "test:top"],
      ],
      [
        "FAIL ./x.spec.js\n  ● Test suite failed to run\n\n    Cannot find module './add.js'",
        ["error:x.spec.js failed"],
      ],
      [" FAIL  src/a.test.ts [ src/a.test.ts ]\nError: no such module", ["error:src/a.test.ts failed"]],
      [" FAIL  |unit| src/a.test.ts > adds", ["test:|unit| src/a.test.ts > adds"]],
      ["✖ test/a.test.mjs (12.5ms)\n✖ failing tests:", ["error:test/a.test.mjs failed"]],
      ["--- FAIL: TestAdd (0.03s)\nFAIL\nFAIL\texample.com/m/sum\t0.003s", ["test:TestAdd"]],
      ["FAIL\texample.com/m/sum\t0.003s\nok  \texample.com/m\t0.1s", ["error:example.com/m/sum failed"]],
    ];
    for (const [output, expected] of cases) expect(names(output)).toEqual(expected);
  });

  it("tell tests apart that differ in a number only", () => {
    expect(names("not ok 1 - answers 404")).not.toEqual(names("not ok 1 - answers 500"));
  });

  it("are one hash of the normalised end where no test is named", () => {
    const output = (at: number) =>
      `[12:0${at}:07] build in /tmp/verify-${at}a/src/main.ts:${at}:7\nerror: cannot find name "x"\nptr 0xdeadbee${at}\nfailed after ${at}.3s`;
    expect(names(output(1))).toEqual(names(output(2)));
    expect(names(output(1))).toHaveLength(1);
    expect(names(output(1))).not.toEqual(names(output(1).replace("name", "module")));
    expect(fingerprintsOf(output(1))[0].message).toBe("failed after 1.3s");
  });

  it("do not depend on the order in which parallel jobs printed", () => {
    expect(names("error in a\nerror in b")).toEqual(names("error in b\nerror in a"));
  });

  it("exist for a failure without any output", () => {
    expect(fingerprintsOf("")).toEqual([{ fingerprint: "output:none", message: "failed without any output" }]);
    expect(fingerprintsOf("\n \u001b[0m\n")).toHaveLength(1);
  });

  it("are bounded in number and length, and long names stay apart", () => {
    const many = Array.from({ length: 5000 }, (_, at) => `not ok ${at} - test ${at}`).join("\n");
    expect(names(many)).toHaveLength(200);
    const long = (end: string) => names(`not ok 1 - ${"x".repeat(500)}${end}`)[0] as string;
    expect(long("a").length).toBeLessThanOrEqual(200);
    expect(long("a")).not.toBe(long("b"));
  });

  it("keep the same set for any output given twice, and never fail on hostile text", () => {
    const said = constantFrom(
      "not ok 1 - a",
      "--- FAIL: b",
      "test c ... FAILED",
      "✖ d",
      "a.ts(1,2): error TS1: e",
      "FAILED f.py::g",
    );
    const lines = array(oneof(said, string({ unit: "binary" })), { maxLength: 30 });
    const outputs = oneof(
      string({ unit: "binary", maxLength: 2000 }),
      lines.map((all) => all.join("\n")),
    );
    assert(
      property(outputs, (output) => {
        expect(fingerprintsOf(output)).toEqual(fingerprintsOf(output));
        expect(fingerprintsOf(output).every((failure) => failure.message !== "")).toBe(true);
      }),
      { numRuns: 200 },
    );
    for (const unit of ["1", "1.", "/a", "\u001b[", "not ok 1 ", "✖ 1ms ", "(1 ms", "0x1 ", "a\u0000", "\n1s"]) {
      expect(names(unit.repeat(60_000 / unit.length))).not.toEqual([]);
    }
  });

  it("normalise folders, numbers, times and addresses away", () => {
    expect(normalised("at /tmp/v-1/src/a-b.ts:12:3 took 1.25 s (0xFF)")).toBe("at a-b.ts:# took # (<hex>)");
    expect(normalised("in src/a.ts and/or file:///x/y/b.ts")).toBe("in src/a.ts and/or b.ts");
    expect(normalised("2026-11-15T23:12:01.123Z  3 files")).toBe(normalised("2027-01-02T03:04:05.6Z 14 files"));
  });
});
