/** Reading a run's facts: block by block, each into the chain and the whole checked against the run's head. */
import type { Fact } from "../events.ts";
import { advance, blockOf, diagnose, opened, ORIGIN, type Row, type Tip } from "./chain.ts";
import type { RunRecord } from "./runs.ts";
import { SPAN } from "./schema.ts";
import type { Database } from "./sqlite.ts";
import { damaged } from "./trouble.ts";

/** Where a reader stands: the next seq it wants, and the end of the chain where it has seen the one before. */
export interface Cursor {
  next: number;
  tip: Tip | undefined;
}

interface Reading {
  record: RunRecord;
  cursor: Cursor;
  /** Given one fact after the other, so that a long journal need not be held. Believed only when the reading is done. */
  each: (fact: Fact) => void;
}

/** Inside a read transaction, with the record read in it. Everything from the cursor to the head; returns the stand. */
export function readFacts(database: Database, { record, cursor, each }: Reading): Cursor {
  const { run, head } = record;
  if (cursor.next > head.seq) {
    checkStand(cursor, record);
    return cursor;
  }
  const began = cursor.tip ?? tipBefore(database, { record, seq: blockOf(cursor.next).first });
  let tip = began;
  while (tip.seq < head.seq) {
    const seq = tip.seq + 1;
    const count = Math.min(head.seq, blockOf(seq).last) - tip.seq;
    const bodies = bodiesOf(database, { record, seq, count });
    const block = opened(bodies, { run, tip, count });
    if (block === undefined) throw explained(database, { record, tip: began });
    tip = advance(tip, { bodies: bodies as string, block });
    for (const fact of block) if (fact.seq >= Math.max(seq, cursor.next)) each(fact);
  }
  if (tip.hash !== head.hash) throw explained(database, { record, tip: began });
  return { next: head.seq + 1, tip };
}

/** A reader that has seen the head must find it unchanged; one that waits for the future cannot say. */
function checkStand({ tip }: Cursor, { run, head }: RunRecord): void {
  if (tip === undefined) return;
  if (tip.seq !== head.seq || tip.hash !== head.hash) throw damaged(`run ${run} was rewritten behind fact ${head.seq}`);
}

/** Where a block begins. Its hash is only believed once the chain from it has reached the head. */
function tipBefore(database: Database, { record, seq }: { record: RunRecord; seq: number }): Tip {
  if (seq === 0) return ORIGIN;
  const [row] = rowsOf(database, { record, from: seq - 1, to: seq - 1 });
  if (row === undefined) throw damaged(`run ${record.run}, fact ${seq - 1} is missing`);
  return { seq: seq - 1, hash: row.hash, block: undefined, facts: [] };
}

/**
 * Many bodies as one text with commas between, which is much faster than a row each. They come in the order of their
 * ids, since it is a range of these that is walked; to have SQLite say so takes half as long again, and the hash says it.
 */
function bodiesOf(
  database: Database,
  { record, seq, count }: { record: RunRecord; seq: number; count: number },
): unknown {
  const first = record.number * SPAN + seq;
  const select = database.statement("SELECT group_concat(body) FROM facts WHERE id BETWEEN ? AND ?");
  const [joined] = select.get(first, first + count - 1) as unknown as [unknown];
  return joined;
}

/** Row by row, for who wants each by itself. */
export function rowsOf(
  database: Database,
  { record, from, to }: { record: RunRecord; from: number; to: number },
): Row[] {
  const base = record.number * SPAN;
  const select = database.statement("SELECT id, body, hash FROM facts WHERE id BETWEEN ? AND ? ORDER BY id");
  const rows = select.all(base + from, base + to) as unknown as [id: number, body: unknown, hash: unknown][];
  return rows.map(([id, body, hash]) => ({
    seq: id - base,
    body,
    hash: hash instanceof Uint8Array ? Buffer.from(hash).toString("hex") : "",
  }));
}

function explained(database: Database, { record, tip }: { record: RunRecord; tip: Tip }) {
  const rows = rowsOf(database, { record, from: tip.seq + 1, to: record.head.seq });
  return diagnose(rows, { ...record, tip });
}
