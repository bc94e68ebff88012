/** Durable file writes: what is renamed into place survives a power loss whole or not at all. */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { fault } from "./faults.ts";

/** The only rename pawl makes. */
export function rename(from: string, to: string): void {
  fault("rename");
  renameSync(from, to);
}

/** Private to the user: pawl's state holds prompts and logs. */
export function makePrivateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

export function writeDurably(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeSynced(temporary, content, mode);
    rename(temporary, path);
  } catch (error) {
    // A full disk must not be made fuller.
    rmSync(temporary, { force: true });
    throw error;
  }
  syncDir(dirname(path));
}

function writeSynced(path: string, content: string | Uint8Array, mode: number): void {
  const fd = openSync(path, "wx", mode);
  try {
    const bytes = typeof content === "string" ? Buffer.from(content) : content;
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

export function syncDir(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
