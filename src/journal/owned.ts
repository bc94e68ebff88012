/**
 * A run in the hands of its owner. Each write checks, in its own transaction, that this owner's epoch is still the
 * run's and that the head is the one it knows. After a failed write nothing more is accepted: whether the last one
 * reached the disk is then only known by reading the journal again.
 */
import { TerminalError } from "../errors.ts";
import type { Fact, NewFact } from "../events.ts";
import type { OwnedRun } from "../ports.ts";
import { insertFacts, prepare, type Author } from "./append.ts";
import type { Tip } from "./chain.ts";
import { POLL_MS, type Changes } from "./changes.ts";
import { waiting } from "./inbox.ts";
import { runAt, updateRun, type RunRecord } from "./runs.ts";
import type { Database } from "./sqlite.ts";

interface OwnedParts {
  database: Database;
  changes: Changes;
  author: () => Promise<Author>;
  /** The end of the run's chain, which has been read to there. */
  tip: Tip;
}

interface Time {
  at: number;
  elapsed: number;
}

export function makeOwnedRun({ run, number, epoch }: RunRecord, parts: OwnedParts): OwnedRun {
  const { database, changes } = parts;
  let head = parts.tip;
  let failure: unknown;

  const prepared = (facts: readonly NewFact[], { time, author }: { time: Time; author: Author }) =>
    prepare(facts, { ...author, after: head, stamp: { run, epoch, ...time } });

  const commit = (facts: (record: RunRecord) => ReturnType<typeof prepare>, taken?: "directives"): Fact[] => {
    if (failure !== undefined) throw cannotGoOn(run, failure);
    try {
      const written = database.write(() => {
        const record = fenced(runAt(database, number));
        const next = facts(record);
        insertFacts(database, { number, sealed: next.sealed });
        updateRun(database, { ...record, head: next.head, ...(taken && { taken: record.queued }) });
        return next;
      });
      head = written.head;
      return written.facts;
    } catch (error) {
      failure = error;
      throw error;
    }
  };

  const fenced = (record: RunRecord): RunRecord => {
    if (record.epoch === epoch && record.head.seq === head.seq && record.head.hash === head.hash) return record;
    const who = record.owner === undefined ? "" : ` (process ${record.owner.pid} on ${record.owner.host})`;
    throw new TerminalError(`another driver has taken over run ${run}${who}`, {
      hint: "this driver stops; nothing it did after the takeover is recorded",
    });
  };

  const isWaiting = (): boolean => {
    const { queued, taken } = runAt(database, number);
    return queued > taken;
  };

  return {
    epoch,
    async append(facts, time) {
      if (facts.length === 0) return [];
      const author = await parts.author();
      const next = prepared(facts, { time, author });
      return commit(() => next);
    },
    async takeDirectives(time) {
      if (!database.read(isWaiting)) return [];
      const author = await parts.author();
      return commit((record) => prepared(waiting(database, record).map(toFact), { time, author }), "directives");
    },
    async inboxChanged(signal) {
      while (!signal.aborted) {
        try {
          const version = changes.version();
          if (database.read(isWaiting)) return;
          await changes.after(version, signal);
        } catch {
          // Whoever looks next gets the error; the pause keeps a broken disk from becoming a busy loop.
          return pause(signal);
        }
      }
    },
    async release() {
      try {
        database.write(() => {
          const record = runAt(database, number);
          if (record.epoch === epoch) updateRun(database, { ...record, owner: undefined });
        });
      } catch (error) {
        // A journal that failed before is told already, and a dead owner's lease is taken over anyway.
        if (failure === undefined) throw error;
      }
    },
  };
}

function toFact({ id, directive, source, queuedAt }: ReturnType<typeof waiting>[number]): NewFact {
  return { type: "directive-received", id, directive, source, queuedAt };
}

function cannotGoOn(run: string, cause: unknown): TerminalError {
  return new TerminalError(`run ${run} cannot be recorded any more after an earlier failure`, {
    hint: `drive it again with \`pawl resume ${run}\`: it goes on from what is recorded`,
    cause,
  });
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, POLL_MS);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
