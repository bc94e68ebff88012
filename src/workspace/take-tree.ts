/**
 * The work tree as a tree object: `ls-files | update-index | write-tree` on pawl's own index. Never `git add`, `status`
 * or `diff`: those run what a nested repository's settings name.
 */
import { existsSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { gitFailed, type Git, type GitResult } from "./git.ts";
import { indexNumbers, type Numbers } from "./numbers.ts";
import { scan, shown, type Caps, type Follow, type RawPath, type Scan } from "./scan.ts";

/** Files that git cannot take in are left out one by one, up to here. */
const MAX_LEFT_OUT_FILES = 50;
const UPDATE = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
/** Then it is no single file's fault, and leaving files out would hide it. */
const MACHINE_TROUBLE =
  /No space left on device|Disk quota exceeded|Read-only file system|Input\/output error|Too many open files|Cannot allocate memory|insufficient permission|Unable to create '|unable to write/i;
const FEW_FILES = 24;
const STALE_LOCK_WAIT_MS = 2_000;
const STALE_LOCK_POLL_MS = 20;

/** Files that are only on disk; a tracked one keeps its old version in the tree. */
export interface LeftOut {
  paths: RawPath[];
  warnings: string[];
}

export interface Taken {
  tree: string;
  scan: Scan;
  leftOut: RawPath[];
  warnings: string[];
  /** Against the asked tree; undefined when nothing in the work tree differed from the index. */
  numbers: Numbers | undefined;
}

interface Wanted {
  caps: Caps;
  against?: string;
  knownTree: string | undefined;
  /** Files that count against the rules of what is ignored, or do not. */
  follow?: Follow;
}

/** `knownTree` is the index's tree where the caller knows it: an unchanged workspace then costs one process. */
export async function takeTree(git: Git, { caps, against, knownTree, follow }: Wanted): Promise<Taken> {
  const found = await scan(git, caps, follow);
  const changed = found.update.length + found.drop.length > 0;
  if (found.refused !== undefined || (!changed && knownTree !== undefined))
    return { tree: knownTree ?? "", scan: found, leftOut: [], warnings: found.warnings, numbers: undefined };
  const paced = found.update.length > FEW_FILES ? git : git.at({ sync: "few" });
  const left = await updateIndex(paced, found);
  const [tree, numbers] = await Promise.all([
    paced.need(["write-tree"]),
    against === undefined ? undefined : indexNumbers(git, against),
  ]);
  return { tree, scan: found, leftOut: left.paths, warnings: [...found.warnings, ...left.warnings], numbers };
}

/**
 * Puts work-tree files into the index, ignored ones too. A file that git cannot take in (a filter refuses it, it is not
 * in the encoding its attributes name, it keeps shrinking while it is read) is found by halving and left out.
 */
export async function updateIndex(git: Git, { update, drop }: Pick<Scan, "update" | "drop">): Promise<LeftOut> {
  if (drop.length > 0) await git.need(["update-index", "--force-remove", "-z", "--stdin"], { input: joined(drop) });
  const left: LeftOut = { paths: [], warnings: [] };
  const refused = new Set<string>();
  const batches = [update];
  for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
    if (batch.length === 0) continue;
    const result = await git.run(UPDATE, { input: joined(batch) });
    for (const name of refusedNames(result.stderr)) refused.add(name);
    if (result.code === 0) continue;
    if (MACHINE_TROUBLE.test(result.stderr) || left.paths.length >= MAX_LEFT_OUT_FILES) throw gitFailed(UPDATE, result);
    const culprit = culpritOf(result.stderr, batch);
    if (culprit === undefined) {
      const middle = Math.ceil(batch.length / 2);
      batches.push(batch.slice(middle), batch.slice(0, middle));
      continue;
    }
    left.paths.push(culprit);
    left.warnings.push(`${shown(culprit)} could not be stored and is only on disk: ${reasonOf(result)}`);
    batches.push(batch.filter((path) => path !== culprit));
  }
  return { ...left, warnings: [...refused, ...left.warnings] };
}

/** The only file, or the one that git names; its message shows names that are no text differently. */
function culpritOf(stderr: string, batch: readonly RawPath[]): RawPath | undefined {
  if (batch.length === 1) return batch[0];
  const named = /^fatal: Unable to process path ([^]*)\n?$/m.exec(stderr)?.[1]?.trimEnd();
  const found = batch.filter((path) => Buffer.from(path, "latin1").toString("utf8") === named);
  return found.length === 1 ? found[0] : undefined;
}

function reasonOf({ stderr, signal }: GitResult): string {
  if (signal !== null) return `it changed while it was read (${signal})`;
  return (
    stderr.split("\n").find((line) => line.startsWith("error: ") || line.startsWith("fatal: ")) ?? "git refused it"
  );
}

/** Names like `.GIT` that git keeps out of every tree. */
function refusedNames(stderr: string): string[] {
  const names = stderr.split("\n").filter((line) => line.startsWith("Ignoring path "));
  return names.map((line) => `${JSON.stringify(line.slice("Ignoring path ".length))} has a name that git cannot store`);
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
