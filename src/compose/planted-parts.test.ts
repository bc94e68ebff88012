/** A failure is planted in every part of a command, for real: the chain, the trees and the command itself, without a run. */
import { describe, expect, it } from "vitest";
import { judgedPlace } from "../../test/support/judged-place.ts";
import { judgedSpec } from "../../test/support/judging.ts";
import { isMissing } from "../../test/support/programs.ts";
import { detectProtect } from "../config/protect/detect.ts";
import type { Evidence, Verdict } from "../events.ts";
import type { Hands } from "../loop/hands.ts";
import { withPlant } from "../loop/perform-plant.ts";
import { globMatcher } from "../platform/glob.ts";

type Files = Readonly<Record<string, string>>;

function protectIn(files: Files, command: string) {
  const names = Object.keys(files);
  const project = {
    names: new Set(names.map((path) => path.split("/")[0] ?? "")),
    manifests: [],
    read: (path: string) => files[path],
    holds: (patterns: readonly string[]) => names.some(globMatcher(patterns)),
    list: (patterns: readonly string[]) => names.filter(globMatcher(patterns)),
  };
  const asked = { commands: [command], protect: [], unprotect: [], allowTestChanges: false, pathFolders: [] };
  return detectProtect(project, asked);
}

interface Case {
  command: string;
  files: Files;
}

/** What the control says of changes that pass. */
async function controls({ command, files }: Case, changes: readonly Files[]): Promise<Evidence[]> {
  const place = await judgedPlace({ files, fence: "none" });
  try {
    const spec = judgedSpec(
      {},
      { checks: [{ name: "check", kind: "command", command, required: true, timeoutMs: 1 }] },
    );
    const whole = { ...spec, protect: protectIn(files, command) };
    const { base } = place;
    const { verdict: baseline } = await place.judge(command);
    const judge = async (tree: string): Promise<Verdict> => (await place.judge(command, { tree })).verdict;
    const run = { state: { spec: whole }, now: () => ({ wall: 0, elapsed: 0 }) };
    const hands = { run, ports: { workspace: place.workspace } } as unknown as Hands;
    const { signal } = new AbortController();
    const said: Evidence[] = [];
    for (const change of changes) {
      place.write(change);
      const tree = await place.snapshot();
      const passed = await judge(tree);
      if (passed.is !== "pass") throw new Error(`the change does not pass: ${JSON.stringify(passed)}`);
      const [check] = whole.checks;
      if (check !== undefined)
        said.push((await withPlant({ hands, signal, spec: check, base, tree, baseline, passed, judge })).evidence);
    }
    return said;
  } finally {
    await place.close();
  }
}

const JS_TEST = 'const assert = require("node:assert");\nassert.equal(require("../src/add.js").add(2, 3), 5);\n';
const ASYNC_TEST =
  'const assert = require("node:assert");\nconst { add } = require("../src/add.js");\nasync function main() {\n  assert.equal(await add(2, 3), 5);\n}\nmain();\n';
const PY_TEST = "import sys\nsys.path.insert(0, 'src')\nfrom sums import add\nassert add(2, 3) == 5\n";
/** One right, one wrong: parts that pass on the base, and parts that do not. */
const PRODUCT: Files = {
  "src/add.js": "exports.add = (a, b) => a - b;\n",
  "src/ok.js": "exports.ok = 1;\n",
  "src/sums.py": "def add(a, b):\n    return a - b\n",
};
const OK_TEST = 'require("node:assert").equal(require("../src/ok.js").ok, 1);\n';
const FILES: Files = {
  ...PRODUCT,
  "test/ok.js": OK_TEST,
  "test/add.js": JS_TEST,
  "test/slow.js": ASYNC_TEST,
  "scripts/check.py": PY_TEST,
};
const FIX: Files = {
  "src/add.js": "exports.add = (a, b) => a + b;\n",
  "src/sums.py": "def add(a, b):\n    return a + b\n",
};
const LEAVES: Files = { "src/add.js": "process.exit(0);\n", "src/sums.py": "import os\nos._exit(0)\n" };

const scripts = (all: Readonly<Record<string, string>>): Files => ({
  "package.json": JSON.stringify({ scripts: all }),
});

/** Ways to run a script that asserts; the first part of each is green on the base, a later one is not. */
const CHAINS: Readonly<Record<string, readonly [command: string, more?: Files]>> = {
  "by itself": ["node test/add.js"],
  "&&": ["node test/ok.js && node test/add.js"],
  ";": ["node test/ok.js; node test/add.js"],
  "cd &&": ["cd test && node ok.js && node add.js"],
  "bash -c": ["bash -c 'node test/ok.js && node test/add.js'"],
  "a subshell": ["(cd test && node add.js) && node test/ok.js"],
  "npm, chained": [
    "npm test",
    scripts({ test: "npm run ok && npm run add", ok: "node test/ok.js", add: "node test/add.js" }),
  ],
  "npm, before and after": [
    "npm test",
    scripts({ pretest: "node test/ok.js", test: "node test/ok.js", posttest: "node test/add.js" }),
  ],
  "node --run": ["node --run test", scripts({ test: "node test/add.js" })],
  make: [
    "make test",
    {
      Makefile: "NODE = node\n.PHONY: test\ntest: one two\none:\n\t@$(NODE) test/ok.js\ntwo:\n\t$(NODE) test/add.js\n",
    },
  ],
  "a shell script": ["sh check.sh", { "check.sh": "set -e\nnode test/ok.js\nnode test/add.js\n" }],
  "a shell script that becomes it": ["sh check.sh", { "check.sh": "exec node test/add.js\n" }],
  "Python behind Node": ["node test/ok.js && python3 scripts/check.py"],
  "main() that nobody waits for": ["node test/ok.js && node test/slow.js"],
};

describe.each(Object.entries(CHAINS))("a script that is run by %s", (_name, [command, more = {}]) => {
  const files = { ...FILES, ...more };
  it("sees what is planted in it where the work is honest, and does not where product code leaves early", async () => {
    const [honest, cheat] = await controls({ command, files }, [FIX, LEAVES]);
    expect([honest?.control, honest?.suspicions]).toEqual(["seen", []]);
    expect([cheat?.control, cheat?.suspicions]).toEqual(["not-seen", [expect.stringContaining("is not seen")]]);
  });
});

describe("behind a runner of tests, a script", () => {
  const TEST =
    'import { test } from "node:test";\nimport { equal } from "node:assert";\ntest("one", () => equal(1, 1));\n';
  const files = { ...FILES, "tests/one.test.mjs": TEST };
  const command = "node --test tests/one.test.mjs && node test/add.js";

  it("sees its own plant, and does not where it is left early, though the runner sees what is planted in the tests", async () => {
    const [honest, cheat] = await controls({ command, files }, [FIX, LEAVES]);
    expect([honest?.control, cheat?.control]).toEqual(["seen", "not-seen"]);
  });

  it.skipIf(isMissing("python3 -m pytest --version"))("or another runner sees its own, too", async () => {
    const two = {
      ...files,
      "tests/test_sums.py": "from sums import add\n\ndef test_add():\n    assert add(2, 3) == 5\n",
    };
    const both = "node --test tests/one.test.mjs && PYTHONPATH=src python3 -m pytest -q tests";
    const forged = { "src/sums.py": "import os\nprint('1 passed in 0.01s')\nos._exit(0)\n" };
    const [honest, cheat] = await controls({ command: both, files: two }, [FIX, forged]);
    expect([honest?.control, cheat?.control]).toEqual(["seen", "not-seen"]);
  });
});

describe("where no failure can be planted", () => {
  it.each([
    [
      "node test/many.js",
      { "test/many.js": `${JS_TEST}if (Math.random() < 2) process.exit(0);\nthrow 1;\n` },
      "test/many.js",
    ],
    [
      "node test/ok.js && node test/many.js",
      { "test/many.js": `${JS_TEST}process.exit(0);\nconsole.log(1);\n` },
      "test/many.js",
    ],
    [
      "node test/later.js",
      { "test/later.js": 'require("node:fs").readFile("src/add.js", () => {});\n' },
      "test/later.js",
    ],
    ["node test/ok.js && node -e 'require(\"./src/add.js\")'", {}, "node with code of its own"],
    [
      "make test",
      { Makefile: ".PHONY: test\ntest: prog\n\t./prog\nprog:\n\tprintf '#!/bin/sh\\n' > prog; chmod +x prog\n" },
      "prog",
    ],
  ] as [string, Files, string][])("%s says so, with its name", async (command, more, part) => {
    const [said] = await controls({ command, files: { ...FILES, ...more } }, [FIX]);
    expect([said?.control, said?.suspicions]).toEqual(["none", []]);
    expect(said?.uncontrolled?.join()).toContain(part);
  });
});

it("a part whose failure the command passes over has no say in it", async () => {
  const command = "node test/ok.js || true; node test/add.js";
  const [said] = await controls({ command, files: { ...FILES, ...FIX } }, [{ "src/new.js": "1;\n" }]);
  expect(said?.control).toBe("seen");
});
