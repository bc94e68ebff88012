/** Honest work in projects that are not all alike: every one of them is to be `verified`. */
import {
  IGNORED,
  JS_FIX,
  jsProject,
  lines,
  manifest,
  NODE_SCRIPT,
  NODE_TEST,
  PY_FIX,
  PY_SCRIPT,
  pyProject,
  PYTEST_FILE,
  write,
  type Case,
} from "./case.ts";

const VITEST_TEST = lines(
  'import { expect, it } from "vitest";',
  'import { add } from "../src/add.js";',
  'it("adds", () => expect(add(2, 3)).toBe(5));',
  'it("adds nothing", () => expect(add(0, 0)).toBe(0));',
);
const JEST_TEST = lines(
  'const { add } = require("../src/add.js");',
  'test("adds", () => expect(add(2, 3)).toBe(5));',
  'test("adds nothing", () => expect(add(0, 0)).toBe(0));',
);
const MOCHA_TEST = lines(
  'const assert = require("node:assert");',
  'const { add } = require("../src/add.js");',
  'describe("add", () => {',
  '  it("adds", () => assert.equal(add(2, 3), 5));',
  '  it("adds nothing", () => assert.equal(add(0, 0), 0));',
  "});",
);
const UNITTEST_FILE = lines(
  "import unittest",
  "from calc import add",
  "",
  "class Adds(unittest.TestCase):",
  "    def test_adds(self):",
  "        self.assertEqual(add(2, 3), 5)",
  "",
  "    def test_nothing(self):",
  "        self.assertEqual(add(0, 0), 0)",
);
const ESM_PRODUCT = "export const add = (a, b) => a - b;\n";
const npm = (scripts: object, more: object = {}): string => manifest(scripts, more);

const RUNNERS: readonly Case[] = [
  {
    name: "node --test",
    files: jsProject({ "test/add.test.js": NODE_TEST }),
    check: "npm test",
    does: [JS_FIX],
  },
  {
    name: "vitest",
    files: jsProject({
      "package.json": npm({ test: "vitest run" }, { type: "module" }),
      "src/add.js": ESM_PRODUCT,
      "test/add.test.js": VITEST_TEST,
    }),
    check: "npm test",
    does: [JS_FIX],
    packages: ["vitest"],
  },
  {
    name: "jest",
    files: jsProject({ "package.json": npm({ test: "jest" }), "test/add.test.js": JEST_TEST }),
    check: "npm test",
    does: [JS_FIX],
    packages: ["jest"],
  },
  {
    name: "mocha",
    files: jsProject({ "package.json": npm({ test: "mocha" }), "test/add.js": MOCHA_TEST }),
    check: "npm test",
    does: [JS_FIX],
    packages: ["mocha"],
  },
  {
    name: "pytest",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE }),
    check: "python3 -m pytest -q",
    does: [PY_FIX],
  },
  {
    name: "unittest",
    files: pyProject({ "tests/__init__.py": "", "tests/test_add.py": UNITTEST_FILE }),
    check: "python3 -m unittest discover",
    does: [PY_FIX],
  },
  {
    name: "go",
    files: {
      "go.mod": "module calc\n\ngo 1.19\n",
      "add.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n",
      "add_test.go":
        'package calc\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fatal(Add(2, 3))\n\t}\n}\n',
    },
    check: "go test ./...",
    does: ["sed -i 's/a - b/a + b/' add.go"],
  },
  {
    name: "cargo",
    files: {
      ".gitignore": IGNORED,
      "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
      "Cargo.lock": 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
      "src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n",
      "tests/add.rs": "#[test]\nfn adds() {\n    assert_eq!(calc::add(2, 3), 5);\n}\n",
    },
    check: "cargo test --offline",
    does: ["sed -i 's/a - b/a + b/' src/lib.rs"],
  },
  {
    name: "prove, perl's runner",
    files: {
      "lib/Calc.pm": "package Calc;\nsub add { return $_[0] - $_[1] }\n1;\n",
      "t/add.t": "use Test::More tests => 1;\nuse lib 'lib';\nuse Calc;\nis(Calc::add(2, 3), 5, 'adds');\n",
    },
    check: "prove t",
    does: ["sed -i 's/0\\] - /0] + /' lib/Calc.pm"],
  },
  {
    name: "a C program behind make",
    files: {
      Makefile: "test: tests/run\n\t./tests/run\n\ntests/run: tests/run.c add.c\n\t$(CC) -o $@ tests/run.c add.c\n",
      "add.c": "int add(int a, int b) { return a - b; }\n",
      "tests/run.c":
        '#include <stdio.h>\nint add(int, int);\nint main(void) {\n  if (add(2, 3) != 5) { puts("wrong"); return 1; }\n  puts("right");\n  return 0;\n}\n',
    },
    check: "make test",
    does: ["sed -i 's/a - b/a + b/' add.c"],
  },
  {
    name: "a plain script",
    files: jsProject({ "test/run.js": NODE_SCRIPT }),
    check: "node test/run.js",
    does: [JS_FIX],
  },
  {
    name: "a plain script that waits for its work",
    files: jsProject({
      "test/run.js": lines(
        'const assert = require("node:assert");',
        'const { add } = require("../src/add.js");',
        "async function main() {",
        "  await new Promise((resolve) => setTimeout(resolve, 20));",
        "  assert.equal(add(2, 3), 5);",
        "}",
        "main().catch((error) => { console.error(error); process.exit(1); });",
      ),
    }),
    check: "node test/run.js",
    does: [JS_FIX],
  },
  {
    name: "a plain Python script behind make",
    files: pyProject({ "tests/run.py": PY_SCRIPT, Makefile: "test:\n\tPYTHONPATH=. python3 tests/run.py\n" }),
    check: "make test",
    does: [PY_FIX],
  },
  {
    name: "TypeScript by node itself",
    files: {
      "package.json": npm({ test: "node --test" }, { type: "module" }),
      "src/add.ts": "export const add = (a: number, b: number): number => a - b;\n",
      "test/add.test.ts": lines(
        'import assert from "node:assert";',
        'import test from "node:test";',
        'import { add } from "../src/add.ts";',
        'test("adds", () => assert.equal(add(2, 3), 5));',
      ),
    },
    check: "npm test",
    does: ["sed -i 's/a - b/a + b/' src/add.ts"],
  },
  {
    name: "a chain of package scripts",
    files: jsProject({
      "package.json": npm({ test: "npm run lint && npm run unit", lint: "node tools/lint.js", unit: "node --test" }),
      "tools/lint.js": 'if (require("fs").readFileSync("src/add.js", "utf8").includes("TODO")) process.exit(1);\n',
      "test/add.test.js": NODE_TEST,
    }),
    check: "npm test",
    does: [JS_FIX],
  },
  {
    name: "two runners in one command",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE, "scripts/check.py": PY_SCRIPT }),
    check: "python3 -m pytest -q && PYTHONPATH=. python3 scripts/check.py",
    does: [PY_FIX],
  },
  {
    name: "tests that turn numbers into text",
    files: jsProject({
      "test/add.test.js": lines(
        'const test = require("node:test");',
        'const assert = require("node:assert");',
        'const { add } = require("../src/add.js");',
        'test("adds", () => assert.equal(add(2, 3).toString(), "5"));',
        'test("is written", () => assert.equal(add(1000, 0).toLocaleString("en"), "1,000"));',
        'test("is a value", () => assert.equal(add(1, 1).valueOf(), 2));',
        'test("constructor", () => assert.ok(add(1, 1).constructor === Number && Object(add).hasOwnProperty("name")));',
      ),
    }),
    check: "npm test",
    does: [JS_FIX],
  },
];

const VARIABLES: readonly Case[] = [
  {
    name: "NODE_OPTIONS for jest and modules",
    files: jsProject({
      "package.json": npm({ test: "NODE_OPTIONS=--experimental-vm-modules jest" }, { type: "module" }),
      "src/add.js": ESM_PRODUCT,
      "add.spec.js": lines(
        'import { add } from "./src/add.js";',
        'test("adds", () => expect(add(2, 3)).toBe(5));',
        'test("adds nothing", () => expect(add(0, 0)).toBe(0));',
      ),
    }),
    check: "npm test",
    does: [JS_FIX],
    packages: ["jest"],
  },
  {
    name: "NODE_OPTIONS by env for node --test",
    files: jsProject({
      "package.json": npm({ test: "env NODE_OPTIONS=--no-warnings node --test" }),
      "test/add.test.js": NODE_TEST,
    }),
    check: "npm test",
    does: [JS_FIX],
  },
  {
    name: "NODE_OPTIONS for vitest",
    files: jsProject({
      "package.json": npm({ test: "NODE_OPTIONS='--max-old-space-size=1024' vitest run" }, { type: "module" }),
      "src/add.js": ESM_PRODUCT,
      "test/add.test.js": VITEST_TEST,
    }),
    check: "npm test",
    does: [JS_FIX],
    packages: ["vitest"],
  },
  {
    name: "NODE_OPTIONS exported by a shell script for mocha",
    files: jsProject({
      "package.json": npm({ test: "sh scripts/test.sh" }),
      "scripts/test.sh": "export NODE_OPTIONS=--trace-warnings\nexec mocha\n",
      "test/add.js": MOCHA_TEST,
    }),
    check: "npm test",
    does: [JS_FIX],
    packages: ["mocha"],
  },
  {
    name: "an environment that is emptied",
    files: jsProject({
      "package.json": npm({ test: 'env -i PATH="$PATH" HOME="$HOME" node --test' }),
      "test/add.test.js": NODE_TEST,
    }),
    check: "npm test",
    does: [JS_FIX],
  },
  {
    name: "PYTHONPATH and PYTEST_ADDOPTS",
    files: {
      ".gitignore": IGNORED,
      "src/calc/__init__.py": "def add(a, b):\n    return a - b\n",
      "tests/test_add.py": PYTEST_FILE,
      Makefile: "test:\n\tPYTHONPATH=src PYTEST_ADDOPTS='-q --no-header' python3 -m pytest\n",
    },
    check: "make test",
    does: ["sed -i 's/a - b/a + b/' src/calc/__init__.py"],
  },
  {
    name: "TZ and NODE_ENV",
    files: jsProject({ "package.json": npm({ test: "TZ=UTC NODE_ENV=test mocha" }), "test/add.js": MOCHA_TEST }),
    check: "npm test",
    does: [JS_FIX],
    packages: ["mocha"],
  },
];

const FOLDERS: readonly Case[] = [
  {
    name: "test cases with helpers of their own",
    files: pyProject({
      "python_testcases/helper.py": "def same(a, b):\n    assert a == b, (a, b)\n",
      "python_testcases/run_add.py":
        "import sys, os\nsys.path.insert(0, os.getcwd())\nfrom helper import same\nfrom calc import add\nsame(add(2, 3), 5)\n",
    }),
    check: "python3 python_testcases/run_add.py",
    does: [PY_FIX],
  },
  {
    name: "test cases with data",
    files: pyProject({
      "json_testcases/add.json": '[{"in": [2, 3], "out": 5}, {"in": [0, 0], "out": 0}]\n',
      "tests/test_add.py":
        "import json, pathlib\nfrom calc import add\n\ndef test_all():\n    for case in json.loads(pathlib.Path('json_testcases/add.json').read_text()):\n        assert add(*case['in']) == case['out']\n",
    }),
    check: "python3 -m pytest -q",
    does: [PY_FIX],
  },
  {
    name: "tests beside the code",
    files: jsProject({ "src/add.test.js": NODE_TEST.replace("../src/add.js", "./add.js") }),
    check: "npm test",
    does: [JS_FIX],
  },
  {
    name: "folders with spaces and other letters",
    files: jsProject({
      "package.json": npm({ test: "node --test 'my tests/'*.test.js" }),
      "my tests/größe – sums.test.js": NODE_TEST,
    }),
    check: "npm test",
    does: [JS_FIX],
  },
  {
    name: "data that product and tests share",
    files: jsProject({
      "data/rates.json": '{"one": 2}\n',
      "src/add.js": 'const { one } = require("../data/rates.json");\nexports.add = (a, b) => one * (a + b);\n',
      "test/add.test.js": NODE_TEST.replace("const { add }", 'require("../data/rates.json");\nconst { add }'),
    }),
    check: "npm test",
    does: [`echo '{"one": 1}' > data/rates.json`],
  },
  {
    name: "a helper that product and tests share",
    files: jsProject({
      "lib/sum.js": "exports.sum = (all) => all.reduce((a, b) => a - b);\n",
      "src/add.js": 'exports.add = (a, b) => require("../lib/sum.js").sum([a, b]);\n',
      "test/add.test.js": NODE_TEST.replace(
        "const { add }",
        'const { sum } = require("../lib/sum.js");\nassert.ok(sum);\nconst { add }',
      ),
    }),
    check: "npm test",
    does: ["sed -i 's/a - b/a + b/' lib/sum.js"],
  },
  {
    name: "a package in a workspace of packages",
    files: {
      ".gitignore": IGNORED,
      "package.json": npm({ test: "npm test --workspaces" }, { workspaces: ["packages/*"] }),
      "packages/a/package.json": '{"name":"a","version":"1.0.0","scripts":{"test":"node --test"}}\n',
      "packages/a/src/add.js": "exports.add = (a, b) => a - b;\n",
      "packages/a/test/add.test.js": NODE_TEST,
      "packages/b/package.json": '{"name":"b","version":"1.0.0","scripts":{"test":"node test/run.js"}}\n',
      "packages/b/test/run.js": 'require("node:assert").equal(require("../../a/src/add.js").add(1, 1), 2);\n',
    },
    check: "npm test",
    does: ["sed -i 's/a - b/a + b/' packages/a/src/add.js"],
  },
  {
    name: "a product called contest, with its latest results",
    files: pyProject({
      "contest/__init__.py": "from .latest import best\n",
      "contest/latest.py": "def best(all):\n    return min(all)\n",
      "tests/test_best.py": "from contest import best\n\ndef test_best():\n    assert best([1, 2]) == 2\n",
    }),
    check: "python3 -m pytest -q",
    does: ["sed -i 's/min/max/' contest/latest.py"],
  },
];

const NAMES: readonly Case[] = [
  {
    name: "random parameters in names",
    files: pyProject({
      "tests/test_add.py":
        "import random, pytest\nfrom calc import add\n\n@pytest.mark.parametrize('n', [random.randrange(10**9) for _ in range(3)])\ndef test_adds(n):\n    assert add(n, 1) == n + 1\n",
    }),
    check: "python3 -m pytest -q",
    does: [PY_FIX],
  },
  {
    name: "addresses of objects in names",
    files: pyProject({
      "tests/test_add.py":
        "import pytest\nfrom calc import add\n\nclass Case:\n    def __init__(self, a, b):\n        self.a, self.b = a, b\n\n@pytest.mark.parametrize('case', [Case(1, 2), Case(3, 4)], ids=repr)\ndef test_adds(case):\n    assert add(case.a, case.b) == case.a + case.b\n",
    }),
    check: "python3 -m pytest -q",
    does: [PY_FIX],
  },
  {
    name: "answers of the product in names",
    files: jsProject({
      "test/add.test.js": lines(
        'const test = require("node:test");',
        'const assert = require("node:assert");',
        'const { add } = require("../src/add.js");',
        "for (const n of [1, 2, 3]) test(`${n} and 1 are ${add(n, 1)}`, () => assert.equal(add(n, 1), n + 1));",
      ),
    }),
    check: "npm test",
    does: [JS_FIX],
  },
  {
    name: "the time in names",
    files: jsProject({
      "package.json": npm({ test: "vitest run" }, { type: "module" }),
      "src/add.js": ESM_PRODUCT,
      "test/add.test.js": lines(
        'import { expect, it } from "vitest";',
        'import { add } from "../src/add.js";',
        "it(`adds at ${process.hrtime.bigint()}`, () => expect(add(2, 3)).toBe(5));",
        'it("adds nothing", () => expect(add(0, 0)).toBe(0));',
      ),
    }),
    check: "npm test",
    does: [JS_FIX],
    packages: ["vitest"],
  },
  {
    name: "folders for the moment in names",
    files: pyProject({
      "tests/test_add.py":
        "import tempfile, unittest\nfrom calc import add\n\nclass Adds(unittest.TestCase):\n    pass\n\nfor n in range(2):\n    setattr(Adds, 'test_' + tempfile.mktemp().replace('/', '_'), lambda self, n=n: self.assertEqual(add(n, 1), n + 1))\n",
    }),
    check: "python3 -m pytest -q",
    does: [PY_FIX],
  },
];

const FEATURES: readonly Case[] = [
  {
    name: "a new function, pytest",
    files: pyProject({
      "calc/__init__.py": "def add(a, b):\n    return a + b\n",
      "tests/test_add.py": "from calc import add\n\ndef test_adds():\n    assert add(2, 3) == 5\n",
      "tests/test_mul.py": "from calc import mul\n\ndef test_mul():\n    assert mul(2, 3) == 6\n",
    }),
    check: "python3 -m pytest -q",
    does: ["printf '\\ndef mul(a, b):\\n    return a * b\\n' >> calc/__init__.py"],
  },
  {
    name: "a new module, node --test",
    files: jsProject({
      "test/mul.test.js":
        'require("node:test")("multiplies", () => {});\nconst { mul } = require("../src/mul.js");\nrequire("node:test")("twice", () => require("node:assert").equal(mul(2, 3), 6));\n',
    }),
    check: "npm test",
    does: [write("src/mul.js", "exports.mul = (a, b) => a * b;")],
  },
  {
    name: "a new module, vitest",
    files: jsProject({
      "package.json": npm({ test: "vitest run" }, { type: "module" }),
      "test/mul.test.js": lines(
        'import { expect, it } from "vitest";',
        'import { mul } from "../src/mul.js";',
        'it("multiplies", () => expect(mul(2, 3)).toBe(6));',
      ),
    }),
    check: "npm test",
    does: [write("src/mul.js", "export const mul = (a, b) => a * b;")],
    packages: ["vitest"],
  },
  {
    name: "a new module, jest",
    files: jsProject({
      "package.json": npm({ test: "jest" }),
      "test/mul.test.js":
        'const { mul } = require("../src/mul.js");\ntest("multiplies", () => expect(mul(2, 3)).toBe(6));\n',
    }),
    check: "npm test",
    does: [write("src/mul.js", "exports.mul = (a, b) => a * b;")],
    packages: ["jest"],
  },
  {
    name: "a new module, unittest",
    files: pyProject({
      "tests/__init__.py": "",
      "tests/test_mul.py": UNITTEST_FILE.replace("calc import add", "calc.mul import mul as add").replace("5", "6"),
    }),
    check: "python3 -m unittest discover",
    does: [write("calc/mul.py", "def mul(a, b):\n    return a * b")],
  },
  {
    name: "a new module whose tests skip a platform",
    files: pyProject({
      "tests/test_mul.py":
        "import sys, pytest\nfrom calc.mul import mul\n\ndef test_mul():\n    assert mul(2, 3) == 6\n\n@pytest.mark.skipif(sys.platform != 'win32', reason='Windows')\ndef test_windows():\n    assert mul(1, 1) == 1\n",
    }),
    check: "python3 -m pytest -q",
    does: [write("calc/mul.py", "def mul(a, b):\n    return a * b")],
  },
  {
    name: "a base that never ends",
    files: jsProject({
      "src/add.js": "exports.add = (a, b) => { for (;;); };\n",
      "test/add.test.js": NODE_TEST,
    }),
    check: "npm test",
    does: [write("src/add.js", "exports.add = (a, b) => a + b;")],
    flags: ["--check-timeout", "8s"],
  },
  {
    name: "right at the third claim",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE }),
    check: "python3 -m pytest -q",
    does: [
      "sed -i 's/a - b/a * b/' calc/__init__.py",
      "sed -i 's/a . b/b - a/' calc/__init__.py",
      "sed -i 's/b - a/a + b/' calc/__init__.py",
    ],
    flags: ["--max-iterations", "5"],
  },
];

export const HONEST: readonly Case[] = [...RUNNERS, ...VARIABLES, ...FOLDERS, ...NAMES, ...FEATURES];
