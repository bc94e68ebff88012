import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { checkContract } from "../../test/contracts/check.ts";
import { figure } from "../../test/support/figure.ts";
import { aboutChange, treeOf } from "../../test/support/verify-tree.ts";
import type { JudgeAbout } from "../ports.ts";
import type { GuardRule } from "../spec.ts";
import { guardCheck } from "./guard.ts";

type Files = Readonly<Record<string, string>>;
const ALL: GuardRule[] = ["tests-deleted", "tests-skipped", "tests-emptied", "suppressions"];
const never = () => new AbortController().signal;

const specOf = (rules: GuardRule[], more: { maxLines?: number; paths?: string[] } = {}) =>
  ({ name: "guard", kind: "guard", command: "guard", required: true, timeoutMs: 120_000, rules, ...more }) as const;

checkContract(
  "a guard",
  (situation) => {
    const [before, after] = [{ "a.test.ts": 'test("a", () => expect(f()).toBe(1));' }, { "a.test.ts": "" }];
    const about: JudgeAbout = {
      green: aboutChange(before, before),
      red: aboutChange(before, after),
      hanging: aboutChange(before, after, { files: () => new Promise(() => {}) }),
      impossible: aboutChange(before, after, { files: () => Promise.reject(new Error("no such tree")) }),
    }[situation];
    return { check: guardCheck(specOf(ALL), { tests: [] }), tree: treeOf(after), run: `r-${randomUUID()}`, about };
  },
  { noProcess: "it only reads" },
);

async function found(before: Files, after: Files, spec = specOf(ALL), more: Partial<JudgeAbout["change"]> = {}) {
  const verdict = await guardCheck(spec, { tests: [] }).judge(treeOf(after), never(), aboutChange(before, after, more));
  if (verdict.is === "pass") return [];
  if (verdict.is === "fail") return verdict.failures.map(({ fingerprint }) => fingerprint);
  throw new Error(JSON.stringify(verdict));
}

const JS = `import { test, expect } from "vitest";
test("adds", () => {
  expect(add(1, 2)).toBe(3);
  expect(add(-1, 1)).toBe(0);
});
test("subtracts", () => {
  expect(sub(3, 2)).toBe(1);
});
`;
const PY = `import pytest
from calc import add

def test_adds():
    assert add(1, 2) == 3

class TestMore:
    def test_zero(self):
        assert add(0, 0) == 0
        assert add(0, 1) == 1
`;
const GO = `func TestAdd(t *testing.T) {
	if Add(1, 2) != 3 {
		t.Fatal("wrong")
	}
}

func TestSub(t *testing.T) {
	require.Equal(t, 1, Sub(3, 2))
}
`;
const RS = `pub fn add(a: i32, b: i32) -> i32 { a + b }

#[cfg(test)]
mod tests {
    #[test]
    fn adds() {
        assert_eq!(add(1, 2), 3);
    }
    #[test]
    fn zero() {
        assert!(add(0, 0) == 0);
    }
}
`;
const JAVA = `class CalcTest {
  @Test
  void adds() { assertEquals(3, add(1, 2)); }
}
`;
const CODE = "export const add = (a: number, b: number): number => a + b;\n";

interface Gaming {
  what: string;
  before: Files;
  after: Files;
  rule: GuardRule;
}
const edit = (
  path: string,
  text: string,
  from: string | RegExp,
  to: string | ((found: string) => string),
): { before: Files; after: Files } => {
  const after = typeof to === "string" ? text.replace(from, to) : text.replace(from, to);
  if (after === text) throw new Error(`nothing to replace in ${path}: ${String(from)}`);
  return { before: { [path]: text }, after: { [path]: after } };
};

/** A14: ways to make a number look better without making anything better. */
const GAMING: Gaming[] = [
  { what: "a test file is deleted", before: { "a.test.ts": JS }, after: {}, rule: "tests-deleted" },
  {
    what: "a test file gets a name no runner looks for",
    before: { "test/a.test.ts": JS },
    after: { "old/a.test.ts.bak": JS },
    rule: "tests-deleted",
  },
  { what: "one test of two is deleted", ...edit("a.test.ts", JS, /test\("subtracts[^]*/, ""), rule: "tests-deleted" },
  {
    what: "a test is commented out",
    ...edit("a.test.ts", JS, /test\("subtracts[^]*/, (text) => text.replaceAll(/^/gm, "// ")),
    rule: "tests-deleted",
  },
  { what: "a Go test is deleted", ...edit("a_test.go", GO, /func TestSub[^]*/, ""), rule: "tests-deleted" },
  {
    what: "a Rust test beside the code is deleted",
    ...edit("src/lib.rs", RS, /    #\[test\]\n    fn zero[^]*?\n    }\n/, ""),
    rule: "tests-deleted",
  },
  {
    what: "a Python test is put into a string",
    ...edit("test_a.py", PY, /def test_adds[^]*?== 3\n/, '"""\n$&"""\n'),
    rule: "tests-deleted",
  },
  { what: "test.skip", ...edit("a.test.ts", JS, 'test("adds', 'test.skip("adds'), rule: "tests-skipped" },
  { what: "xit", ...edit("spec/a.js", JS.replaceAll("test(", "it("), 'it("adds', 'xit("adds'), rule: "tests-skipped" },
  {
    what: "test.only, so that the other is not run",
    ...edit("a.test.ts", JS, 'test("adds', 'test.only("adds'),
    rule: "tests-skipped",
  },
  {
    what: "a skip option of node:test",
    ...edit("a.test.mjs", JS, '"adds", ', '"adds", { skip: "later" }, '),
    rule: "tests-skipped",
  },
  { what: "an early exit with 0", ...edit("a.test.ts", JS, "test(", "process.exit(0);\ntest("), rule: "tests-skipped" },
  {
    what: "@pytest.mark.skip",
    ...edit("test_a.py", PY, "def test_adds", "@pytest.mark.skip\ndef test_adds"),
    rule: "tests-skipped",
  },
  {
    what: "@pytest.mark.xfail",
    ...edit("test_a.py", PY, "def test_adds", '@pytest.mark.xfail(reason="known")\ndef test_adds'),
    rule: "tests-skipped",
  },
  { what: "t.Skip", ...edit("a_test.go", GO, "\tif Add", '\tt.Skip("flaky")\n\tif Add'), rule: "tests-skipped" },
  {
    what: "#[ignore]",
    ...edit("src/lib.rs", RS, "#[test]\n    fn adds", "#[test]\n    #[ignore]\n    fn adds"),
    rule: "tests-skipped",
  },
  {
    what: "@Disabled",
    ...edit("src/test/java/CalcTest.java", JAVA, "@Test", "@Disabled @Test"),
    rule: "tests-skipped",
  },
  { what: "assertions are taken out", ...edit("a.test.ts", JS, /  expect\(add\(-1[^]*?\n/, ""), rule: "tests-emptied" },
  {
    what: "a test's body is emptied",
    ...edit("test_a.py", PY, "    assert add(1, 2) == 3", "    pass"),
    rule: "tests-emptied",
  },
  {
    what: "an assertion that always holds",
    ...edit("a.test.ts", JS, "expect(add(1, 2)).toBe(3)", "expect(true).toBe(true)"),
    rule: "tests-emptied",
  },
  {
    what: "assert True",
    ...edit("test_a.py", PY, "assert add(1, 2) == 3", "assert True or add(1, 2) == 3"),
    rule: "tests-emptied",
  },
  {
    what: "a value is compared with itself",
    ...edit("a.test.ts", JS, "expect(sub(3, 2)).toBe(1)", "expect(got).toBe(got)"),
    rule: "tests-emptied",
  },
  {
    what: "one file is emptied, another is filled up",
    before: { "a.test.ts": JS },
    after: {
      "a.test.ts": JS.replaceAll(/ {2}expect.*\n/g, ""),
      "b.test.ts": JS.replaceAll(/"(adds|subtracts)"/g, '"b $1"'),
    },
    rule: "tests-emptied",
  },
  { what: "eslint-disable", ...edit("src/a.ts", CODE, /^/, "/* eslint-disable */\n"), rule: "suppressions" },
  { what: "@ts-ignore", ...edit("src/a.ts", CODE, /^/, "// @ts-ignore\n"), rule: "suppressions" },
  {
    what: "@ts-expect-error in a new file",
    before: {},
    after: { "src/b.ts": `// @ts-expect-error\n${CODE}` },
    rule: "suppressions",
  },
  { what: "# noqa", ...edit("calc.py", "import os\n", "os", "os  # noqa: F401"), rule: "suppressions" },
  {
    what: "# type: ignore",
    ...edit("calc.py", "x = f()\n", "f()", "f()  # type: ignore[no-any]"),
    rule: "suppressions",
  },
  { what: "//nolint", ...edit("a.go", "x := f()\n", "f()", "f() //nolint:errcheck"), rule: "suppressions" },
  { what: "#[allow(…)]", ...edit("src/a.rs", "fn f() {}\n", /^/, "#[allow(dead_code)]\n"), rule: "suppressions" },
  {
    what: "# pragma: no cover",
    ...edit("calc.py", "def f():\n", ":\n", ":  # pragma: no cover\n"),
    rule: "suppressions",
  },
];

describe("a guard against gaming (A14)", () => {
  it.each(GAMING)("refuses it when $what", async ({ before, after, rule }) => {
    const rules = (await found(before, after)).map((fingerprint) => fingerprint.split(":")[1]);
    expect(rules).toContain(rule);
  });

  it("refuses all of them, and for the rule that is meant alone too (A14)", async () => {
    const refused = await Promise.all(GAMING.map(({ before, after, rule }) => found(before, after, specOf([rule]))));
    const count = refused.filter((failures) => failures.length > 0).length;
    figure("A14, gaming diffs", { diffs: GAMING.length, refused: count });
    expect(count).toBe(GAMING.length);
  });

  const HONEST: { what: string; before: Files; after: Files }[] = [
    {
      what: "tests are added",
      before: { "a.test.ts": JS },
      after: { "a.test.ts": `${JS}test("more", () => { expect(f()).toBe(2); });\n` },
    },
    { what: "a new test file", before: {}, after: { "test_a.py": PY } },
    { what: "a test file is moved", before: { "test/a.test.ts": JS }, after: { "src/deep/a.test.ts": JS } },
    {
      what: "a test file is split",
      before: { "a.test.ts": JS },
      after: {
        "a.test.ts": JS.replace(/test\("subtracts[^]*/, ""),
        "b.test.ts": JS.replace(/test\("adds[^]*?\n}\);\n/, ""),
      },
    },
    { what: "a test gets another name", ...edit("a.test.ts", JS, '"adds"', '"adds numbers"') },
    { what: "an expected value is corrected", ...edit("a.test.ts", JS, "toBe(3)", "toBe(4)") },
    {
      what: "a skipped test is run again",
      ...edit("a.test.ts", JS.replace('test("adds', 'test.skip("adds'), "test.skip(", "test("),
    },
    {
      what: "product code has words of tests",
      ...edit("src/query.ts", "const rows = list;\n", "list", "list.skip(10).only(5); // expect(nothing)"),
    },
    { what: "product code loses an assertion", ...edit("src/calc.py", "assert x\nreturn x\n", "assert x\n", "") },
    {
      what: "a suppression moves",
      before: { "a.ts": `// @ts-ignore\n${CODE}` },
      after: { "b.ts": `// @ts-ignore\n${CODE}` },
    },
    {
      what: "patterns of paths look like comments",
      ...edit("a.test.ts", `const files = ["src/*", "lib/**"];\n${JS}`, '"src/*"', '"src/*", "**/x"'),
    },
    { what: "fixtures are deleted", before: { "test/fixtures/a.json": "{}" }, after: {} },
  ];
  it.each(HONEST)("lets it through when $what", async ({ before, after }) => {
    expect(await found(before, after)).toEqual([]);
  });
});

describe("a guard", () => {
  const KEY = `sk-ant-api03-${"a1B2".repeat(12)}`;

  it("finds secrets that the change brings in, with the line, and not those that were there", async () => {
    const spec = specOf(["secrets"]);
    expect(await found({}, { "a.env": `A=1\nKEY=${KEY}\n` }, spec)).toEqual(["guard:secrets:a.env"]);
    expect(await found({ "a.env": `KEY=${KEY}\n` }, { "a.env": `KEY=${KEY}\nB=2\n` }, spec)).toEqual([]);
    const verdict = await guardCheck(spec, { tests: [] }).judge(
      treeOf({ "a.env": `\n${KEY}` }),
      never(),
      aboutChange({}, { "a.env": `\n${KEY}` }),
    );
    expect(verdict).toMatchObject({ is: "fail", failures: [{ line: 2, file: "a.env" }] });
    // The secret itself is not told on.
    expect(JSON.stringify(verdict)).not.toContain(KEY);
  });

  it("knows the tests of a layout of its own by the patterns the run has", async () => {
    const [before, after] = [
      { "verify/sums.ts": "check(add(1, 2) === 3); assert(true, f());\nexpect(x).toBe(1);\n" },
      { "verify/sums.ts": "" },
    ];
    const judged = async (tests: string[]): Promise<string> =>
      (await guardCheck(specOf(ALL), { tests }).judge(treeOf(after), never(), aboutChange(before, after))).is;
    expect([await judged([]), await judged(["verify/**"])]).toEqual(["pass", "fail"]);
  });

  it("counts the lines of the change, without those of lockfiles", async () => {
    const after = { "a.ts": "1\n2\n3\n", "package-lock.json": "1\n".repeat(500) };
    expect(await found({}, after, specOf(["diff-size"], { maxLines: 3 }))).toEqual([]);
    expect(await found({}, after, specOf(["diff-size"], { maxLines: 2 }))).toEqual(["guard:diff-size"]);
  });

  it("keeps paths that are off limits", async () => {
    const after = { "infra/main.tf": "x", "src/a.ts": "x", ".github/workflows/ci.yml": "x" };
    expect(await found({}, after, specOf(["forbidden-paths"], { paths: ["infra", ".github/**"] }))).toEqual([
      "guard:forbidden-paths:infra/main.tf",
      "guard:forbidden-paths:.github/workflows/ci.yml",
    ]);
  });

  it("tells what was protected and had to be put back", async () => {
    const undone = [{ path: "a.test.ts", how: "edited" as const }];
    expect(await found({}, {}, specOf(["protected-paths"]), { undone })).toEqual(["guard:protected-paths:a.test.ts"]);
  });

  it("cannot judge a source file that is too large to compare", async () => {
    const after = { "a.ts": "x".repeat(3 * 1024 * 1024) };
    const verdict = await guardCheck(specOf(ALL), { tests: [] }).judge(treeOf(after), never(), aboutChange({}, after));
    expect(verdict).toEqual({ is: "unverifiable", reason: "a.ts has 3145728 bytes; at most 2097152 are read" });
  });
});
