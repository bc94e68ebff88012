/**
 * New repositories for tests, with as few processes as can be: to start one from a test's own large process costs more
 * than what git does in it, and the suite makes hundreds of repositories.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface About {
  branch: string;
  /** Without one it is the machine's or the user's settings that say who commits. */
  user?: { name: string; email: string };
}

/** What `git init` and two `git config` leave, without the samples of hooks. */
export function initRepository(path: string, { branch, user }: About): void {
  const git = join(path, ".git");
  for (const folder of ["hooks", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"])
    mkdirSync(join(git, folder), { recursive: true });
  const core = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";
  writeFileSync(join(git, "HEAD"), `ref: refs/heads/${branch}\n`);
  const who = user === undefined ? "" : `[user]\n\tname = ${user.name}\n\temail = ${user.email}\n`;
  writeFileSync(join(git, "config"), `${core}${who}`);
  writeFileSync(join(git, "info/exclude"), "");
}

const COMMIT_ALL = `git add -A && git -c gc.auto=0 -c maintenance.auto=false commit -q --allow-empty -m "$1" && git rev-parse HEAD`;

/** Everything that is not ignored; returns the commit. */
export function commitAll(message: string, place: { cwd: string; env: Readonly<Record<string, string>> }): string {
  const commit = () =>
    execFileSync("/bin/sh", ["-c", COMMIT_ALL, "sh", message], { ...place, encoding: "utf8", stdio: "pipe" });
  return onceUnlocked(commit).trim();
}

/** A hand-over of a driver on a busy machine takes seconds; more than this is one that never lets go. */
const LOCK_WAIT_MS = 30_000;
const LOCK_POLL_MS = 50;

/** Does what a person does whose git finds that another one, a driver's hand-over say, is at work: tries again. */
export function onceUnlocked<T>(git: () => T): T {
  const until = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return git();
    } catch (error) {
      const { stderr } = error as { stderr?: unknown };
      if (!/\.lock': File exists/.test(String(stderr)) || performance.now() > until) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_POLL_MS);
  }
}
