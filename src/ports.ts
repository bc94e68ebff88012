/**
 * The edges. The kernel knows these interfaces and nothing behind them; a user extends pawl by passing an object that
 * satisfies one. Contracts are in the comments and are what `test/contracts/` checks.
 */
import type { FileChange, PathChange, TurnOutcome, Usage } from "./events.ts";
import type { Check, JudgeAbout, JudgedChange } from "./ports/check.ts";
import type { CodeRoom, OwnExecution } from "./ports/executor.ts";
import type { HookResult, RunHook } from "./ports/hook.ts";
import type {
  BlobWriter,
  Blobs,
  Inbox,
  Journal,
  OwnedRun,
  Owner,
  Receipt,
  Redact,
  RunRow,
  Trace,
  TraceLine,
} from "./ports/journal.ts";
import type { Leftover, Standing } from "./ports/standing.ts";
import type { FailedSetup, Ready, VerifyTree } from "./ports/verify-tree.ts";
import type { AgentSpec } from "./spec.ts";

// ── Clock ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Clock {
  /** Wall clock, ms since 1970. May jump. */
  wall(): number;
  /** Monotonic, ms, from an arbitrary origin. Never jumps. */
  mono(): number;
  /** Resolves after `ms` of monotonic time or when aborted, never rejects; any length, also beyond 2^31 ms. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

// ── Journal ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export type { BlobWriter, Blobs, Inbox, Journal, OwnedRun, Owner, Receipt, Redact, RunRow, Trace, TraceLine };

// ── Agent ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Something an agent cannot do, with the reason; shown to people and used by the contract suite. */
export interface Gap {
  cannot:
    | "say-now"
    | "switch-model"
    | "switch-model-now"
    | "rewind"
    | "resume"
    | "report-cost"
    | "inspect"
    | "ask"
    | "done-call";
  reason: string;
}

export interface OpenRequest {
  run: string;
  lane: string;
  /** Absolute; the agent's working directory. */
  workspace: string;
  /** Private to this run, lane and role, outside the workspace: the agent's own config, session files, temporary files. */
  home: string;
  /**
   * `ref` is chosen by pawl before the session exists, so that a crash in between loses nothing. `at`, for "rewind", is
   * `<ref of the session to fork>:<message id>`.
   */
  session: { ref: string; mode: "new" | "continue" | "rewind"; at?: string | undefined };
  agent: AgentSpec;
  model: string | undefined;
  /** Appended to the agent's own system prompt: instruction files of the base. Stable over the run, for the cache. */
  instructions: string;
  /**
   * A JSON Schema: the session has no tools and changes nothing, and a turn that is done ends with an `answer` that fits.
   * Undefined: it works.
   */
  answer?: Readonly<Record<string, unknown>> | undefined;
  /** The whole environment the agent's processes get, built from an allow-list, with the run's id in it. */
  environment: Readonly<Record<string, string>>;
  /** Where sockets of pawl's are found from inside the fence (`at`) and outside; undefined where loopback is shared. */
  sockets?: { folder: string; at: string } | undefined;
  /** Turns the agent's command into one inside its fence; undefined: it runs on the machine as it is. */
  confine?:
    | ((
        command: string,
        args: readonly string[],
        variables?: readonly string[],
      ) => { command: string; args: string[]; fds: number[]; held?: Held })
    | undefined;
}

/** What is known of a process while a fence holds it; see platform/fence/held.ts. */
interface Held {
  breaches(end?: { exitCode: number | null }): string[];
  readonly tooMuch: Promise<string>;
  release(): void;
}

export interface TurnRequest {
  /** The id of the user message in the agent's transcript. */
  uuid: string;
  prompt: string;
  /** Offsets into the prompt, in characters: what stands before one is the same in later prompts, for the cache. */
  breaks?: readonly number[];
}
export interface TurnLimits {
  idleTimeoutMs: number;
  turnTimeoutMs: number;
  completionGraceMs: number;
}

/** What a `say` or `model` directive came to. */
export type Delivery = "now" | "next-turn";

export type AgentEvent =
  | { type: "session-opened"; ref: string; model: string | null }
  /** The model has begun to answer a request: everything sent before is in it. */
  | { type: "request" }
  /** An assistant message is complete. */
  | { type: "message"; id: string }
  /** Whole blocks: an adapter joins what is streamed in pieces, so that no secret is cut in two before it is masked. */
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool-start"; id: string; name: string; input: unknown }
  | { type: "tool-end"; id: string; ok: boolean; output: string }
  /** Of this turn so far, cumulative. */
  | { type: "usage"; usage: Usage }
  /** The text of a directive given by `say` is in a request to the model. */
  | { type: "delivered"; directive: string }
  /**
   * The agent waits for a person: may it use a tool, or which way. Until it is answered neither idle nor turn time
   * passes. Only with an `ask` policy of the agent's spec; otherwise the adapter answers by policy itself.
   */
  | { type: "asked"; question: string; kind: "permission" | "question"; text: string; options: string[] }
  /** The model ran code in the sandbox of its provider. */
  | ({ type: "execution" } & OwnExecution)
  | { type: "retry"; attempt: number; delayMs: number; status: number | null }
  | { type: "notice"; text: string }
  | TurnEnd;

export interface TurnEnd {
  type: "turn-end";
  outcome: TurnOutcome;
  usage: Usage;
  /** The agent's final text of this turn: nothing of tools, thinking or earlier messages. */
  finalText: string;
  /** The last structured call of this turn by which the agent said how its work stands; null without one. */
  call: { is: "done" | "task" | "abort"; text: string } | null;
  /** Of a session that only answers; undefined when there is none. */
  answer?: unknown;
  messageId: string | null;
  contextTokens: number | null;
}

/** A person's, or policy's, answer to what the agent asked. */
export type Reply = { is: "allow" } | { is: "deny"; reason: string } | { is: "text"; text: string };

/** What became of a turn nobody saw the end of. */
export type Found =
  /** The prompt never reached the model. */
  | { is: "unknown" }
  /** It was under way; usage as far as the transcript tells. */
  | { is: "cut"; usage: Usage; tools: [string, number][]; messageId: string | null; executions?: OwnExecution[] }
  | { is: "ended"; end: TurnEnd; tools: [string, number][]; executions?: OwnExecution[] };

/** Takes turns. Never throws for the agent's, the model's or a tool's failure: the turn ends with an outcome. */
export interface Agent {
  readonly name: string;
  readonly gaps: readonly Gap[];
  /** Opens, resumes or rewinds. Failure to start shows as the first turn's outcome, not as a rejection. */
  open(request: OpenRequest): Promise<AgentSession>;
  /** Read-only: looks at what the agent left on disk. `request` as it was opened. */
  inspect(request: OpenRequest, turn: { uuid: string }): Promise<Found>;
}

export interface AgentSession {
  /**
   * Starts what takes long to start, beside other work. A promise: until its program runs, or could not be started; never
   * rejected, as a failure shows as the first turn's outcome.
   */
  warm?(): Promise<void> | undefined;
  /** Streams what happens; the last event is `turn-end`, exactly once, also after abort, crash or timeout. */
  turn(request: TurnRequest, limits: TurnLimits, signal: AbortSignal): AsyncIterable<AgentEvent>;
  /** Into the running turn, or "next-turn" when there is none or the agent cannot. */
  say(directive: string, text: string): Promise<Delivery>;
  setModel(model: string): Promise<Delivery>;
  /** To an `asked` event of the running turn. False when nobody waits for it any more. */
  reply?(question: string, reply: Reply): Promise<boolean>;
  /** Afterwards no process of it is left. */
  close(): Promise<void>;
}

// ── Workspace ───────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Base {
  commit: string | null;
  tree: string;
  branch: string | null;
  detached: boolean;
}

export interface Snapshot {
  commit: string;
  tree: string;
  judged: string;
  /** The judged tree without the tests that the base lacks, where that is another tree. */
  baseTests?: string;
  /** What of the change was undone because it is protected, and the ref that keeps the agent's own version. */
  protected?: PathChange[];
  kept?: string;
  /** Tests of the base that differ in this tree, where the run allows it. */
  testsChanged?: PathChange[];
  /** Protected files that a person changed, between turns or by a commit; from now on protected as they are now. */
  followed?: PathChange[];
  /** Tests are among these. */
  testsFollowed?: true;
  /** Against the snapshot before it; at most MAX_LISTED_FILES, the counts are of all. */
  files: FileChange[];
  fileCount: number;
  added: number;
  removed: number;
  /** Changed files that programs on the user's machine act on by themselves: hooks, editor and agent settings, … */
  flagged: string[];
  /** What could not be taken in as usual: nested repositories, submodules; said, never dropped. */
  warnings: string[];
  /** Set when a cap was passed, with what is too much: nothing is taken, and the files stay as they are on disk. */
  refused?: string;
}

export interface SnapshotAbout {
  parent: number | null;
  message: string;
  at: number;
  by?: "agent" | "user";
}

export interface Accepted {
  /** null when the policy is not to commit. */
  commit: string | null;
  branch: string | null;
  /** Commits the agent or user made on the branch, taken as parents. */
  adopted: string[];
  warnings: string[];
  /** Set when it could not be handed over: the work is under this salvage ref and a person must look. */
  conflict?: string;
  /** Why not, in words: the branch was moved, the repository is gone. */
  conflictReason?: string;
}

export type { Leftover, Standing };

export interface Planted {
  tree: string;
  /** What the failure says where an assertion that its file uses lets pass what is wrong. */
  mark: string;
  /** Each id is in the name or the message of the failure that is planted in that file. */
  plants: readonly { path: string; id: string }[];
  /** It stands at the end of a script, which cannot end well without coming to it. */
  isMet: boolean;
}

/**
 * The git directory where an agent works, with pawl's private repository beside it. Git errors that mean a broken
 * machine or repository are TerminalErrors. Every method is safe to repeat after a crash at any point inside it.
 */
export interface Workspace {
  readonly path: string;
  /** First effect of a run: copies the base in, freezes the settings, makes the branch. Repeatable. */
  prepare(): Promise<Base>;
  /**
   * Commits the whole workspace as `refs/pawl/<run>/<lane>/snap/<n>`. Of a change by the agent (also when nobody is named)
   * what is protected is undone first, in the workspace too, after the agent's version is kept under a ref; what the user
   * changes is what is protected from then on.
   */
  snapshot(n: number, about: SnapshotAbout): Promise<Snapshot>;
  /** Unified diff between two trees, cut to `maxBytes`. */
  diff(fromTree: string, toTree: string, maxBytes: number): Promise<string>;
  /** Files that differ between two trees; renames are a removal and an addition. */
  changes(fromTree: string, toTree: string): Promise<FileChange[]>;
  /** A file of a tree as text, at most its first `maxBytes`; undefined when there is none. */
  fileAt(tree: string, path: string, maxBytes: number): Promise<string | undefined>;
  /** Hands a judged tree to the user as a commit. Deterministic for the same arguments, so repeatable. */
  accept(request: { tree: string; message: string; at: number; snapshot: number }): Promise<Accepted>;
  /**
   * A text file of the workspace, its first (with `tail` its last) `maxBytes`, which holds for the text as it is returned,
   * too, where the file is not UTF-8; undefined when there is none. Never through a symbolic link, never outside the
   * workspace, never anything but a regular file.
   */
  read(
    path: string,
    maxBytes: number,
    options?: { tail?: boolean },
  ): Promise<{ text: string; bytes: number } | undefined>;
  /** Replaces or makes a text file of the workspace, under the same rules. TerminalError when that cannot be. */
  write(path: string, text: string): Promise<void>;
  /** Makes the workspace equal to a snapshot; what was there first becomes `…/salvage/<k>`, whose name is returned. */
  restore(to: number, about: { salvage: string; at: number }): Promise<{ tree: string; salvage: string }>;
  /**
   * One more look: what differs from `tree` (of the last snapshot) is kept as `…/salvage/<name>`; undefined when nothing
   * does. Changes no file.
   */
  leftover(tree: string, about: { salvage: string; at: number }): Promise<Leftover | undefined>;
  /** Before a run is driven on, in an iteration or between two: UsageError when a person led the workspace to other work. */
  ready?(where: "within" | "between"): Promise<void>;
  /** Before a run ends: is the work where its user will look for it? Always, where nothing is committed. */
  standing(): Promise<Standing>;
  /**
   * When a run ends: its branch is removed where pawl made it and it has no commit of its own, and HEAD is led back to where
   * it was; the name, or undefined where it stays. `ready` brings it back.
   */
  dropBranch?(): Promise<string | undefined>;
  /** A directory with exactly this tree and no link to any repository, for checks. Waits for one that is free. */
  verifyTree(tree: string): Promise<VerifyTree>;
  /**
   * The tree with a failure planted at the end of its test files that are in the other tree, too (one more test, or what
   * keeps the file from loading), or of one script (`file`: by its own exit). undefined where none can be. Repeatable.
   */
  planted(
    tree: string,
    about: {
      alsoIn: string;
      tests: readonly string[];
      except: readonly string[];
      as: "test" | "file";
      /** In this one alone; or in none of those. */
      script?: string | undefined;
      without?: readonly string[] | undefined;
    },
  ): Promise<Planted | undefined>;
  close(): Promise<void>;
}

export type { Check, FailedSetup, HookResult, JudgeAbout, JudgedChange, Ready, RunHook, VerifyTree };

// ── All of them ─────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Ports {
  journal: Journal;
  trace: Trace;
  blobs: Blobs;
  clock: Clock;
  agents: Readonly<Record<string, Agent>>;
  workspace: Workspace;
  checks: readonly Check[];
  /** How many may run at once, each on a tree of its own: none can tell that others do. Without it, one. */
  checksAtOnce?: number;
  hook: RunHook;
  /** Of a run whose code pawl runs itself. */
  code?: CodeRoom;
  owner: Owner;
  /** Ends what an earlier driver of this run left behind; returns how many processes. */
  sweep(run: string): Promise<number>;
  /** Everything of an OpenRequest that is known before the first turn. */
  agentHome: Pick<OpenRequest, "home" | "instructions" | "environment" | "confine" | "sockets">;
  /** The same for one who reviews; undefined: as for those who work. */
  reviewHome?: Ports["agentHome"];
  /** For a new run: a new session of its agent that is starting already, for the first turn of the main lane. */
  ahead?: { ref: string; session: AgentSession };
  /** US dollars for what was used of a model whose cost nobody reports, as a person said; null: unknown. */
  price?: (model: string, usage: Usage) => number | null;
  /** Fresh unique ids; v4 uuid. */
  uuid(): string;
}
