/**
 * One look at all processes that loses none which lives on in another. A look takes time, on a busy machine much: a
 * program that forks and exits meanwhile is in the list under a pid that is gone, and not yet under the one that it has.
 */
import { isStarting, pids, variableOfEach } from "./process-table.ts";

/**
 * Each looks only at what is new. A machine that starts programs without end must not hold us for ever; but with 17 at
 * work on two cores one program took longer than 50 rounds to start, twice in a row, and got away.
 */
const MAX_ROUNDS = 250;
/** Between two rounds where a program is just being started. */
const ROUND_MS = 1;

export interface ProcessTable {
  pids(): number[];
  /** undefined: it has none. Left out: nothing could be read of it, perhaps not yet. */
  variableOfEach(name: string, among: readonly number[]): Map<number, string | undefined>;
  isStarting(pid: number): boolean;
}

export interface Look {
  /** Everything that was seen, also what has ended since. */
  all: number[];
  /** What each was started with for the variable; those without it are left out. */
  values: Map<number, string>;
}

export function lookFor(name: string, table: ProcessTable = { pids, variableOfEach, isStarting }): Look {
  const seen = new Set<number>();
  const read = new Set<number>();
  const values = new Map<number, string>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const fresh = table.pids().filter((pid) => !read.has(pid));
    if (fresh.length === 0) break;
    for (const pid of fresh) seen.add(pid);
    const told = table.variableOfEach(name, fresh);
    const untold = fresh.filter((pid) => !told.has(pid));
    const unreadable = new Set(untold.filter((pid) => table.isStarting(pid)));
    // One that was being started at the first look may have come to its end of that before the second.
    const started = untold.filter((pid) => !unreadable.has(pid));
    const toldLate = started.length === 0 ? [] : table.variableOfEach(name, started);
    for (const [pid, value] of [...told, ...toldLate]) if (value !== undefined) values.set(pid, value);
    for (const pid of fresh) if (!unreadable.has(pid)) read.add(pid);
    if (unreadable.size > 0) pause();
  }
  return { all: [...seen], values };
}

/** Nothing else may happen meanwhile: what is looked for may fork away. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ROUND_MS);
}
