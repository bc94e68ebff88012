/**
 * How facts are sealed and how a sealed row is trusted again. A body is the JSON text of a fact without its run, or of
 * how it differs from another of its block (shorten.ts). Facts are hashed in blocks: the hash of a fact is that of its block's bodies up to it, after the hash of the block before. The
 * last one is in the run's row, so from there every body back to the first is accounted for, and a block is checked,
 * parsed and let go of at once.
 */
import { createHash, type Hash } from "node:crypto";
import type { Fact, NewFact } from "../events.ts";
import type { Redact } from "../ports.ts";
import type { TerminalError } from "../errors.ts";
import { lengthen, shorten, type Told } from "./shorten.ts";
import { damaged } from "./trouble.ts";

/** Tied to events.ts by its type, so that readers start without loading the schemas. */
export const FACT_VERSION: Fact["v"] = 1;
/** Few enough that what is parsed of a block dies young: four times as many cost a third more time to read. */
const BLOCK_FACTS = 128;
const MAIN_LANE = "main";

/** The last fact of a run: its seq and its hash. */
export interface Link {
  seq: number;
  hash: string;
}

/** A link whose hash can be gone on from. Never changed: what follows it is another. */
export interface Stand extends Link {
  /** The hash of its block so far; not looked at where the next fact begins a block. */
  readonly block: Hash | undefined;
}
/** A stand that facts can be read and written from. */
export interface Tip extends Stand {
  /** Of its block so far, whole; none where the next fact begins a block. */
  readonly facts: readonly Fact[];
}
/** What the first fact follows. */
export const ORIGIN: Tip = { seq: -1, hash: "", block: undefined, facts: [] };

export interface Sealed extends Link {
  body: string;
}

export interface Stamp {
  run: string;
  epoch: number;
  at: number;
  elapsed: number;
}

/** First and last seq of the block that a seq is in. */
export function blockOf(seq: number): { first: number; last: number } {
  const first = seq - (seq % BLOCK_FACTS);
  return { first, last: first + BLOCK_FACTS - 1 };
}

const isLast = (seq: number): boolean => (seq + 1) % BLOCK_FACTS === 0;

/** The chain after `count` more bodies, given as one text with commas between; not over the end of the tip's block. */
export function extend(tip: Stand, { bodies, count }: { bodies: string; count: number }): Stand {
  const begins = (tip.seq + 1) % BLOCK_FACTS === 0;
  const block =
    begins || tip.block === undefined ? createHash("sha256").update(tip.hash) : tip.block.copy().update(",");
  block.update(bodies);
  const seq = tip.seq + count;
  // What follows the last fact of a block goes on from its hash alone.
  if (isLast(seq)) return { seq, hash: block.digest("hex"), block: undefined };
  return { seq, hash: block.copy().digest("hex"), block };
}

interface SealOptions {
  after: Tip;
  stamp: Stamp;
  redact: Redact;
}

export function seal(fact: NewFact, { after, stamp, redact }: SealOptions): { fact: Fact; body: string; tip: Tip } {
  const { lane = MAIN_LANE, ...rest } = redacted(fact, redact);
  const { run, epoch, at, elapsed } = stamp;
  const whole = { v: FACT_VERSION, lane, seq: after.seq + 1, at, elapsed, epoch, ...rest, run } as Fact;
  const body = JSON.stringify(shorten(whole, after.facts));
  return { fact: whole, body, tip: advance(after, { bodies: body, block: [...after.facts, whole] }) };
}

/** The tip after the facts of some bodies, with which the block is `block`. */
export function advance(tip: Tip, { bodies, block }: { bodies: string; block: readonly Fact[] }): Tip {
  const stand = extend(tip, { bodies, count: block.length - tip.facts.length });
  return { ...stand, facts: isLast(stand.seq) ? [] : block };
}

/** The block up to the last of some bodies; undefined when they are not this many that follow the tip. */
export function opened(bodies: unknown, { run, tip, count }: { run: string; tip: Tip; count: number }) {
  const told = parsed(bodies);
  if (told?.length !== count) return undefined;
  const block: Fact[] = [...tip.facts];
  const place = { run, before: block };
  let { seq } = tip;
  for (const one of told) {
    const fact = one === null ? undefined : lengthen(one, place);
    if (fact?.seq !== (seq += 1)) return undefined;
    block.push(fact);
  }
  return block;
}

function parsed(bodies: unknown): (Told | null)[] | undefined {
  if (typeof bodies !== "string") return undefined;
  try {
    return JSON.parse(`[${bodies}]`) as (Told | null)[];
  } catch {
    return undefined;
  }
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

/** A row as it is found: its seq, its body, its hash in hex. */
export interface Row {
  seq: number;
  body: unknown;
  hash: string;
}

/** The error for rows after `tip` that do not lead to the head: names the first that is not what was written. */
export function diagnose(
  rows: readonly Row[],
  { run, head, tip }: { run: string; head: Link; tip: Tip },
): TerminalError {
  let stand: Stand = tip;
  for (const { seq, body, hash } of rows) {
    if (seq !== stand.seq + 1 || typeof body !== "string") break;
    const next = extend(stand, { bodies: body, count: 1 });
    if (next.hash !== hash) break;
    stand = next;
  }
  const wrong = Math.min(stand.seq + 1, head.seq);
  return damaged(`run ${run}, fact ${wrong} is missing or not what was written`);
}
