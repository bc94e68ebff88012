/** Which runs the state folder need not keep any more, and letting go of them. What is kept is kept for a reason. */
import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Environment, State } from "../../compose.ts";
import { foldersOf, forgetRun } from "../../compose/forget.ts";
import { TerminalError } from "../../errors.ts";
import { fold } from "../../loop/fold.ts";
import { mainLane, WORK_MISSING, type RunState } from "../../loop/state.ts";
import type { RunRow } from "../../ports.ts";
import { tidyWork } from "../../workspace/forget.ts";

export interface Cleaning {
  /** Those that may be cleaned. */
  rows: readonly RunRow[];
  /** They were named: also young ones, ones that have not ended, and ones whose work is nowhere else. */
  named: boolean;
  /** Of the last fact, ms since 1970. */
  before: number;
  dryRun: boolean;
  environment: Environment;
}

export interface Cleaned {
  removed: { run: string; bytes: number }[];
  kept: { run: string; why: string }[];
  /** Of all that is gone, or would be: folders, blobs, the databases' own files. */
  bytes: number;
  blobs: number;
}

export async function cleanRuns(state: State, cleaning: Cleaning): Promise<Cleaned> {
  const { rows, named, before, dryRun, environment } = cleaning;
  const result: Cleaned = { removed: [], kept: [], bytes: 0, blobs: 0 };
  const gone: RunRow[] = [];
  for (const row of rows) {
    const read = await readRun(state, row);
    if (!named && read.lastAt > before) continue;
    const why = row.owner === undefined ? (named ? undefined : reasonToKeep(row, read.folded)) : drivenWords(row);
    if (why !== undefined) {
      result.kept.push({ run: row.run, why });
      continue;
    }
    const bytes = foldersOf(state, row).reduce((sum, folder) => sum + sizeOf(folder), 0);
    if (!dryRun) await forgetRun(state, row);
    result.removed.push({ run: row.run, bytes });
    gone.push(row);
  }
  if (gone.length === 0) return result;
  const databases = dryRun ? 0 : await tidied(state, { gone, environment });
  const blobs = state.sweepBlobs(dryRun ? { without: gone.map(({ run }) => run) } : {});
  result.blobs = blobs.files;
  result.bytes = result.removed.reduce((sum, { bytes }) => sum + bytes, 0) + blobs.bytes + databases;
  return result;
}

interface ReadRun {
  /** undefined when it cannot be read. */
  folded: RunState | undefined;
  lastAt: number;
}

async function readRun({ journal }: State, { run, createdAt }: RunRow): Promise<ReadRun> {
  try {
    const folded = fold(await journal.read(run));
    return { folded, lastAt: folded.at };
  } catch (error) {
    if (error instanceof TerminalError) return { folded: undefined, lastAt: createdAt };
    throw error;
  }
}

const drivenWords = ({ owner }: RunRow): string => `process ${owner?.pid} drives it`;

function reasonToKeep({ run }: RunRow, state: RunState | undefined): string | undefined {
  if (state === undefined) return "it cannot be read; name it to remove it all the same";
  if (state.outcome === undefined) return `it has not ended: pawl resume ${run}`;
  const { conflict, handOver } = mainLane(state);
  const isOnlyHere = conflict !== undefined || handOver !== undefined || state.outcome.rule === WORK_MISSING;
  return isOnlyHere ? `its work is on no branch: pawl restore ${run} --list` : undefined;
}

/** Returns by how much the databases shrank; what somebody uses now is left for another time. */
async function tidied(
  state: State,
  { gone, environment }: { gone: readonly RunRow[]; environment: Environment },
): Promise<number> {
  const rows = await state.journal.runs();
  for (const repository of new Set(gone.map((row) => row.repository))) {
    const others = rows.filter((row) => row.repository === repository);
    if (others.some(({ owner }) => owner !== undefined)) continue;
    await tidyWork({ stateDir: state.dir, repository, environment, isUnused: others.length === 0 });
  }
  if (rows.some(({ owner }) => owner !== undefined)) return 0;
  const before = databaseBytes(state);
  state.compact();
  return Math.max(0, before - databaseBytes(state));
}

const databaseBytes = ({ dir }: State): number =>
  ["journal.db", "journal.db-wal", "trace.db", "trace.db-wal"]
    .map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);

/** A folder that cannot be read counts as empty. */
function sizeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isDirectory()) return stats?.size ?? 0;
  try {
    return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
  } catch {
    return 0;
  }
}
