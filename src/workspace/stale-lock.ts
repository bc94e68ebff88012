/** Lock files that a killed git left in the user's repository: they say nothing of their owner, so it is looked for. */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isWithin } from "./user-git.ts";

/** A living git is waited for this long; a lock that nobody seems to hold, only as long as a quick git takes. */
const LIVING_WAIT_MS = 2_000;
const DEAD_WAIT_MS = 300;
const POLL_MS = 25;

/** True once the lock is gone; false when a git that works in one of these places may still hold it. */
export async function freeLock(lock: string, places: readonly string[]): Promise<boolean> {
  for (let waited = 0; existsSync(lock); waited += POLL_MS) {
    if (waited >= DEAD_WAIT_MS && !gitMayBeAlive(places)) rmSync(lock, { force: true });
    else if (waited >= LIVING_WAIT_MS) return false;
    else await sleep(POLL_MS);
  }
  return true;
}

/** Where no git works in these places, the lock's owner is dead. */
function gitMayBeAlive(places: readonly string[]): boolean {
  if (!existsSync("/proc/self/cwd")) return true;
  return readdirSync("/proc").some((pid) => /^\d+$/.test(pid) && isGitIn(pid, places));
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
