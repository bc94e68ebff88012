/**
 * Reading the user's repository the way the user's own git sees it, before the first turn: discovery, ownership rules
 * and effective settings included. Nothing here writes, and nothing a repository can name is executed.
 */
import { spawn } from "node:child_process";
import { delimiter, isAbsolute } from "node:path";
import { existsSync, realpathSync } from "node:fs";
import { begun } from "../platform/begun.ts";
import { fault } from "../platform/faults.ts";
import { answered, collect, type GitResult } from "./git.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

const MAX_BYTES = 16 * 1024 * 1024;
const READ_ONLY = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null/none",
  "core.pager=cat",
  "submodule.recurse=false",
  "gc.auto=0",
].flatMap((setting) => ["-c", setting]);
const FALLBACK_PATH = "/usr/local/bin:/usr/bin:/bin";

/** git with the user's own HOME and settings, in `cwd`. Only for commands that read names and settings. */
export async function userGit(
  args: readonly string[],
  { cwd, environment, input }: { cwd: string; environment: Environment; input?: string | Uint8Array },
): Promise<GitResult> {
  fault("spawn");
  const child = begun(
    spawn("git", [...READ_ONLY, "--literal-pathspecs", ...args], {
      cwd,
      env: {
        ...userSettingsOf(environment),
        PATH: trustedPath(environment, cwd),
        LC_ALL: "C",
        GIT_TERMINAL_PROMPT: "0",
        GIT_OPTIONAL_LOCKS: "0",
        GIT_NO_REPLACE_OBJECTS: "1",
      },
      stdio: ["pipe", "pipe", "pipe"],
      // As in git.ts: a Ctrl-C is for pawl.
      detached: true,
    }),
  );
  child.stdin.on("error", () => undefined);
  child.stdin.end(input ?? "");
  return answered(args, await collect(child, MAX_BYTES));
}

/** Whether the one commit is in the history of the other; false where one of them is none. */
export async function isAncestor(
  one: string,
  other: string,
  place: { cwd: string; environment: Environment },
): Promise<boolean> {
  return (await userGit(["merge-base", "--is-ancestor", one, other], place)).code === 0;
}

/** PATH without what an agent could write: relative entries and those inside the workspace. */
export function trustedPath(environment: Environment, workspace: string): string {
  const root = existsSync(workspace) ? realpathSync(workspace) : workspace;
  const entries = (environment["PATH"] ?? FALLBACK_PATH).split(delimiter).filter((entry) => {
    if (!isAbsolute(entry) || !existsSync(entry)) return false;
    return !isWithin(realpathSync(entry), root);
  });
  return entries.length === 0 ? FALLBACK_PATH : entries.join(delimiter);
}

export function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`);
}

function userSettingsOf(environment: Environment): Record<string, string> {
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      (entry[0] === "HOME" || entry[0] === "XDG_CONFIG_HOME" || entry[0].startsWith("GIT_CONFIG")),
  );
  return Object.fromEntries(kept);
}
