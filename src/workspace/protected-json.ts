/**
 * Keys of a JSON file put back as the base has them. package.json's scripts may grow and its versions may change: only
 * what the base's scripts do, what runs before and after them, and where a dependency comes from stays. Pure.
 */

/** `same`: nothing to put back; `base`: the base's file whole (where it has none: no file). */
export type Merged = { is: "same" } | { is: "base" } | { is: "text"; text: string };

type Json = Record<string, unknown>;

const DEPENDENCIES = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
/** Run by an installation. */
const LIFECYCLE = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];
/** Anything but a version: then another package's code could stand for the named one. */
const ELSEWHERE = /^(file:|link:|portal:|npm:|git|https?:|github:|workspace:|\.{0,2}\/|~\/)/;

export function mergedJson(theirs: string, base: string | undefined, keys: readonly string[]): Merged {
  const [after, before] = [objectIn(theirs), base === undefined ? {} : objectIn(base)];
  // A base that nobody can read protects nothing; a change that nobody can read is none.
  if (before === undefined) return { is: "same" };
  if (after === undefined) return base === undefined ? { is: "same" } : { is: "base" };
  let result = after;
  for (const key of keys) result = withKey(result, { key, before, isNew: base === undefined });
  if (result === after) return { is: "same" };
  if (base !== undefined && JSON.stringify(sorted(result)) === JSON.stringify(sorted(before))) return { is: "base" };
  return { is: "text", text: `${JSON.stringify(result, null, indentOf(theirs))}${theirs.endsWith("\n") ? "\n" : ""}` };
}

/** The same object when it has nothing to change. */
function withKey(after: Json, { key, before, isNew }: { key: string; before: Json; isNew: boolean }): Json {
  if (key === "scripts") return withValue(after, key, scripts(after[key], { base: before[key], isNew }));
  if (DEPENDENCIES.includes(key)) return withValue(after, key, dependencies(after[key], before));
  if (key === "name") return isTaken(after[key], before) ? withValue(after, key, before[key]) : after;
  if (key === "imports") return withValue(after, key, imports(after[key], before[key]));
  return withValue(after, key, before[key]);
}

function scripts(after: unknown, { base, isNew }: { base: unknown; isNew: boolean }): unknown {
  const [theirs, ours] = [fields(after), fields(base) ?? {}];
  if (theirs === undefined) return base;
  const names = Object.keys(ours);
  const hooks = new Set([...names.flatMap((name) => [`pre${name}`, `post${name}`]), ...(isNew ? [] : LIFECYCLE)]);
  const added = Object.entries(theirs).filter(([name]) => !Object.hasOwn(ours, name) && !hooks.has(name));
  const isSame =
    names.every((name) => theirs[name] === ours[name]) && names.length + added.length === Object.keys(theirs).length;
  return isSame ? after : Object.fromEntries([...Object.entries(ours), ...added]);
}

function dependencies(after: unknown, before: Json): unknown {
  const theirs = fields(after);
  const ours = new Map(DEPENDENCIES.flatMap((kind) => Object.entries(fields(before[kind]) ?? {})));
  const isMoved = (name: string, spec: unknown): boolean =>
    ours.has(name) && spec !== ours.get(name) && (typeof spec !== "string" || ELSEWHERE.test(spec.trim()));
  if (theirs === undefined || !Object.entries(theirs).some(([name, spec]) => isMoved(name, spec))) return after;
  return Object.fromEntries(
    Object.entries(theirs).map(([name, spec]) => [name, isMoved(name, spec) ? ours.get(name) : spec]),
  );
}

/** A package finds itself by its name before all that is installed: it could stand for what its tests use. */
const TEST_LIBRARIES =
  /^(chai|expect|should|sinon|jest|vitest|mocha|ava|tape|tap|uvu|jasmine|power-assert|@jest\/.*|@vitest\/.*|@testing-library\/.*)$/;

function isTaken(name: unknown, before: Json): boolean {
  if (typeof name !== "string" || name === before["name"]) return false;
  return TEST_LIBRARIES.test(name) || DEPENDENCIES.some((kind) => Object.hasOwn(fields(before[kind]) ?? {}, name));
}

/** Short names of what tests use; others are the product's. */
const OF_TESTS = /(?:^|[^a-z])(?:tests?|specs?|mocks?|stubs?|fixtures?)(?![a-z])/i;

function imports(after: unknown, base: unknown): unknown {
  const kept = Object.entries(fields(base) ?? {}).filter(([, to]) => OF_TESTS.test(JSON.stringify(to)));
  const theirs = fields(after) ?? {};
  const isSame = kept.every(([name, to]) => JSON.stringify(theirs[name]) === JSON.stringify(to));
  return isSame ? after : { ...theirs, ...Object.fromEntries(kept) };
}

/** In its place where it had one; undefined: without it. */
function withValue(object: Json, key: string, value: unknown): Json {
  const had = Object.hasOwn(object, key);
  if (had ? JSON.stringify(object[key]) === JSON.stringify(value) : value === undefined) return object;
  const others = Object.entries(object).flatMap(([name, one]) =>
    name === key ? (value === undefined ? [] : [[name, value] as const]) : [[name, one] as const],
  );
  return Object.fromEntries(had ? others : [...others, [key, value] as const]);
}

function objectIn(text: string): Json | undefined {
  try {
    return fields(JSON.parse(text.replace(/^\uFEFF/, "")));
  } catch {
    return undefined;
  }
}

/** Of JSON that may have them, with its last commas. Strings are met first, whatever they hold. */
export const withoutComments = (text: string): string =>
  text
    .replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\//g, "$1")
    .replaceAll(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, "$1");

const fields = (value: unknown): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  const object = fields(value);
  if (object === undefined) return value;
  return Object.entries(object)
    .map(([key, one]) => [key, sorted(one)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const indentOf = (text: string): string => /\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
