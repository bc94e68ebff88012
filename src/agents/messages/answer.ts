/** Answers in a form: what the API is told of it, and whether what came back has it. Pure. */
import { misfits } from "../../platform/json-schema.ts";

type Json = Readonly<Record<string, unknown>>;

/** What the API's structured output understands; everything else is checked here alone. */
const TOLD: ReadonlySet<string> = new Set(
  "type enum const $ref $defs definitions title description properties required items anyOf allOf".split(" "),
);
const MAPS: ReadonlySet<string> = new Set(["properties", "$defs", "definitions"]);
const LISTS: ReadonlySet<string> = new Set(["anyOf", "allOf"]);
const MAX_MISFITS_TOLD = 5;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** It demands that objects have no other fields, and knows few keywords. */
export function wireSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { oneOf, ...rest } = schema;
  const told = Object.entries(oneOf === undefined ? rest : { ...rest, anyOf: oneOf }).filter(([name]) =>
    TOLD.has(name),
  );
  const out = Object.fromEntries(told.map(([name, value]) => [name, inner(name, value)]));
  return out["type"] === "object" || out["properties"] !== undefined ? { ...out, additionalProperties: false } : out;
}

function inner(name: string, value: unknown): unknown {
  if (MAPS.has(name) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, wireSchema(one)]));
  if (LISTS.has(name) && Array.isArray(value)) return value.map(wireSchema);
  return name === "items" ? wireSchema(value) : value;
}

export type Read = { is: "fits"; value: unknown } | { is: "misfit"; why: string };

/** As some put code: between lines of three ticks. */
const FENCED = /^```(?:json)?\n([^]*)\n```$/;

export function readAnswer(text: string, schema: Json): Read {
  let value: unknown;
  try {
    value = JSON.parse(FENCED.exec(text.trim())?.[1] ?? text);
  } catch (error) {
    return { is: "misfit", why: `it is no JSON: ${(error as Error).message}` };
  }
  const wrong = misfits(schema, value);
  if (wrong.length === 0) return { is: "fits", value };
  const told = wrong.slice(0, MAX_MISFITS_TOLD).map(({ path, message }) => `${path.join(".") || "it"} ${message}`);
  return { is: "misfit", why: told.join("; ") };
}
