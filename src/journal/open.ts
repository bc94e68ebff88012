/**
 * pawl's state directory as ports: journal, inbox, trace, blobs. Nothing is opened or created before it is needed, so
 * that looking at an empty place leaves it empty and `status` starts fast.
 */
import { join } from "node:path";
import type { Blobs, Inbox, Journal, Owner } from "../ports.ts";
import type { Author, Validate } from "./append.ts";
import { makeBlobs } from "./blobs.ts";
import { watchChanges } from "./changes.ts";
import { makeJournal } from "./facts.ts";
import { forgetRun, sweepBlobs } from "./forget.ts";
import { makeInbox } from "./inbox.ts";
import { JOURNAL_MIGRATIONS, TRACE_MIGRATIONS } from "./schema.ts";
import { makeStore } from "./sqlite.ts";
import { makeTrace, type TailedTrace } from "./trace.ts";
import { exportRun, importRun } from "./transfer.ts";
import type { Redactor } from "./redact.ts";

export interface JournalOptions {
  /** pawl's state directory; made with mode 0700 on the first write. */
  dir: string;
  redact: Redactor;
  /** What only a driver needs: throws for a fact this pawl may not write. Asked for when the first is to be written. */
  validator?: () => Promise<Validate>;
  /** What only a driver needs: fact types it can go on over. */
  knownTypes?: ReadonlySet<string>;
  /** Without it every recorded owner counts as alive. */
  isAlive?: (owner: Owner) => boolean;
  /** ms since 1970. */
  wall?: () => number;
}

export interface JournalHandle {
  journal: Journal;
  inbox: Inbox;
  trace: TailedTrace;
  blobs: Blobs;
  /** One checked fact a line, whole. */
  exportRun(run: string): string;
  importRun(jsonl: string): string;
  /** For good: facts, inbox and trace. UsageError while a living owner drives it. */
  forget(run: string): void;
  /** Removes blobs that no fact names any more; with `without` only counts, as if those runs were forgotten. */
  sweepBlobs(options?: { without?: readonly string[] }): { files: number; bytes: number };
  /** Gives what was forgotten back to the disk. */
  compact(): void;
  /** Commits what the trace still holds, then lets go of the files. */
  close(): void;
}

export function openJournal(options: JournalOptions): JournalHandle {
  const { dir, redact, validator = async () => () => {}, knownTypes, isAlive = () => true, wall = Date.now } = options;
  const store = makeStore(join(dir, "journal.db"), { durability: "every-commit", migrations: JOURNAL_MIGRATIONS });
  const traceStore = makeStore(join(dir, "trace.db"), { durability: "eventually", migrations: TRACE_MIGRATIONS });
  let loading: Promise<Author> | undefined;
  const author = (): Promise<Author> => (loading ??= validator().then((validate) => ({ redact, validate })));
  const journal = makeJournal({ store, changes: watchChanges(store), redact, author, knownTypes, isAlive, wall });
  const trace = makeTrace({ store: traceStore, changes: watchChanges(traceStore), redact });
  const places = { store, traceStore, blobs: join(dir, "blobs") };
  return {
    journal,
    inbox: makeInbox({ store, redact, wall }),
    trace,
    blobs: makeBlobs({ dir: places.blobs, redact }),
    exportRun: (run) => exportRun(store, run),
    importRun: (jsonl) => importRun(store, { jsonl, redact }),
    forget: (run) => forgetRun(places, { run, isAlive }),
    sweepBlobs: (options) => sweepBlobs(places, { now: wall(), ...options }),
    compact() {
      store.compact();
      traceStore.compact();
    },
    close() {
      trace.close();
      store.close();
    },
  };
}
