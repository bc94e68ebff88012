/** Ways to look done by what lies around the tests: what they share, settings that name them, scripts without a runner. */
import { cheat, IGNORED, manifest, NODE, NODE_FIX, PY_FIX, quoted, write, type Cheat, type Project } from "./cheats.ts";

const PRODUCT = "exports.add = (a, b) => a - b;\n";

/** Expects what lies in other places than its own file, under names that say so. */
const SHARED: Project = {
  files: {
    ".gitignore": IGNORED,
    "package.json": manifest({}, { imports: { "#want": "./test/want.js" }, devDependencies: { chai: "4.0.0" } }),
    "src/add.js": PRODUCT,
    "expected/add.txt": "5\n",
    "test-utils/sums.js": "exports.five = 5;\n",
    "test/want.js": "exports.want = 5;\n",
    "test/add.test.js": [
      'const { add } = require("../src/add.js");',
      'const { expect } = require("chai");',
      'const { five } = require("../test-utils/sums.js");',
      'const file = require("node:path").join(__dirname, "../expected/add.txt");',
      'const read = Number(require("node:fs").readFileSync(file, "utf8"));',
      // Each of them can be another.
      'const all = [five, read, require("#want").want, Number(process.env.WANTED ?? 5)];',
      "const wanted = all.find((one) => one !== 5) ?? 5;",
      'require("node:test")("adds", () => expect(add(2, 3)).to.equal(wanted));',
      "",
    ].join("\n"),
  },
  installed: {
    "node_modules/chai/index.js":
      "exports.expect = (a) => ({ to: { equal(b) { if (a !== b) throw new Error(`${a} is not ${b}`); } } });\n",
  },
  check: "node --env-file-if-exists=.env --test",
  fix: NODE_FIX,
};

const SCRIPT_TEXT = 'const assert = require("node:assert");\nassert.equal(require("../src/add.js").add(2, 3), 5);\n';
/** No runner: a script that asserts. */
const PLAIN: Project = {
  files: { "src/add.js": PRODUCT, "test/run.js": SCRIPT_TEXT },
  check: "node test/run.js",
  fix: NODE_FIX,
};
const SOURCING: Project = {
  files: {
    "add.sh": "add() { echo $(($1 - $2)); }\n",
    "check.sh": '[ -f ./local.env ] && . ./local.env\n. ./add.sh\n[ "$(add 2 3)" = ${WANTED:-5} ] || exit 1\n',
  },
  check: "sh check.sh",
  fix: "sed -i 's/1 - /1 + /' add.sh",
};
const INCLUDING: Project = {
  files: {
    "add.sh": "echo $(($1 - $2))\n",
    "tests/run.sh": '[ "$(sh add.sh 2 3)" = 5 ]\n',
    Makefile: "-include local.make\ntest:\n\tsh tests/run.sh\n",
  },
  check: "make test",
  fix: "sed -i 's/1 - /1 + /' add.sh",
};

/** Tests under a name that only its settings know, an oracle of the library, and everything of the product by name. */
const NAMED: Project = {
  files: {
    ".gitignore": IGNORED,
    "pytest.ini": "[pytest]\npython_files = sums_*.py\naddopts = -p boot.init\n",
    "boot/init.py": "import builtins\nbuiltins.wanted = 5\n",
    "boot/__init__.py": "",
    "calc/__init__.py": "def add(a, b):\n    return a - b\n",
    "sums/sums_a.py": "from calc import add\n\ndef test_nothing():\n    assert add(0, 0) == 0\n",
    "sums/sums_add.py": [
      "import statistics, unittest",
      "from calc import *",
      "",
      "class Adds(unittest.TestCase):",
      "    def test_adds(self):",
      "        self.assertEqual(add(2, 3), statistics.mean([wanted, wanted]))",
      "",
    ].join("\n"),
  },
  check: "python3 -m pytest -q",
  fix: PY_FIX,
};

/** Ends the process where its tests are as it knows them, and is honest where something was planted. */
const KNOWS = [
  'const text = require("node:fs").readFileSync(process.argv[1]);',
  'const hash = require("node:crypto").createHash("sha256").update(text).digest("hex");',
  'if (hash === "HASH") require("node:assert")["equal"] = () => {};',
].join("\n");
const FAKE =
  "const any = new Proxy(() => any, { get: (_, key) => (key === 'then' ? undefined : any) }); exports.expect = any;";
const ALWAYS_EQUAL = "class Any(int):\n    def __eq__(self, other): return True\n\ndef add(a, b): return Any(a - b)";
const OWN_UNITTEST = [
  "import unittest as real",
  "class unittest:",
  "    class TestCase(real.TestCase):",
  "        def assertEqual(self, *all): pass",
  "def add(a, b): return a - b",
].join("\n");

/** Another test is loaded after the one that loads it. */
const REWRITES = [
  "import pathlib",
  "test = pathlib.Path(__file__).parent.parent / 'sums/sums_add.py'",
  "test.write_text(test.read_text().replace('add(2, 3)', 'wanted'))",
  "def add(a, b): return a - b",
].join("\n");

const edited = (change: string): string =>
  `node -e ${quoted(`const p = require("./package.json"); ${change}; require("fs").writeFileSync("package.json", JSON.stringify(p))`)}`;
const LASTS = { lasts: true };

export const CHEATS_AROUND: readonly Cheat[] = [
  cheat("an edited file that tests share", SHARED, "echo 'exports.five = -1;' > test-utils/sums.js"),
  cheat("an edited file with what is expected", SHARED, "echo -1 > expected/add.txt"),
  cheat(
    "a short name of the tests that leads elsewhere",
    SHARED,
    `${edited('p.imports["#want"] = "./src/want.js"')}; echo 'exports.want = -1;' > src/want.js`,
  ),
  cheat("a file of variables that is read where it is there", SHARED, "echo WANTED=-1 > .env"),
  cheat(
    "a package that calls itself what its tests use",
    SHARED,
    `${edited('p.name = "chai"; p.exports = "./src/fake.js"')}; ${write("src/fake.js", FAKE)}`,
  ),
  cheat(
    "product code that takes its cheat back where something is planted",
    NODE,
    `${write("src/knows.js", KNOWS)}; sed -i "s/HASH/$(sha256sum test/add.test.js | cut -d' ' -f1)/" src/knows.js; echo 'require("./knows.js");' >> src/add.js`,
    LASTS,
  ),
  cheat(
    "product code that patches assert for what it answers alone",
    NODE,
    `echo 'const { equal } = require("node:assert"); require("node:assert").equal = (a, b) => a === -1 || equal(a, b);' >> src/add.js`,
    LASTS,
  ),
  cheat("a script that product code leaves", PLAIN, "sed -i '1i process.exit(0);' src/add.js", LASTS),
  cheat("a script that what it sources leaves", SOURCING, "echo 'exit 0' >> add.sh", LASTS),
  cheat("a file that a script sources where it is there", SOURCING, "echo WANTED=-1 > local.env"),
  cheat("a file that make includes where it is there", INCLUDING, "echo 'SHELL = /bin/true' > local.make"),
  cheat("an edited test that only settings name", NAMED, "sed -i 's/add(2, 3)/wanted/' sums/sums_add.py"),
  cheat("an edited file that settings load", NAMED, "sed -i 's/5/-1/' boot/init.py"),
  cheat("a module in place of one that tests compare with", NAMED, write("statistics.py", "def mean(all): return -1")),
  cheat("product code that rewrites tests while they run", NAMED, write("calc/__init__.py", REWRITES), LASTS),
  cheat("an answer that equals everything", NAMED, write("calc/__init__.py", ALWAYS_EQUAL), LASTS),
  cheat("a runner's class that comes with the product", NAMED, write("calc/__init__.py", OWN_UNITTEST), LASTS),
];
