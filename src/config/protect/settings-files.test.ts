import { describe, expect, it } from "vitest";
import { globMatcher } from "../../platform/glob.ts";
import { namedBySettings } from "./settings-files.ts";

type Tree = Readonly<Record<string, string>>;

function named(tree: Tree) {
  const paths = Object.keys(tree);
  const project = {
    names: new Set(paths.map((path) => path.split("/")[0] ?? "")),
    manifests: [],
    read: (path: string) => tree[path],
    holds: (patterns: readonly string[]) => paths.some(globMatcher(patterns)),
    list: (patterns: readonly string[]) => paths.filter(globMatcher(patterns)),
  };
  return namedBySettings(project, ["**/*.config.*", "**/.*rc{,.*}", "**/{pytest.ini,conftest.py}", "**/tsconfig.json"]);
}
const CASES = 'it("adds", () => {});';

describe("tests that only a runner's settings name", () => {
  it.each<[string, Tree, string]>([
    ["mocha", { ".mocharc.json": '{"spec":"./behaviours/*.js"}', "behaviours/a.js": CASES }, "behaviours/a.js"],
    ["mocha", { ".mocharc.yml": "spec:\n  - behaviours/*.js\nui: bdd\n", "behaviours/a.js": CASES }, "behaviours/a.js"],
    ["mocha", { "package.json": '{"mocha":{"spec":["flows/a.js"]}}', "flows/a.js": CASES }, "flows/a.js"],
    ["vitest", { "vitest.config.ts": 'test: { include: ["flows/**"] }', "flows/a.ts": CASES }, "flows/a.ts"],
    [
      "vitest",
      { "vitest.config.ts": "test: { include: ['src/**/*.check.ts'] }", "src/a.check.ts": CASES },
      "src/a.check.ts",
    ],
    [
      "jest",
      { "jest.config.js": 'testMatch: ["<rootDir>/x", "**/flows/*.js"]', "a/flows/a.js": CASES },
      "a/flows/a.js",
    ],
    [
      "pytest",
      { "pytest.ini": "[pytest]\npython_files = check_*.py\n", "a/check_b.py": "def test_a():\n    pass\n" },
      "a/check_b.py",
    ],
    [
      "pytest",
      {
        "pyproject.toml": '[tool.pytest.ini_options]\npython_files = ["check_*.py"]\n',
        "check_b.py": "def test_a(): 0",
      },
      "check_b.py",
    ],
  ])("of %s are tests", (_, tree, path) => expect(globMatcher(named(tree).tests)(path)).toBe(true));

  it.each<[string, Tree, string]>([
    [
      "what is covered",
      { "vitest.config.ts": 'coverage: { include: ["server/**"] }', "server/a.ts": CASES },
      "server/a.ts",
    ],
    [
      "the product beside its tests",
      { "vitest.config.ts": 'include: ["server/**"]', "server/a.ts": "x", "server/b.ts": CASES },
      "server/a.ts",
    ],
    ["all that is compiled", { "tsconfig.json": '{"include":["server"]}', "server/a.ts": CASES }, "server/a.ts"],
    ["every module", { "pytest.ini": "[pytest]\npython_files = *.py\n", "calc.py": "def test_a(): 0" }, "calc.py"],
  ])("are not %s", (_, tree, path) => expect(globMatcher(named(tree).tests)(path)).toBe(false));
});

describe("files that settings load or go on in", () => {
  it.each<[string, Tree]>([
    ["boot/init.js", { ".mocharc.json": '{"require":["./boot/init.js"]}' }],
    ["boot/init.ts", { "vitest.config.ts": 'setupFiles: "./boot/init"' }],
    ["config/init.js", { "package.json": '{"jest":{"setupFiles":["<rootDir>/config/init.js"]}}' }],
    ["src/setup-env.js", { "jest.config.js": 'setupFilesAfterEnv: ["./src/setup-env.js"]' }],
    ["config/strict.json", { "tsconfig.json": '{ // as they are\n "extends": "./config/strict" }' }],
    ["shared/vite.js", { "vitest.config.ts": 'import shared from "./shared/vite.js";' }],
    ["plug/local.py", { "pytest.ini": "[pytest]\naddopts = -q -p plug.local\n" }],
  ])("%s", (path, tree) => expect(named({ ...tree, [path]: "" }).files).toEqual([path]));

  it("and what these go on in", () => {
    const tree = {
      "tsconfig.json": '{"extends":"./a/tsconfig.json"}',
      "a/tsconfig.json": '{"extends":"./b.json"}',
      "a/b.json": "{}",
    };
    expect(named(tree).files).toEqual(["a/b.json", "a/tsconfig.json"]);
  });

  it("but not the product that set-up imports", () => {
    const tree = {
      "jest.config.js": 'setupFiles: ["./boot/init.js"]',
      "boot/init.js": 'import "../calc.js";',
      "calc.js": "",
    };
    expect(named(tree).files).toEqual(["boot/init.js"]);
    expect(named({ "conftest.py": "import calc\n", "calc.py": "" }).files).toEqual([]);
  });

  it.each<[string, Tree]>([
    [
      "what is mapped to",
      { "jest.config.js": 'moduleNameMapper: { "^calc$": "<rootDir>/core/a.js" }', "core/a.js": "" },
    ],
    ["the product that is set up", { "jest.config.js": 'setupFiles: ["./src/polyfill.js"]', "src/polyfill.js": "" }],
    ["what a build enters", { "vite.config.ts": 'lib: { entry: "server/a.ts" }', "server/a.ts": "" }],
    ["packages", { ".mocharc.json": '{"require":"./node_modules/a/b.js"}', "node_modules/a/b.js": "" }],
  ])("are not %s", (_, tree) => expect(named(tree)).toEqual({ tests: [], files: [] }));
});
