/** The runners themselves: the failing test by its name, whatever moves around it, and all tests by theirs. */
import { symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noAbout } from "../../../test/support/about.ts";
import { memoryBlobs } from "../../../test/support/blobs.ts";
import { isMissing, toolchains, works } from "../../../test/support/programs.ts";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import type { Verdict } from "../../events.ts";
import { commandCheck } from "../command.ts";

const MODULES = join(import.meta.dirname, "../../../node_modules");
const PATH = `${join(MODULES, ".bin")}:${process.env["PATH"] ?? ""}`;
/** Shared, for what compilers keep. */
const HOME = tempDir("home");
const TOOLCHAINS = { ...toolchains(), PYENV_ROOT: join(homedir(), ".pyenv") };
const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/** Against a hang alone: some compile three times. */
const LIMIT_MS = 600_000;

/** The first on the PATH need not be the one that has it. */
const PYTEST =
  ["python3 -m pytest", "pytest", "/usr/bin/python3 -m pytest"].find((one) => works(`${one} --version`)) ?? "pytest";

interface Seed {
  /** Which of the two is wrong. */
  wrong: "adds" | "doubles";
  /** Lines put above everything. */
  above: number;
}
interface Runner {
  command: string;
  /** Its program, where a machine may lack it. */
  program?: string;
  files: (seed: Seed) => Record<string, string>;
  /** Fingerprints of a seed. */
  fails: Record<Seed["wrong"], string>;
  /** Of the ids; undefined where it names no tests. */
  tests?: { ids: string[]; status: string[] };
  line?: number;
  values?: { expected: string; actual: string };
}

const above = ({ above: n }: Seed, comment: string): string => `${comment}\n`.repeat(n);
const values = { expected: "4", actual: "3" };
const wanted = (name: Seed["wrong"], { wrong }: Seed): string => (wrong === name ? "4" : "3");

const javascript = (imports: string, equal: (want: string) => string, seed: Seed): string =>
  `${above(seed, "// moved")}${imports}
describe("sums", () => {
  it("adds", () => { ${equal(wanted("adds", seed))} });
  it("doubles", () => { ${equal(wanted("doubles", seed))} });
  it.skip("later", () => {});
});
`;
const names = (file: string): Pick<Runner, "fails" | "tests"> => ({
  fails: { adds: `test:${file} > sums > adds`, doubles: `test:${file} > sums > doubles` },
  tests: {
    ids: ["adds", "doubles", "later"].map((name) => `${file} > sums > ${name}`),
    status: ["fail", "pass", "skip"],
  },
});
const expectWay = (want: string): string => `expect(1 + 2).toBe(${want});`;
const assertWay = (want: string): string => `assert.strictEqual(1 + 2, ${want});`;

const RUNNERS: Record<string, Runner> = {
  vitest: {
    command: "vitest run",
    files: (seed) => ({
      "src/sum.test.ts": javascript('import { describe, expect, it } from "vitest";', expectWay, seed),
      "vitest.config.mjs": 'export default { test: { cache: false, reporters: ["dot"] } };\n',
    }),
    ...names("src/sum.test.ts"),
    line: 3,
    values,
  },
  jest: {
    command: "jest",
    files: (seed) => ({ "src/sum.test.js": javascript("", expectWay, seed), "package.json": "{}" }),
    ...names("src/sum.test.js"),
    line: 3,
    values,
  },
  mocha: {
    command: "mocha spec",
    files: (seed) => ({ "spec/sum.cjs": javascript('const assert = require("assert");', assertWay, seed) }),
    ...names("spec/sum.cjs"),
    line: 3,
    values,
  },
  "node:test": {
    command: `"${process.execPath}" --test`,
    files: (seed) => ({
      "test/sum.test.cjs": javascript(
        'const assert = require("assert"); const { describe, it } = require("node:test");',
        assertWay,
        seed,
      ),
    }),
    ...names("test/sum.test.cjs"),
    line: 3,
    values,
  },
  pytest: {
    command: `${PYTEST} -p no:cacheprovider`,
    program: `${PYTEST} --version`,
    files: (seed) => ({
      "tests/test_sum.py": `${above(seed, "# moved")}import pytest
class TestSums:
    def test_adds(self):
        assert 1 + 2 == ${wanted("adds", seed)}
    @pytest.mark.parametrize("n", [3])
    def test_doubles(self, n):
        assert n == ${wanted("doubles", seed)}
    @pytest.mark.skip
    def test_later(self):
        pass
`,
    }),
    fails: {
      adds: "test:tests/test_sum.py::TestSums::test_adds",
      doubles: "test:tests/test_sum.py::TestSums::test_doubles[3]",
    },
    tests: {
      ids: ["test_adds", "test_doubles[3]", "test_later"].map((name) => `tests/test_sum.py::TestSums::${name}`),
      status: ["fail", "pass", "skip"],
    },
    line: 4,
  },
  unittest: {
    command: "python3 -B -m unittest -v",
    files: (seed) => ({
      "test_sum.py": `${above(seed, "# moved")}import unittest
class Sums(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(1 + 2, ${wanted("adds", seed)})
    def test_doubles(self):
        self.assertEqual(1 + 2, ${wanted("doubles", seed)})
`,
    }),
    fails: { adds: "test:test_sum.Sums.test_adds", doubles: "test:test_sum.Sums.test_doubles" },
    tests: { ids: ["test_sum.Sums.test_adds", "test_sum.Sums.test_doubles"], status: ["fail", "pass"] },
    line: 4,
    values,
  },
  go: {
    command: "go test -vet=off ./...",
    program: "go version",
    files: (seed) => ({
      "go.mod": "module example.com/m\n\ngo 1.19\n",
      "sum/sum_test.go": `package sum
${above(seed, "// moved")}
import "testing"

func check(t *testing.T, want int) {
	if got := 1 + 2; got != want {
		t.Errorf("got %d, want %d", got, want)
	}
}
func TestAdds(t *testing.T)    { t.Run("two", func(t *testing.T) { check(t, ${wanted("adds", seed)}) }) }
func TestDoubles(t *testing.T) { check(t, ${wanted("doubles", seed)}) }
func TestLater(t *testing.T)   { t.Skip() }
`,
    }),
    fails: { adds: "test:example.com/m/sum > TestAdds/two", doubles: "test:example.com/m/sum > TestDoubles" },
    tests: {
      ids: ["TestAdds", "TestAdds/two", "TestDoubles", "TestLater"].map((name) => `example.com/m/sum > ${name}`),
      status: ["fail", "fail", "pass", "skip"],
    },
    values,
  },
  cargo: {
    command: "cargo test --offline",
    program: "cargo --version",
    files: (seed) => ({
      "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": `${above(seed, "// moved")}#[cfg(test)]
mod tests {
    #[test] fn adds() { assert_eq!(1 + 2, ${wanted("adds", seed)}); }
    #[test] fn doubles() { assert_eq!(1 + 2, ${wanted("doubles", seed)}); }
    #[test] #[ignore] fn later() {}
}
`,
    }),
    fails: { adds: "test:src/lib.rs > sums > tests::adds", doubles: "test:src/lib.rs > sums > tests::doubles" },
    tests: {
      ids: ["adds", "doubles", "later"].map((name) => `src/lib.rs > sums > tests::${name}`),
      status: ["fail", "pass", "skip"],
    },
    line: 3,
    values,
  },
  "go, what does not compile": {
    command: "go build ./...",
    program: "go version",
    files: (seed) => ({
      "go.mod": "module example.com/m\n\ngo 1.19\n",
      "sum/sum.go": `package sum
${above(seed, "// moved")}
func Sum() int { return missing_${seed.wrong} }
`,
    }),
    fails: {
      adds: "error:sum/sum.go undefined: missing_adds",
      doubles: "error:sum/sum.go undefined: missing_doubles",
    },
    line: 3,
  },
  "cargo, what does not compile": {
    command: "cargo check --offline",
    program: "cargo --version",
    files: (seed) => ({
      "Cargo.toml": '[package]\nname = "sums"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": `${above(seed, "// moved")}pub fn sum() -> i32 { missing_${seed.wrong} }\n`,
    }),
    fails: {
      adds: "error:src/lib.rs E0425 cannot find value `missing_adds` in this scope",
      doubles: "error:src/lib.rs E0425 cannot find value `missing_doubles` in this scope",
    },
    line: 1,
  },
  "make and a script": {
    command: "make test",
    program: "make --version",
    files: (seed) => ({
      Makefile: `${above(seed, "# moved")}test:\n\t@sh tests/run.sh\n`,
      "tests/run.sh": `${above(seed, "# moved")}echo "$(date +%FT%T) $PWD/tests/run.sh:${seed.above + 1} took ${seed.above}.25 s"
echo "${seed.wrong}: got 3, wanted 4"; exit 1
`,
    }),
    fails: { adds: "output:3d638c2fe0e0a960272ea3fe", doubles: "output:076b89afc72e35ad97490657" },
  },
  "make and cc": {
    command: "make",
    program: "cc --version",
    files: (seed) => ({
      Makefile: "all:\n\t@cc -c main.c -o /dev/null\n",
      "main.c": `${above(seed, "// moved")}int main(void) { return missing_${seed.wrong}; }\n`,
    }),
    fails: {
      adds: "error:main.c 'missing_adds' undeclared (first use in this function)",
      doubles: "error:main.c 'missing_doubles' undeclared (first use in this function)",
    },
    line: 1,
  },
  tsc: {
    command: "tsc --noEmit --ignoreConfig --types '' sum.ts",
    files: (seed) => ({
      "sum.ts": `${above(seed, "// moved")}export const sum: ${seed.wrong === "adds" ? "string" : "boolean"} = 3;\n`,
    }),
    fails: {
      adds: "error:sum.ts TS2322 Type 'number' is not assignable to type 'string'.",
      doubles: "error:sum.ts TS2322 Type 'number' is not assignable to type 'boolean'.",
    },
    line: 1,
  },
  oxlint: {
    command: "oxlint -A all -D no-debugger -D no-empty src",
    files: (seed) => ({
      "src/sum.js": `${above(seed, "// moved")}${seed.wrong === "adds" ? "debugger;" : "if (a) {}"}\n`,
    }),
    fails: {
      adds: "error:src/sum.js eslint(no-debugger) `debugger` statement is not allowed",
      doubles: "error:src/sum.js eslint(no-empty) Unexpected empty block statements",
    },
    line: 1,
  },
};

async function judge(runner: Runner, seed: Seed): Promise<{ verdict: Extract<Verdict, { is: "fail" }>; ids: unknown }> {
  const path = tempDir("runner");
  writeFiles(path, runner.files(seed));
  symlinkSync(MODULES, join(path, "node_modules"));
  const [folder, blobs] = [tempDir("reports"), memoryBlobs()];
  const spec = { name: "test", kind: "command", command: runner.command, required: true, timeoutMs: LIMIT_MS } as const;
  const check = commandCheck(spec, {
    run: "r-real",
    environment: { PATH, HOME, TMPDIR: HOME, LC_ALL: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1", ...TOOLCHAINS },
    blobs,
    reports: { folder, at: folder },
  });
  const tree = { path, tree: TREE, isolation: "copy", release: async () => {} };
  const verdict = await check.judge(tree, new AbortController().signal, noAbout);
  if (verdict.is !== "fail") throw new Error(JSON.stringify(verdict));
  const kept = verdict.evidence.tests === null ? undefined : await blobs.get(verdict.evidence.tests?.ids ?? "");
  return { verdict, ids: kept === undefined ? undefined : JSON.parse(Buffer.from(kept).toString()) };
}

describe.each(Object.entries(RUNNERS))("%s", (_, runner) => {
  const missing = runner.program !== undefined && isMissing(runner.program);
  it.skipIf(missing)("names a failure the same until it is another", { timeout: LIMIT_MS }, async () => {
    const first = await judge(runner, { wrong: "adds", above: 0 });
    const [failure] = first.verdict.failures;
    expect(first.verdict.failures.map(({ fingerprint }) => fingerprint).map(ascii)).toEqual([runner.fails.adds]);
    if (runner.line !== undefined) expect(failure.line).toBe(runner.line);
    if (runner.values !== undefined) expect(failure).toMatchObject(runner.values);
    expect(failure.file ?? "").not.toMatch(/^\//);
    if (runner.tests === undefined) expect(first.ids).toBeUndefined();
    else expect(sorted(first.ids)).toEqual(runner.tests.ids.map((id, n) => [id, runner.tests?.status[n]]));

    const moved = await judge(runner, { wrong: "adds", above: 7 });
    expect(moved.verdict.failures.map(({ fingerprint }) => ascii(fingerprint))).toEqual([runner.fails.adds]);
    expect(moved.ids).toEqual(first.ids);
    if (runner.line !== undefined) expect(moved.verdict.failures[0].line).toBe(runner.line + 7);

    const other = await judge(runner, { wrong: "doubles", above: 0 });
    expect(other.verdict.failures.map(({ fingerprint }) => ascii(fingerprint))).toEqual([runner.fails.doubles]);
  });
});

/** Compilers quote as the language of the machine has it. */
const ascii = (text: string): string => text.replaceAll(/[‘’]/g, "'");
const sorted = (ids: unknown): [string, string][] =>
  Object.entries(ids as Record<string, string>).toSorted(([a], [b]) => (a < b ? -1 : 1));
