/** Tests whose names are made while they run: as many have to run as on the base, and all others by their names. */
import { describe, expect, it } from "vitest";
import { inOneWord, judgedFeature, LIMIT_MS, type Files } from "../../test/support/feature.ts";
import { isMissing } from "../../test/support/programs.ts";

interface Case {
  command: string;
  tests: Files;
  base: Files;
  change: Files;
  is: "green" | "red";
  program?: string;
}

const pytest = (is: Case["is"], test: string, [base, change]: [string, string]): Case => ({
  command: "PYTHONPATH=. python3 -m pytest -q -p no:cacheprovider",
  tests: { "tests/test_calc.py": `import pytest\nimport calc\n\n${test}` },
  base: { "calc.py": base },
  change: { "calc.py": change },
  is,
  program: "python3 -m pytest --version",
});
const js = (command: string, is: Case["is"], test: string, [base, change]: [string, string]): Case => ({
  command,
  tests: {
    "calc.test.cjs": `${command === "node --test" ? 'const { describe, it } = require("node:test");\n' : ""}const assert = require("node:assert");\nconst calc = require("./calc.cjs");\nit("stands", () => {});\n${test}\n`,
    "package.json": '{ "jest": { "testMatch": ["**/*.test.cjs"] } }',
  },
  base: { "calc.cjs": base },
  change: { "calc.cjs": change },
  is,
});
const go = (is: Case["is"], test: string, [base, change]: [string, string]): Case => ({
  command: "go test -vet=off ./...",
  tests: {
    "go.mod": "module example.com/m\n\ngo 1.19\n",
    "calc_test.go": `package m\n\nimport (\n\t"fmt"\n\t"testing"\n\t"time"\n)\n\nvar _ = fmt.Sprint(time.Now())\n\n${test}`,
  },
  base: { "calc.go": `package m\n\n${base}` },
  change: { "calc.go": `package m\n\n${change}` },
  is,
  program: "go version",
});

const PY_PRODUCT: [string, string] = ["def value():\n    return 1\n", "def value():\n    return 2\n"];
const PY_CASES = (...names: string[]): string =>
  `def cases():\n    return [${names.map((one) => `"${one}"`).join(", ")}]\n`;
const BY_CASE = '@pytest.mark.parametrize("case", calc.cases())\ndef test_case(case):\n    assert case\n';
const JS_PRODUCT: [string, string] = ["exports.value = () => 1;", "exports.value = () => 2;"];
const JS_CASES = (...names: string[]): string => `exports.cases = () => ${JSON.stringify(names)};`;
const EACH_CASE = "for (const one of calc.cases()) it(`takes ${one}`, () => {});";
const GO_CASES = (...names: string[]): string =>
  `func Cases() []string { return []string{${names.map((one) => `"${one}"`).join(", ")}} }\n`;
const GO_BY_CASE =
  "func TestCase(t *testing.T) {\n\tfor _, one := range Cases() {\n\t\tt.Run(one, func(t *testing.T) {})\n\t}\n}\n";
const VITEST = "vitest run --globals calc.test.cjs";

const CASES: Record<string, Case> = {
  "pytest, by chance": pytest(
    "green",
    'import random\n@pytest.mark.parametrize("n", [random.randrange(1_000_000) for _ in range(3)])\ndef test_chance(n):\n    assert n >= 0\n',
    PY_PRODUCT,
  ),
  "pytest, by the time and the process": pytest(
    "green",
    'import os, time\n@pytest.mark.parametrize("at", [f"{time.time_ns()}-{os.getpid()}"], ids=str)\ndef test_at(at):\n    assert calc.value()\n',
    PY_PRODUCT,
  ),
  "pytest, by what the product returns": pytest("green", BY_CASE, [PY_CASES("a", "b"), PY_CASES("c", "d")]),
  "pytest, by what the product returns, and one more": pytest("green", BY_CASE, [
    PY_CASES("a", "b"),
    PY_CASES("c", "d", "e"),
  ]),
  "pytest, one less": pytest("red", BY_CASE, [PY_CASES("a", "b"), PY_CASES("c")]),
  "pytest, as many, but of another test": pytest(
    "red",
    `${BY_CASE}\n@pytest.mark.parametrize("n", range(len(calc.cases()) * 0 + calc.N))\ndef test_other(n):\n    pass\n`,
    [`${PY_CASES("a", "b")}N = 2\n`, `${PY_CASES("c")}N = 3\n`],
  ),
  "pytest, as many, but some are skipped": pytest(
    "red",
    '@pytest.mark.parametrize("case", calc.cases())\ndef test_case(case):\n    calc.check(case)\n',
    [
      `${PY_CASES("a", "b")}def check(one):\n    pass\n`,
      `import pytest\n${PY_CASES("c", "d")}def check(one):\n    if one == "d":\n        pytest.skip("later")\n`,
    ],
  ),
  "pytest, a test with a name of its own goes": pytest(
    "red",
    `${BY_CASE}\ndef test_value():\n    assert calc.cases()\n`,
    [
      PY_CASES("a", "b"),
      `import _pytest.python\n\nreal = _pytest.python.PyCollector.istestfunction\n_pytest.python.PyCollector.istestfunction = lambda self, obj, name: name != "test_value" and real(self, obj, name)\n${PY_CASES("a", "b", "c")}`,
    ],
  ),
  "jest, by the time": js(
    "jest --rootDir .",
    "green",
    "it(`at ${Date.now()} ${process.pid}`, () => { assert.ok(calc.value()); });",
    JS_PRODUCT,
  ),
  "mocha, by what the product returns": js(
    "mocha calc.test.cjs",
    "green",
    "it(`is ${calc.value()}`, () => {});",
    JS_PRODUCT,
  ),
  "mocha, a group by what the product returns": js(
    "mocha calc.test.cjs",
    "green",
    "describe(`version ${calc.value()}`, () => { it('works', () => {}); });",
    JS_PRODUCT,
  ),
  "vitest, by chance in a table": js(
    VITEST,
    "green",
    "it.each([1, 2].map((n) => Math.floor(n + Math.random() * 1e6)))('takes %d', () => {});",
    JS_PRODUCT,
  ),
  "vitest, by what the product returns": js(VITEST, "green", EACH_CASE, [JS_CASES("a", "b"), JS_CASES("c", "d")]),
  "node:test, by an address and a folder": js(
    "node --test",
    "green",
    "const { mkdtempSync } = require('fs'); it(`in ${mkdtempSync('./x-')}`, () => {});",
    JS_PRODUCT,
  ),
  "node:test, by what the product returns": js("node --test", "green", EACH_CASE, [
    JS_CASES("a", "b"),
    JS_CASES("c", "d"),
  ]),
  "node:test, one less": js("node --test", "red", EACH_CASE, [JS_CASES("a", "b"), JS_CASES("c")]),
  "jest, one less": js("jest --rootDir .", "red", EACH_CASE, [JS_CASES("a", "b"), JS_CASES("c")]),
  "mocha, as many, but in another group": js(
    "mocha calc.test.cjs",
    "red",
    "describe('one', () => { for (const one of calc.cases()) it(`takes ${one}`, () => {}); });\ndescribe('two', () => { for (const one of calc.more()) it(`takes ${one}`, () => {}); });",
    [`${JS_CASES("a", "b")} exports.more = () => ["x"];`, `${JS_CASES("c")} exports.more = () => ["y", "z"];`],
  ),
  "mocha, a test with a name of its own goes, and others come": js(
    "mocha calc.test.cjs",
    "red",
    `${EACH_CASE}\nit("keeps its name", () => { assert.fail(); });`,
    [
      JS_CASES("a"),
      `${JS_CASES("b", "c")} const real = global.it; global.it = (name, fn) => (name === "keeps its name" ? undefined : real(name, fn));`,
    ],
  ),
  "mocha, a test with a name of its own gets another": js(
    "mocha calc.test.cjs",
    "red",
    `${EACH_CASE}\nit("keeps its name", () => { assert.fail(); });`,
    [
      JS_CASES("a"),
      `${JS_CASES("a")} const real = global.it; global.it = (name, fn) => (name === "keeps its name" ? real("another", () => {}) : real(name, fn));`,
    ],
  ),
  "go, by the time": go(
    "green",
    "func TestAt(t *testing.T) {\n\tt.Run(fmt.Sprint(time.Now().UnixNano() % 1000003), func(t *testing.T) { Value() })\n}\n",
    ["func Value() int { return 1 }\n", "func Value() int { return 2 }\n"],
  ),
  "go, by what the product returns": go("green", GO_BY_CASE, [GO_CASES("a", "b"), GO_CASES("c", "d")]),
  "go, one less": go("red", GO_BY_CASE, [GO_CASES("a", "b"), GO_CASES("c")]),
};

describe.each(Object.entries(CASES))(
  "names that are made: %s (A11)",
  (_, { command, tests, base, change, is, program }) => {
    it.skipIf(program !== undefined && isMissing(program))(`are ${is}`, { timeout: LIMIT_MS }, async () => {
      const { before, after } = await judgedFeature(command, { base: { ...tests, ...base }, change });
      if ("evidence" in before) expect(before.evidence.tests?.passed, JSON.stringify(before)).toBeGreaterThan(0);
      expect(inOneWord(after), JSON.stringify(after, null, 1)).toBe(is);
      if (is === "red") expect(JSON.stringify(after)).toContain("tests-missing:");
    });
  },
);
