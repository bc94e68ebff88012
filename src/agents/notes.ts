/**
 * Lines that pawl notes in a home while a turn runs, of what passes the gateway: after a crash they tell what the agent
 * had not written down yet. Agents and their tools can write there, too.
 */
import { closeSync, constants, openSync, readFileSync, writeSync } from "node:fs";
import { openPlain } from "./plain-file.ts";

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const PRIVATE = 0o600;
/** Read of one file: an agent can make it as long as it likes. */
const MAX_FILE_CHARS = 64 * 1024 * 1024;

/** Never throws: the count goes on without. */
export function noteLine(file: string, value: object): void {
  try {
    const fd = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, PRIVATE);
    try {
      writeSync(fd, `${JSON.stringify(value)}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // A full disk, or not a file any more.
  }
}

/** Oldest first; [] where there are none. */
export function notedLines(file: string): string[] {
  const fd = openPlain(file);
  if (fd === undefined) return [];
  try {
    return readFileSync(fd, "utf8").slice(-MAX_FILE_CHARS).split("\n");
  } catch {
    return [];
  } finally {
    closeSync(fd);
  }
}
