/**
 * Where views leave directives for a driver that may be busy, or not there. The rows stay after they were taken, so
 * that a key given twice is one directive for good; the run's row says how many there are and how many were taken.
 */
import { UsageError } from "../errors.ts";
import type { Directive } from "../events.ts";
import type { Inbox, Receipt, Redact } from "../ports.ts";
import { redactValues } from "./chain.ts";
import { complaint } from "./directive.ts";
import { checksumOf, needDatabase, needRun, updateRun, type RunRecord } from "./runs.ts";
import { SPAN } from "./schema.ts";
import type { Database, Store } from "./sqlite.ts";
import { damaged } from "./trouble.ts";

const MAX_SOURCE_CHARS = 200;
const MAX_KEY_CHARS = 200;

interface InboxParts {
  store: Store;
  redact: Redact;
  wall: () => number;
}

export function makeInbox({ store, redact, wall }: InboxParts): Inbox {
  return {
    async put(run, directive, { source, key }) {
      refuseBad(directive, key);
      const masked = redactValues(directive, redact);
      const about = { source: redact(source).slice(0, MAX_SOURCE_CHARS), queuedAt: Math.round(wall()) };
      const database = needDatabase(store, run);
      return database.write(() => {
        const record = needRun(database, run);
        const n = record.queued;
        // The two kinds of key cannot meet: one is what the caller chose, the other the row's own place.
        const unique = key === undefined ? `${record.number} n ${n}` : `${record.number} k ${key}`;
        const before = database.statement(`${SELECT} WHERE key = ?`).get(unique) as unknown as Row | undefined;
        if (before !== undefined) return toReceipt(before, run);
        const receipt: Receipt = { id: `d${n + 1}`, directive: masked, ...about };
        const row = [record.number * SPAN + n, unique, JSON.stringify(receipt)] as const;
        database
          .statement("INSERT INTO inbox (id, key, body, checksum) VALUES (?, ?, ?, ?)")
          .run(...row, checksumOf(row));
        updateRun(database, { ...record, queued: n + 1 });
        return receipt;
      });
    },
    async queued(run) {
      const database = needDatabase(store, run);
      return database.read(() => waiting(database, needRun(database, run)));
    },
  };
}

type Row = readonly [id: number, key: string, body: string, checksum: string];
const SELECT = "SELECT id, key, body, checksum FROM inbox";

/** Inside a transaction, with the record read in it: what was put and not yet taken, in order. */
export function waiting(database: Database, { number, run, taken, queued }: RunRecord): Receipt[] {
  const rows = database
    .statement(`${SELECT} WHERE id >= ? AND id < ? ORDER BY id`)
    .all(number * SPAN + taken, number * SPAN + queued) as unknown as Row[];
  if (rows.length !== queued - taken) throw damaged(`directives of run ${run} are missing`);
  return rows.map((row, index) => {
    if (row[0] !== number * SPAN + taken + index) throw damaged(`directives of run ${run} are out of order`);
    return toReceipt(row, run);
  });
}

function toReceipt(row: Row, run: string): Receipt {
  if (checksumOf(row.slice(0, -1)) !== row[3]) throw damaged(`a directive of run ${run} is not what was written`);
  return JSON.parse(row[2]) as Receipt;
}

function refuseBad(directive: Directive, key: string | undefined): void {
  const wrong = key !== undefined && key.length > MAX_KEY_CHARS ? "its key is too long" : complaint(directive);
  if (wrong !== undefined) throw new UsageError(`the directive was not taken: ${wrong}`);
}
