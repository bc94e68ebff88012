/**
 * Taking a run out of the journal for good: its facts, its inbox, its trace, and blobs that no fact names any more. Only
 * for runs that nobody drives; the count of runs goes down with its row, so that a lost row is still noticed.
 */
import { readdirSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../errors.ts";
import type { Owner } from "../ports.ts";
import { deleteRun, needDatabase, needRun } from "./runs.ts";
import { SPAN } from "./schema.ts";
import type { Store } from "./sqlite.ts";

/** What is younger may be about to be named by a fact. */
const YOUNG_BLOB_MS = 24 * 3_600_000;
const SHARD = /^[0-9a-f]{2}$/;
const REST = /^[0-9a-f]{62}$/;
const FACTS_AT_ONCE = 1_000;

interface Places {
  store: Store;
  traceStore: Store;
  blobs: string;
}

export function forgetRun({ store, traceStore }: Places, { run, isAlive }: Forgetting): void {
  const database = needDatabase(store, run);
  database.write(() => {
    const record = needRun(database, run);
    const { number, owner } = record;
    if (owner !== undefined && isAlive(owner))
      throw new UsageError(`run ${run} is driven by process ${owner.pid} on ${owner.host}`, {
        hint: `stop it first: pawl stop ${run} --now --wait`,
      });
    for (const table of ["facts", "inbox"])
      database.statement(`DELETE FROM ${table} WHERE id >= ? AND id < ?`).run(number * SPAN, (number + 1) * SPAN);
    deleteRun(database, record);
  });
  const trace = traceStore.existing();
  trace?.write(() => trace.statement("DELETE FROM lines WHERE run = ?").run(run));
}

interface Forgetting {
  run: string;
  isAlive: (owner: Owner) => boolean;
}

export interface BlobSweep {
  /** ms since 1970. */
  now: number;
  /** As if these were forgotten already, and nothing is removed. */
  without?: readonly string[];
}

/** Removes blobs that no fact names; returns how much that is. */
export function sweepBlobs({ store, blobs }: Places, { now, without }: BlobSweep): { files: number; bytes: number } {
  const named = namedIn(store, without ?? []);
  const freed = { files: 0, bytes: 0 };
  for (const { hash, path } of blobsIn(blobs)) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined || named.has(hash) || stat.mtimeMs > now - YOUNG_BLOB_MS) continue;
    if (without === undefined) unlinkSync(path);
    freed.files += 1;
    freed.bytes += stat.size;
  }
  return freed;
}

function* blobsIn(dir: string): Iterable<{ hash: string; path: string }> {
  for (const shard of namesIn(dir).filter((name) => SHARD.test(name)))
    for (const rest of namesIn(join(dir, shard)).filter((name) => REST.test(name)))
      yield { hash: `${shard}${rest}`, path: join(dir, shard, rest) };
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** Read as text: a fact that cannot be understood keeps its blobs, too. */
function namedIn(store: Store, without: readonly string[]): Set<string> {
  const named = new Set<string>();
  const database = store.existing();
  if (database === undefined) return named;
  const spared = without.map((run) => needRun(database, run).number);
  const select = database.statement(`SELECT id, body FROM facts WHERE id > ? ORDER BY id LIMIT ${FACTS_AT_ONCE}`);
  for (let after = -1; ;) {
    const rows = select.all(after) as unknown as [number, string][];
    for (const [id, body] of rows)
      if (!spared.includes(Math.floor(id / SPAN)))
        for (const [hash] of body.matchAll(/\b[0-9a-f]{64}\b/g)) named.add(hash);
    if (rows.length < FACTS_AT_ONCE) return named;
    after = rows.at(-1)?.[0] ?? after;
  }
}
