import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import schema from "../../../../schema/pawl.schema.json" with { type: "json" };
import { resolveSettings } from "../../../config.ts";
import { tempDir } from "../../../../test/support/temp.ts";
import { configFile, SCHEMA, type Chosen } from "./config-file.ts";

const FOUND = [
  { purpose: "tests", command: "npm test", from: "package.json" },
  { purpose: "lint", command: "npm run lint -- --max-warnings=0", from: "package.json" },
] as const;

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
  const { settings, origins } = settingsOf({ check: "npm test", model: "claude-opus-5-5", found: FOUND });
  expect(settings).toMatchObject({ checks: [{ name: "tests", run: "npm test" }], model: "claude-opus-5-5" });
  expect(origins["checks"]?.from).toBe("project");
  expect(settingsOf({ check: undefined, model: undefined, found: [] }).settings.checks).toEqual([]);
  const odd = `sh -c "a: b # c" && echo 'd'`;
  expect(settingsOf({ check: odd, model: undefined, found: [] }).settings.checks).toEqual([
    { name: "check", run: odd },
  ]);
});

it("has no setting, also not in a comment, that pawl or the schema do not know", () => {
  const { origins } = settingsOf({ check: "npm test", model: undefined, found: FOUND }, { uncommented: true });
  const written = Object.entries(origins).flatMap(([name, { from }]) => (from === "project" ? [name] : []));
  expect(written.length).toBeGreaterThan(6);
  expect(written.filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([]);
});

it("names the schema for editors in its first line", () => {
  const [first] = configFile({ check: undefined, model: undefined, found: [] }).split("\n");
  expect(first).toBe(`# yaml-language-server: $schema=${SCHEMA}`);
});
