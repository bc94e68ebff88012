import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { isOneRunner } from "./one-runner.ts";

function project(scripts: Record<string, string>): string {
  const folder = tempDir("runner");
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts }));
  return folder;
}

it.each([
  "npm test",
  "npm t",
  "CI=1 npm run --silent test",
  "npm run unit -- --bail",
  "yarn unit",
  "npx vitest run",
  "./node_modules/.bin/jest",
  "node --test",
  "python3 -m pytest -q",
  "uv run pytest -k 'not slow'",
  "go test ./...",
  "cargo test --offline",
])("knows that %s is one runner", async (command) => {
  expect(await isOneRunner(command, project({ test: "npm run unit", unit: "node --test" }))).toBe(true);
});

it.each([
  "npm test && npm run lint",
  "npm test; sh lint.sh",
  "npm test || true",
  "npm test | tee log",
  "make test",
  "sh test.sh",
  "npm run both",
  "npm run hooked",
  "npm run round",
  "npm run gone",
  "npm -w packages/a test",
  "npx vitest run --coverage",
  "pytest --cov=src --cov-fail-under=90",
  "$RUNNER",
])("knows nothing of the kind about %s", async (command) => {
  const scripts = { test: "node --test", both: "node --test && eslint .", hooked: "jest", posthooked: "sh lint.sh" };
  expect(await isOneRunner(command, project({ ...scripts, round: "npm run round" }))).toBe(false);
});

it("looks into the folder that a command leads to first", async () => {
  const folder = project({});
  mkdirSync(join(folder, "pkg"));
  writeFileSync(join(folder, "pkg/package.json"), JSON.stringify({ scripts: { test: "node --test" } }));
  const commands = ["cd pkg && npm test", "npm test", "cd pkg && npm test; true", "cd pkg && npm test && cd .."];
  expect(await Promise.all(commands.map((command) => isOneRunner(command, folder)))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

it("makes nothing of a package.json that is none", async () => {
  const folder = tempDir("runner");
  expect(await isOneRunner("npm test", folder)).toBe(false);
  writeFileSync(join(folder, "package.json"), "[");
  expect(await isOneRunner("npm test", folder)).toBe(false);
});
