/** Reading a run's facts: in chunks, each checked against the chain and the whole against the run's head. */
import type { Fact } from "../events.ts";
import { chainReader, diagnose, openAll, type Link } from "./chain.ts";
import type { RunRecord } from "./runs.ts";
import { SPAN } from "./schema.ts";
import type { Database } from "./sqlite.ts";
import { damaged } from "./trouble.ts";

/** Few enough that the texts of a chunk die young. */
const CHUNK_FACTS = 512;

/** Where a reader stands: the next seq it wants, and the hash of the one before when it has seen that. */
export interface Cursor {
  next: number;
  prev: string | undefined;
}

interface Reading {
  record: RunRecord;
  cursor: Cursor;
  /** Given one fact after the other, so that a long journal need not be held. */
  each: (fact: Fact) => void;
}

/** Inside a read transaction, with the record read in it. Everything from the cursor to the head. */
export function readFacts(database: Database, { record, cursor, each }: Reading): void {
  const { run, head } = record;
  if (cursor.next > head.seq) {
    checkStand(cursor, record);
    return;
  }
  const chain = chainReader({ run, from: cursor.next, prev: cursor.prev }, each);
  for (let from = cursor.next; from <= head.seq; from += CHUNK_FACTS) {
    const bodies = textsOf(database, { record, from, to: Math.min(head.seq, from + CHUNK_FACTS - 1) });
    const facts = openAll(bodies);
    if (facts === undefined || !bodies.every((body, i) => chain.take(body, facts[i]))) {
      throw explained(database, { record, from: cursor.next });
    }
  }
  if (!chain.reaches(head)) throw explained(database, { record, from: cursor.next });
}

/** A reader that has seen the head must find it unchanged; one that waits for the future cannot say. */
function checkStand({ next, prev }: Cursor, { run, head }: RunRecord): void {
  if (prev === undefined) return;
  if (next !== head.seq + 1 || prev !== head.hash) throw damaged(`run ${run} was rewritten behind fact ${head.seq}`);
}

export function bodiesOf(database: Database, { record, from, to }: { record: RunRecord; from: number; to: number }) {
  const base = record.number * SPAN;
  const select = database.statement("SELECT body FROM facts WHERE id BETWEEN ? AND ? ORDER BY id");
  return select.all(base + from, base + to) as unknown as [unknown][];
}

/** Many bodies in one row, which is much faster than a row each: JSON on one line holds no line break. */
function textsOf(database: Database, { record, from, to }: { record: RunRecord; from: number; to: number }): string[] {
  const base = record.number * SPAN;
  const select = database.statement(
    "SELECT group_concat(body, char(10)) FROM (SELECT body FROM facts WHERE id BETWEEN ? AND ? ORDER BY id)",
  );
  const [joined] = select.get(base + from, base + to) as unknown as [unknown];
  return typeof joined === "string" ? joined.split("\n") : [];
}

function explained(database: Database, { record, from }: { record: RunRecord; from: number }) {
  const rows = bodiesOf(database, { record, from, to: record.head.seq });
  return diagnose(
    rows.map(([body]) => body),
    record,
  );
}

export function standAfter(head: Link): Cursor {
  return { next: head.seq + 1, prev: head.hash };
}
