/** The port of the journal: facts, the inbox that views write to, the trace of the agent's stream, and blobs. */
import type { Directive, Fact, NewFact } from "../events.ts";

/** Who drives: enough to tell a dead owner from a living one, on this machine and across reboots. */
export interface Owner {
  pid: number;
  startedAt: string;
  boot: string;
  host: string;
}

export interface RunRow {
  run: string;
  createdAt: number;
  repository: string;
  goal: string;
  /** The living owner, undefined when nobody drives it. */
  owner: Owner | undefined;
  lastSeq: number;
}

export interface Receipt {
  id: string;
  directive: Directive;
  source: string;
  queuedAt: number;
}

/** Facts at rest. Reading never locks out the owner; corruption is a TerminalError that names run and seq. */
export interface Journal {
  /** Makes the run with its first fact (`run-start`, seq 0). UsageError when the id exists. */
  create(run: string, first: NewFact, about: { repository: string; goal: string }): Promise<void>;
  /**
   * Takes the lease under a new epoch; `replay` is given every fact in order, none of which may be believed before this
   * resolves: the chain is checked to its end. UsageError naming the owner when a living one drives it. A journal with
   * fact types or versions this pawl does not know is refused (TerminalError).
   */
  own(run: string, owner: Owner, replay?: (fact: Fact) => void): Promise<OwnedRun>;
  read(run: string, from?: number): Promise<Fact[]>;
  /** Yields facts from `from` on, then new ones as any process appends them, until aborted. */
  follow(run: string, options: { from: number; signal: AbortSignal }): AsyncIterable<Fact>;
  runs(): Promise<RunRow[]>;
  close(): void;
}

export interface OwnedRun {
  readonly epoch: number;
  /** Durable before it resolves, all or nothing; refused (TerminalError) when another owner has taken over. */
  append(facts: readonly NewFact[], time: { at: number; elapsed: number }): Promise<Fact[]>;
  /** Moves every queued directive into the journal as `directive-received`, in one transaction; [] when none. */
  takeDirectives(time: { at: number; elapsed: number }): Promise<Fact[]>;
  /** Resolves when the inbox may hold something new, or when aborted. Never rejects. */
  inboxChanged(signal: AbortSignal): Promise<void>;
  release(): Promise<void>;
}

/** Where views write. A row here is the receipt `queued`, also while nobody drives. */
export interface Inbox {
  /** The same key twice is one row. */
  put(run: string, directive: Directive, meta: { source: string; key?: string }): Promise<Receipt>;
  queued(run: string): Promise<Receipt[]>;
}

export interface TraceLine {
  at: number;
  turn: number;
  kind: string;
  /** JSON, redacted, bounded. */
  data: unknown;
}
/** The agent's stream: tailed live, durable within 100 ms, never folded. */
export interface Trace {
  write(run: string, line: TraceLine): void;
  read(run: string, options?: { from?: number; turn?: number }): Promise<{ n: number; line: TraceLine }[]>;
  flush(): Promise<void>;
}

/** Content-addressed, redacted before they are written. */
export interface Blobs {
  put(content: string | Uint8Array): Promise<{ hash: string; bytes: number }>;
  /** A writer for what is too large for memory; `end` returns the hash. Content beyond `maxBytes` is counted, not kept. */
  writer(maxBytes: number): BlobWriter;
  get(hash: string): Promise<Uint8Array | undefined>;
}
export interface BlobWriter {
  write(chunk: Uint8Array): void;
  end(): Promise<{ hash: string; bytes: number; dropped: number }>;
}

/** Masks secrets. Applied at the one place that writes: journal, trace, blobs. */
export type Redact = (text: string) => string;
