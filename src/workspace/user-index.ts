/**
 * The user's index, replaced under git's own lock, so that `git status` is clean after a hand-over. pawl's lock file has
 * a twin (a second link to it) by which a later driver knows that a lock it finds was left by pawl.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  futimesSync,
  linkSync,
  openSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { rename, syncDir } from "../platform/files.ts";
import { freeLock } from "./stale-lock.ts";

const MS_PER_SECOND = 1000;
const OWN_MODE = 0o600;
/** How often somebody else may be quicker to take the lock. */
const MAX_TRIES = 20;

interface Place {
  gitDir: string;
  workspace: string;
  run: string;
}

/** Nobody stages or commits there until it is let go; afterwards nothing is put any more. */
export interface HeldIndex {
  /** False when it is held no more: somebody has taken the lock away. */
  put: () => boolean;
  letGo: () => void;
}

/** Takes git's lock with that content in it; undefined when somebody else's git holds the index. */
export async function holdIndex(from: string, { gitDir, workspace, run }: Place): Promise<HeldIndex | undefined> {
  const lock = join(gitDir, "index.lock");
  const twin = join(gitDir, `index.pawl-${run}`);
  dropOwnLock({ lock, twin });
  copyIndex(from, twin);
  let isHeld = false;
  const letGo = (): void => {
    isHeld = false;
    dropOwnLock({ lock, twin });
  };
  const put = (): boolean => {
    if (!isHeld || !isOwn({ lock, twin })) return false;
    const next = `${twin}.next`;
    rmSync(next, { force: true });
    linkSync(twin, next);
    try {
      rename(next, join(gitDir, "index"));
    } finally {
      rmSync(next, { force: true });
    }
    syncDir(gitDir);
    return true;
  };
  try {
    isHeld = await takeLock({ lock, twin, places: [workspace, gitDir] });
  } finally {
    if (!isHeld) letGo();
  }
  return isHeld ? { put, letGo } : undefined;
}

/** Keeps the time stamp, never later than it was: git compares it with the files' to know which it must read again. */
export function copyIndex(from: string, to: string): void {
  // A copy has the mode of what it is made of, which may be one that nobody can write to.
  rmSync(to, { force: true });
  copyFileSync(from, to);
  const { mode, mtimeMs } = statSync(from);
  chmodSync(to, mode | OWN_MODE);
  const seconds = Math.floor(mtimeMs) / MS_PER_SECOND;
  const fd = openSync(to, "r+");
  try {
    futimesSync(fd, seconds, seconds);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function isOwn({ lock, twin }: { lock: string; twin: string }): boolean {
  const left = statSync(twin, { throwIfNoEntry: false });
  return left !== undefined && statSync(lock, { throwIfNoEntry: false })?.ino === left.ino;
}

function dropOwnLock({ lock, twin }: { lock: string; twin: string }): void {
  if (isOwn({ lock, twin })) rmSync(lock);
  rmSync(twin, { force: true });
}

async function takeLock({ lock, twin, places }: { lock: string; twin: string; places: string[] }): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      linkSync(twin, lock);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (!(await freeLock(lock, places))) return false;
  }
  return false;
}
