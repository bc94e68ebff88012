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
  return execFileSync("/bin/sh", ["-c", COMMIT_ALL, "sh", message], { ...place, encoding: "utf8" }).trim();
}
