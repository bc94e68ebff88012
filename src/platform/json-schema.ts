/**
 * JSON Schema, as much of it as is needed to demand the form of a file, exactly: a keyword that is not known is refused
 * before it is used, because one that is silently passed over would let everything through.
 */
import { isDeepStrictEqual } from "node:util";
import { lookUp } from "./look-up.ts";

type Json = unknown;
type Schema = boolean | Readonly<Record<string, Json>>;

export interface Misfit {
  path: (string | number)[];
  message: string;
}

const ANNOTATIONS: ReadonlySet<string> = new Set(
  "$schema $id $comment $defs definitions title description default examples deprecated readOnly writeOnly".split(" "),
);
const MAX_MISFITS = 20;
/** A schema that refers to itself without end. */
const MAX_DEPTH = 200;

interface At {
  root: Schema;
  path: (string | number)[];
  depth: number;
}
type Rule = (given: { demand: Json; schema: Readonly<Record<string, Json>>; value: Json; at: At }) => Misfit[];

export function misfits(schema: Json, value: Json): Misfit[] {
  return check(schema as Schema, value, { root: schema as Schema, path: [], depth: 0 }).slice(0, MAX_MISFITS);
}

/** Why it cannot be used, in words that follow the path; undefined when it can. */
export function schemaProblem(schema: Json, path = ""): string | undefined {
  const where = path === "" ? "the schema" : path;
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return `${where} must be an object`;
  for (const [name, demand] of Object.entries(schema)) {
    const here = path === "" ? name : `${path}.${name}`;
    if (name === "$defs" || name === "definitions" || MAPS.has(name)) {
      if (!isObject(demand)) return `${here} must be an object`;
      const inner = first(Object.entries(demand), ([key, one]) => schemaProblem(one, `${here}.${key}`));
      if (inner !== undefined) return inner;
    } else if (LISTS.has(name)) {
      if (!Array.isArray(demand)) return `${here} must be a list`;
      const inner = first([...demand.entries()], ([index, one]) => schemaProblem(one, `${here}.${index}`));
      if (inner !== undefined) return inner;
    } else if (INNER.has(name)) {
      const inner = schemaProblem(demand, here);
      if (inner !== undefined) return inner;
    } else if (!ANNOTATIONS.has(name)) {
      const problem = keywordProblem(name, demand, schema);
      if (problem !== undefined) return `${here} ${problem}`;
    }
  }
  return undefined;
}

const MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties"]);
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const INNER: ReadonlySet<string> = new Set("items additionalProperties contains not propertyNames".split(" "));
const COUNTS: ReadonlySet<string> = new Set(
  "minItems maxItems minLength maxLength minProperties maxProperties".split(" "),
);
const NUMBERS: ReadonlySet<string> = new Set("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf".split(" "));
const TYPES: ReadonlySet<Json> = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);

function keywordProblem(name: string, demand: Json, schema: Readonly<Record<string, Json>>): string | undefined {
  if (!Object.hasOwn(RULES, name)) return "is not a keyword that is known here";
  if (COUNTS.has(name) || NUMBERS.has(name)) return typeof demand === "number" ? undefined : "must be a number";
  switch (name) {
    case "type":
      return [demand].flat().every((one) => TYPES.has(one))
        ? undefined
        : `is ${JSON.stringify(demand)}, which is no type`;
    case "enum":
      return Array.isArray(demand) ? undefined : "must be a list";
    case "required":
      return isTexts(demand) ? undefined : "must be a list of names";
    case "pattern":
      return typeof demand === "string" && isPattern(demand) ? undefined : "must be a regular expression";
    case "$ref":
      if (typeof demand !== "string" || !/^#(?:\/|$)/.test(demand)) return "must be a place in this schema: #/…";
      return Object.keys(schema).every((key) => key === name || ANNOTATIONS.has(key)) ? undefined : "must stand alone";
    default:
      return undefined;
  }
}

function check(schema: Schema, value: Json, at: At): Misfit[] {
  if (typeof schema === "boolean") return schema ? [] : [{ path: at.path, message: "must not be there" }];
  if (at.depth > MAX_DEPTH) return [{ path: at.path, message: "the schema refers to itself without end" }];
  const deeper = { ...at, depth: at.depth + 1 };
  return Object.entries(schema).flatMap(([name, demand]) => RULES[name]?.({ demand, schema, value, at: deeper }) ?? []);
}

const inside = (at: At, key: string | number): At => ({ ...at, path: [...at.path, key] });
const says = (at: At, message: string): Misfit[] => [{ path: at.path, message }];
const fits = (schema: Json, value: Json, at: At): boolean => check(schema as Schema, value, at).length === 0;

/** Holds for values of one type only, as the standard has it. */
const whenNumber =
  (holds: (value: number, demand: number) => boolean, words: string): Rule =>
  ({ demand, value, at }) =>
    typeof value !== "number" || holds(value, demand as number)
      ? []
      : says(at, `is ${value}, ${words} ${String(demand)}`);
const whenSized =
  (
    sizeOf: (value: Json) => number | undefined,
    holds: (size: number, demand: number) => boolean,
    words: string,
  ): Rule =>
  ({ demand, value, at }) => {
    const size = sizeOf(value);
    return size === undefined || holds(size, demand as number)
      ? []
      : says(at, `has ${size} ${words} ${String(demand)}`);
  };
const atLeast = (a: number, b: number): boolean => a >= b;
const atMost = (a: number, b: number): boolean => a <= b;
const chars = (value: Json): number | undefined => (typeof value === "string" ? Array.from(value).length : undefined);
const items = (value: Json): number | undefined => (Array.isArray(value) ? value.length : undefined);
const keys = (value: Json): number | undefined => (isObject(value) ? Object.keys(value).length : undefined);

const RULES: Readonly<Record<string, Rule>> = {
  $ref: ({ demand, value, at }) => {
    const target = resolve(at.root, String(demand));
    return target === undefined ? says(at, `${String(demand)} is not in the schema`) : check(target, value, at);
  },
  type: ({ demand, value, at }) =>
    [demand].flat().some((one) => isType(value, one))
      ? []
      : says(at, `is ${typeName(value)}, must be ${[demand].flat().join(" or ")}`),
  enum: ({ demand, value, at }) =>
    (demand as Json[]).some((one) => isDeepStrictEqual(one, value))
      ? []
      : says(at, `must be one of ${JSON.stringify(demand)}`),
  const: ({ demand, value, at }) =>
    isDeepStrictEqual(demand, value) ? [] : says(at, `must be ${JSON.stringify(demand)}`),
  minimum: whenNumber(atLeast, "must be at least"),
  maximum: whenNumber(atMost, "must be at most"),
  exclusiveMinimum: whenNumber((a, b) => a > b, "must be more than"),
  exclusiveMaximum: whenNumber((a, b) => a < b, "must be less than"),
  multipleOf: whenNumber((a, b) => Number.isInteger(a / b), "must be a multiple of"),
  minLength: whenSized(chars, atLeast, "characters, needs at least"),
  maxLength: whenSized(chars, atMost, "characters, may have at most"),
  minItems: whenSized(items, atLeast, "items, needs at least"),
  maxItems: whenSized(items, atMost, "items, may have at most"),
  minProperties: whenSized(keys, atLeast, "keys, needs at least"),
  maxProperties: whenSized(keys, atMost, "keys, may have at most"),
  pattern: ({ demand, value, at }) =>
    typeof value !== "string" || new RegExp(String(demand), "u").test(value)
      ? []
      : says(at, `does not match ${String(demand)}`),
  uniqueItems: ({ demand, value, at }) =>
    demand !== true || !Array.isArray(value) || !hasTwice(value) ? [] : says(at, "has the same item twice"),
  required: ({ demand, value, at }) =>
    isObject(value)
      ? (demand as string[])
          .filter((key) => !Object.hasOwn(value, key))
          .flatMap((key) => says(inside(at, key), "is missing"))
      : [],
  properties: ({ demand, value, at }) =>
    isObject(value)
      ? Object.entries(demand as object).flatMap(([key, schema]) =>
          Object.hasOwn(value, key) ? check(schema as Schema, value[key], inside(at, key)) : [],
        )
      : [],
  patternProperties: ({ demand, value, at }) =>
    isObject(value)
      ? Object.entries(demand as object).flatMap(([source, schema]) =>
          Object.keys(value)
            .filter((key) => new RegExp(source, "u").test(key))
            .flatMap((key) => check(schema as Schema, value[key], inside(at, key))),
        )
      : [],
  additionalProperties: ({ demand, schema, value, at }) => {
    if (!isObject(value)) return [];
    const named = new Set(Object.keys((schema["properties"] as object | undefined) ?? {}));
    const patterns = Object.keys((schema["patternProperties"] as object | undefined) ?? {}).map(
      (one) => new RegExp(one, "u"),
    );
    return Object.keys(value)
      .filter((key) => !named.has(key) && !patterns.some((one) => one.test(key)))
      .flatMap((key) => check(demand as Schema, value[key], inside(at, key)));
  },
  propertyNames: ({ demand, value, at }) =>
    isObject(value) ? Object.keys(value).flatMap((key) => check(demand as Schema, key, inside(at, key))) : [],
  prefixItems: ({ demand, value, at }) =>
    Array.isArray(value)
      ? (demand as Json[])
          .slice(0, value.length)
          .flatMap((schema, index) => check(schema as Schema, value[index], inside(at, index)))
      : [],
  items: ({ demand, schema, value, at }) => {
    if (!Array.isArray(value)) return [];
    const from = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"].length : 0;
    return value.slice(from).flatMap((one: Json, index) => check(demand as Schema, one, inside(at, from + index)));
  },
  contains: ({ demand, value, at }) =>
    !Array.isArray(value) || value.some((one) => fits(demand, one, at)) ? [] : says(at, "has no item that is demanded"),
  allOf: ({ demand, value, at }) => (demand as Json[]).flatMap((schema) => check(schema as Schema, value, at)),
  anyOf: ({ demand, value, at }) =>
    (demand as Json[]).some((schema) => fits(schema, value, at)) ? [] : says(at, "fits none of anyOf"),
  oneOf: ({ demand, value, at }) => {
    const count = (demand as Json[]).filter((schema) => fits(schema, value, at)).length;
    return count === 1 ? [] : says(at, `fits ${count} of oneOf, must fit one`);
  },
  not: ({ demand, value, at }) => (fits(demand, value, at) ? says(at, "fits what it must not") : []),
};

function resolve(root: Schema, ref: string): Schema | undefined {
  const steps = ref
    .slice(1)
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"));
  const found = steps.reduce<Json>(
    (value, step) =>
      isObject(value) || Array.isArray(value) ? lookUp(value as Record<string, Json>, step) : undefined,
    root,
  );
  return typeof found === "boolean" || isObject(found) ? found : undefined;
}

const isObject = (value: Json): value is Record<string, Json> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts = (value: Json): boolean => Array.isArray(value) && value.every((one) => typeof one === "string");

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

function hasTwice(list: readonly Json[]): boolean {
  return list.some((one, at) => list.slice(at + 1).some((other) => isDeepStrictEqual(one, other)));
}

function typeName(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isType(value: Json, type: Json): boolean {
  if (type === "integer") return typeof value === "number" && Number.isInteger(value);
  return typeName(value) === type;
}

function first<T, R>(list: readonly T[], of: (one: T) => R | undefined): R | undefined {
  for (const one of list) {
    const found = of(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
