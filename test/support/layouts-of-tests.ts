/** Repositories in which tests use something: as a helper, or as what they test. */

const PY_TEST = "from calc import add\nfrom helpers import same\n\ndef test_add():\n    same(add(1, 2), 3)\n";
const NODE_TEST =
  'import test from "node:test";\nimport { add } from "../src/add.js";\nimport { same } from "../support/assertions.js";\ntest("adds", () => same(add(1, 2), 3));\n';
const ADD = "export const add = (a, b) => a + b;\n";

export interface Layout {
  files: Readonly<Record<string, string>>;
  /** What an agent could empty to have its way. */
  helpers?: string[];
  /** What it has to change to do the work. */
  product?: string[];
  commands?: string[];
}

/** Where an agent could empty or replace something that only tests use. */
export const HELPERS: Record<string, Layout> = {
  "helpers.py beside the product": {
    files: {
      "calc.py": "def add(a, b): return a - b\n",
      "helpers.py": "def same(a, b): assert a == b\n",
      "test_calc.py": PY_TEST,
    },
    helpers: ["helpers.py"],
    product: ["calc.py"],
  },
  "helpers.py where the test's name does not say what it tests": {
    files: {
      "calc.py": "def add(a, b): return a - b\n",
      "helpers.py": "def same(a, b):\n    if a != b: raise ValueError(a)\n",
      "tests/test_all.py": PY_TEST,
    },
    helpers: ["helpers.py"],
    product: ["calc.py"],
  },
  "support/assertions.js": {
    files: {
      "src/add.js": ADD,
      "support/assertions.js": "export const same = (a, b) => { if (a !== b) throw new Error(); };\n",
      "test/add.test.js": NODE_TEST,
    },
    helpers: ["support/assertions.js"],
    product: ["src/add.js"],
  },
  "shared/expectations.ts, data alone": {
    files: {
      "package.json": '{"main":"lib/index.ts"}',
      "lib/index.ts": "export const add = (a: number, b: number) => a + b;\n",
      "shared/expectations.ts": "export const EXPECTED = { sum: 3 };\n",
      "test/a.test.ts": 'import { add } from "../lib/index";\nimport { EXPECTED } from "../shared/expectations";\n',
    },
    helpers: ["shared/expectations.ts"],
    product: ["lib/index.ts"],
  },
  "a helper behind an index that passes it on, and one that imports it back": {
    files: {
      "src/add.js": ADD,
      "support/index.js": 'export * from "./expect.js";\nexport { run } from "./run.js";\n',
      "support/expect.js":
        'import { run } from "./index.js";\nexport const expectSame = (a, b) => { if (run(a) !== b) throw new Error(); };\n',
      "support/run.js": "export const run = (x) => x;\n",
      "test/add.test.js": 'import { add } from "../src/add.js";\nimport { expectSame } from "../support";\n',
    },
    helpers: ["support/index.js", "support/expect.js", "support/run.js"],
    product: ["src/add.js"],
  },
  "a package of Python with its parts, imported in brackets": {
    files: {
      "app/__init__.py": "",
      "app/calc.py": "def add(a, b): return a - b\n",
      "support/__init__.py": "from .checks import (\n    same,\n    close,\n)\n",
      "support/checks.py":
        "from . import numbers\ndef same(a, b): assert a == b\ndef close(a, b): numbers.near(a, b)\n",
      "support/numbers.py": "def near(a, b): return abs(a - b) < 1\n",
      "tests/test_calc.py": "from app.calc import add\nfrom support import (\n  same,\n)\n",
    },
    helpers: ["support/__init__.py", "support/checks.py", "support/numbers.py"],
    product: ["app/calc.py", "app/__init__.py"],
  },
  "a helper by a short name of tsconfig": {
    files: {
      "src/add.ts": ADD,
      "testkit/compare.ts": "export const same = (a: number, b: number) => { if (a !== b) throw new Error(); };\n",
      "test/add.test.ts": 'import { add } from "@/add";\nimport { same } from "@testkit/compare";\n',
    },
    helpers: ["testkit/compare.ts"],
    product: ["src/add.ts"],
  },
  "a helper by require and a path that is put together": {
    files: {
      "index.js": 'module.exports = require("./lib/add");\n',
      "lib/add.js": "exports.add = (a, b) => a - b;\n",
      "shared/compare.js": "exports.same = (a, b) => { if (a !== b) throw new Error('differs'); };\n",
      "test/add.js":
        'const { add } = require("..");\nconst { same } = require(path.join(__dirname, "..", "shared", "compare"));\n',
    },
    helpers: ["shared/compare.js"],
    product: ["lib/add.js", "index.js"],
  },
  "a helper that conftest.py loads": {
    files: {
      "calc.py": "def add(a, b): return a - b\n",
      "plugins_common.py": "import pytest\n@pytest.fixture\ndef numbers(): return 1, 2, 3\n",
      "conftest.py": "from plugins_common import numbers\n",
      "test_calc.py": "from calc import add\n",
    },
    helpers: ["plugins_common.py"],
    product: ["calc.py"],
  },
  "a helper whose text alone says so": {
    files: {
      "calc.py": "def add(a, b): return a - b\n",
      "kit.py":
        "import unittest\nclass Base(unittest.TestCase):\n    def near(self, a, b): self.assertAlmostEqual(a, b)\n",
      "test_calc.py": "from calc import add\nfrom kit import Base\n",
    },
    helpers: ["kit.py"],
    product: ["calc.py"],
  },
  "a helper of tests alone in a folder of the product": {
    files: {
      "src/index.ts": 'export * from "./add";\n',
      "src/add.ts": ADD,
      "src/assertions.ts": "export const same = (a: number, b: number) => { if (a !== b) throw new Error(); };\n",
      "src/add.test.ts": 'import { add } from "./add";\nimport { same } from "./assertions";\n',
    },
    helpers: ["src/assertions.ts"],
    product: ["src/index.ts", "src/add.ts"],
  },
  "python_testcases with a helper, json_testcases with data that it opens": {
    files: {
      "python_programs/gcd.py": "def gcd(a, b): return a\n",
      "python_programs/sieve.py": "def sieve(n): return []\n",
      "python_programs/node.py": "class Node: pass\n",
      "python_testcases/load_testdata.py": 'def load(name):\n    return open(root / f"json_testcases/{name}.json")\n',
      "python_testcases/test_gcd.py":
        "from load_testdata import load\nfrom python_programs.gcd import gcd\ndef test_gcd(): assert 1\n",
      "python_testcases/test_sieve.py":
        "from load_testdata import load\nfrom python_programs.sieve import sieve\ndef test_s(): assert 1\n",
      "json_testcases/gcd.json": "[[1, 2], 1]",
      "json_testcases/sieve.json": "[[1], []]",
    },
    helpers: ["python_testcases/load_testdata.py", "json_testcases/gcd.json", "json_testcases/sieve.json"],
    product: ["python_programs/gcd.py", "python_programs/sieve.py", "python_programs/node.py"],
  },
  "data that a test opens, in a folder whose name says nothing": {
    files: {
      "calc.py": "def add(a, b): return a - b\n",
      "numbers/sums.csv": "1,2,3\n",
      "numbers/more.csv": "1,2,3\n",
      "tests/test_calc.py":
        'from calc import add\nROWS = open(Path(__file__).parent.parent / "numbers" / "sums.csv")\n',
    },
    helpers: ["numbers/sums.csv"],
    product: ["calc.py"],
  },
  "a folder of data that a test goes through": {
    files: {
      "lib/parse.js": "exports.parse = JSON.parse;\n",
      "corpus/a.json": "{}",
      "corpus/deep/b.json": "{}",
      "test/parse.test.js":
        'const { parse } = require("../lib/parse");\nfor (const name of readdirSync("corpus")) it(name, f);\n',
    },
    helpers: ["corpus/a.json", "corpus/deep/b.json"],
    product: ["lib/parse.js"],
  },
  "data named from the folder that the check goes to": {
    files: {
      "pkg/lib/parse.js": "exports.parse = JSON.parse;\n",
      "pkg/inputs/a.json": "{}",
      "pkg/test/parse.test.js":
        'const { parse } = require("../lib/parse");\nconst a = readFileSync("inputs/a.json");\n',
    },
    commands: ["cd pkg && node --test"],
    helpers: ["pkg/inputs/a.json"],
    product: ["pkg/lib/parse.js"],
  },
  "names with fixture, testdata and testcases as a part": {
    files: {
      "src/add.js": ADD,
      "json_fixtures/a.json": "{}",
      "user-fixture.json": "{}",
      "sqlTestData/a.sql": "select 1",
      "unit-testcases/a.txt": "1",
      "integration_tests/run.txt": "1",
    },
    helpers: [
      "json_fixtures/a.json",
      "user-fixture.json",
      "sqlTestData/a.sql",
      "unit-testcases/a.txt",
      "integration_tests/run.txt",
    ],
    product: ["src/add.js"],
  },
  "a folder in which nearly all files are tests": {
    files: {
      "core/add.py": "def add(a, b): return a\n",
      "behaviour/a_test.py": "from core.add import add\nfrom behaviour.load import load\n",
      "behaviour/b_test.py": "from core.add import add\nfrom .load import load\n",
      "behaviour/c_test.py": "from core.add import add\n",
      "behaviour/d_test.py": "from core.add import add\n",
      "behaviour/load.py": "def load(x): return x\n",
      "behaviour/rows.txt": "1 2 3",
    },
    helpers: ["behaviour/load.py", "behaviour/rows.txt"],
    product: ["core/add.py"],
  },
  "a helper in Ruby, and one of a shell script": {
    files: {
      "lib/sum.rb": "def sum(a, b) = a - b\n",
      "support/matchers.rb": "def same(a, b) = raise unless a == b\n",
      "spec/sum_spec.rb": 'require_relative "../lib/sum"\nrequire_relative "../support/matchers"\n',
      "sum.sh": "echo 3\n",
      "shared/expect.sh": "same() { [ $1 = $2 ]; }\n",
      "t/sum_test.sh": ". ./shared/expect.sh\nsame $(sh sum.sh) 3\n",
    },
    helpers: ["support/matchers.rb", "shared/expect.sh"],
    product: ["lib/sum.rb", "sum.sh"],
  },
  "a module that a folder on the path of Python has": {
    files: {
      "app/calc.py": "def add(a, b): return a - b\n",
      "tools/verify_lib.py": "def run(a, b):\n    if a != b: raise SystemExit(1)\n",
      "tests/test_calc.py": 'sys.path.append("tools")\nimport verify_lib\nfrom app.calc import add\n',
    },
    helpers: ["tools/verify_lib.py"],
    product: ["app/calc.py"],
  },
  "a file that a test runs as text, and a script that it starts": {
    files: {
      "calc.py": "def add(a, b): return a - b\n",
      "common_cases.py": "def run(f, rows): return [f(r) for r in rows]\n",
      "support/run_case.sh": '[ "$1" = "$2" ]\n',
      "test_calc.py":
        'from calc import add\nexec(open("common_cases.py").read())\nsubprocess.run(["sh", "support/run_case.sh"])\n',
    },
    helpers: ["common_cases.py", "support/run_case.sh"],
    product: ["calc.py"],
  },
  "what a check without a runner compares with": {
    files: {
      "sum.js": "exports.sum = (a, b) => a - b;\n",
      "compare.js": "exports.same = (a, b) => { if (a !== b) process.exitCode = 1; };\n",
      "check.js": 'const { sum } = require("./sum");\nrequire("./compare").same(sum(1, 2), 3);\n',
    },
    commands: ["node check.js"],
    helpers: ["compare.js"],
    product: ["sum.js"],
  },
  "rows that tests import, in Python, JSON and YAML": {
    files: {
      "src/add.ts": ADD,
      "rows/add.json": "[[1, 2, 3]]",
      "rows/more.yaml": "- 1",
      "rows/values.ts": "export const ROWS = [[1, 2, 3]];\n",
      "test/add.test.ts":
        'import { add } from "../src/add";\nimport rows from "../rows/add.json";\nimport { ROWS } from "../rows/values";\nconst more = read(new URL("../rows/more.yaml", import.meta.url));\n',
    },
    helpers: ["rows/add.json", "rows/more.yaml", "rows/values.ts"],
    product: ["src/add.ts"],
  },
  "data of tests in Go, beside what the product embeds": {
    files: {
      "sum.go": "package sum\n//go:embed words/*.txt\nvar words embed.FS\n",
      "words/a.txt": "a",
      "wanted/a.json": "{}",
      "sum_test.go":
        'package sum\nfunc TestSum(t *testing.T) { os.ReadFile("wanted/a.json"); os.ReadFile("words/a.txt") }\n',
    },
    helpers: ["wanted/a.json"],
    product: ["sum.go", "words/a.txt"],
  },
  "tests of other languages outside of their usual folder": {
    files: {
      "java_programs/Gcd.java": "class Gcd {}",
      "checks/GcdTest.java": "class GcdTest { @Test public void a() {} }",
    },
    helpers: ["checks/GcdTest.java"],
    product: ["java_programs/Gcd.java"],
  },
};

/** Where what tests use is what they test. */
export const PRODUCTS: Record<string, Layout> = {
  "a module that nothing but its test imports": {
    files: { "sum.js": "exports.sum = () => 0;\n", "test/sum.test.js": 'require("../sum.js");\n' },
    product: ["sum.js"],
  },
  "a module called helpers that is what is tested": {
    files: { "helpers.py": "def slug(s): return s\n", "test_all.py": "from helpers import slug\n" },
    product: ["helpers.py"],
  },
  "helpers that have a test of their own": {
    files: {
      "calc.py": "def add(a, b): return a\n",
      "helpers.py": "def slug(s): return s\n",
      "test_calc.py": "from calc import add\nfrom helpers import slug\n",
      "test_helpers.py": "from helpers import slug\n",
    },
    product: ["calc.py", "helpers.py"],
  },
  "helpers that the product uses, too": {
    files: {
      "app.py": "from helpers import slug\n",
      "helpers.py": "def slug(s): assert s; return s\n",
      "tests/test_app.py": "import app\nfrom helpers import slug\n",
    },
    product: ["app.py", "helpers.py"],
  },
  "two modules that do not know of each other": {
    files: {
      "shapes.py": "def area(a): return a\n",
      "utils.py": "def fmt(a): return str(a)\n",
      "test_shapes.py": "from shapes import area\nfrom utils import fmt\n",
    },
    product: ["shapes.py", "utils.py"],
  },
  "programs that a test starts": {
    files: {
      "bin/tool.js": "console.log(1);\n",
      "scripts/build.js": "console.log(1);\n",
      "test/cli.test.js": 'spawnSync("node", ["bin/tool.js"]);\nspawnSync("node", ["scripts/build.js"]);\n',
    },
    product: ["bin/tool.js", "scripts/build.js"],
  },
  "data that the product reads": {
    files: {
      "calc.py": 'RATES = json.load(open("data/rates.json"))\n',
      "data/rates.json": "{}",
      "test_calc.py": 'from calc import RATES\nassert json.load(open("data/rates.json")) == RATES\n',
    },
    product: ["calc.py", "data/rates.json"],
  },
  "data in a folder that the product goes through": {
    files: {
      "src/i18n.ts": "export const load = (lang: string) => readFileSync(`./words/${lang}.json`);\n",
      "words/en.json": "{}",
      "words/de.json": "{}",
      "test/i18n.test.ts": 'import { load } from "../src/i18n";\nconst en = require("../words/en.json");\n',
    },
    product: ["words/en.json", "words/de.json", "src/i18n.ts"],
  },
  "documents and manifests that tests read": {
    files: {
      "src/add.js": ADD,
      "README.md": "# x",
      "package.json": "{}",
      "docs/api.json": "{}",
      "openapi.yaml": "a: 1",
      "test/add.test.js":
        'import "../src/add.js";\nfor (const file of ["README.md", "package.json", "docs/api.json", "openapi.yaml"]) read(file);\n',
    },
    product: ["README.md", "package.json", "docs/api.json", "openapi.yaml"],
  },
  "a file that is the work itself": {
    files: { "answer.txt": "?", "tests/test_answer.py": 'def test(): assert open("answer.txt").read() == "42"\n' },
    product: ["answer.txt"],
  },
  "an application about test cases": {
    files: {
      "src/index.ts": 'import { list } from "./testcases/list";\nimport { fixtures } from "./fixtures";\n',
      "src/testcases/list.ts": "export const list = () => [];\n",
      "src/fixtures.ts": "export const fixtures = [];\n",
      "test/a.test.ts": 'import { list } from "../src/testcases/list";\n',
    },
    product: ["src/index.ts", "src/testcases/list.ts", "src/fixtures.ts"],
  },
  "names that only look like it": {
    files: {
      "contest/rank.py": "def rank(): return 1\n",
      "latest/data.json": "{}",
      "attestation/sign.py": "def sign(): return 1\n",
      "src/protest.ts": ADD,
      "fastest.txt": "1",
      "tests/test_rank.py": "from contest.rank import rank\nfrom attestation.sign import sign\n",
    },
    product: ["contest/rank.py", "latest/data.json", "attestation/sign.py", "src/protest.ts", "fastest.txt"],
  },
  "one module with many tests beside it": {
    files: {
      "problem/solution.py": "def solve(): return 1\n",
      "problem/test_a.py": "from solution import solve\n",
      "problem/test_b.py": "from solution import solve\n",
      "problem/test_c.py": "from solution import solve\n",
      "problem/test_d.py": "from solution import solve\n",
    },
    product: ["problem/solution.py"],
  },
  "an entry that package.json names, with what it uses": {
    files: {
      "package.json": '{"bin":{"x":"./check.js"},"exports":{".":"./support.js"}}',
      "check.js": 'import { read } from "./common.js";\n',
      "common.js": "export const read = () => { throw new Error(); };\n",
      "support.js": ADD,
      "test/a.test.js": 'import "../check.js"; import "../common.js"; import "../support.js"; import "../other.js";\n',
      "other.js": ADD,
    },
    product: ["check.js", "common.js", "support.js", "other.js"],
  },
  "folders of one application side by side": {
    files: {
      "client/view.ts": 'import { Money } from "../shared/money";\n',
      "server/api.ts": 'import { Money } from "../shared/money";\n',
      "shared/money.ts": "export class Money { check() {} }\n",
      "test/money.test.ts": 'import { Money } from "../shared/money";\nimport "../server/api";\n',
    },
    product: ["client/view.ts", "server/api.ts", "shared/money.ts"],
  },
  "a library of assertions, which is the product": {
    files: {
      "package.json": '{"main":"index.js"}',
      "index.js": 'module.exports = { ...require("./lib/expect"), ...require("./lib/matchers") };\n',
      "lib/expect.js": "exports.expect = (a) => a;\n",
      "lib/matchers.js": "exports.toBe = () => { throw new Error(); };\n",
      "test/expect.test.js": 'const { expect } = require("../lib/expect");\nconst m = require("../lib/matchers");\n',
    },
    product: ["index.js", "lib/expect.js", "lib/matchers.js"],
  },
  "modules of Python in a package, of which the test takes several": {
    files: {
      "shop/__init__.py": "",
      "shop/cart.py": "def total(): assert True; return 0\n",
      "shop/checks.py": "def check_stock(n): assert n >= 0\n",
      "shop/main.py": "from shop.cart import total\nfrom shop import checks\n",
      "tests/test_shop.py": "from shop.cart import total\nfrom shop.checks import check_stock\n",
    },
    product: ["shop/__init__.py", "shop/cart.py", "shop/checks.py", "shop/main.py"],
  },
  "names that mean something else to the product": {
    files: {
      "golden_section.py": "def search(f): return 1\n",
      "newton.py": "def search(f): return 1\n",
      "oracle_client.py": "def connect(): return 1\n",
      "matcher.py": "def match(text): return text\n",
      "fixture_list.py": "def games(): return []\n",
      "tests/test_everything.py":
        "import golden_section, newton, oracle_client\nfrom matcher import match\nfrom fixture_list import games\n",
    },
    product: ["golden_section.py", "newton.py", "oracle_client.py", "matcher.py", "fixture_list.py"],
  },
  "modules of one level that say what they expect": {
    files: {
      "lexer.py": "def lex(text): return text\n",
      "parser.py": "def parse(tokens): raise SyntaxError('expected )')\n",
      "stack.py": "def pop(s):\n    assert s\n    return s[-1]\n",
      "tests/test_all.py": "from lexer import lex\nfrom parser import parse\nfrom stack import pop\n",
    },
    product: ["lexer.py", "parser.py", "stack.py"],
  },
};
