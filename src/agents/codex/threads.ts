/**
 * Which thread of Codex's a session is: pawl chooses a session's name before it exists, Codex names its threads itself.
 * Written before the first prompt is sent, so that a crash at any point leaves either no conversation or a findable one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDir, writeDurably } from "../../platform/files.ts";
import { threadsFolder } from "./home.ts";

const SAFE_ID = /^[\w-]{1,100}$/;

export function threadOf(home: string, ref: string): string | undefined {
  if (!SAFE_ID.test(ref)) return undefined;
  try {
    const id = readFileSync(join(threadsFolder(home), ref), "utf8").trim();
    return SAFE_ID.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

export function keepThread(home: string, ref: string, thread: string): void {
  makePrivateDir(threadsFolder(home));
  writeDurably(join(threadsFolder(home), ref), `${thread}\n`);
}

/** For turns that Codex does not record under pawl's name: how many there were in the thread before. */
export function markTurn(home: string, uuid: string, before: number): void {
  makePrivateDir(threadsFolder(home));
  writeDurably(join(threadsFolder(home), `${uuid}.turn`), `${before}\n`);
}

export function markOf(home: string, uuid: string): number | undefined {
  if (!SAFE_ID.test(uuid)) return undefined;
  try {
    const before = Number(readFileSync(join(threadsFolder(home), `${uuid}.turn`), "utf8"));
    return Number.isInteger(before) ? before : undefined;
  } catch {
    return undefined;
  }
}
