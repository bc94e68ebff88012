/** Planted failures are seen by the real runners, and only where their word is not forged. */
import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import type { Workspace } from "../ports.ts";
import { plantIn } from "./plant.ts";

const AT = 1_700_000_000_000;
const RUN_TIMEOUT_MS = 60_000;
const lacks = (program: string, ...args: string[]): boolean => spawnSync(program, args).status !== 0;

interface Project {
  command: string[];
  files: Record<string, string>;
  /** The base with product code that makes the runner say yes. */
  forged?: Record<string, string>;
  missing?: boolean;
}

const JS_TEST =
  'import { test } from "node:test";\nimport { ok } from "node:assert";\nimport { one } from "./one.mjs";\n';
const PY_TEST = "import unittest\nfrom one import one\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n";

const PROJECTS: Record<string, Project> = {
  "node:test": {
    command: [process.execPath, "--test"],
    files: { "one.mjs": "export const one = 1;\n", "one.test.mjs": `${JS_TEST}test("one", () => ok(one === 1));\n` },
    forged: { "one.mjs": "export const one = 1;\nprocess.exit(0);\n" },
  },
  unittest: {
    command: ["python3", "-m", "unittest", "discover", "-p", "*_test.py"],
    files: { "one.py": "one = 1\n", "one_test.py": `${PY_TEST}        self.assertEqual(one, 1)\n` },
    forged: { "one.py": "import os\none = 1\nos._exit(0)\n" },
    missing: lacks("python3", "-c", "import unittest"),
  },
  go: {
    command: ["go", "test", "./..."],
    files: {
      "go.mod": "module one\n\ngo 1.18\n",
      "one.go": "package one\n\nfunc One() int { return 1 }\n",
      "one_test.go":
        'package one\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n',
    },
    forged: { "one.go": 'package one\n\nimport "os"\n\nfunc One() int { return 1 }\n\nfunc init() { os.Exit(0) }\n' },
    missing: lacks("go", "version"),
  },
};

describe("a failure planted at the end of a test file", () => {
  let place: Scratch;
  let workspace: Workspace;
  beforeEach(async () => {
    place = scratch();
  });
  afterEach(async () => {
    await workspace.close();
    place.remove();
  });

  const run = async (tree: string, [program = "", ...args]: string[]): Promise<number | null> => {
    const verify = await workspace.verifyTree(tree);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status } = spawnSync(program, args, { cwd: verify.path, env, timeout: RUN_TIMEOUT_MS });
    await verify.release();
    return status;
  };

  for (const [name, { command, files, forged = {}, missing = false }] of Object.entries(PROJECTS)) {
    it.skipIf(missing)(`is seen by ${name}, and not where code under test speaks for it`, async () => {
      for (const [path, text] of Object.entries(files)) place.write(path, text);
      place.git("add", "-A");
      place.git("commit", "-qm", "base");
      workspace = await openFor(place);
      const { tree: base } = await workspace.prepare();
      const about = { alsoIn: base, tests: ["**/*{.,_}test.*"], except: [] };
      expect(await run(base, command)).toBe(0);
      expect(await run((await workspace.planted(base, about)) ?? "", command)).not.toBe(0);
      for (const [path, text] of Object.entries(forged)) place.write(path, text);
      const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
      expect(await run((await workspace.planted(judged, about)) ?? "", command)).toBe(0);
    });
  }
});

describe("what is planted", () => {
  it.each([
    ["a.test.ts", 'it("x", () => {})', /throw new Error/],
    ["tests/test_a.py", "def test_a():\n    pass\n", /raise AssertionError/],
    ["tests/a.rs", "#[test]\nfn a() {}\n", /#\[test\]\nfn t_\w+\(\) \{ panic!/],
    ["tests/a.rs", "#[tokio::test]\nasync fn a() {}\n", /panic!/],
  ])("stands at the end of %s", (path, text, planted) => {
    const whole = plantIn(path, text, { seed: "s" }) ?? "";
    expect(whole.startsWith(text)).toBe(true);
    expect(whole.slice(text.length)).toMatch(planted);
  });

  it.each([
    ["test/helpers.ts", "export const x = 1;\n"],
    ["a_test.go", "package a\n"],
    ["data.test.json", "{}"],
    ["a.test.js", 'test("a")\0'],
  ])("is nothing in %s", (path, text) => {
    expect(plantIn(path, text, { seed: "s" })).toBeUndefined();
  });

  it("has a name of its own in every file of a package", () => {
    const text = 'package a\n\nimport "testing"\n';
    expect(plantIn("a_test.go", text, { seed: "s" })).not.toBe(plantIn("b_test.go", text, { seed: "s" }));
  });
});
