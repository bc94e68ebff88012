/**
 * Three errors, by what happens next, and the exit codes. Outcomes of agents, models, tools and checks are values,
 * never errors. Every error says what, why and what to do.
 */
import type { Outcome } from "./events.ts";

interface Telling {
  /** What to do about it, one line. */
  hint?: string;
  cause?: unknown;
}

abstract class PawlError extends Error {
  readonly hint: string | undefined;
  constructor(message: string, { hint, cause }: Telling = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.hint = hint;
  }
}

/** Wrong input, or refused before anything was spent or changed. Exit 2, no stack. */
export class UsageError extends PawlError {}

/** Will probably work later. */
export class RetryableError extends PawlError {
  readonly retryAfterMs: number;
  constructor(message: string, retryAfterMs: number, telling?: Telling) {
    super(message, telling);
    this.retryAfterMs = retryAfterMs;
  }
}

/** The machine, the journal or the repository is broken; going on would risk work. Exit 5. */
export class TerminalError extends PawlError {}

export const EXIT = {
  ok: 0,
  unverified: 1,
  usage: 2,
  exhausted: 3,
  human: 4,
  failed: 5,
  sigint: 130,
  sigterm: 143,
} as const;

export function exitCodeOf(outcome: Outcome, { trustPromise }: { trustPromise: boolean }): number {
  switch (outcome.is) {
    case "verified":
      return EXIT.ok;
    case "claimed":
      return trustPromise ? EXIT.ok : EXIT.unverified;
    case "stuck":
    case "stopped":
      return EXIT.unverified;
    case "exhausted":
      return EXIT.exhausted;
    case "needs-human":
      return EXIT.human;
    case "failed":
      return EXIT.failed;
  }
}

export function exitCodeOfError(error: unknown): number {
  return error instanceof UsageError ? EXIT.usage : EXIT.failed;
}

/** What the system said no with, and what a person can do about it. */
const MACHINE_HINTS: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full: make room, then `pawl resume`.",
  EDQUOT: "The disk quota is used up: make room, then `pawl resume`.",
  EROFS: "The file system is read-only: mount it writable, then `pawl resume`.",
  EIO: "The disk failed to read or write: look at the system's log, then `pawl resume`.",
  EMFILE: "Too many open files: raise `ulimit -n`, then `pawl resume`.",
  ENFILE: "Too many open files in the system: close some programs, then `pawl resume`.",
  EAGAIN: "The system cannot start another process now: raise `ulimit -u`, then `pawl resume`.",
  ENOMEM: "The machine is out of memory: close some programs, then `pawl resume`.",
  EACCES: "See who owns that file, then `pawl resume`.",
};

/** A file that nobody may read stays so; the others pass, or are a person's to mend before the run can go on. */
const LASTING: ReadonlySet<string> = new Set(["EACCES"]);
const MAX_CAUSES = 8;

/** The machine said no (a full disk, no more processes), by the error itself or by what caused it. */
export function isMachineTrouble(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > MAX_CAUSES) return false;
  const { code } = error as NodeJS.ErrnoException;
  const isNamed = code !== undefined && Object.hasOwn(MACHINE_HINTS, code) && !LASTING.has(code);
  return isNamed || isMachineTrouble(error.cause, depth + 1);
}

const MAX_CRASH_CHARS = 300;

/** A defect of pawl's own in one line: what, and where it was met. */
export function crashWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error).slice(0, MAX_CRASH_CHARS);
  const [, at = ""] = /\n\s+(at [^\n]+)/.exec(error.stack ?? "") ?? [];
  return `${error.name}: ${error.message} ${at}`.trim().slice(0, MAX_CRASH_CHARS);
}

function machineHint(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || !Object.hasOwn(MACHINE_HINTS, code) ? undefined : MACHINE_HINTS[code];
}

/** One line what and why, one line what to do; the stack only when asked. */
export function render(error: unknown, { verbose = false }: { verbose?: boolean } = {}): string {
  if (!(error instanceof Error)) return `pawl: ${String(error)}`;
  const lines = [`pawl: ${error.message}`];
  const hint = error instanceof PawlError ? error.hint : machineHint(error);
  if (hint !== undefined) lines.push(`      ${hint}`);
  const expected = error instanceof PawlError || hint !== undefined;
  if (!expected || (verbose && !(error instanceof UsageError))) lines.push(error.stack ?? "");
  if (verbose && error.cause !== undefined) lines.push(`caused by: ${render(error.cause, { verbose })}`);
  return lines.join("\n").trimEnd();
}
