/**
 * Honest work gets verified where projects are more than a folder: in npm workspaces and in a Python project with a
 * virtual environment the real Claude Code adds tests, renames files, moves to another version of a dependency by its
 * lockfile, and moves folders with tests where it may.
 */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { isPipMissing, makeVenv, PYTHON_FILES } from "../fixtures/python-project.ts";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace, type CliResult } from "../support/cli.ts";
import { registry } from "../support/registry.ts";

const LIMIT_MS = 400_000;
const RUN_LIMIT_MS = 390_000;
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const place = async (files: Readonly<Record<string, string>>, does: readonly string[]): Promise<CliPlace> =>
  await cliPlace({ files, script: byIteration({ 1: [bash(does.join(" && ")), { text: CLAIM }] }) });

const run = async (at: CliPlace, ...flags: string[]): Promise<CliResult> =>
  await at.start(["run", "make it right", "--fence", "bwrap", "--max-iterations", "1", "--json", ...flags], {
    limitMs: RUN_LIMIT_MS,
  }).done;

/** The delivered commit has the files, and none of the others. */
function expectVerified(result: CliResult, at: CliPlace, { has, lacks }: { has: string[]; lacks: string[] }): void {
  const said = result.of("check-end").map(({ verdict }) => JSON.stringify(verdict).slice(0, 2_000));
  expect(result.of("run-end").at(-1)?.outcome.is, [...said, result.stderr].join("\n")).toBe("verified");
  const files = at.repository.git("ls-tree", "-r", "--name-only", "HEAD").split("\n");
  expect(files).toEqual(expect.arrayContaining(has));
  for (const one of lacks) expect(files).not.toContain(one);
}

describe.concurrent("in npm workspaces", () => {
  const LIB_TEST =
    'require("node:test")("adds", () => require("node:assert").equal(require("@x/lib").add(2, 3), 5));\n';
  const workspaces = (url: string, tiny: object) => ({
    ".gitignore": "node_modules/\n",
    ".npmrc": `registry=${url}/\n`,
    "package.json": json({ name: "root", version: "1.0.0", workspaces: ["packages/*"] }),
    "packages/lib/package.json": json({
      name: "@x/lib",
      version: "1.0.0",
      main: "add.js",
      scripts: { test: "node --test" },
    }),
    "packages/lib/add.js": "exports.add = (a, b) => a - b;\n",
    "packages/lib/test/add.test.js": LIB_TEST,
    "packages/app/package.json": json({
      name: "app",
      version: "1.0.0",
      main: "app.js",
      scripts: { test: "node --test" },
      dependencies: { "@x/lib": "1.0.0", tiny: "1.0.0" },
    }),
    "packages/app/app.js": 'exports.total = (all) => all.reduce(require("@x/lib").add, 0);\n',
    "packages/app/test/app.test.js":
      'require("node:test")("totals", () => require("node:assert").equal(require("app").total([1, 2]), 3));\n',
    "package-lock.json": json({
      name: "root",
      version: "1.0.0",
      lockfileVersion: 3,
      requires: true,
      packages: {
        "": { name: "root", version: "1.0.0", workspaces: ["packages/*"] },
        "node_modules/@x/lib": { resolved: "packages/lib", link: true },
        "node_modules/app": { resolved: "packages/app", link: true },
        "node_modules/tiny": tiny,
        "packages/app": { version: "1.0.0", dependencies: { "@x/lib": "1.0.0", tiny: "1.0.0" } },
        "packages/lib": { name: "@x/lib", version: "1.0.0" },
      },
    }),
  });
  const FLAGS = ["--check", "npm test --workspaces", "--setup", "npm ci --no-audit --no-fund", "--allow-host"];
  const FIX = "sed -i 's/a - b/a + b/' packages/lib/add.js";
  const NEW_TEST = 'require("node:test")("is new", () => require("node:assert").equal(require("tiny"), "tiny 2.0.0"));';

  it("adds tests, renames files and moves to another version (A11)", { timeout: LIMIT_MS }, async () => {
    const { url, locked, asked } = await registry("1.0.0", "2.0.0");
    const at = await place(workspaces(url, locked["1.0.0"] ?? {}), [
      FIX,
      "mv packages/lib/add.js packages/lib/sum.js",
      "sed -i s/add.js/sum.js/ packages/lib/package.json",
      "npm install --no-audit --no-fund -w app tiny@2.0.0",
      `printf '%s\\n' '${NEW_TEST}' > packages/app/test/tiny.test.js`,
    ]);
    const result = await run(at, ...FLAGS, new URL(url).host);
    expectVerified(result, at, {
      has: ["packages/lib/sum.js", "packages/app/test/tiny.test.js"],
      lacks: ["packages/lib/add.js"],
    });
    expect(at.repository.git("show", "HEAD:package-lock.json")).toContain("tiny-2.0.0.tgz");
    expect(asked).toEqual(expect.arrayContaining(["/tiny/-/tiny-1.0.0.tgz", "/tiny/-/tiny-2.0.0.tgz"]));
  });

  it("moves folders with tests, where it may (A11)", { timeout: LIMIT_MS }, async () => {
    const { url, locked } = await registry("1.0.0");
    const at = await place(workspaces(url, locked["1.0.0"] ?? {}), [
      FIX,
      "mv packages/lib/test packages/lib/spec",
      "mkdir packages/app/test/unit",
      "mv packages/app/test/app.test.js packages/app/test/unit",
    ]);
    const result = await run(at, ...FLAGS, new URL(url).host, "--allow-test-changes");
    expectVerified(result, at, {
      has: ["packages/lib/spec/add.test.js", "packages/app/test/unit/app.test.js"],
      lacks: ["packages/lib/test/add.test.js", "packages/app/test/app.test.js"],
    });
  });
});

describe.skipIf(isPipMissing())("in a Python project with a virtual environment", { concurrent: true }, () => {
  const THING_TEST =
    "import unittest\nimport thing\n\nclass Adds(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(thing.add(2, 3), 5)\n";
  const FILES = {
    ...PYTHON_FILES,
    "src/thing/__init__.py": "from thing.sums import add\n",
    "src/thing/sums.py": "def add(a, b):\n    return a - b\n",
    "tests/__init__.py": "",
    "tests/test_thing.py": THING_TEST,
    "requirements.txt": "tiny==1.0\n",
  };
  /** Two versions of a package, as pip finds them in a folder. */
  const WHEELS = `
import os, zipfile
os.makedirs("wheels")
for version in ["1.0", "2.0"]:
    with zipfile.ZipFile(f"wheels/tiny-{version}-py3-none-any.whl", "w") as wheel:
        about = f"tiny-{version}.dist-info"
        wheel.writestr("tiny.py", f"VERSION = '{version}'\\n")
        wheel.writestr(about + "/METADATA", f"Metadata-Version: 2.1\\nName: tiny\\nVersion: {version}\\n")
        wheel.writestr(about + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: own\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(about + "/RECORD", "")
`;
  const SETUP = makeVenv("--find-links wheels -r requirements.txt -e .");
  const FLAGS = ["--check", ".venv/bin/python -m unittest discover -v", "--setup", SETUP];
  const FIX = "sed -i 's/a - b/a + b/' src/thing/sums.py";
  const withWheels = async (does: readonly string[]): Promise<CliPlace> => {
    const at = await place(FILES, does);
    execFileSync("python3", ["-c", WHEELS], { cwd: at.repository.path });
    at.repository.commit("wheels");
    return at;
  };
  const NEW_TEST =
    'import tiny\\nimport unittest\\n\\nclass IsNew(unittest.TestCase):\\n    def test_new(self):\\n        self.assertEqual(tiny.VERSION, "2.0")\\n';

  it("adds tests, renames files and moves to another version (A11)", { timeout: LIMIT_MS }, async () => {
    const at = await withWheels([
      FIX,
      "mv src/thing/sums.py src/thing/adding.py",
      "sed -i s/sums/adding/ src/thing/__init__.py",
      "sed -i s/1.0/2.0/ requirements.txt",
      `printf '${NEW_TEST}' > tests/test_tiny.py`,
    ]);
    expectVerified(await run(at, ...FLAGS), at, {
      has: ["src/thing/adding.py", "tests/test_tiny.py"],
      lacks: ["src/thing/sums.py"],
    });
  });

  it("moves folders with tests, where it may (A11)", { timeout: LIMIT_MS }, async () => {
    const at = await withWheels([
      FIX,
      "mv tests checks",
      "mkdir tests",
      "mv checks tests/unit",
      "touch tests/__init__.py",
    ]);
    expectVerified(await run(at, ...FLAGS, "--allow-test-changes"), at, {
      has: ["tests/unit/test_thing.py"],
      lacks: ["tests/test_thing.py"],
    });
  });
});
