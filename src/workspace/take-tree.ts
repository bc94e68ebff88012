/**
 * The work tree as a tree object: `ls-files | update-index | write-tree` on pawl's own index. Never `git add`, `status`
 * or `diff`: those run what a nested repository's settings name.
 */
import { existsSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gitFailed, type Git } from "./git.ts";
import { indexNumbers, type Numbers } from "./numbers.ts";
import { scan, type Caps, type RawPath, type Scan } from "./scan.ts";

/** Files that git cannot take in are left out one by one, up to here. */
const MAX_LEFT_OUT_FILES = 50;
const FEW_FILES = 24;
const STALE_LOCK_WAIT_MS = 2_000;
const STALE_LOCK_POLL_MS = 20;

export interface Taken {
  tree: string;
  scan: Scan;
  warnings: string[];
  /** Against the asked tree; undefined when nothing in the work tree differed from the index. */
  numbers: Numbers | undefined;
}

/** `knownTree` is the index's tree where the caller knows it: an unchanged workspace then costs one process. */
export async function takeTree(
  git: Git,
  { caps, against, knownTree }: { caps: Caps; against?: string; knownTree: string | undefined },
): Promise<Taken> {
  const found = await scan(git, caps);
  const changed = found.update.length + found.drop.length > 0;
  if (found.refused !== undefined || (!changed && knownTree !== undefined))
    return { tree: knownTree ?? "", scan: found, warnings: found.warnings, numbers: undefined };
  const paced = found.update.length > FEW_FILES ? git : git.at({ sync: "few" });
  const left = await updateIndex(paced, found);
  const [tree, numbers] = await Promise.all([
    paced.need(["write-tree"]),
    against === undefined ? undefined : indexNumbers(git, against),
  ]);
  return { tree, scan: found, warnings: [...found.warnings, ...left], numbers };
}

/** Puts work-tree files into the index, ignored ones too; returns what could not be taken in. */
export async function updateIndex(git: Git, { update, drop }: Pick<Scan, "update" | "drop">): Promise<string[]> {
  if (drop.length > 0) await git.need(["update-index", "--force-remove", "-z", "--stdin"], { input: joined(drop) });
  const warnings: string[] = [];
  let paths = update;
  while (paths.length > 0) {
    const args = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
    const result = await git.run(args, { input: joined(paths) });
    warnings.push(...refusedNames(result.stderr));
    if (result.code === 0) break;
    const culprit = /^fatal: Unable to process path ([^]*)\n?$/m.exec(result.stderr)?.[1]?.trimEnd();
    const without = paths.filter((path) => Buffer.from(path, "latin1").toString("utf8") !== culprit);
    if (without.length === paths.length || warnings.length > MAX_LEFT_OUT_FILES) throw gitFailed(args, result);
    warnings.push(`${JSON.stringify(culprit)} could not be stored: ${firstLine(result.stderr)}`);
    paths = without;
  }
  return warnings;
}

/** Names like `.GIT` that git keeps out of every tree. */
function refusedNames(stderr: string): string[] {
  const names = stderr.split("\n").filter((line) => line.startsWith("Ignoring path "));
  return names.map((line) => `${JSON.stringify(line.slice("Ignoring path ".length))} has a name that git cannot store`);
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

function joined(paths: readonly RawPath[]): Buffer {
  return Buffer.from(`${paths.join("\0")}\0`, "latin1");
}

/** A git of a killed driver may still be finishing; afterwards its lock is nobody's, for pawl's index has one user. */
export async function clearOwnLock(index: string): Promise<void> {
  const lock = `${index}.lock`;
  for (let waited = 0; existsSync(lock) && waited < STALE_LOCK_WAIT_MS; waited += STALE_LOCK_POLL_MS)
    await sleep(STALE_LOCK_POLL_MS);
  rmSync(lock, { force: true });
}
