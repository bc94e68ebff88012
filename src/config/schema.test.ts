import { expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import published from "../../schema/pawl.schema.json" with { type: "json" };
import { settingsSchema } from "./schema.ts";
import { SETTING_NAMES } from "./settings.ts";

it("is the one that is published (else: node src/views/cli/main.ts config schema > schema/pawl.schema.json)", () => {
  expect(published).toEqual(JSON.parse(JSON.stringify(settingsSchema())));
  expect(packageJson.files).toContain("schema");
});

it("describes every setting and forbids others", () => {
  expect(Object.keys(published.properties)).toEqual(SETTING_NAMES);
  expect(published.additionalProperties).toBe(false);
  for (const [name, { description }] of Object.entries(published.properties))
    expect([name, description]).toEqual([name, expect.stringMatching(/^[A-Z].*\.$/s)]);
  expect(published.properties.context).toMatchObject({ type: "string", enum: ["persistent", "fresh", "auto"] });
  expect(published.properties["max-cost"]).toMatchObject({ type: ["string", "number"] });
});
