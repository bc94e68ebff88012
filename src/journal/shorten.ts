/**
 * Facts at rest repeat little: one that has the same fields as an earlier one of its type in the same block is written as
 * how many facts before that was (`like`) and what differs. Half the bytes, and less than two thirds of the time to read.
 */
import type { Fact } from "../events.ts";

/** A body as it is parsed: a whole fact without its run, or what differs. Only a whole one says its version. */
export type Told = Partial<Fact> & { like?: unknown };

/** `before`: the facts of its block so far, whole. */
export function shorten(fact: Fact, before: readonly Fact[]): Told {
  const { run: _run, ...whole } = fact;
  const at = before.findLastIndex(({ type }) => type === fact.type);
  const base = before[at];
  if (base === undefined || base.v !== fact.v || "like" in fact || !haveSameFields(base, fact)) return whole;
  const changed = Object.entries(whole).filter(([name, value]) => !isSame(base[name as keyof Fact], value));
  return { like: before.length - at, ...Object.fromEntries(changed) };
}

/** Also their order, so that the whole has one text. */
function haveSameFields(one: Fact, other: Fact): boolean {
  return Object.keys(one).join() === Object.keys(other).join();
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface Place {
  run: string;
  /** The facts of its block so far, whole. */
  before: readonly Fact[];
}

/** The whole fact again; undefined when it is like none that was there. Parts that do not differ are shared with it. */
export function lengthen(told: Told, { run, before }: Place): Fact | undefined {
  if (told.v !== undefined) {
    told.run = run;
    return told as Fact;
  }
  const base = typeof told.like === "number" ? before[before.length - told.like] : undefined;
  if (base === undefined) return undefined;
  const whole: Record<string, unknown> = { ...base };
  for (const name in told) if (name !== "like") whole[name] = told[name as keyof Told];
  return whole as Fact;
}
