import { describe, expect, it } from "vitest";
import { detect } from "./detect.ts";

/** As `tests: command`, by the files that are there. */
function found(files: Readonly<Record<string, string>>): string[] {
  const read = (name: string): string | undefined => files[name];
  return detect({ names: new Set(Object.keys(files)), read }).map(({ purpose, command }) => `${purpose}: ${command}`);
}
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
    expect(found({ "pyproject.toml": "", "poetry.lock": "", tests: "" })).toEqual([
      "tests: poetry run python -m unittest discover",
    ]);
    expect(found({ "setup.py": "" })).toEqual([]);
  });

  it("of Go, Rust and Java", () => {
    expect(found({ "go.mod": "" })).toEqual(["tests: go test ./...", "lint: go vet ./...", "build: go build ./..."]);
    expect(found({ "go.mod": "", ".golangci.yml": "" })).toContain("lint: golangci-lint run");
    expect(found({ "Cargo.toml": "" })).toContain("tests: cargo test");
    expect(found({ "pom.xml": "" })).toContain("tests: mvn -q test");
    expect(found({ "pom.xml": "", mvnw: "" })).toContain("tests: ./mvnw -q test");
    expect(found({ "build.gradle.kts": "", gradlew: "" })).toContain("tests: ./gradlew test");
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
});
