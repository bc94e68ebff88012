/** Looking into a line of JSON that a program printed: nothing of it is trusted to be there or to be what it should. */
import { stepsOf } from "../../platform/json-path.ts";
import type { OutputRule } from "../../spec/command-agent.ts";

const FIRST_VALUE = "*";
const FIRST_KEY = "~";

/** undefined where nothing is. */
export function at(value: unknown, path: string): unknown {
  let inside = value;
  for (const step of stepsOf(path) ?? []) {
    if (typeof inside !== "object" || inside === null) return undefined;
    const own = inside as Readonly<Record<string | number, unknown>>;
    if (step === FIRST_VALUE) inside = Object.values(own)[0];
    else if (step === FIRST_KEY) inside = Object.keys(own)[0];
    else inside = Object.hasOwn(own, step) ? own[step] : undefined;
  }
  return inside;
}

export function textAt(value: unknown, path: string | undefined): string | undefined {
  const found = path === undefined ? undefined : at(value, path);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** Never negative, never a part of a token. */
export function countAt(value: unknown, path: string | undefined): number {
  const found = numberAt(value, path);
  return found === undefined ? 0 : Math.max(0, Math.round(found));
}

export function numberAt(value: unknown, path: string | undefined): number | undefined {
  const found = path === undefined ? undefined : at(value, path);
  return typeof found === "number" && Number.isFinite(found) ? found : undefined;
}

/** What is no text is shown as JSON. */
export function wordsAt(value: unknown, path: string | undefined): string {
  const found = path === undefined ? undefined : at(value, path);
  if (found === undefined || found === null) return "";
  return typeof found === "string" ? found : JSON.stringify(found);
}

export function holds(conditions: OutputRule["when"], value: unknown): boolean {
  return Object.entries(conditions ?? {}).every(([path, wanted]) => {
    const found = at(value, path) ?? null;
    return Array.isArray(wanted) ? wanted.some((one) => one === found) : wanted === found;
  });
}

const MS_PER_S = 1_000;
/** Larger numbers are milliseconds: as seconds they would be in the year 5138. */
const MAX_SECONDS = 1e11;

/** Wall clock, ms since 1970. */
export function timeAt(value: unknown, path: string | undefined): number | undefined {
  const found = path === undefined ? undefined : at(value, path);
  if (typeof found === "number") return Math.round(found < MAX_SECONDS ? found * MS_PER_S : found);
  const parsed = typeof found === "string" ? Date.parse(found) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed;
}

/** The first path of a rule that is none; undefined when all are. */
export function brokenPath(rule: OutputRule): string | undefined {
  const { when, where, tool, result, usage, retry, error, piece: _, ends: __, ...plain } = rule;
  const { kinds: ___, ...ofError } = error ?? {};
  const paths = [
    ...Object.keys(when ?? {}),
    ...Object.keys(where ?? {}),
    ...Object.values(plain),
    ...Object.values({ ...tool }),
    ...Object.values({ ...result }),
    ...Object.values({ ...retry }),
    ...Object.values(ofError),
    ...Object.entries({ ...usage }).flatMap(([key, path]) => (key === "of" ? [] : [path])),
  ];
  return paths.find((path): path is string => typeof path === "string" && stepsOf(path) === undefined);
}
