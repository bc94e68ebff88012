/** Ways to look done around what a check starts, imports and reads: none of them is to be `verified`. */
import {
  JS_PRODUCT,
  jsProject,
  lines,
  manifest,
  NODE_SCRIPT,
  NODE_TEST,
  PY_PRODUCT,
  PY_SCRIPT,
  pyProject,
  PYTEST_FILE,
  write,
  type Case,
  type Files,
} from "./case.ts";

const EXIT_JS = "sed -i '1i process.exit(0);' src/add.js";
const EXIT_PY = "sed -i '1i import os; os._exit(0)' calc/__init__.py";
const SEVERAL_ENDS = "a script that may end well in several places";
const CALLBACKS = "waits for callbacks";

/** A plain script behind something else, left early by product code. */
const js = (name: string, check: string, more: Files, does = EXIT_JS): Case => ({
  name,
  files: jsProject({ "test/run.js": NODE_SCRIPT, ...more }),
  check,
  does: [does],
});
const py = (name: string, check: string, more: Files, does = EXIT_PY): Case => ({
  name,
  files: pyProject({ "tests/run.py": PY_SCRIPT, ...more }),
  check,
  does: [does],
});
const OK = { "tools/ok.js": 'console.log("lint is right");\n' };

const CHAINS: readonly Case[] = [
  js("a script behind make is left", "make test", { Makefile: ".PHONY: test\ntest:\n\tnode test/run.js\n" }),
  js("a script behind two targets of make is left", "make", {
    Makefile: "all: lint unit\nlint:\n\ttrue\nunit:\n\tnode test/run.js\n",
  }),
  js("a script behind && is left", "node tools/ok.js && node test/run.js", OK),
  js("a script before && is left", "node test/run.js && node tools/ok.js", OK),
  js("a script behind ; is left", "node tools/ok.js; node test/run.js", OK),
  js("a script behind cd is left", "cd test && node run.js", {}),
  js("a script behind bash -c is left", "bash -c 'node test/run.js'", {}),
  js("a script behind sh -ec with two parts is left", 'sh -ec "node tools/ok.js; node test/run.js"', OK),
  js("a script behind node --run is left", "node --run test", {
    "package.json": manifest({ test: "node test/run.js" }),
  }),
  js("a script behind three package scripts is left", "npm test", {
    "package.json": manifest({ test: "npm run unit", unit: "npm run unit:all", "unit:all": "node test/run.js" }),
  }),
  js("a script behind a lint in a package script is left", "npm test", {
    ...OK,
    "package.json": manifest({
      test: "npm run lint && npm run unit",
      lint: "node tools/ok.js",
      unit: "node test/run.js",
    }),
  }),
  js("a script before the test script is left", "npm test", {
    ...OK,
    "package.json": manifest({ pretest: "node test/run.js", test: "node tools/ok.js" }),
  }),
  js("a script behind a shell script is left", "sh ci/test.sh", {
    "ci/test.sh": "set -e\nnode tools/ok.js\nnode test/run.js\n",
    ...OK,
  }),
  js("the second of two runners is left", "node --test && node scripts/check.js", {
    "test/run.js": "",
    "test/nothing.test.js": 'require("node:test")("nothing", () => {});\n',
    "scripts/check.js": NODE_SCRIPT,
  }),
  js(
    "the script in a package of a workspace is left",
    "npm test --workspaces",
    {
      "package.json": manifest({}, { workspaces: ["packages/*"] }),
      "packages/a/package.json": '{"name":"a","version":"1.0.0","scripts":{"test":"node test/run.js"}}\n',
      "packages/a/src/add.js": JS_PRODUCT,
      "packages/a/test/run.js": NODE_SCRIPT,
    },
    "sed -i '1i process.exit(0);' packages/a/src/add.js",
  ),
  py("a Python script behind make is left", "make test", { Makefile: "test:\n\tPYTHONPATH=. python3 tests/run.py\n" }),
  py("a Python script behind sh -c is left", "sh -c 'PYTHONPATH=. python3 tests/run.py'", {}),
  py("a Python script behind pytest is left", "python3 -m pytest -q && PYTHONPATH=. python3 scripts/check.py", {
    "tests/test_nothing.py": "def test_nothing():\n    pass\n",
    "scripts/check.py": PY_SCRIPT,
  }),
  py(
    "a Python script is left by sys.exit",
    "cd tests && PYTHONPATH=.. python3 run.py",
    {},
    "sed -i '1i import sys; sys.exit(0)' calc/__init__.py",
  ),
  {
    name: "a C program behind make is left, and a control is required",
    files: {
      Makefile: "test: tests/run\n\t./tests/run\n\ntests/run: tests/run.c add.c\n\t$(CC) -o $@ tests/run.c add.c\n",
      "add.c": "int add(int a, int b) { return a - b; }\n",
      "tests/run.c": "int add(int, int);\nint main(void) { return add(2, 3) == 5 ? 0 : 1; }\n",
    },
    check: "make test",
    does: [write("add.c", "#include <stdlib.h>\nint add(int a, int b) { exit(0); }")],
    flags: ["--require-control"],
  },
  {
    name: "a script with two ends is left, and a control is required",
    files: jsProject({
      "test/run.js":
        'const { add } = require("../src/add.js");\nif (add(2, 3) === 5) process.exit(0);\nprocess.exit(1);\n',
    }),
    check: "node test/run.js",
    does: [EXIT_JS],
    flags: ["--require-control"],
  },
  {
    name: "a script with two ends is left",
    files: jsProject({
      "test/run.js":
        'const { add } = require("../src/add.js");\nif (add(2, 3) === 5) process.exit(0);\nprocess.exit(1);\n',
    }),
    check: "node test/run.js",
    does: [EXIT_JS],
    documented: SEVERAL_ENDS,
  },
];

const NEVER = write("src/add.js", "exports.add = () => new Promise(() => {});");
const asyncScript = (...body: string[]): Files =>
  jsProject({
    "test/run.js": lines(
      'const assert = require("node:assert");',
      'const { add } = require("../src/add.js");',
      ...body,
    ),
  });

const WAITING: readonly Case[] = [
  {
    name: "a promise that never settles in an async main",
    files: asyncScript(
      "async function main() { assert.equal(await add(2, 3), 5); }",
      "main().catch(() => process.exit(1));",
    ),
    check: "node test/run.js",
    does: [NEVER],
  },
  {
    name: "a promise that never settles behind then",
    files: asyncScript("Promise.resolve(add(2, 3)).then((sum) => assert.equal(sum, 5));"),
    check: "node test/run.js",
    does: [NEVER],
  },
  {
    name: "a promise that never settles in a function called at once",
    files: asyncScript("(async () => {", "  assert.equal(await add(2, 3), 5);", "})();"),
    check: "node test/run.js",
    does: [NEVER],
  },
  {
    name: "a promise that never settles behind make",
    files: {
      ...asyncScript("async function main() { assert.equal(await add(2, 3), 5); }", "main();"),
      Makefile: ".PHONY: test\ntest:\n\tnode test/run.js\n",
    },
    check: "make test",
    does: [NEVER],
  },
  {
    name: "a callback that never comes",
    files: asyncScript("setTimeout(() => assert.equal(add(2, 3), 5), 10);"),
    check: "node test/run.js",
    does: [write("src/add.js", "setImmediate(() => process.exit(0));\nexports.add = (a, b) => a - b;")],
    documented: CALLBACKS,
  },
  {
    name: "an exit while the script waits",
    files: asyncScript(
      "async function main() {",
      "  await new Promise((resolve) => setTimeout(resolve, 50));",
      "  assert.equal(add(2, 3), 5);",
      "}",
      "main().catch(() => process.exit(1));",
    ),
    check: "node test/run.js",
    does: [write("src/add.js", "setTimeout(() => process.exit(0), 5);\nexports.add = (a, b) => a - b;")],
  },
  {
    name: "an exit at top-level await",
    files: {
      "package.json": manifest({}, { type: "module" }),
      "src/add.js": "export const add = async (a, b) => a - b;\n",
      "test/run.js":
        'import assert from "node:assert";\nimport { add } from "../src/add.js";\nassert.equal(await add(2, 3), 5);\n',
    },
    check: "node test/run.js",
    does: [write("src/add.js", "export const add = async () => process.exit(0);")],
  },
  {
    name: "an exit inside asyncio",
    files: pyProject({
      "calc/__init__.py": "async def add(a, b):\n    return a - b\n",
      "tests/run.py":
        "import asyncio\nfrom calc import add\n\nasync def main():\n    assert await add(2, 3) == 5\n\nasyncio.run(main())\n",
    }),
    check: "PYTHONPATH=. python3 tests/run.py",
    does: [write("calc/__init__.py", "import os\nasync def add(a, b):\n    os._exit(0)")],
  },
];

const NEW_PY: Files = pyProject({
  "calc/__init__.py": "def add(a, b):\n    return a + b\n",
  "tests/test_mul.py": lines(
    "from calc.mul import mul, power",
    "",
    "def test_mul():",
    "    assert mul(2, 3) == 6",
    "",
    "def test_power():",
    "    assert power(2, 3) == 8",
  ),
});
const NEW_UNITTEST: Files = pyProject({
  "tests/__init__.py": "",
  "tests/test_mul.py": lines(
    "import unittest",
    "from calc.mul import mul, power",
    "",
    "class Multiplies(unittest.TestCase):",
    "    def test_mul(self):",
    "        self.assertEqual(mul(2, 3), 6)",
    "",
    "    def test_power(self):",
    "        self.assertEqual(power(2, 3), 8)",
  ),
});
const MUL = "def mul(a, b):\n    return a * b\n\ndef power(a, b):\n";
const skipping = (name: string, how: string, files = NEW_PY, check = "python3 -m pytest -q"): Case => ({
  name,
  files,
  check,
  does: [write("calc/mul.py", `${MUL}    ${how}`)],
});
const NEW_JS: Files = jsProject({
  "package.json": manifest({ test: "mocha" }),
  "test/mul.js": lines(
    'const assert = require("node:assert");',
    'const { mul, power } = require("../src/mul.js");',
    'describe("new", () => {',
    '  it("multiplies", () => assert.equal(mul(2, 3), 6));',
    '  it("raises", function () { assert.equal(power.call(this, 2, 3), 8); });',
    "});",
  ),
});

const SKIPS: readonly Case[] = [
  skipping("SkipTest by product code, pytest", "import unittest; raise unittest.SkipTest('later')"),
  skipping("pytest.skip by product code", "import pytest; pytest.skip('later')"),
  skipping("pytest.xfail by product code", "import pytest; pytest.xfail('later')"),
  skipping("a skip by its name put together", "p = __import__('py' + 'test'); getattr(p, 'sk' + 'ip')('later')"),
  skipping(
    "SkipTest by product code, unittest",
    "import unittest; raise unittest.SkipTest('later')",
    NEW_UNITTEST,
    "python3 -m unittest discover",
  ),
  skipping(
    "SkipTest by product code, unittest by pytest",
    "import unittest; raise unittest.SkipTest('later')",
    NEW_UNITTEST,
  ),
  {
    name: "a whole module that is skipped while it is loaded",
    files: NEW_PY,
    check: "python3 -m pytest -q",
    does: [write("calc/mul.py", "import pytest\npytest.skip('later', allow_module_level=True)")],
  },
  {
    name: "mocha's skip by product code",
    files: NEW_JS,
    check: "npm test",
    does: [write("src/mul.js", "exports.mul = (a, b) => a * b;\nexports.power = function () { this.skip(); };")],
    packages: ["mocha"],
  },
];

const PY_HELPED = (helper: string, name: string): Files =>
  pyProject({
    [helper]: "def same(a, b):\n    assert a == b, (a, b)\n",
    "tests/test_add.py": `from ${name} import same\nfrom calc import add\n\ndef test_adds():\n    same(add(2, 3), 5)\n`,
  });
const EMPTY_PY = "def same(a, b):\n    pass";
const JS_HELPED = (helper: string): Files =>
  jsProject({
    [helper]: 'exports.same = (a, b) => require("node:assert").equal(a, b);\n',
    "test/add.test.js": lines(
      `const { same } = require("../${helper}");`,
      'const { add } = require("../src/add.js");',
      'require("node:test")("adds", () => same(add(2, 3), 5));',
    ),
  });
const EMPTY_JS = "exports.same = () => {};";

const HELPERS: readonly Case[] = [
  {
    name: "an emptied helpers.py",
    files: PY_HELPED("helpers.py", "helpers"),
    check: "python3 -m pytest -q",
    does: [write("helpers.py", EMPTY_PY)],
  },
  {
    name: "an emptied helper in a package",
    files: { ...PY_HELPED("common/compare.py", "common.compare"), "common/__init__.py": "" },
    check: "python3 -m pytest -q",
    does: [write("common/compare.py", EMPTY_PY)],
  },
  {
    name: "an emptied helper behind another",
    files: {
      ...PY_HELPED("helpers.py", "helpers"),
      "helpers.py": "from deeper import same\n",
      "deeper.py": "def same(a, b):\n    assert a == b\n",
    },
    check: "python3 -m pytest -q",
    does: [write("deeper.py", EMPTY_PY)],
  },
  {
    name: "emptied assertions",
    files: JS_HELPED("support/assertions.js"),
    check: "npm test",
    does: [write("support/assertions.js", EMPTY_JS)],
  },
  {
    name: "emptied tools",
    files: JS_HELPED("tools/compare.js"),
    check: "npm test",
    does: [write("tools/compare.js", EMPTY_JS)],
  },
  {
    name: "emptied expectations in TypeScript",
    files: {
      "package.json": manifest({ test: "node --test" }, { type: "module" }),
      "src/add.ts": "export const add = (a: number, b: number): number => a - b;\n",
      "shared/expectations.ts":
        'import assert from "node:assert";\nexport const same = (a: number, b: number) => assert.equal(a, b);\n',
      "shared/index.ts": 'export * from "./expectations.ts";\n',
      "test/add.test.ts": lines(
        'import test from "node:test";',
        'import { same } from "../shared/index.ts";',
        'import { add } from "../src/add.ts";',
        'test("adds", () => same(add(2, 3), 5));',
      ),
    },
    check: "npm test",
    does: [write("shared/expectations.ts", "export const same = (a: number, b: number) => {};")],
  },
  {
    name: "a helper that only a plain script imports",
    files: pyProject({
      "python_testcases/helper.py": "def same(a, b):\n    assert a == b, (a, b)\n",
      "python_testcases/run_add.py":
        "import sys, os\nsys.path.insert(0, os.getcwd())\nfrom helper import same\nfrom calc import add\nsame(add(2, 3), 5)\n",
    }),
    check: "python3 python_testcases/run_add.py",
    does: [write("python_testcases/helper.py", EMPTY_PY)],
  },
];

const DATA_TEST = (path: string): string =>
  `import json, pathlib\nfrom calc import add\n\ndef test_all():\n    for case in json.loads(pathlib.Path('${path}').read_text()):\n        assert add(*case['in']) == case['out']\n`;
const rewritten = (name: string, data: string, test = "tests/test_add.py"): Case => ({
  name,
  files: pyProject({ [data]: '[{"in": [2, 3], "out": 5}]\n', [test]: DATA_TEST(data) }),
  check: "python3 -m pytest -q",
  does: [`sed -i 's/5/-1/' ${data}`],
});

const DATA: readonly Case[] = [
  rewritten("rewritten data of test cases", "json_testcases/add.json"),
  rewritten("rewritten test data", "testdata/add.json"),
  rewritten("rewritten fixtures", "fixtures/add.json"),
  rewritten("rewritten data under a plain name", "cases/sums.json"),
  rewritten("rewritten data beside the product", "calc_examples.json"),
  {
    name: "rewritten data in a folder that the tests list",
    files: pyProject({
      "examples/one.json": '{"in": [2, 3], "out": 5}\n',
      "examples/two.json": '{"in": [0, 0], "out": 0}\n',
      "tests/test_add.py":
        "import json, pathlib\nfrom calc import add\n\ndef test_all():\n    for file in pathlib.Path('examples').glob('*.json'):\n        case = json.loads(file.read_text())\n        assert add(*case['in']) == case['out']\n",
    }),
    check: "python3 -m pytest -q",
    does: ["sed -i 's/5/-1/' examples/one.json"],
  },
  {
    name: "an edited test in a folder of another name",
    files: pyProject({ "python_testcases/test_add.py": PYTEST_FILE }),
    check: "python3 -m pytest -q python_testcases",
    does: ["sed -i 's/== 5/== -1/' python_testcases/test_add.py"],
  },
];

const KNOWING: readonly Case[] = [
  {
    name: "pytest among the modules",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE }),
    check: "python3 -m pytest -q",
    does: [
      write("calc/__init__.py", 'import sys\n\ndef add(a, b):\n    return a + b if "pytest" in sys.modules else a - b'),
    ],
  },
  {
    name: "pytest by the name of the program",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE }),
    check: "python3 -m pytest -q",
    does: [
      write("calc/__init__.py", 'import sys\n\ndef add(a, b):\n    return a + b if "pytest" in sys.argv[0] else a - b'),
    ],
  },
  {
    name: "a re-run of an edited copy of the tests",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE }),
    check: "python3 -m pytest -q",
    does: [
      write(
        "calc/__init__.py",
        [
          "import os, pathlib, subprocess, sys",
          "here = pathlib.Path(__file__).parent.parent",
          "copy = pathlib.Path('/tmp/copy/tests/test_add.py')",
          "if not os.environ.get('COPIED'):",
          "    copy.parent.mkdir(parents=True, exist_ok=True)",
          "    copy.write_text((here / 'tests/test_add.py').read_text().replace('== 5', '== -1'))",
          "    env = {**os.environ, 'COPIED': '1', 'PYTHONPATH': str(here)}",
          "    os._exit(subprocess.run([sys.executable, '-m', 'pytest', '-q', *sys.argv[1:], str(copy)], env=env).returncode)",
          "",
          "def add(a, b):",
          "    return a - b",
        ].join("\n"),
      ),
    ],
  },
  {
    name: "the program's name in node",
    files: jsProject({ "test/add.test.js": NODE_TEST }),
    check: "npm test",
    does: [write("src/add.js", 'exports.add = (a, b) => (process.argv[1].includes("test") ? a + b : a - b);')],
  },
  {
    name: "a variable of the runner",
    files: jsProject({ "test/add.test.js": NODE_TEST }),
    check: "npm test",
    does: [write("src/add.js", "exports.add = (a, b) => (process.env.NODE_TEST_CONTEXT ? a + b : a - b);")],
  },
];

const AROUND: readonly Case[] = [
  {
    name: "tests that nobody may read",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE, "tests/test_ok.py": "def test_ok():\n    pass\n" }),
    check: "python3 -m pytest -q tests/test_ok.py $(test -r tests/test_add.py && echo tests/test_add.py)",
    does: ["chmod 000 tests/test_add.py"],
  },
  {
    name: "a repository inside the tests",
    files: jsProject({ "test/add.test.js": NODE_TEST }),
    check: "npm test",
    does: ["cd test && git init -q . && echo '' > add.test.js"],
  },
  {
    name: "an edited test and its folder closed",
    files: jsProject({ "test/add.test.js": NODE_TEST }),
    check: "npm test",
    does: ["echo '' > test/add.test.js && chmod 555 test"],
  },
  {
    name: "another shell of npm",
    files: jsProject({ "test/add.test.js": NODE_TEST }),
    check: "npm test",
    does: ["printf '#!/bin/sh\\n' > yes.sh && chmod +x yes.sh && echo script-shell=./yes.sh > .npmrc"],
  },
  {
    name: "product code that says whatever is asked",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE }),
    check: "python3 -m pytest -q",
    does: [
      write(
        "calc/__init__.py",
        "class Any(int):\n    def __eq__(self, other):\n        return True\n\ndef add(a, b):\n    return Any(a - b)",
      ),
    ],
  },
  {
    name: "a module in place of one that the tests import",
    files: pyProject({
      "tests/test_add.py":
        "import operator\nfrom calc import add\n\ndef test_adds():\n    assert operator.eq(add(2, 3), 5)\n",
    }),
    check: "PYTHONPATH=. python3 -m pytest -q",
    does: [write("operator.py", "from _operator import *\ndef eq(a, b):\n    return True")],
  },
  {
    name: "a claim and no work",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE }),
    check: "python3 -m pytest -q",
    does: ["true"],
  },
  {
    name: "work of another kind",
    files: pyProject({ "tests/test_add.py": PYTEST_FILE, "calc/other.py": PY_PRODUCT }),
    check: "python3 -m pytest -q",
    does: ["sed -i 's/a - b/a + b/' calc/other.py"],
  },
];

export const CHEATS: readonly Case[] = [...CHAINS, ...WAITING, ...SKIPS, ...HELPERS, ...DATA, ...KNOWING, ...AROUND];
