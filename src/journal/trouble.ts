/** SQLite's and the file system's failures as errors for people: what broke, why, what to do. */
import { basename } from "node:path";
import { RetryableError, TerminalError, UsageError } from "../errors.ts";

/** Primary result codes of SQLite. */
const PRIMARY = 0xff;
const SQLITE = {
  error: 1,
  perm: 3,
  busy: 5,
  locked: 6,
  readonly: 8,
  ioerr: 10,
  corrupt: 11,
  full: 13,
  cantopen: 14,
  notadb: 26,
};

function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & PRIMARY : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === SQLITE.busy || code === SQLITE.locked;
}

/** A row, a page or the file is not what was written. */
export function damaged(what: string, cause?: unknown): TerminalError {
  return new TerminalError(`the journal is damaged: ${what}`, {
    hint: "nothing was changed; restore the file from a backup, or move it away to start anew (branches and snapshots stay)",
    cause,
  });
}

/** Our own errors pass; everything else becomes one that says what to do. */
export function explain(error: unknown, path: string): Error {
  if (error instanceof UsageError || error instanceof TerminalError || error instanceof RetryableError) return error;
  const name = basename(path);
  const why = error instanceof Error ? error.message : String(error);
  const broken = (what: string, hint: string) => new TerminalError(`${what} (${name}: ${why})`, { hint, cause: error });
  switch (sqliteCode(error) ?? (error as { code?: unknown } | null)?.code) {
    case SQLITE.full:
    case "ENOSPC":
    case "EDQUOT":
      return broken("no space left for the journal", "free some space, then drive the run again: it goes on from here");
    case SQLITE.readonly:
    case SQLITE.perm:
    case SQLITE.cantopen:
    case "EROFS":
    case "EACCES":
    case "EPERM":
      return broken("the journal cannot be written", "make pawl's state directory writable, or set PAWL_HOME");
    case SQLITE.busy:
    case SQLITE.locked:
      return broken("the journal is held by another program", "close what has the file open, then try again");
    case SQLITE.ioerr:
    case "EIO":
      return broken("the disk failed under the journal", "check the disk, then drive the run again");
    case SQLITE.corrupt:
    case SQLITE.notadb:
    // A table or column that is not there, or a number no writer of ours makes.
    case SQLITE.error:
    case "ERR_OUT_OF_RANGE":
      return damaged(`${name}: ${why}`, error);
    default:
      return broken("the journal failed", "run the command again; if it stays, look at the cause with --verbose");
  }
}
