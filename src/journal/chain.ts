/**
 * How facts are sealed and how a sealed row is trusted again. A body is the JSON text of the whole fact; `prev` in it
 * is the hash of the body before, and the hash of the last body is in the run's row. So each hash is stored once, and
 * from the last one every body back to the first is accounted for.
 */
import { hash } from "node:crypto";
import type { Fact, NewFact } from "../events.ts";
import type { Redact } from "../ports.ts";
import type { TerminalError } from "../errors.ts";
import { damaged } from "./trouble.ts";

/** Tied to events.ts by its type, so that readers start without loading the schemas. */
export const FACT_VERSION: Fact["v"] = 1;
const MAIN_LANE = "main";

/** The last fact of a run: its seq and the hash of its body. */
export interface Link {
  seq: number;
  hash: string;
}
/** What the first fact follows. */
export const ORIGIN: Link = { seq: -1, hash: "" };

export interface Sealed extends Link {
  body: string;
}

export interface Stamp {
  run: string;
  epoch: number;
  at: number;
  elapsed: number;
}

export function hashOf(body: string): string {
  return hash("sha256", body);
}

interface SealOptions {
  after: Link;
  stamp: Stamp;
  redact: Redact;
}

export function seal(fact: NewFact, { after, stamp, redact }: SealOptions): Sealed {
  const { lane = MAIN_LANE, ...rest } = redacted(fact, redact);
  const { run, epoch, at, elapsed } = stamp;
  const seq = after.seq + 1;
  const body = JSON.stringify({ v: FACT_VERSION, run, lane, seq, at, elapsed, epoch, prev: after.hash, ...rest });
  return { seq, hash: hashOf(body), body };
}

/** Values only, never keys. The workspace's own place is kept as it is: without it nothing could be driven on. */
function redacted(fact: NewFact, redact: Redact): NewFact {
  const masked = redactValues(fact, redact);
  if (fact.type !== "run-start" || masked.type !== "run-start") return masked;
  return { ...masked, spec: { ...masked.spec, workspace: fact.spec.workspace } };
}

/** A copy as JSON would keep it, with each string value masked. */
export function redactValues<T>(value: T, redact: Redact): T {
  return JSON.parse(
    JSON.stringify(value, (_key, inner: unknown) => (typeof inner === "string" ? redact(inner) : inner)),
  ) as T;
}

interface ChainOptions {
  run: string;
  /** Seq of the first body. */
  from: number;
  /** Hash the first body must follow; undefined when the caller has not seen the one before. */
  prev: string | undefined;
}

/** Opens bodies in order. Nothing given to `each` may be believed unless every `take` and then `reaches` said true. */
export function chainReader({ run, from, prev }: ChainOptions, each: (fact: Fact) => void) {
  let next = from;
  let expected = prev;
  return {
    /** `fact` is the body opened, where the caller has done that already. */
    take(body: unknown, fact = opened(body)): boolean {
      if (typeof body !== "string" || fact?.seq !== next || fact.run !== run) return false;
      if (expected !== undefined && fact.prev !== expected) return false;
      each(fact);
      expected = hashOf(body);
      next += 1;
      return true;
    },
    reaches: (head: Link): boolean => next === head.seq + 1 && (expected === undefined || expected === head.hash),
  };
}

/** Many bodies in one go, which is faster than one by one; undefined when any of them is no JSON. */
export function openAll(bodies: readonly unknown[]): (Fact | undefined)[] | undefined {
  try {
    const facts = JSON.parse(`[${bodies.join(",")}]`) as (Fact | null)[];
    return facts.length === bodies.length ? facts.map((fact) => fact ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

function opened(body: unknown): Fact | undefined {
  if (typeof body !== "string") return undefined;
  try {
    return (JSON.parse(body) as Fact | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/**
 * The error for bodies that a chainReader refused. It walks back from the trusted head, since a link that does not fit
 * says only "this one or the one before".
 */
export function diagnose(bodies: readonly unknown[], { run, head }: { run: string; head: Link }): TerminalError {
  let { seq, hash: expected } = head;
  for (const body of bodies.toReversed()) {
    const fact = opened(body);
    if (fact === undefined || hashOf(body as string) !== expected) break;
    expected = fact.prev;
    seq -= 1;
  }
  return damaged(`run ${run}, fact ${Math.max(seq, 0)} is missing or not what was written`);
}
