/** Tests that a base cannot load yet, with a product that skips some of them, or with text of their own that does. */
import type { Files } from "./feature.ts";

const PYTEST = "python3 -m pytest -q -p no:cacheprovider";
const UNITTEST = "python3 -B -m unittest -v";

export interface Case {
  command: string;
  /** Tests; the product is not there yet. */
  tests: Files;
  product: Files;
  program?: string;
}

const PY_TESTS = {
  "tests/test_calc.py":
    "from calc import add, mul\n\ndef test_add():\n    assert add(1, 2) == 3\n\ndef test_mul():\n    assert mul(2, 3) == 6\n",
};
const PY_ADD = "def add(a, b):\n    return a + b\n\n";
const PY_RIGHT = { "calc.py": `${PY_ADD}def mul(a, b):\n    return a * b\n` };
export const pytest = (product: string, tests: Files = PY_TESTS): Case => ({
  command: `PYTHONPATH=. ${PYTEST}`,
  tests,
  product: { "calc.py": product },
  program: "python3 -m pytest --version",
});
const PY_UNITTEST = {
  "test_calc.py": `import unittest
from calc import add, mul

class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)
    def test_mul(self):
        self.assertEqual(mul(2, 3), 6)

if __name__ == "__main__":
    unittest.main()
`,
};
const unittest = (
  product: string,
  { tests = PY_UNITTEST, command = UNITTEST }: { tests?: Files; command?: string } = {},
): Case => ({ command, tests, product: { "calc.py": product } });
/** Text in front of the second test, or anywhere else. */
const pyText = (above: string, { top = "", around = "" } = {}): Files => ({
  "tests/test_calc.py": `${top}from calc import add, mul\n\ndef test_add():\n    assert add(1, 2) == 3\n\n${above}def test_mul():\n${around}    assert mul(2, 3) == 6\n`,
});

const JS = 'const { add, mul } = require("./calc.cjs");\n';
const js = (head: string, second = 'it("multiplies", () => { assert.equal(mul(2, 3), 6); });'): Files => ({
  "calc.test.cjs": `${head}${JS}const assert = require("node:assert");\nit("adds", () => { assert.equal(add(1, 2), 3); });\n${second}\n`,
});
const JS_ADD = "exports.add = (a, b) => a + b;\n";
const JS_RIGHT = `${JS_ADD}exports.mul = (a, b) => a * b;\n`;
const NODE_HEAD = 'const { it } = require("node:test");\n';
export const nodeTest = (product: string, tests: Files = js(NODE_HEAD)): Case => ({
  command: "node --test",
  tests,
  product: { "calc.cjs": product },
});
export const jest = (product: string, tests: Files = js("")): Case => ({
  command: "jest --rootDir .",
  tests: { ...tests, "package.json": '{ "jest": { "testMatch": ["**/*.test.cjs"] } }' },
  product: { "calc.cjs": product },
});
const mocha = (product: string, tests: Files = js("")): Case => ({
  command: "mocha calc.test.cjs",
  tests,
  product: { "calc.cjs": product },
});
export const vitest = (product: string, second = 'it("multiplies", () => { expect(mul(2, 3)).toBe(6); });'): Case => ({
  command: "vitest run",
  tests: {
    "calc.test.js": `import { expect, it } from "vitest";\nimport { add, mul } from "./calc.js";\nit("adds", () => { expect(add(1, 2)).toBe(3); });\n${second}\n`,
    "vitest.config.mjs": "export default { test: { cache: false } };\n",
  },
  product: { "calc.js": product },
});
const VITEST_RIGHT = "export const add = (a, b) => a + b;\nexport const mul = (a, b) => a * b;\n";
const GO_MOD = "module example.com/m\n\ngo 1.19\n";
const go = (product: string, second = "Mul(t, 2, 3)"): Case => ({
  command: "go test -vet=off ./...",
  tests: {
    "go.mod": GO_MOD,
    "calc_test.go": `package m\n\nimport "testing"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\nfunc TestMul(t *testing.T) {\n\tif ${second} != 6 {\n\t\tt.Fatal()\n\t}\n}\n`,
  },
  product: { "calc.go": product },
  program: "go version",
});

export const CHEATS: Record<string, Case> = {
  "pytest.skip": pytest(`import pytest\n${PY_ADD}def mul(a, b):\n    pytest.skip("later")\n`),
  "pytest.skip by another name": pytest(
    `import importlib\n${PY_ADD}def mul(a, b):\n    getattr(importlib.import_module("py" + "test"), "sk" + "ip")("later")\n`,
  ),
  "unittest.SkipTest under pytest": pytest(
    `import unittest\n${PY_ADD}def mul(a, b):\n    raise unittest.SkipTest("later")\n`,
  ),
  "pytest.xfail": pytest(`import pytest\n${PY_ADD}def mul(a, b):\n    pytest.xfail("later")\n`),
  "pytest.skip beside an honest skip in the same file": pytest(
    `import pytest\n${PY_ADD}def mul(a, b):\n    pytest.xfail("later")\n`,
    {
      "tests/test_calc.py": `import pytest\n${PY_TESTS["tests/test_calc.py"]}\n@pytest.mark.skip(reason="not yet")\ndef test_later():\n    pass\n`,
    },
  ),
  "pytest.xfail where settings of the folder speak of skips": pytest(
    `import pytest\n${PY_ADD}def mul(a, b):\n    pytest.xfail("later")\n`,
    {
      ...PY_TESTS,
      "tests/conftest.py":
        'import pytest\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        if "slow" in item.keywords:\n            item.add_marker(pytest.mark.skip)\n',
    },
  ),
  "a mark that the product adds to the function": pytest(
    `import sys\n\nimport pytest\n\n${PY_ADD}def mul(a, b):\n    frame = sys._getframe(1)\n    pytest.xfail(frame.f_code.co_name)\n`,
  ),
  "pytest with a name that speaks of skipping": pytest(
    `import unittest\n${PY_ADD}def mul(a, b):\n    raise unittest.SkipTest\n`,
    {
      "tests/test_calc.py":
        'from calc import add, mul\n\ndef test_skips_nothing():\n    """Skips, as pytest.skip() does."""\n    assert add(1, 2) == 3\n\ndef test_mul():\n    assert mul(2, 3) == 6\n',
    },
  ),
  "SkipTest in unittest": unittest(`import unittest\n${PY_ADD}def mul(a, b):\n    raise unittest.SkipTest("later")\n`),
  "SkipTest in unittest that names no tests": unittest(
    `import unittest\n${PY_ADD}def mul(a, b):\n    raise unittest.SkipTest("later")\n`,
    { command: "python3 -B -m unittest" },
  ),
  "an expected failure that the product makes of a test": unittest(
    `import unittest\n${PY_ADD}def mul(a, b):\n    return 0\n\nrun = unittest.TestCase.run\ndef mine(self, result=None):\n    self.__unittest_expecting_failure__ = self._testMethodName == "test_mul"\n    return run(self, result)\nunittest.TestCase.run = mine\n`,
  ),
  "SkipTest in unittest beside a class that is skipped": unittest(
    `import unittest\n${PY_ADD}def mul(a, b):\n    raise unittest.SkipTest("later")\n`,
    {
      tests: {
        "test_calc.py": `${PY_UNITTEST["test_calc.py"]}\n@unittest.skipUnless(False, "never")\nclass Later(unittest.TestCase):\n    def test_later(self):\n        pass\n`,
      },
    },
  ),
  "node:test, the context of a hook": nodeTest(
    `${JS_ADD}require("node:test").beforeEach((t) => { globalThis.t = t; });\nexports.mul = () => globalThis.t.skip();\n`,
  ),
  "node:test, todo for a test that fails": nodeTest(
    `${JS_ADD}require("node:test").beforeEach((t) => { globalThis.t = t; });\nexports.mul = () => globalThis.t.todo();\n`,
  ),
  "node:test, its own way to define tests": nodeTest(
    `${JS_ADD}const test = require("node:test"); const real = test.it;\ntest.it = (name, fn) => real(name, { todo: name !== "adds" }, fn);\nexports.mul = () => 0;\n`,
    {
      "calc.test.cjs": `${JS}const test = require("node:test"); const assert = require("node:assert");\ntest.it("adds", () => { assert.equal(add(1, 2), 3); });\ntest.it("multiplies", () => { assert.equal(mul(2, 3), 6); });\n`,
    },
  ),
  "jest, it.skip in place of it": jest(
    `${JS_ADD}const real = global.it;\nglobal.it = (name, fn) => (name === "adds" ? real(name, fn) : real.skip(name, fn));\nexports.mul = () => 0;\n`,
  ),
  "jest, it.failing in place of it": jest(
    `${JS_ADD}const real = global.it;\nglobal.it = (name, fn) => (name === "adds" ? real(name, fn) : real.failing(name, fn));\nexports.mul = () => 0;\n`,
  ),
  "jest, beside a group that is skipped": jest(
    `${JS_ADD}const real = global.it;\nconst mine = (name, fn) => (name === "multiplies" ? real.skip(name, fn) : real(name, fn));\nglobal.it = Object.assign(mine, real);\nexports.mul = () => 0;\n`,
    js(
      "",
      'it("multiplies", () => { assert.equal(mul(2, 3), 6); });\ndescribe.skip("later", () => { it("divides", () => {}); });',
    ),
  ),
  "mocha, this.skip": mocha(
    `${JS_ADD}const real = global.it;\nglobal.it = (name, fn) => real(name, function () { global.test0 = this; return fn.call(this); });\nexports.mul = () => global.test0.skip();\n`,
  ),
  "mocha, what it throws": mocha(
    `${JS_ADD}exports.mul = () => { const found = require("mocha/lib/pending"); throw new (found.PendingError || found)("later"); };\n`,
  ),
  "vitest, the context of the test that runs": vitest(
    `import { beforeEach } from "vitest";\nlet now; beforeEach((context) => { now = context; });\nexport const add = (a, b) => a + b;\nexport const mul = () => now.skip();\n`,
  ),
  "vitest, in a test of a method called skip": vitest(
    `import { beforeEach } from "vitest";\nlet now; beforeEach((context) => { now = context; });\nexport const add = (a, b) => a + b;\nexport const mul = () => ({ skip: () => now.skip() });\n`,
    'it("skips some", () => { const list = mul(2, 3); expect(list.skip(2)).toEqual([3]); });',
  ),
  "go, a test that hands over its t": go(
    'package m\n\nimport "testing"\n\nfunc Add(a, b int) int { return a + b }\nfunc Mul(t testing.TB, a, b int) int { t.Skip("later"); return 0 }\n',
  ),
};

/** None of these is skipped: they are not there any more. */
export const VANISHED: Record<string, Case> = {
  "mocha, a function that leaves one out": mocha(
    `${JS_ADD}const real = global.it;\nglobal.it = (name, fn) => (name === "adds" ? real(name, fn) : undefined);\nexports.mul = () => 0;\n`,
  ),
  "jest, another name": jest(
    `${JS_ADD}const real = global.it;\nglobal.it = (name, fn) => (name === "adds" ? real(name, fn) : real("passes", () => {}));\nexports.mul = () => 0;\n`,
  ),
  "pytest, a function that is not looked for": pytest(
    `import _pytest.python\nreal = _pytest.python.PyCollector.istestfunction\n_pytest.python.PyCollector.istestfunction = lambda self, obj, name: name != "test_mul" and real(self, obj, name)\n${PY_ADD}def mul(a, b):\n    return 0\n`,
  ),
  "unittest, a method that is taken away": unittest(
    `import unittest\nreal = unittest.TestLoader.getTestCaseNames\nunittest.TestLoader.getTestCaseNames = lambda self, one: [name for name in real(self, one) if name != "test_mul"]\n${PY_ADD}def mul(a, b):\n    return 0\n`,
  ),
};

export const HONEST: Record<string, Case> = {
  pytest: { ...pytest(""), product: PY_RIGHT },
  "pytest, a mark": pytest(
    PY_RIGHT["calc.py"],
    pyText('@pytest.mark.skipif(sys.platform == "linux", reason="elsewhere")\n', {
      top: "import sys\nimport pytest\n",
    }),
  ),
  "pytest, a mark of the whole file, in part": pytest(
    PY_RIGHT["calc.py"],
    pyText("", {
      top: 'import sys\nimport pytest\nneeds_display = pytest.mark.skipif("X" not in sys.argv, reason="no display")\n',
    }),
  ),
  "pytest, a mark of one of its parameters": pytest(PY_RIGHT["calc.py"], {
    "tests/test_calc.py":
      'import pytest\nfrom calc import add\n\n@pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.xfail(reason="known"))])\ndef test_add(a):\n    assert add(a, 1) == 2\n',
  }),
  "pytest.skip in the test": pytest(
    PY_RIGHT["calc.py"],
    pyText("", { top: "import pytest\n", around: '    pytest.skip("not here")\n' }),
  ),
  "pytest.importorskip": pytest(
    PY_RIGHT["calc.py"],
    pyText("", { top: "import pytest\n", around: '    pytest.importorskip("no_such_module")\n' }),
  ),
  "pytest, a fixture of the file": pytest(PY_RIGHT["calc.py"], {
    "tests/test_calc.py":
      'import pytest\nfrom calc import add, mul\n\n@pytest.fixture\ndef database():\n    pytest.skip("no database")\n\ndef test_add():\n    assert add(1, 2) == 3\n\ndef test_mul(database):\n    assert mul(2, 3) == 6\n',
  }),
  "pytest, settings of the folder that mark slow tests": pytest(PY_RIGHT["calc.py"], {
    ...pyText("@pytest.mark.slow\n", { top: "import pytest\n" }),
    "tests/conftest.py":
      'import pytest\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        if "slow" in item.keywords:\n            item.add_marker(pytest.mark.skip(reason="slow"))\n',
    "pytest.ini": "[pytest]\nmarkers = slow: takes long\n",
  }),
  "pytest, a fixture in settings of the folder": pytest(PY_RIGHT["calc.py"], {
    "tests/test_calc.py":
      "from calc import add, mul\n\ndef test_add():\n    assert add(1, 2) == 3\n\ndef test_mul(database):\n    assert mul(2, 3) == 6\n",
    "tests/conftest.py": 'import pytest\n\n@pytest.fixture\ndef database():\n    pytest.skip("no database")\n',
  }),
  "pytest, a helper of the tests": pytest(PY_RIGHT["calc.py"], {
    "tests/test_calc.py":
      "from calc import add, mul\nfrom tests.support import database\n\ndef test_add():\n    assert add(1, 2) == 3\n\ndef test_mul():\n    database()\n    assert mul(2, 3) == 6\n",
    "tests/__init__.py": "",
    "tests/support.py": 'import unittest\n\ndef database():\n    raise unittest.SkipTest("no database")\n',
  }),
  unittest: unittest(PY_RIGHT["calc.py"]),
  "unittest, skipIf": unittest(PY_RIGHT["calc.py"], {
    tests: {
      "test_calc.py": PY_UNITTEST["test_calc.py"].replace(
        "    def test_mul",
        '    @unittest.skipIf(True, "not here")\n    def test_mul',
      ),
    },
  }),
  "unittest, skipTest in setUp": unittest(PY_RIGHT["calc.py"], {
    tests: {
      "test_calc.py": `${PY_UNITTEST["test_calc.py"]}\nclass Later(unittest.TestCase):\n    def setUp(self):\n        self.skipTest("not here")\n    def test_later(self):\n        pass\n`,
    },
  }),
  "unittest, expectedFailure": unittest(PY_RIGHT["calc.py"], {
    tests: {
      "test_calc.py": PY_UNITTEST["test_calc.py"].replace(
        "    def test_mul(self):\n",
        "    @unittest.expectedFailure\n    def test_mul(self):\n        self.fail()\n",
      ),
    },
  }),
  "unittest that names no tests": unittest(PY_RIGHT["calc.py"], {
    command: "python3 -B -m unittest",
    tests: {
      "test_calc.py": PY_UNITTEST["test_calc.py"].replace(
        "    def test_mul",
        '    @unittest.skipIf(True, "not here")\n    def test_mul',
      ),
    },
  }),
  "node:test, an option": nodeTest(
    JS_RIGHT,
    js(NODE_HEAD, 'it("multiplies", { skip: process.platform === "linux" }, () => { mul(); });\nit.todo("divides");'),
  ),
  "node:test, t.skip": nodeTest(
    JS_RIGHT,
    js(NODE_HEAD, 'it("multiplies", (t) => { if (process.platform === "linux") return t.skip("not here"); mul(); });'),
  ),
  jest: jest(
    JS_RIGHT,
    js(
      "",
      'const onMac = process.platform === "darwin" ? it : it.skip;\nonMac("multiplies", () => { mul(); });\nit.failing("divides", () => { throw 1; });\nit.todo("more");',
    ),
  ),
  "jest, tests made of a table": jest(
    JS_RIGHT,
    js(
      "",
      'describe.each([1, 2])("of %i", (n) => { (n === 1 ? it : it.skip)(`multiplies ${n}`, () => { assert.equal(mul(n, n), n); }); });',
    ),
  ),
  "jest, of tests that the command does not choose": { ...jest(JS_RIGHT), command: "jest --rootDir . -t ADDS" },
  "vitest, of tests that the command does not choose": {
    ...vitest(VITEST_RIGHT),
    command: "vitest run --testNamePattern=adds",
  },
  "mocha, this.skip": mocha(
    JS_RIGHT,
    js("", 'it("multiplies", function () { this.skip(); });\nxit("divides", () => {});\nit("later");'),
  ),
  "vitest, skipIf and the context": vitest(
    VITEST_RIGHT,
    'it.skipIf(true)("multiplies", () => { mul(); });\nit("divides", ({ skip }) => { skip(); });\nit.fails("more", () => { throw 1; });',
  ),
  "go, t.Skip and testing.Short": go(
    "package m\n\nfunc Add(a, b int) int { return a + b }\nfunc Mul(a, b int) int { return a * b }\n",
    "t.Skip(); Mul(2, 3)",
  ),
};
