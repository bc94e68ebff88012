/** Lock files that a killed git left in the user's repository: they say nothing of their owner, so it is looked for. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, type Stats } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isWithin } from "./user-git.ts";

/** A living owner is waited for this long; a lock that nobody seems to hold, only as long as a quick git takes. */
const LIVING_WAIT_MS = 2_000;
const DEAD_WAIT_MS = 300;
const POLL_MS = 25;

/** True once the lock is gone; false when a git that works in one of these places, or who has it open, may hold it. */
export async function freeLock(lock: string, places: readonly string[]): Promise<boolean> {
  // A link that leads nowhere is in the way like any other file.
  const isThere = (): boolean => lstatSync(lock, { throwIfNoEntry: false }) !== undefined;
  for (let waited = 0; isThere(); waited += POLL_MS) {
    if (waited >= DEAD_WAIT_MS && !ownerMayBeAlive(lock, places)) rmSync(lock, { force: true });
    else if (waited >= LIVING_WAIT_MS) return false;
    else await sleep(POLL_MS);
  }
  return true;
}

/** Where no git works in these places and nobody has the file open, the lock's owner is dead. */
function ownerMayBeAlive(lock: string, places: readonly string[]): boolean {
  if (!existsSync("/proc/self/cwd")) return true;
  const file = statSync(lock, { throwIfNoEntry: false });
  const pids = readdirSync("/proc").filter((pid) => /^\d+$/.test(pid));
  return pids.some((pid) => isGitIn(pid, places) || (file !== undefined && hasOpen(pid, file)));
}

function isGitIn(pid: string, places: readonly string[]): boolean {
  try {
    if (!readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("git")) return false;
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    return places.some((place) => isWithin(cwd, place));
  } catch (error) {
    // Gone meanwhile, or another user's process: that one may well hold it.
    return (error as NodeJS.ErrnoException).code === "EACCES";
  }
}

/** Programs with a git of their own (libgit2, JGit) write the lock from any folder and under any name. */
function hasOpen(pid: string, file: Stats): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      const open = statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false });
      return open?.ino === file.ino && open.dev === file.dev;
    });
  } catch {
    // Gone meanwhile, or another user's: there are always such, and few write in this user's repository.
    return false;
  }
}
