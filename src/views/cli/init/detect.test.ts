import { describe, expect, it } from "vitest";
import { checkName, commandLine, detect, type Detected, type Files } from "./detect.ts";

type Tree = Readonly<Record<string, string>>;

/** By path; a folder is what has something in it. */
function filesOf(tree: Tree, prefix = ""): Files {
  const paths = Object.keys(tree).filter((path) => path.startsWith(prefix));
  return {
    names: new Set(paths.map((path) => path.slice(prefix.length).split("/")[0] ?? "")),
    read: (path) => tree[`${prefix}${path}`],
    within(folder) {
      const inside = `${prefix}${folder}/`;
      return paths.some((path) => path.startsWith(inside)) ? filesOf(tree, inside) : undefined;
    },
  };
}
const looked = (tree: Tree): Detected => detect(filesOf(tree));
/** As `tests: command`, by the files that are there. */
const found = (tree: Tree): string[] => looked(tree).found.map((one) => `${checkName(one)}: ${commandLine(one)}`);
const setups = (tree: Tree): string[] => looked(tree).setups.map(commandLine);
const manifest = (scripts: Record<string, string>, more: object = {}): string => JSON.stringify({ scripts, ...more });
const ALL = { test: "vitest", lint: "oxlint", typecheck: "tsc", build: "tsc -b" };

describe("commands found in a repository", () => {
  it.each([
    [
      "package-lock.json",
      ["tests: npm test", "types: npm run typecheck", "lint: npm run lint", "build: npm run build"],
    ],
    [
      "pnpm-lock.yaml",
      ["tests: pnpm test", "types: pnpm run typecheck", "lint: pnpm run lint", "build: pnpm run build"],
    ],
    ["yarn.lock", ["tests: yarn test", "types: yarn typecheck", "lint: yarn lint", "build: yarn build"]],
    ["bun.lock", ["tests: bun run test", "types: bun run typecheck", "lint: bun run lint", "build: bun run build"]],
  ])("of Node with %s", (lockfile, commands) => {
    expect(found({ "package.json": manifest(ALL), [lockfile]: "" })).toEqual(commands);
  });

  it("of Node: the declared package manager counts, the script that npm init writes does not", () => {
    expect(found({ "package.json": manifest({ test: "x" }, { packageManager: "pnpm@9.1.0" }) })).toEqual([
      "tests: pnpm test",
    ]);
    expect(found({ "package.json": manifest({ test: 'echo "Error: no test specified" && exit 1' }) })).toEqual([]);
    for (const broken of ["{", "[]", "null", '{"scripts":3}']) expect(found({ "package.json": broken })).toEqual([]);
  });

  it("of Python, run by whoever keeps its environment", () => {
    const project = "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n";
    expect(found({ "pyproject.toml": project })).toEqual([
      "tests: python3 -m pytest",
      "types: python3 -m mypy .",
      "lint: ruff check .",
    ]);
    expect(found({ "pyproject.toml": project, "uv.lock": "" })).toEqual([
      "tests: uv run pytest",
      "types: uv run mypy .",
      "lint: uv run ruff check .",
    ]);
    expect(found({ "pyproject.toml": project, ".venv/bin/python": "" })).toEqual([
      "tests: .venv/bin/python -m pytest",
      "types: .venv/bin/python -m mypy .",
      "lint: .venv/bin/ruff check .",
    ]);
    expect(found({ "tox.ini": "[tox]\nenvlist = py3\n[testenv]\ncommands = stestr run\n" })).toEqual(["tests: tox"]);
    expect(found({ "tox.ini": "[testenv]\ncommands = pytest\n" })).toEqual(["tests: python3 -m pytest"]);
    expect(found({ "manage.py": "", "requirements.txt": "django\nflake8\n" })).toEqual([
      "tests: python3 manage.py test",
      "lint: python3 -m flake8",
    ]);
    const unittest = { "tests/__init__.py": "", "tests/unit/test_a.py": "import unittest\n" };
    expect(found({ "pyproject.toml": "", "poetry.lock": "", ...unittest })).toEqual([
      "tests: poetry run python -m unittest discover",
    ]);
    expect(found({ "setup.py": "" })).toEqual([]);
  });

  it("of Python: what its tests import tells the runner, where nothing else does", () => {
    const withTest = (text: string): Tree => ({ "setup.py": "", "tests/test_a.py": text });
    expect(found(withTest("from unittest import TestCase\n"))).toEqual([
      "tests: python3 -m unittest discover -s tests",
    ]);
    expect(found({ "setup.py": "", "test_a.py": "import unittest\n" })).toEqual([
      "tests: python3 -m unittest discover",
    ]);
    expect(looked(withTest("def test_a(): pass\n")).found).toMatchObject([
      { command: "python3 -m pytest", needs: ["python3:pytest"] },
    ]);
    expect(found(withTest("import unittest\nimport pytest\n"))).toEqual(["tests: python3 -m pytest"]);
    expect(looked({ ...withTest("def test_a(): pass\n"), "uv.lock": "" }).found[0]?.needs).toEqual(["pytest"]);
    expect(found({ "setup.py": "", "tests/data.txt": "" })).toEqual([]);
  });

  it("of Go, Rust and Java", () => {
    expect(found({ "go.mod": "" })).toEqual(["tests: go test ./...", "lint: go vet ./...", "build: go build ./..."]);
    expect(found({ "go.mod": "", ".golangci.yml": "" })).toContain("lint: golangci-lint run");
    expect(found({ "Cargo.toml": "" })).toContain("tests: cargo test");
    expect(found({ "pom.xml": "" })).toContain("tests: mvn -q test");
    expect(found({ "pom.xml": "", mvnw: "" })).toContain("tests: ./mvnw -q test");
    expect(found({ "build.gradle.kts": "", gradlew: "" })).toContain("tests: ./gradlew test");
    expect(found({ "settings.gradle": "", gradlew: "" })).toContain("tests: ./gradlew test");
  });

  it("of Make: targets, not variables or recipes", () => {
    const makefile = "lint := no\n.PHONY: test build\ntest build: deps\n\techo typecheck: no\n";
    expect(found({ Makefile: makefile })).toEqual(["tests: make test", "build: make build"]);
  });

  it("of several kinds: each purpose once, by the first kind that has it", () => {
    expect(found({ "package.json": manifest({ lint: "x" }), Makefile: "test:\nlint:\n" })).toEqual([
      "tests: make test",
      "lint: npm run lint",
    ]);
    expect(found({})).toEqual([]);
  });

  it("of Node: tools without a script, where they are installed by the project", () => {
    const tools = { devDependencies: { typescript: "^5", eslint: "^9" } };
    const tree = { "package.json": manifest({}, tools), "tsconfig.json": "{}", "eslint.config.js": "" };
    expect(found(tree)).toEqual(["types: npx --no-install tsc --noEmit", "lint: npx --no-install eslint ."]);
    expect(looked(tree).found[0]?.needs).toEqual(["node_modules/.bin/tsc"]);
    expect(found({ "package.json": manifest({}), "tsconfig.json": "{}" })).toEqual([]);
  });

  it("of workspaces: the top's own script, else that of every package", () => {
    const packages = { "packages/a/package.json": manifest(ALL), "packages/b/package.json": manifest({ test: "x" }) };
    const top = (more: object = {}): string => manifest({}, { workspaces: ["packages/*"], ...more });
    expect(found({ ...packages, "package.json": top({ scripts: { test: "turbo run test" } }) })[0]).toBe(
      "tests: npm test",
    );
    expect(found({ ...packages, "package.json": top(), "package-lock.json": "" })).toEqual([
      "tests: npm run test --workspaces",
      "types: npm run typecheck --workspaces --if-present",
      "lint: npm run lint --workspaces --if-present",
      "build: npm run build --workspaces --if-present",
    ]);
    const pnpm = { "pnpm-workspace.yaml": "packages:\n  - 'packages/*'\n  # ours\n  - \"!**/x\"\n\nonly: 1\n" };
    expect(found({ ...packages, ...pnpm, "package.json": manifest({}), "pnpm-lock.yaml": "" })[0]).toBe(
      "tests: pnpm -r run test",
    );
    expect(found({ ...packages, "package.json": top(), "yarn.lock": "", ".yarnrc.yml": "" })[0]).toBe(
      "tests: yarn workspaces foreach -A run test",
    );
    expect(found({ ...packages, "package.json": top({ workspaces: { packages: ["packages/b"] } }) })).toEqual([
      "tests: npm run test --workspaces",
    ]);
    expect(found({ "go.work": "go 1.22\n\nuse (\n\t./api // ours\n\t./lib\n)\n" })[0]).toBe(
      "tests: go test ./api/... ./lib/...",
    );
    expect(found({ "Cargo.toml": '[workspace]\nmembers = ["a"]\n' })[0]).toBe("tests: cargo test --workspace");
  });

  it("of folders, where the top is no project", () => {
    const tree = {
      "README.md": "",
      "api/pyproject.toml": "[tool.pytest.ini_options]",
      "api/uv.lock": "",
      "web/package.json": manifest({ test: "x", lint: "y" }),
      "web/yarn.lock": "",
      "my docs/Makefile": "test:\n",
      "node_modules/a/package.json": manifest({ test: "x" }),
      ".github/package.json": manifest({ test: "x" }),
    };
    expect(found(tree)).toEqual([
      "tests-api: cd api && uv run pytest",
      "tests-my-docs: cd 'my docs' && make test",
      "tests-web: cd web && yarn test",
      "lint-web: cd web && yarn lint",
    ]);
    expect(setups(tree)).toEqual(["cd api && uv sync --frozen", "cd web && yarn install --frozen-lockfile"]);
  });

  it("has what makes the dependencies, by lockfile", () => {
    const node = (lockfile: string, more: Tree = {}): string[] =>
      setups({ "package.json": manifest({}), [lockfile]: "", ...more });
    const inTop = (tree: Tree): string[] => setups({ Makefile: "test:\n", ...tree });
    expect(inTop({ "package-lock.json": "" })).toEqual([]);
    expect(node("package-lock.json")).toEqual(["npm ci"]);
    expect(node("pnpm-lock.yaml")).toEqual(["pnpm install --frozen-lockfile"]);
    expect(node("yarn.lock")).toEqual(["yarn install --frozen-lockfile"]);
    expect(node("yarn.lock", { ".yarnrc.yml": "" })).toEqual(["yarn install --immutable"]);
    expect(node("bun.lock")).toEqual(["bun install --frozen-lockfile"]);
    expect(inTop({ "requirements.txt": "" })).toEqual([]);
    expect(inTop({ "requirements.txt": "", ".venv/bin/python": "" })).toEqual([
      "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt",
    ]);
    expect(inTop({ "poetry.lock": "" })[0]).toContain("poetry install");
  });
});
