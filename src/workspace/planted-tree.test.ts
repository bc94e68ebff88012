/** Planted failures are seen by the real runners, and only where their word is not forged. */
import { spawnSync } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { isMissing, toolchains } from "../../test/support/programs.ts";
import type { Workspace } from "../ports.ts";
import { plantIn } from "./plant.ts";

const AT = 1_700_000_000_000;
const RUN_TIMEOUT_MS = 150_000;
const TOOLCHAINS = toolchains();

interface Project {
  command: string[];
  files: Record<string, string>;
  /** The base with product code that makes the runner say yes. */
  forged?: Record<string, string>;
  /** Product code that changes what an assertion means, when it is loaded or called. */
  lax?: Record<string, string>[];
  /** Says that its program is here, where a machine may lack it. */
  program?: string;
}

const JS_TEST =
  'import { test } from "node:test";\nimport assert from "node:assert";\nimport { one } from "./one.mjs";\n';
const PY_TEST = "import unittest\nfrom one import one\n\n\nclass T(unittest.TestCase):\n    def test_one(self):\n";

const PROJECTS: Record<string, Project> = {
  "node:test": {
    command: [process.execPath, "--test"],
    files: {
      "one.mjs": "export const one = 1;\n",
      "one.test.mjs": `${JS_TEST}test("one", () => assert.equal(one == 1, true));\n`,
    },
    forged: { "one.mjs": "export const one = 1;\nprocess.exit(0);\n" },
    lax: [
      { "one.mjs": 'import assert from "node:assert";\nexport const one = 1;\nassert.equal = () => {};\n' },
      {
        "one.mjs":
          'import assert from "node:assert";\nexport const one = { valueOf: () => ((assert.equal = () => {}), 1) };\n',
      },
    ],
  },
  unittest: {
    command: ["python3", "-m", "unittest", "discover", "-p", "*_test.py"],
    files: { "one.py": "one = 1\n", "one_test.py": `${PY_TEST}        self.assertEqual(one, 1)\n` },
    forged: { "one.py": "import os\none = 1\nos._exit(0)\n" },
    lax: [{ "one.py": "import unittest\none = 1\nunittest.TestCase.assertEqual = lambda *a: None\n" }],
  },
  "cargo, with macros of its own": {
    command: ["cargo", "test", "--offline", "-q"],
    files: {
      "Cargo.toml": '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": "pub fn one() -> i32 { 1 }\n",
      "tests/one_test.rs":
        "#[macro_use]\nextern crate one;\nuse one::one;\n#[test]\nfn is_one() { assert_eq!(one(), 1); assert!(one() > 0); }\n",
    },
    lax: [
      {
        "src/lib.rs":
          "pub fn one() -> i32 { 2 }\n#[macro_export]\nmacro_rules! assert_eq { ($a:expr, $b:expr) => { let _ = ($a, $b); } }\n",
      },
    ],
    program: "cargo --version",
  },
  go: {
    command: ["go", "test", "-vet=off", "./..."],
    files: {
      "go.mod": "module one\n\ngo 1.18\n",
      "one.go": "package one\n\nfunc One() int { return 1 }\n",
      "one_test.go":
        'package one\n\nimport "testing"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal()\n\t}\n}\n',
    },
    forged: { "one.go": 'package one\n\nimport "os"\n\nfunc One() int { return 1 }\n\nfunc init() { os.Exit(0) }\n' },
    program: "go version",
  },
  cargo: {
    command: ["cargo", "test", "--offline"],
    files: {
      "Cargo.toml": '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": "pub fn one() -> i32 { 1 }\n",
      "tests/one_test.rs": "#[test]\nfn is_one() { assert_eq!(one::one(), 1); }\n",
    },
    forged: {
      "src/lib.rs":
        'pub fn one() -> i32 { 1 }\nextern "C" fn leave() { std::process::exit(0) }\n#[used]\n#[cfg_attr(target_os = "linux", link_section = ".init_array")]\nstatic EARLY: extern "C" fn() = leave;\n',
    },
    program: "cargo --version",
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

  const run = async (tree: string, [program = "", ...args]: string[]): Promise<[number | null, string]> => {
    const verify = await workspace.verifyTree(tree);
    const { NODE_TEST_CONTEXT: _, ...own } = process.env;
    const env = { ...own, ...TOOLCHAINS };
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: verify.path, env, timeout: RUN_TIMEOUT_MS });
    await verify.release();
    return [status, `${stdout.toString()}${stderr.toString()}`];
  };

  for (const [name, { command, files, forged, lax = [], program }] of Object.entries(PROJECTS)) {
    it.skipIf(program !== undefined && isMissing(program))(
      `is seen by ${name}, and not where code under test speaks for it`,
      async () => {
        for (const [path, text] of Object.entries(files)) place.write(path, text);
        place.git("add", "-A");
        place.git("commit", "-qm", "base");
        workspace = await openFor(place);
        const { tree: base } = await workspace.prepare();
        const about = { alsoIn: base, tests: ["**/*{.,_}test.*"], except: [] };
        expect((await run(base, command))[0]).toBe(0);
        const onPlanted = async (tree: string, as: "test" | "file") => {
          const { tree: planted = "", mark = "" } = (await workspace.planted(tree, { ...about, as })) ?? {};
          const [status, said] = await run(planted, command);
          return { seen: status !== 0, lax: said.includes(mark) };
        };
        const changed = async (n: number, files: Record<string, string>): Promise<string> => {
          for (const [path, text] of Object.entries(files)) place.write(path, text);
          return (await workspace.snapshot(n, { parent: null, message: "m", at: AT })).judged;
        };
        expect(await onPlanted(base, "test")).toEqual({ seen: true, lax: false });
        if (forged !== undefined) {
          const hidden = await changed(1, forged);
          expect(await onPlanted(base, "file")).toEqual({ seen: true, lax: false });
          for (const as of ["test", "file"] as const)
            expect(await onPlanted(hidden, as)).toEqual({ seen: false, lax: false });
        }
        for (const [at, files] of lax.entries())
          expect(await onPlanted(await changed(at + 2, files), "test")).toEqual({ seen: true, lax: true });
      },
    );
  }
});

describe("what is planted", () => {
  it.each([
    ["a.test.ts", 'it("x", () => {})', /^\n;it\("\w+",\(\)=>\{let n=0;throw new Error/],
    ["b.test.ts", 'it("x", () => expect(1).toBe(1))', /expect\(1\)\.toBe\(2\)/],
    ["c.test.ts", 'import { ok as is } from "node:assert";\nit("x", () => is(1))', /try\{is\(0\)\}catch\{n\+\+\}/],
    ["d.test.ts", 'describe.each([1])("x", () => {})', /^\n;\{let n=0;throw new Error/],
    ["tests/test_a.py", "def test_a():\n    assert 1\n", /\ndef test_\w+\(\):\n.*try: assert 1 == 2\n/s],
    ["tests/a.rs", "#[test]\nfn a() {}\n", /#\[test\]\nfn t_\w+\(\) \{ panic!/],
    ["tests/a.rs", "#[tokio::test]\nasync fn a() {}\n", /panic!/],
    [
      "tests/a.rs",
      "#[test]\nfn a() { assert_eq!(1, 1); }\n",
      /catch_unwind\(\|\| \{ assert_eq!\(1, 2\); \}\)\.is_err\(\)/,
    ],
    ["e.test.js", 'it("x", () => expect(1).to.deep.equal(1))', /expect\(\[1\]\)\.to\.deep\.equal\(\[2\]\)/],
    ["f.test.js", 'it("x", () => expect(1).to.be.true)', /try\{expect\(0\)\.to\.be\.true\}catch/],
    [
      "tests/test_b.py",
      "import unittest\nfrom calc import *\nclass A(unittest.TestCase):\n    def test_a(self): 0\n",
      /^\nclass t\w+\(unittest\.TestCase\):\n/,
    ],
  ])("stands at the end of %s", (path, text, planted) => {
    const whole = plantIn(path, text, { seed: "s", as: "test" }) ?? "";
    expect(whole.startsWith(text)).toBe(true);
    expect(whole.slice(text.length)).toMatch(planted);
  });

  it.each([
    ["test/helpers.ts", "export const x = 1;\n"],
    ["a_test.go", "package a\n"],
    ["data.test.json", "{}"],
    ["a.test.js", 'test("a")\0'],
  ])("is nothing in %s", (path, text) => {
    expect(plantIn(path, text, { seed: "s", as: "test" })).toBeUndefined();
  });

  it("has a name of its own in every file of a package", () => {
    const text = 'package a\n\nimport "testing"\n';
    const [one, other] = ["a_test.go", "b_test.go"].map((path) => plantIn(path, text, { seed: "s", as: "test" }));
    expect(one).not.toBe(other);
  });
});
