/** The journal port on SQLite: runs are made, owned, read and followed here. Appending is the owner's, in owned.ts. */
import { TerminalError, UsageError } from "../errors.ts";
import type { Fact } from "../events.ts";
import type { Journal, Owner, OwnedRun, Redact, RunRow } from "../ports.ts";
import { insertFacts, prepare, type Author } from "./append.ts";
import { FACT_VERSION, ORIGIN } from "./chain.ts";
import type { Changes } from "./changes.ts";
import { makeOwnedRun } from "./owned.ts";
import { readFacts, type Cursor } from "./read.ts";
import { allRuns, insertRun, needDatabase, needRun, runAt, updateRun, type RunRecord } from "./runs.ts";
import type { Database, Store } from "./sqlite.ts";

export interface JournalParts {
  store: Store;
  changes: Changes;
  redact: Redact;
  author: () => Promise<Author>;
  /** Types a driver may go on over; undefined for who never drives. */
  knownTypes: ReadonlySet<string> | undefined;
  isAlive: (owner: Owner) => boolean;
  wall: () => number;
}

export function makeJournal(parts: JournalParts): Journal {
  const { store, redact } = parts;
  return {
    async create(run, first, about) {
      const author = await parts.author();
      const at = parts.wall();
      const { sealed, head } = prepare([first], { ...author, after: ORIGIN, stamp: { run, epoch: 0, at, elapsed: 0 } });
      const fresh = {
        run,
        createdAt: Math.round(at),
        repository: about.repository,
        goal: redact(about.goal),
        head,
      };
      const database = store.always();
      database.write(() => {
        const { number } = insertRun(database, { ...fresh, epoch: 0, owner: undefined, queued: 0, taken: 0 });
        insertFacts(database, { number, sealed });
      });
    },
    own: async (run, owner, replay) => own(parts, { run, owner, replay }),
    async read(run, from = 0) {
      const facts: Fact[] = [];
      const each = (fact: Fact): unknown => facts.push(fact);
      readOn(needDatabase(store, run), { run, cursor: { next: from, tip: undefined }, each });
      return facts;
    },
    follow: (run, options) => follow(parts, { run, ...options }),
    async runs() {
      const database = store.existing();
      if (database === undefined) return [];
      return database.read(() => allRuns(database)).map((record) => toRunRow(record, parts));
    },
    close: () => store.close(),
  };
}

/** Reads what there is from the cursor on; returns where the reader stands then. */
function readOn(
  database: Database,
  { run, cursor, each }: { run: string; cursor: Cursor; each: (fact: Fact) => unknown },
): { record: RunRecord; cursor: Cursor } {
  return database.read(() => {
    const record = needRun(database, run);
    return { record, cursor: readFacts(database, { record, cursor, each }) };
  });
}

async function* follow(parts: JournalParts, options: { run: string; from: number; signal: AbortSignal }) {
  const { run, from, signal } = options;
  let cursor: Cursor = { next: from, tip: undefined };
  while (!signal.aborted) {
    const version = parts.changes.version();
    const facts: Fact[] = [];
    const each = (fact: Fact): unknown => facts.push(fact);
    ({ cursor } = readOn(needDatabase(parts.store, run), { run, cursor, each }));
    for (const fact of facts) {
      yield fact;
      if (signal.aborted) return;
    }
    await parts.changes.after(version, signal);
  }
}

interface Taking {
  run: string;
  owner: Owner;
  replay: ((fact: Fact) => void) | undefined;
}

/** The long read needs no lock; the lease is then taken in a moment, with what was appended meanwhile. */
function own(parts: JournalParts, { run, owner, replay = () => undefined }: Taking): OwnedRun {
  const each = (fact: Fact): void => {
    refuseUnknown(fact, parts);
    replay(fact);
  };
  const database = needDatabase(parts.store, run);
  refuseWhileDriven(
    database.read(() => needRun(database, run)),
    { owner, parts },
  );
  const { record, cursor } = readOn(database, { run, cursor: { next: 0, tip: ORIGIN }, each });
  return database.write(() => {
    const now = runAt(database, record.number);
    refuseWhileDriven(now, { owner, parts });
    const { tip = ORIGIN } = readFacts(database, { record: now, cursor, each });
    const owned = { ...now, epoch: now.epoch + 1, owner };
    updateRun(database, owned);
    return makeOwnedRun(owned, { ...parts, database, tip });
  });
}

function refuseWhileDriven(record: RunRecord, { owner, parts }: { owner: Owner; parts: JournalParts }): void {
  const present = record.owner;
  if (present === undefined || isSame(present, owner) || !parts.isAlive(present)) return;
  throw new UsageError(`run ${record.run} is driven already, by process ${present.pid} on ${present.host}`, {
    hint: `follow it with \`pawl logs ${record.run} --follow\`, or stop it with \`pawl stop ${record.run}\``,
  });
}

function isSame(one: Owner, other: Owner): boolean {
  return (
    one.pid === other.pid && one.startedAt === other.startedAt && one.boot === other.boot && one.host === other.host
  );
}

function refuseUnknown(fact: Fact, { knownTypes }: JournalParts): void {
  if (fact.v === FACT_VERSION && knownTypes?.has(fact.type) !== false) return;
  const { run, seq, type, v } = fact;
  throw new TerminalError(
    `the journal was written by a newer pawl (run ${run}, fact ${seq}: type ${type}, version ${v})`,
    {
      hint: "update pawl to drive this run; reading it works",
    },
  );
}

function toRunRow(record: RunRecord, { isAlive }: JournalParts): RunRow {
  const { run, createdAt, repository, goal, head } = record;
  const owner = record.owner !== undefined && isAlive(record.owner) ? record.owner : undefined;
  return { run, createdAt, repository, goal, owner, lastSeq: head.seq };
}
