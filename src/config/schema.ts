/** The JSON Schema of `pawl.yaml`, from the table of settings: what an editor needs to complete and check it. */
import { z } from "zod";
import { DEFAULTS, SETTING_NAMES, SETTINGS, type Setting } from "./settings.ts";

export function settingsSchema(): Record<string, unknown> {
  const shape = Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name].schema.optional()]));
  const { $schema, ...schema } = z.toJSONSchema(z.strictObject(shape), {
    // What is written, not what it becomes: times and counts are texts or numbers.
    io: "input",
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod;
      if (def.type !== "pipe" || jsonSchema.type !== "array") return;
      // A list may also be one text.
      const list = { ...jsonSchema };
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      jsonSchema.anyOf = [list, { type: "string" }];
    },
  });
  const properties = schema.properties ?? {};
  return {
    $schema,
    title: "pawl.yaml",
    description: "Settings of pawl for one repository. A flag or a variable PAWL_… counts more than what stands here.",
    ...schema,
    properties: Object.fromEntries(
      SETTING_NAMES.map((name) => [name, { description: describe(name), ...(properties[name] as object) }]),
    ),
  };
}

function describe(name: keyof typeof SETTINGS): string {
  const { about }: Setting = SETTINGS[name];
  const value: unknown = (DEFAULTS as Record<string, unknown>)[name];
  const plain = typeof value === "string" || typeof value === "boolean" ? ` Default: ${value}.` : "";
  return `${about.charAt(0).toUpperCase()}${about.slice(1)}.${plain}`;
}
