import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import schema from "../../../../schema/pawl.schema.json" with { type: "json" };
import { resolveSettings } from "../../../config.ts";
import { tempDir } from "../../../../test/support/temp.ts";
import { configFile, SCHEMA, type Chosen } from "./config-file.ts";

const NOTHING: Chosen = {
  checks: [],
  model: undefined,
  others: [],
  setups: [],
  needsSetup: false,
  hasSchema: false,
};
const TESTS = { name: "tests", command: "npm test" };
const LINT = { purpose: "lint", command: "npm run lint -- --max-warnings=0", from: "package.json" } as const;
const MISSING = { purpose: "types", command: "mypy .", from: "setup.cfg", missing: "mypy" } as const;

/** As pawl reads it; the comments in front of settings taken away first where asked. */
function settingsOf(chosen: Chosen, { uncommented = false } = {}) {
  const repository = tempDir("init");
  const text = configFile(chosen);
  const active = uncommented
    ? text.replaceAll(/^# (?!yaml-)(?=[a-z-]+:( |$))/gm, "").replaceAll(/^#(?= +- )/gm, "")
    : text;
  writeFileSync(join(repository, "pawl.yaml"), active);
  const userDir = join(repository, "none");
  mkdirSync(userDir);
  return resolveSettings({ env: {}, repository, userDir });
}

it("is read by pawl as what was chosen", () => {
  const chosen = { ...NOTHING, checks: [TESTS], model: "claude-opus-5-5", others: [LINT] };
  const { settings, origins } = settingsOf(chosen);
  expect(settings).toMatchObject({ checks: [{ name: "tests", run: "npm test" }], model: "claude-opus-5-5" });
  expect(origins["checks"]?.from).toBe("project");
  expect(settingsOf(NOTHING).settings.checks).toEqual([]);
  const odd = `sh -c "a: b # c" && echo 'd'`;
  const several = [{ name: "check", command: odd }, TESTS];
  expect(settingsOf({ ...NOTHING, checks: several }).settings.checks).toEqual([
    { name: "check", run: odd },
    { name: "tests", run: "npm test" },
  ]);
});

it("has no setting, also not in a comment, that pawl or the schema do not know", () => {
  const { origins, settings } = settingsOf(
    { ...NOTHING, checks: [TESTS], others: [LINT, MISSING] },
    { uncommented: true },
  );
  const written = Object.entries(origins).flatMap(([name, { from }]) => (from === "project" ? [name] : []));
  expect(written.length).toBeGreaterThan(6);
  expect(written.filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([]);
  expect(settings.checks).toEqual([
    { name: "tests", run: "npm test" },
    { name: "lint", run: "npm run lint -- --max-warnings=0" },
  ]);
});

it("says what was left out because the machine lacks it, as no entry", () => {
  expect(configFile({ ...NOTHING, checks: [TESTS], others: [MISSING] })).toContain(
    "# Left out, for mypy is not here: mypy . (from setup.cfg)\n",
  );
});

it("has a setup where dependencies are missing, and only tells of it where they are there", () => {
  const npm = { command: "npm ci", from: "package-lock.json", makes: "node_modules" };
  const uv = { command: "uv sync --frozen", from: "api/uv.lock", makes: ".venv", folder: "api" };
  const needed = configFile({ ...NOTHING, setups: [npm], needsSetup: true });
  expect(needed).toContain("\nsetup: npm ci\nnetwork: registries\n");
  expect(configFile({ ...NOTHING, setups: [npm] })).toContain("\n# setup: npm ci\n# network: registries\n");
  expect(configFile({ ...NOTHING, setups: [npm, uv], needsSetup: true })).toContain(
    '\nsetup: "npm ci && (cd api && uv sync --frozen)"\n',
  );
  expect(configFile(NOTHING)).not.toContain("setup");
});

it("names the schema for editors in its first line, where the project has it", () => {
  const [first] = configFile({ ...NOTHING, hasSchema: true }).split("\n");
  expect(first).toBe(`# yaml-language-server: $schema=${SCHEMA}`);
  expect(configFile(NOTHING)).not.toContain("$schema");
  expect(configFile(NOTHING)).toContain("pawl config schema");
});
