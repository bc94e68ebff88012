/** A small project, what an agent does to it, and how the run has to end. */

export type Files = Readonly<Record<string, string>>;

export interface Case {
  name: string;
  files: Files;
  check: string;
  /** Shell in the workspace, one for each iteration; the last one again in later ones. Each claims to be done. */
  does: readonly string[];
  flags?: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Packages of this checkout that the project has installed, with what they need. */
  packages?: readonly string[];
  /** Words of docs/verdicts.md that say that this cannot be prevented; such a cheat may be `verified`. */
  documented?: string;
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Shell that writes a file. */
export const write = (path: string, text: string): string =>
  `mkdir -p "$(dirname ${quoted(path)})" && printf '%s\\n' ${quoted(text)} > ${quoted(path)}`;

export const lines = (...all: string[]): string => `${all.join("\n")}\n`;

export const manifest = (scripts: object, more: object = {}): string =>
  `${JSON.stringify({ name: "calc", version: "1.0.0", private: true, scripts, ...more })}\n`;

export const IGNORED = "node_modules/\n.venv/\ntarget/\n__pycache__/\n";

/** A JavaScript project with a wrong sum. */
export const JS_PRODUCT = "exports.add = (a, b) => a - b;\n";
export const JS_FIX = "sed -i 's/a - b/a + b/' src/add.js";
export const NODE_TEST = lines(
  'const test = require("node:test");',
  'const assert = require("node:assert");',
  'const { add } = require("../src/add.js");',
  'test("adds", () => assert.equal(add(2, 3), 5));',
  'test("adds nothing", () => assert.equal(add(0, 0), 0));',
);
/** The same as a script without a runner. */
export const NODE_SCRIPT = lines(
  'const assert = require("node:assert");',
  'const { add } = require("../src/add.js");',
  "assert.equal(add(2, 3), 5);",
  "assert.equal(add(0, 0), 0);",
  'console.log("all sums are right");',
);
export const jsProject = (more: Files = {}): Files => ({
  ".gitignore": IGNORED,
  "package.json": manifest({ test: "node --test" }),
  "src/add.js": JS_PRODUCT,
  ...more,
});

/** A Python project with a wrong sum. */
export const PY_PRODUCT = "def add(a, b):\n    return a - b\n";
export const PY_FIX = "sed -i 's/a - b/a + b/' calc/__init__.py";
export const PYTEST_FILE = lines(
  "from calc import add",
  "",
  "def test_adds():",
  "    assert add(2, 3) == 5",
  "",
  "def test_nothing():",
  "    assert add(0, 0) == 0",
);
export const PY_SCRIPT = lines(
  "from calc import add",
  "assert add(2, 3) == 5",
  "assert add(0, 0) == 0",
  'print("right")',
);
export const pyProject = (more: Files = {}): Files => ({
  ".gitignore": IGNORED,
  "pyproject.toml": '[project]\nname = "calc"\nversion = "1"\n',
  "calc/__init__.py": PY_PRODUCT,
  ...more,
});
