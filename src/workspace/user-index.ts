/**
 * The user's index, replaced under git's own lock, so that `git status` is clean after a hand-over. pawl's lock says
 * whose it is: by that a later driver knows that a lock it finds was left by pawl.
 */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  futimesSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { rename, syncDir } from "../platform/files.ts";
import { freeLock } from "./stale-lock.ts";

const MS_PER_SECOND = 1000;
const OWN_MODE = 0o600;
/** How often somebody else may be quicker to take the lock. */
const MAX_TRIES = 20;

const LOCK = "index.lock";
const NAME = "index.pawl-";
const SAYS = "held by pawl for the run ";
const MAX_SAID_BYTES = 256;
export const MAX_INDEX_BYTES = 1024 * 1024 * 1024;
const SHARED = /^sharedindex\.[0-9a-f]{40,64}$/;

interface Place {
  gitDir: string;
  workspace: string;
  run: string;
}

/** Nobody stages or commits there until it is let go; afterwards nothing is put any more. */
export interface HeldIndex {
  /** Once. False when it is held no more: somebody has taken the lock away. */
  put: () => boolean;
  letGo: () => void;
}

/** Takes git's lock, with that content ready to be put; undefined when somebody else's git holds the index. */
export async function holdIndex(from: string, { gitDir, workspace, run }: Place): Promise<HeldIndex | undefined> {
  const next = join(gitDir, `${NAME}${run}`);
  const lock = { path: join(gitDir, LOCK), draft: `${next}.lock`, says: `${SAYS}${run}\n` };
  let isHeld = false;
  const letGo = (): void => {
    isHeld = false;
    if (saidIn(lock.path) === lock.says) rmSync(lock.path, { force: true });
    rmSync(next, { force: true });
  };
  const put = (): boolean => {
    if (!isHeld || saidIn(lock.path) !== lock.says) return false;
    rename(next, join(gitDir, "index"));
    syncDir(gitDir);
    return true;
  };
  sweepHolds(gitDir);
  copyIndex(from, next);
  try {
    isHeld = await takeLock(lock, [workspace, gitDir]);
  } finally {
    if (!isHeld) letGo();
  }
  return isHeld ? { put, letGo } : undefined;
}

/** What killed drivers of any run left: nobody else holds the index who has the workspace's lock. */
export function sweepHolds(gitDir: string): void {
  const lock = join(gitDir, LOCK);
  if (saidIn(lock)?.startsWith(SAYS) === true) rmSync(lock, { force: true });
  const names = existsSync(gitDir) ? readdirSync(gitDir) : [];
  for (const name of names) if (name.startsWith(NAME)) rmSync(join(gitDir, name), { force: true, recursive: true });
}

/** Keeps the time stamp, never later than it was: git compares it with the files' to know which it must read again. */
export function copyIndex(from: string, to: string): void {
  rmSync(to, { force: true });
  const { mode, mtimeMs } = statSync(from);
  const seconds = Math.floor(mtimeMs) / MS_PER_SECOND;
  // What it is made of may have a mode that nobody can write to.
  const fd = openSync(to, "wx", mode | OWN_MODE);
  try {
    writeFileSync(fd, readFileSync(from));
    giveMode(fd, mode | OWN_MODE);
    futimesSync(fd, seconds, seconds);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** What of an index git keeps in files beside it (core.splitIndex). One that is missing, git will name. */
export function copyShared(gitDir: string, to: string): void {
  for (const name of readdirSync(gitDir).filter((one) => SHARED.test(one))) {
    const stats = lstatSync(join(gitDir, name), { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_INDEX_BYTES) continue;
    try {
      copyIndex(join(gitDir, name), join(to, name));
    } catch (error) {
      // Old ones git removes at any time.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

/** As far as the file system has modes: vfat refuses those that it cannot keep. */
function giveMode(fd: number, mode: number): void {
  try {
    fchmodSync(fd, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") throw error;
  }
}

interface Lock {
  path: string;
  /** Its first name. */
  draft: string;
  /** All that is in it; a git's own is empty, or an index. */
  says: string;
}

/** undefined where it cannot be one of pawl's. */
function saidIn(lock: string): string | undefined {
  try {
    const stats = lstatSync(lock);
    return stats.isFile() && stats.size <= MAX_SAID_BYTES ? readFileSync(lock, "utf8") : undefined;
  } catch (error) {
    if (["ENOENT", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

async function takeLock(lock: Lock, places: readonly string[]): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (makeLock(lock)) return true;
    if (!(await freeLock(lock.path, places))) return false;
  }
  return false;
}

/** False when there is one. It appears with what it says, so that no kill leaves one that nobody knows. */
function makeLock({ path, draft, says }: Lock): boolean {
  rmSync(draft, { force: true });
  writeFileSync(draft, says, { flag: "wx" });
  try {
    return unlessThere(() => linkSync(draft, path));
  } catch {
    // No second names here (vfat, some network file systems): killed between the two, it is one like a dead git's.
    return unlessThere(() => writeNew(path, says));
  } finally {
    rmSync(draft, { force: true });
  }
}

function unlessThere(make: () => void): boolean {
  try {
    make();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function writeNew(path: string, text: string): void {
  const fd = openSync(path, "wx");
  try {
    writeFileSync(fd, text);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}
