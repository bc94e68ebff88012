import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { globMatcher } from "../../platform/glob.ts";
import { mergedSections } from "../../workspace/protected-sections.ts";
import { detectProtect, type Asked } from "./detect.ts";

interface Given extends Partial<Asked> {
  files?: Readonly<Record<string, string>>;
}

function detected({ files = {}, ...asked }: Given) {
  const project = {
    names: new Set(Object.keys(files).map((path) => path.split("/")[0] ?? "")),
    manifests: Object.keys(files).flatMap((path) =>
      /.\/package\.json$/.test(path) ? [{ folder: dirname(path), text: files[path] ?? "" }] : [],
    ),
    read: (path: string): string | undefined => files[path],
    holds: (patterns: readonly string[], isOne: (path: string) => boolean = () => true): boolean =>
      Object.keys(files).filter(globMatcher(patterns)).some(isOne),
    list: (patterns: readonly string[]): string[] => Object.keys(files).filter(globMatcher(patterns)),
  };
  return detectProtect(project, {
    commands: [],
    protect: [],
    unprotect: [],
    allowTestChanges: false,
    pathFolders: [],
    ...asked,
  });
}
const isTest = (path: string): boolean => globMatcher(detected({ files: { [path]: 'test("a", f)' } }).tests)(path);
const isConfig = (path: string, given: Given = {}): boolean => globMatcher(detected(given).config)(path);

describe("tests of the common layouts", () => {
  it.each([
    ["src/sum.test.ts", "vitest"],
    ["packages/a/src/__tests__/sum.js", "jest"],
    ["src/__snapshots__/sum.test.ts.snap", "vitest"],
    ["test/sum.js", "mocha"],
    ["sum-test.mjs", "node:test"],
    ["test-sum.js", "node:test"],
    ["test.cjs", "node:test"],
    ["e2e/login.spec.ts", "playwright"],
    ["tests/test_sum.py", "pytest"],
    ["src/pkg/test_sum.py", "pytest"],
    ["sum_test.py", "pytest"],
    ["app/tests.py", "unittest"],
    ["sum/sum_test.go", "go"],
    ["sum/testdata/in.txt", "go"],
    ["tests/cli.rs", "cargo"],
    ["src/parser/tests.rs", "cargo"],
    ["src/test/java/org/SumTest.java", "maven"],
    ["app/src/androidTest/X.kt", "gradle"],
    ["spec/models/user_spec.rb", "rspec"],
    ["spec/sumSpec.js", "jasmine"],
    ["spec/helpers/reporter.js", "jasmine"],
    ["spec/factories/user.rb", "rspec"],
    ["spec/fixtures/user.yml", "rspec"],
    ["specs/sum.js", "mocha"],
    ["src/__fixtures__/a.json", "jest"],
    ["fixtures/a.json", "any"],
    ["tests/fixtures/a.json", "any"],
    ["golden/out.txt", "any"],
    ["expected/out.txt", "any"],
    ["src/render.approved.html", "any"],
    ["test-utils/render.ts", "any"],
    ["src/testHelpers.ts", "any"],
    ["pkg/test_support/__init__.py", "any"],
    ["spec/cassettes/a.yml", "vcr"],
    ["src/snapshots/a__b.snap", "insta"],
    ["features/sum.feature", "cucumber"],
    ["features/steps/sum.py", "behave"],
    ["Test/Sum.js", "case"],
  ])("%s (%s)", (path) => expect(isTest(path)).toBe(true));

  it.each([
    "src/contest.ts",
    "latest.js",
    "src/attest/sum.py",
    "spec/openapi.yaml",
    "testing.md",
    "src/sum.go",
    "specs/001/tasks.md",
    "src/features/cart.ts",
    "src/fixtures.ts",
    "src/expected/a.ts",
    "src/testing/a.ts",
    "src/utils/test.ts.md",
  ])("are not %s", (path) => expect(isTest(path)).toBe(false));
});

it("a name with a dash is a test's only where the base has such names", () => {
  const among = (files: Record<string, string>) => globMatcher(detected({ files }).tests);
  expect(["src/ab-test.js", "src/test-id.ts", "api-spec.ts"].filter(among({ "src/sum.test.js": "" }))).toEqual([]);
  expect(among({ "src/ab-test.js": "export const isOn = /a/.test('b');" })("src/ab-test.js")).toBe(false);
  for (const text of ['test("adds", () => {})', 'import test from "node:test";', "assert(1)", "it.each([1])('a', f)"])
    expect(among({ "lib/sum-test.js": text })("src/ab-test.js")).toBe(true);
  expect(among({ "lib/sum-test.js": 'test("a", f)' })("src/run-spec.ts")).toBe(false);
});

describe("configuration that judges", () => {
  it.each([
    "conftest.py",
    "tests/unit/conftest.py",
    "sitecustomize.py",
    "x/evil.pth",
    ".npmrc",
    ".mocharc.json",
    "jest.config.ts",
    "jest.setup.js",
    "vitest.workspace.ts",
    "vitest.e2e.config.ts",
    "src/setupTests.ts",
    "pytest.ini",
    "tox.ini",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    "node_modules/vitest/index.js",
    ".venv/bin/pytest",
    "tests/__pycache__/test_a.cpython-312.pyc",
    "a.egg-info/entry_points.txt",
    "pytest.py",
    "unittest/__init__.py",
    "tests/os.py",
    ".cargo/config.toml",
    "pawl.yaml",
    "packages/vitest/package.json",
    "features/environment.py",
    "cucumber.js",
  ])("is %s, whatever the checks", (path) => expect(isConfig(path)).toBe(true));

  it.each([
    "vite.config.ts",
    "tsconfig.json",
    "eslint.config.js",
    "Makefile",
    "src/os.py",
    "vendor/x.go",
    "types.ts",
    "nx.json",
    "mix.exs",
    "tasks.py",
    "gulpfile.js",
  ])("is not %s without a check that uses it", (path) => expect(isConfig(path)).toBe(false));

  it.each<[string, string, Given]>([
    ["vite.config.ts", "npm test", { files: { "package.json": '{"scripts":{"test":"vitest run"}}' } }],
    ["tsconfig.build.json", "npx tsc --noEmit", {}],
    [
      "eslint.config.js",
      "pnpm run check",
      { files: { "package.json": '{"scripts":{"check":"npm run lint","lint":"eslint ."}}' } },
    ],
    [
      "packages/a/vite.config.ts",
      "npm test --workspaces",
      { files: { "package.json": "{}", "packages/a/package.json": '{"scripts":{"test":"vitest"}}' } },
    ],
    ["Makefile", "make test", {}],
    ["GNUmakefile", "make test", {}],
    ["ruff.toml", "make check", { files: { Makefile: "check:\n\truff check .\n" } }],
    ["check.sh", "sh check.sh", { files: { "check.sh": "true" } }],
    ["scripts/judge", "scripts/judge --all", { files: { "scripts/judge": "#!/bin/sh" } }],
    ["ci/verify.mjs", "node ci/verify.mjs", { files: { "ci/verify.mjs": "1" } }],
    ["lib/check-all.sh", "./all.sh", { files: { "all.sh": "set -e\n./lib/check-all.sh\n", "lib/check-all.sh": "x" } }],
    ["vendor/github.com/x/x.go", "go test ./...", { files: { "go.mod": "" } }],
    ["docs/rules.md", "true", { protect: ["docs/"] }],
    ["nx.json", "npx nx test", {}],
    ["apps/a/project.json", "npx nx test", {}],
    ["turbo.json", "npm test", { files: { "package.json": '{"scripts":{"test":"turbo run test"}}' } }],
    ["angular.json", "ng test", {}],
    ["gulpfile.mjs", "npx gulp test", {}],
    ["Gruntfile.js", "grunt", {}],
    ["tasks.py", "inv test", {}],
    ["mix.exs", "mix test", {}],
    [".pre-commit-config.yaml", "pre-commit run -a", {}],
    [".behaverc", "behave", {}],
    ["bin/node", "npm test", { pathFolders: ["bin"] }],
  ])("is %s for the check %s", (path, command, given) => {
    expect(isConfig(path, { ...given, commands: [command] })).toBe(true);
    expect(isConfig(path)).toBe(false);
  });

  it("has all of its features as tests where the check is behave", () => {
    const isFeature = (given: Given): boolean => globMatcher(detected(given).tests)("features/sum.txt");
    expect([isFeature({ commands: ["behave"] }), isFeature({})]).toEqual([true, false]);
  });

  it("is not the product, where a check runs it", () => {
    const files = { "src/main.js": "1", "all.sh": "./tool --self\n", tool: "x", "answer.txt": "1" };
    const commands = ["node src/main.js --self", "sh all.sh", "grep -q 1 answer.txt", "cat src/main.js"];
    expect(["src/main.js", "tool", "answer.txt"].filter((path) => isConfig(path, { files, commands }))).toEqual([]);
    expect(isConfig("types.py", { files: { "types.py": "" } })).toBe(false);
  });
});

it("protects scripts and runner keys, and sections of Python's and Cargo's files", () => {
  const { keys } = detected({ commands: ["ruff check", "npx eslint ."] });
  expect(keys["**/package.json"]).toEqual(
    expect.arrayContaining(["scripts", "jest", "devDependencies", "eslintConfig"]),
  );
  const python = "**/{pyproject.toml,setup.cfg}";
  expect(keys[python]).toEqual(expect.arrayContaining(["tool.pytest*", "tool.ruff*"]));
  expect(keys["**/Cargo.toml"]).toContain("test");
  expect(detected({}).keys["**/package.json"]).not.toContain("eslintConfig");
  expect(detected({}).keys[python]).not.toContain("tool.ruff*");
});

it("keeps Cargo's tests on, and leaves dependencies and binaries to the agent", () => {
  const base = '[package]\nname = "a"\n\n[lib]\npath = "src/lib.rs"\n\n[dependencies]\n';
  const patterns = detected({}).keys["**/Cargo.toml"] ?? [];
  const merged = (theirs: string) => mergedSections(theirs, base, { patterns, syntax: "toml" }).is;
  expect(merged(base.replace("[lib]", "autotests = false\n[lib]"))).toBe("base");
  expect(merged(base.replace("[lib]", "[lib]\ntest = false"))).toBe("base");
  expect(merged(base.replace("[lib]", "[lib]\nharness = false"))).toBe("base");
  expect(merged(`${base}\n[[bin]]\nname = "b"\ntest = false\n`)).toBe("base");
  expect(merged(`${base}\n[[test]]\nname = "b"\n`)).toBe("base");
  expect(merged(`${base}serde = "1"\n\n[[bin]]\nname = "b"\n`)).toBe("same");
});

it("keeps the scripts of composer.json", () => {
  expect(detected({}).keys["**/composer.json"]).toContain("scripts");
});

it("leaves out what a person says", () => {
  const { except, testChanges } = detected({ unprotect: [".github/workflows/"], allowTestChanges: true });
  expect({ except, testChanges }).toEqual({ except: [".github/workflows"], testChanges: "allow" });
});

describe("a check that runs in a folder", () => {
  const files = {
    "packages/a/Makefile": "test:\n\t./judge-all\n",
    "packages/a/judge-all": "",
    "packages/a/src/a.py": "",
  };
  const commands = ["cd packages/a && make test", "cd packages/a && python -m unittest"];
  const inFolder = detected({ files, commands });

  it("has what its Makefile runs protected there", () => {
    expect(inFolder.config).toContain("packages/a/judge-all");
  });

  it("finds no module or folder there that would act in place of the runner's own", () => {
    const isProtected = globMatcher([...inFolder.config, ...inFolder.tests]);
    for (const path of ["packages/a/unittest.py", "packages/a/json/__init__.py", "packages/a/fixtures/in.txt"])
      expect([path, isProtected(path)]).toEqual([path, true]);
    // Where no check runs, they are anybody's.
    for (const path of ["packages/b/unittest.py", "packages/a/src/json.py", "packages/b/fixtures/in.txt"])
      expect([path, isProtected(path)]).toEqual([path, false]);
  });

  it("leaves what the base has of such names to the product", () => {
    const own = detected({ files: { ...files, "packages/a/string.py": "" }, commands });
    expect(globMatcher(own.config)("packages/a/string.py")).toBe(false);
    expect(globMatcher(own.config)("packages/a/unittest.py")).toBe(true);
  });
});
