import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { saysNoTests } from "./counts.ts";
import { printedReport } from "./printed.ts";
import { countsOf, merged, reportOf, type TestReport } from "./report.ts";
import { writtenReport } from "./written.ts";

const places = { roots: ["/state/verify", "/srv/project"] };
const statuses = (report: TestReport | undefined) => report && Object.fromEntries(report.tests);
const junit = (inner: string, suite = "") =>
  `<?xml version="1.0"?>\n<testsuites><testsuite ${suite}>${inner}</testsuite></testsuites>`;

describe("a written report", () => {
  it("of JUnit has tests by file, class and name", () => {
    const report = writtenReport(
      junit(
        `<testcase classname="com.acme.SumTest" name="adds &lt;two&gt;" time="0.1"><failure type="AssertionError" message="expected: &lt;3&gt; but was: &lt;2&gt;">org.opentest4j
	at com.acme.SumTest.adds(SumTest.java:12)</failure></testcase>
         <testcase classname="com.acme.SumTest" name="later"><skipped/></testcase>
         <testcase classname="com.acme.SumTest" name="fine"><system-out><![CDATA[<failure> is only text]]></system-out></testcase>`,
        'name="com.acme.SumTest"',
      ),
      places,
    );
    expect(statuses(report)).toEqual({
      "com.acme.SumTest > adds <two>": "fail",
      "com.acme.SumTest > later": "skip",
      "com.acme.SumTest > fine": "pass",
    });
    expect(report?.failures).toMatchObject([
      { fingerprint: "test:com.acme.SumTest > adds <two>", expected: "3", actual: "2" },
    ]);
  });

  it("of jest or vitest has a file that cannot be loaded as a failure, but as no test", () => {
    const text = JSON.stringify({
      testResults: [
        { name: "/state/verify/a.test.ts", status: "failed", message: "Error: no such module", assertionResults: [] },
        {
          name: "/srv/project/b.test.ts",
          status: "passed",
          assertionResults: [{ ancestorTitles: ["", "b"], title: "works in /srv/project/x", status: "passed" }],
        },
      ],
    });
    const report = writtenReport(text, places);
    expect(statuses(report)).toEqual({ "b.test.ts > b > works in x": "pass" });
    expect(report?.failures).toMatchObject([{ fingerprint: "test:a.test.ts", message: "Error: no such module" }]);
  });

  it("of TAP needs its plan", () => {
    const tap =
      "TAP version 13\nok 1 - a\nnot ok 2 - b\n  ---\n  expected: 3\n  actual: 2\n  ...\nok 3 - c # SKIP not now\n";
    expect(statuses(writtenReport(`${tap}1..3\n`, places))).toEqual({ a: "pass", b: "fail", c: "skip" });
    expect(writtenReport(`${tap}1..3\n`, places)?.failures).toMatchObject([{ expected: "3", actual: "2" }]);
    expect(writtenReport(`${tap}1..4\n`, places)).toBeUndefined();
    expect(writtenReport(tap, places)).toBeUndefined();
  });

  it("is none when it is broken, cut, hostile or something else", () => {
    const case1 = '<testcase classname="a" name="b"/>';
    const bomb = '<!DOCTYPE x [<!ENTITY a "boom"><!ENTITY b "&a;&a;&a;">]>';
    for (const text of [
      junit(case1).slice(0, -4),
      junit(`${case1}</testsuite>`),
      `<testsuite>${"<a>".repeat(100_000)}`,
      "<html></html>",
      "",
      "{",
      '{"testResults": 3}',
      "[1, 2]",
      "\u0000".repeat(10_000),
      `<testsuite ${'a="b" '.repeat(10_000)}`,
    ]) {
      expect(writtenReport(text, places)).toBeUndefined();
    }
    const text = `${bomb}${junit('<testcase classname="a" name="&b;&#x41;&#99999999;"/>')}`;
    expect(statuses(writtenReport(text, places))).toEqual({ "a > &b;A&#99999999;": "pass" });
  });

  it("of any text never throws, and gives the same twice", () => {
    assert(
      property(string({ unit: "binary", maxLength: 500 }), (noise) => {
        for (const text of [noise, junit(noise), `{"testResults":[${JSON.stringify(noise)}]}`, `1..1\nok 1 ${noise}`]) {
          expect(writtenReport(text, places)).toEqual(writtenReport(text, places));
          expect(() => printedReport(text, places)).not.toThrow();
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("a printed report", () => {
  it("of node:test counts leaves, by the names above them", () => {
    const output = `▶ sums
  ✖ adds two (2.27ms)
  ✔ adds one (0.23ms)
  ﹣ later (0.26ms) # SKIP
✖ sums (6.74ms)
✔ top (1ms)
ℹ tests 4
ℹ suites 1
ℹ pass 2
ℹ fail 1

✖ failing tests:

test at a.test.mjs:2:26
✖ adds two (2.27ms)
  AssertionError [ERR_ASSERTION]: 2 !== 3
      at TestContext.<anonymous> (file:///state/verify/a.test.mjs:2:54)
`;
    const report = printedReport(output, places);
    expect(statuses(report)).toEqual({
      "sums > adds two": "fail",
      "sums > adds one": "pass",
      "sums > later": "skip",
      top: "pass",
    });
    expect(report?.failures).toMatchObject([{ file: "a.test.mjs", line: 2, expected: "3", actual: "2" }]);
    expect(printedReport(output.replace("tests 4", "tests 9"), places)).toBeUndefined();
  });

  it("of mocha has hooks that failed as failures only", () => {
    const output = `
  sums
    1) adds two
    ✔ adds one (12ms)
    - later
    hook
      2) "before all" hook for "never"


  1 passing (12ms)
  1 pending
  2 failing

  1) sums
       adds two:

      AssertionError: Expected values to be strictly equal:

2 !== 3

      at Context.<anonymous> (a.spec.cjs:2:54)

  2) sums
       hook
         "before all" hook for "never":
     Error: no setup
      at Context.<anonymous> (a.spec.cjs:2:211)
`;
    const report = printedReport(output, places);
    expect(statuses(report)).toEqual({ "sums > adds two": "fail", "sums > adds one": "pass", "sums > later": "skip" });
    expect(report?.failures.map(({ message, line }) => [message, line])).toEqual([
      ["AssertionError: Expected values to be strictly equal: 2 !== 3", 2],
      ["Error: no setup", 2],
    ]);
  });

  it("of go has a test that never ended as failed, and a package that was not built as broken", () => {
    const output = `=== RUN   TestOk
--- PASS: TestOk (0.00s)
=== RUN   TestPanics
panic: boom [recovered]
FAIL	example.com/m/a	0.002s
FAIL	example.com/m/b [build failed]
FAIL`;
    const report = printedReport(output, places);
    expect(statuses(report)).toEqual({ "example.com/m/a > TestOk": "pass", "example.com/m/a > TestPanics": "fail" });
    expect(report?.failures.map(({ fingerprint }) => fingerprint)).toEqual([
      "test:example.com/m/a > TestPanics",
      "test:example.com/m/b",
    ]);
    expect(Object.fromEntries(report?.units ?? [])).toEqual({ "example.com/m/b": "broken" });
    const event = (Action: string, Test?: string) => JSON.stringify({ Time: "now", Action, Package: "m/a", Test });
    const events = [event("run", "TestA"), event("pass", "TestA"), event("run", "TestB"), event("fail")].join("\n");
    expect(statuses(printedReport(events, places))).toEqual({ "m/a > TestA": "pass", "m/a > TestB": "fail" });
  });

  it("of go finds marks behind what the product printed, and takes what began for passed where the package came to its end", () => {
    const output = (last: string) => `=== RUN   TestA
no end--- PASS: TestA (0.00s)
no end=== RUN   TestB
no end--- FAIL: TestB (0.00s)
=== RUN   TestC
${last}
ok  	example.com/m/a	0.002s
?   	example.com/m/none	[no test files]`;
    const found = (last: string) => statuses(printedReport(output(last), places));
    const both = { "example.com/m/a > TestA": "pass", "example.com/m/a > TestB": "fail" };
    expect(found("PASS\ncoverage: 80.0% of statements")).toEqual({ ...both, "example.com/m/a > TestC": "pass" });
    // Left in the middle with a good exit code.
    expect(found("words")).toEqual({ ...both, "example.com/m/a > TestC": "fail" });
    expect(Object.fromEntries(printedReport(output(""), places)?.units ?? [])).toEqual({
      "example.com/m/none": "none",
    });
    const event = (Action: string, more = {}) => JSON.stringify({ Time: "now", Action, Package: "m/a", ...more });
    const run = event("run", { Test: "TestA" });
    const end = event("output", { Output: "PASS\n" });
    expect(statuses(printedReport([run, end, event("pass")].join("\n"), places))).toEqual({ "m/a > TestA": "pass" });
    expect(statuses(printedReport([run, event("pass")].join("\n"), places))).toEqual({ "m/a > TestA": "fail" });
    const ok = event("output", { Test: "TestA", Output: "ok  \tm/a\t0.01s\n" });
    const passed = event("pass", { Test: "TestA" });
    const mark = event("output", { Test: "TestA", Output: "no end--- PASS: TestA (0.00s)\n" });
    expect(statuses(printedReport([run, ok, passed].join("\n"), places))).toEqual({ "m/a > TestA": "fail" });
    expect(statuses(printedReport([run, mark, ok, passed].join("\n"), places))).toEqual({ "m/a > TestA": "pass" });
  });

  it("of cargo names what could not be compiled, and programs without tests", () => {
    const broken =
      'error: could not compile `my-sums` (lib test) due to 1 previous error\nerror: could not compile `my-sums` (test "api") due to 1 previous error';
    const report = printedReport(broken, places);
    expect(Object.fromEntries(report?.units ?? [])).toEqual({ "crate my_sums": "broken", "crate api": "broken" });
    expect(report?.failures.map(({ fingerprint }) => fingerprint)).toEqual(["test:crate my_sums", "test:crate api"]);
    expect(printedReport("error: could not compile `my-sums` (lib) due to 1 previous error", places)).toBeUndefined();
  });

  it("of an older cargo has the place and the values of what failed", () => {
    const said =
      "thread 'adds' panicked at 'assertion failed: `(left == right)`\n  left: `3`,\n right: `4`', src/lib.rs:3:25";
    const head = "     Running unittests src/lib.rs (target/debug/deps/sums-8348ca7a80742723)\n\nrunning 1 test\n";
    const sum = "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
    const output = `${head}test adds ... FAILED\n\nfailures:\n\n---- adds stdout ----\n${said}\n\n\nfailures:\n    adds\n\n${sum}\n`;
    expect(printedReport(output, { roots: [] })?.failures).toMatchObject([
      { fingerprint: "test:src/lib.rs > sums > adds", line: 3, expected: "4", actual: "3" },
    ]);
  });

  it("is a number of tests without names where a runner says no more", () => {
    const count = (output: string) => {
      const { tests } = printedReport(output, places) ?? {};
      return tests && [tests.size, [...tests.values()].filter((one) => one === "skip").length];
    };
    expect(count("..s\n----\nRan 3 tests in 0.001s\n\nOK (skipped=1)")).toEqual([3, 1]);
    expect(count("===== 4 passed, 2 skipped, 1 warning in 0.12s =====")).toEqual([6, 2]);
    expect(count("Tests:       1 failed, 2 skipped, 3 passed, 6 total")).toEqual([6, 2]);
    expect(count("      Tests  1 failed | 3 passed (4)")).toEqual([4, 0]);
    expect(count("12 files passed the check\n✔ built in 3s")).toBeUndefined();
  });
});

describe("tests inside each other", () => {
  const fails = (...names: string[]) =>
    reportOf(
      names.map((name) => ({ names: [name], status: "fail" })),
      places,
    );

  it("are told by a slash in Go only", () => {
    const report = fails("GET /users", "GET /users/:id");
    expect(report.failures).toHaveLength(2);
    expect(countsOf(report).failed).toBe(2);
    const go = reportOf(
      ["TestA", "TestA/b", "TestA/b/c"].map((name) => ({ names: ["example.com/m", name], status: "fail", inner: "/" })),
      places,
    );
    expect(go.failures.map(({ fingerprint }) => fingerprint)).toEqual(["test:example.com/m > TestA/b/c"]);
    expect(countsOf(go).failed).toBe(1);
  });
});

describe("a runner that ran nothing", () => {
  it("says so, and nothing else does", () => {
    for (const output of [
      "----\nRan 0 tests in 0.000s\n\nOK",
      "ℹ tests 0\nℹ pass 0",
      "TAP version 13\n1..0\n# tests 0",
      "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
      "?   \texample.com/m\t[no test files]",
      "ok  \texample.com/m\t0.01s [no tests to run]",
      "No test files found, exiting with code 0",
    ])
      expect([output, saysNoTests(output.split("\n"))]).toEqual([output, true]);
    for (const output of [
      "built in 3s",
      "Ran 0 tests in 0.000s\n\nOK\nRan 2 tests in 0.000s\n\nOK",
      "?   \texample.com/m\t[no test files]\nok  \texample.com/m/a\t0.01s",
      "ℹ tests 0\nℹ tests 2",
    ])
      expect([output, saysNoTests(output.split("\n"))]).toEqual([output, false]);
  });
});

describe("ids", () => {
  const ids = (...names: string[]) => [
    ...reportOf(
      names.map((name) => ({ names: [name], status: "pass" })),
      places,
    ).tests.keys(),
  ];

  it("keep numbers, and lose colours, addresses, and folders that are new every time", () => {
    expect(ids("\u001b[31manswers 404\u001b[39m", "at 0x7ffe12", "in /tmp/x-1a2/y/file.txt", "GET /api/users")).toEqual(
      ["answers 404", "at <hex>", "in <tmp>/file.txt", "GET /api/users"],
    );
  });

  it("tell tests of one name apart, and stay apart when they are long", () => {
    expect(ids("same", "same")).toEqual(["same", "same (2)"]);
    const [a = "", b = ""] = ids(`${"x".repeat(500)}a`, `${"x".repeat(500)}b`);
    expect(a.length).toBeLessThanOrEqual(195);
    expect(a).not.toBe(b);
  });

  it("of several reports of one command are failed where one says so", () => {
    const one = reportOf(
      [
        { names: ["a"], status: "pass" },
        { names: ["b"], status: "fail" },
      ],
      places,
    );
    const two = reportOf(
      [
        { names: ["a"], status: "fail" },
        { names: ["c"], status: "skip" },
      ],
      places,
    );
    expect(statuses(merged([one, two]))).toEqual({ a: "fail", b: "fail", c: "skip" });
    expect(merged([])).toBeUndefined();
  });
});
