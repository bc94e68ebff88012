/**
 * The agent's stream. Lines are collected and committed together, so that a chatty agent costs a few transactions a
 * second and never waits for the disk. It may lose its last moments; nothing is decided by it.
 */
import { TerminalError } from "../errors.ts";
import type { Redact, Trace, TraceLine } from "../ports.ts";
import { bounded } from "./bounded.ts";
import type { Changes } from "./changes.ts";
import type { Store } from "./sqlite.ts";
import { counted } from "../plural.ts";

/** Half of what is promised, to leave room for a busy event loop. */
const GROUP_COMMIT_MS = 50;
/** As many lines are committed at once, without waiting for the timer. */
const MAX_GROUP_LINES = 1_000;
/** Kept while the disk refuses; older lines are then dropped and counted. */
const MAX_PENDING_LINES = 10_000;
const READ_CHUNK_LINES = 1_000;

interface NumberedLine {
  n: number;
  line: TraceLine;
}

export interface TailedTrace extends Trace {
  /** What is there from `from` on, piece by piece: a long trace need not be held. */
  scan(run: string, options?: { from?: number; turn?: number | undefined }): Iterable<NumberedLine>;
  /** The number of the newest line; 0 when there is none. */
  newest(run: string): number;
  /** Lines from `from` on, then new ones as any process writes them, until aborted. */
  tail(run: string, options: { from: number; signal: AbortSignal }): AsyncIterable<NumberedLine>;
  close(): void;
}

interface TraceParts {
  store: Store;
  changes: Changes;
  redact: Redact;
}

type Pending = readonly [run: string, turn: number, at: number, kind: string, data: string];

export function makeTrace({ store, changes, redact }: TraceParts): TailedTrace {
  let pending: Pending[] = [];
  let timer: NodeJS.Timeout | undefined;
  let failure: unknown;
  let dropped = 0;
  let nextCommit = MAX_GROUP_LINES;

  const take = (run: string, line: TraceLine): void => {
    try {
      pending.push([run, line.turn, line.at, line.kind, bounded(line.data, redact)]);
    } catch (error) {
      failure = error;
      dropped += 1;
    }
  };

  const commit = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (pending.length === 0) return;
    try {
      const database = store.always();
      database.write(() => {
        const insert = database.statement("INSERT INTO lines (run, turn, at, kind, data) VALUES (?, ?, ?, ?, ?)");
        for (const line of pending) insert.run(...line);
      });
      pending = [];
      nextCommit = MAX_GROUP_LINES;
    } catch (error) {
      failure = error;
      const excess = Math.max(0, pending.length - MAX_PENDING_LINES);
      pending.splice(0, excess);
      dropped += excess;
      nextCommit = pending.length + MAX_GROUP_LINES;
    }
  };

  const lines = (run: string, { from, turn }: { from: number; turn: number | undefined }): NumberedLine[] => {
    const database = store.existing();
    if (database === undefined) return [];
    const select = "SELECT n, turn, at, kind, data FROM lines WHERE run = ? AND n >= ?";
    const rows = database.read(() =>
      turn === undefined
        ? database.statement(`${select} ORDER BY n LIMIT ${READ_CHUNK_LINES}`).all(run, from)
        : database.statement(`${select} AND turn = ? ORDER BY n LIMIT ${READ_CHUNK_LINES}`).all(run, from, turn),
    );
    return (rows as unknown as [number, number, number, string, string][]).map(toLine);
  };

  function* scan(run: string, { from = 0, turn }: { from?: number; turn?: number | undefined } = {}) {
    for (let next = from; ;) {
      const some = lines(run, { from: next, turn });
      yield* some;
      if (some.length < READ_CHUNK_LINES) return;
      next = (some.at(-1)?.n ?? next) + 1;
    }
  }

  return {
    write(run, line) {
      take(run, line);
      if (pending.length >= nextCommit) commit();
      else timer ??= setTimeout(commit, GROUP_COMMIT_MS);
    },
    read: async (run, options) => [...scan(run, options)],
    scan,
    newest(run) {
      const database = store.existing();
      if (database === undefined) return 0;
      const row = database.read(() => database.statement("SELECT max(n) FROM lines WHERE run = ?").get(run));
      return (row as unknown as [number | null])[0] ?? 0;
    },
    async *tail(run, { from, signal }) {
      let next = from;
      while (!signal.aborted) {
        const version = changes.version();
        const some = lines(run, { from: next, turn: undefined });
        for (const numbered of some) {
          yield numbered;
          next = numbered.n + 1;
          if (signal.aborted) return;
        }
        if (some.length < READ_CHUNK_LINES) await changes.after(version, signal);
      }
    },
    async flush() {
      commit();
      if (failure === undefined) return;
      const lost = dropped + pending.length;
      const cause = failure;
      failure = undefined;
      if (lost > 0)
        throw new TerminalError(
          `${counted(lost, "line")} of the agent's stream did not reach the disk: ${wordsOf(cause)}`,
          {
            cause,
            hint: "the facts are not touched by this; check space, rights and `ulimit -n` where pawl keeps its state",
          },
        );
    },
    close() {
      commit();
      store.close();
    },
  };
}

const wordsOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

function toLine([n, turn, at, kind, data]: [number, number, number, string, string]): NumberedLine {
  return { n, line: { at, turn, kind, data: parsed(data) } };
}

/** A damaged line is shown as what it is; the ones around it still tell what happened. */
function parsed(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return { damaged: data };
  }
}
