/** The user's repository as pawl writes it: objects, one branch, HEAD. No hook runs and no setting of it names a program. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { rename, syncDir, writeDurably } from "../platform/files.ts";
import { gitFailed, pipe, type GitResult } from "./git.ts";
import type { Lane, Memory, Prepared } from "./lane.ts";
import { commitBytes, copyLoose, readLoose, treeEntries, writeCommit, type CommitRequest } from "./objects.ts";
import { freeLock } from "./stale-lock.ts";
import { isWithin } from "./user-git.ts";

const OID = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const HEAD_MODE = 0o644;
/** What git locks beside the index and the branch; a killed one leaves them behind. */
const HEAD_LOCKS = ["HEAD.lock", "ORIG_HEAD.lock", "FETCH_HEAD.lock", "MERGE_HEAD.lock"];
const SHARED_LOCKS = ["packed-refs.lock", "config.lock", "refs/stash.lock"];
/** Above it one pack is faster than single files. */
const MAX_LOOSE_COPIES = 64;

/** Why the user's repository must not be written any more: an agent took it away or led it elsewhere. */
export function troubleWith({ prepared }: Lane): string | undefined {
  const { gitDir, commonDir, objects, refs, branch } = prepared;
  for (const dir of new Set([gitDir, commonDir])) {
    const stats = lstatSync(dir, { throwIfNoEntry: false });
    if (stats === undefined) return `${dir} was deleted`;
    if (!stats.isDirectory() || realpathSync(dir) !== dir) return `${dir} was replaced by something else`;
  }
  for (const [name, real] of [
    ["objects", objects],
    ["refs", refs],
  ] as const) {
    const path = join(commonDir, name);
    if (!existsSync(path) || realpathSync(path) !== real) return `${path} was replaced by something else`;
  }
  if (!existsSync(join(gitDir, "HEAD")) && !isHeadMissing(prepared)) return `${join(gitDir, "HEAD")} leads nowhere`;
  let parent = dirname(join(commonDir, "refs/heads", branch ?? ""));
  while (!existsSync(parent)) parent = dirname(parent);
  return isWithin(realpathSync(parent), refs) ? undefined : `${parent} leads out of the repository`;
}

/** Without it git sees no repository at all; `git update-ref -d HEAD` on a detached one removes it. Says what was done. */
export function putHeadBack({ prepared }: Lane): string[] {
  const branch = prepared.branch ?? prepared.base.branch;
  if (branch === null || !isHeadMissing(prepared)) return [];
  writeDurably(join(prepared.gitDir, "HEAD"), `ref: refs/heads/${branch}\n`, HEAD_MODE);
  return [`HEAD was deleted; it is on ${branch} again`];
}

function isHeadMissing({ gitDir }: Prepared): boolean {
  return lstatSync(join(gitDir, "HEAD"), { throwIfNoEntry: false }) === undefined;
}

export async function branchTip(lane: Lane, branch: string): Promise<string | undefined> {
  const loose = looseTip(join(lane.prepared.commonDir, "refs/heads", branch));
  if (loose !== undefined) return loose;
  const found = await lane.user.run(["rev-parse", "-q", "--verify", `refs/heads/${branch}`]);
  return found.code === 0 ? found.stdout.toString("latin1").trim() : undefined;
}

function looseTip(path: string): string | undefined {
  try {
    const text = readFileSync(path, "latin1").trim();
    return OID.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** False when the branch is not at `from` any more. */
export async function updateBranch(
  lane: Lane,
  { branch, to, from, why }: { branch: string; to: string; from: string | undefined; why: string },
): Promise<boolean> {
  const nothing = "0".repeat(to.length);
  // A branch that was made a link to another one must not move that one.
  const args = ["update-ref", "--no-deref", "-m", `pawl: ${why}`, `refs/heads/${branch}`, to, from ?? nothing];
  const result = await withoutStaleLocks(lane, { branch, args });
  if (result.code === 0) return true;
  if ((await branchTip(lane, branch)) === from) throw gitFailed(args, result);
  return false;
}

/** Tries again after removing what a killed git left locked, or once a living one has let go. */
async function withoutStaleLocks(
  lane: Lane,
  { branch, args }: { branch: string; args: readonly string[] },
): Promise<GitResult> {
  const first = await lane.user.run(args);
  if (first.code === 0) return first;
  await freeStaleLocks(lane, branch);
  return await lane.user.run(args);
}

/** Else the user's next commit would stumble over them. */
export async function freeStaleLocks(lane: Lane, branch: string): Promise<void> {
  const { commonDir, gitDir } = lane.prepared;
  const locks = [
    join(commonDir, "refs/heads", `${branch}.lock`),
    ...HEAD_LOCKS.map((name) => join(gitDir, name)),
    ...SHARED_LOCKS.map((name) => join(commonDir, name)),
  ];
  const held = locks.filter((lock) => existsSync(lock));
  for (const lock of held) await freeLock(lock, [lane.spec.path, gitDir, commonDir, lane.layout.home]);
}

/** False when the branch is not at `from` any more. */
export async function removeBranch(lane: Lane, { branch, from }: { branch: string; from: string }): Promise<boolean> {
  const args = ["update-ref", "--no-deref", "-d", `refs/heads/${branch}`, from];
  return (await withoutStaleLocks(lane, { branch, args })).code === 0;
}

/** Not by git, which does not sync HEAD: after a power loss it could be empty, and the user's repository none. */
export async function pointHead(lane: Lane, place: { branch: string } | { commit: string }): Promise<void> {
  const path = join(lane.prepared.gitDir, "HEAD");
  const text = "branch" in place ? `ref: refs/heads/${place.branch}\n` : `${place.commit}\n`;
  if (existsSync(path) && readFileSync(path, "latin1").trim() === text.trim()) return;
  try {
    replaceLocked(path, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    await freeStaleLocks(lane, "branch" in place ? place.branch : (lane.prepared.branch ?? ""));
    replaceLocked(path, text);
  }
  const tip = "branch" in place ? await branchTip(lane, place.branch) : place.commit;
  // Only for the log of HEAD: nothing moves.
  if (tip !== undefined) await lane.user.run(["update-ref", "-m", "pawl: start", "HEAD", tip, tip]);
}

/** As git does it, so that two never write at once. */
function replaceLocked(path: string, text: string): void {
  const lock = `${path}.lock`;
  const fd = openSync(lock, "wx", HEAD_MODE);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  rename(lock, path);
  syncDir(dirname(path));
}

/** Sends a commit of the private repository with all that `have` (a commit the user has) does not bring. */
export async function sendCommit(lane: Lane, { commit, have }: { commit: string; have: string | null }): Promise<void> {
  await pipe(
    {
      git: lane.privateGit,
      args: ["pack-objects", "-q", "--stdout", "--revs", "--thin"],
      input: `${commit}\n${have === null ? "" : `^${have}\n`}`,
    },
    { git: lane.user.at({ sync: "many" }), args: ["unpack-objects", "-q"] },
  );
}

/** The usual small change without a git process: true when every object was at hand as a file of its own. */
export async function sendLoose(lane: Lane, request: CommitRequest): Promise<boolean> {
  const { prepared, memory } = lane;
  const from = join(lane.layout.privateGit, "objects");
  const oids = prepared.shared ? undefined : looseObjects(memory, { tree: request.tree, from, lane });
  if (oids === undefined || oids.length > MAX_LOOSE_COPIES) return false;
  const [copied] = await Promise.all([
    copyLoose(oids, { from, to: prepared.objects }),
    writeCommit(prepared.objects, { body: commitBytes(request), format: prepared.objectFormat }),
  ]);
  return copied;
}

/** Blobs of the pending changes and the trees on their paths. */
function looseObjects(
  { pending }: Memory,
  { tree, from, lane }: { tree: string; from: string; lane: Lane },
): string[] | undefined {
  if (pending === undefined || pending.tree !== tree || pending.changes.size > MAX_LOOSE_COPIES) return undefined;
  const dirs = new Set([...pending.changes.keys()].flatMap(parents));
  const oids = new Set<string>();
  const visit = (dir: string, oid: string): boolean => {
    const loose = readLoose(from, oid);
    if (loose === undefined) return false;
    oids.add(oid);
    for (const entry of treeEntries(loose.body, lane.prepared.objectFormat)) {
      const path = dir === "" ? entry.name : `${dir}/${entry.name}`;
      if (entry.mode === "40000" && dirs.has(path) && !visit(path, entry.oid)) return false;
      // By path: a blob that was pending once may have been replaced since.
      if (pending.changes.has(path) && entry.mode !== "160000" && entry.mode !== "40000") oids.add(entry.oid);
    }
    return true;
  };
  return visit("", tree) ? [...oids] : undefined;
}

function parents(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}
