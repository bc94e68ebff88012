/**
 * The branch of a run that ends without a commit of its own: nobody needs it. It is removed only while it and HEAD are
 * exactly as pawl made them, and comes back when the run is gone on with.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../errors.ts";
import { writeDurably } from "../platform/files.ts";
import { branchTip, pointHead, removeBranch, troubleWith, updateBranch } from "./handover.ts";
import { inProgressIn, isOn, readHead } from "./inspect.ts";
import { getRef, type Lane } from "./lane.ts";
import { withLock } from "./lock.ts";

const noteIn = (lane: Lane): string => join(lane.layout.dir, "branch-dropped");

/** The name of the branch that was removed; undefined where it stays. Repeatable. */
export async function dropBranch(lane: Lane): Promise<string | undefined> {
  const { branch, base, gitDir, isOwnBranch } = lane.prepared;
  if (branch === null || isOwnBranch !== true || troubleWith(lane) !== undefined) return undefined;
  return await withLock(lane.layout.lock, async () => {
    if (!isOn(readHead(gitDir), branch) || inProgressIn(gitDir) !== null || !(await isUntouched(lane, branch)))
      return undefined;
    const { origin } = lane.prepared;
    // Only to where the same files belong.
    if (base.branch !== null && (await branchTip(lane, base.branch)) !== (origin ?? undefined)) return undefined;
    const place = base.branch === null ? { commit: origin ?? "" } : { branch: base.branch };
    writeDurably(noteIn(lane), branch);
    await pointHead(lane, place);
    if (origin !== null && !(await removeBranch(lane, { branch, from: origin }))) return undefined;
    return branch;
  });
}

/** Nothing was put on it, by pawl or by anybody else. */
async function isUntouched(lane: Lane, branch: string): Promise<boolean> {
  const { origin } = lane.prepared;
  return (await branchTip(lane, branch)) === (origin ?? undefined) && getRef(lane, "head") === (origin ?? undefined);
}

/** undefined: it has its branch. Else whether HEAD, on whatever branch, is at the commit that the run began with or after it. */
export async function isWaiting(lane: Lane): Promise<boolean | undefined> {
  const { branch, origin, gitDir } = lane.prepared;
  if (branch === null || !existsSync(noteIn(lane)) || isOn(readHead(gitDir), branch)) return undefined;
  if (origin === null) return true;
  const tip = await headCommit(lane);
  return tip === origin || (await lane.user.run(["merge-base", "--is-ancestor", origin, tip ?? ""])).code === 0;
}

async function headCommit(lane: Lane): Promise<string | undefined> {
  const head = readHead(lane.prepared.gitDir);
  if (head === undefined) return undefined;
  return "ref" in head ? await branchTip(lane, head.ref.replace(/^refs\/heads\//, "")) : head.commit;
}

/**
 * Before a run is driven on: the branch at HEAD, with what its user has committed since, as if on it. UsageError when
 * somebody else has a branch of that name now.
 */
export async function bringBranchBack(lane: Lane): Promise<void> {
  const { branch } = lane.prepared;
  if (branch === null || !existsSync(noteIn(lane))) return;
  await withLock(lane.layout.lock, async () => {
    const waiting = await isWaiting(lane);
    if (waiting === false) return;
    const to = waiting === undefined ? undefined : await headCommit(lane);
    const tip = await branchTip(lane, branch);
    const isMade = to === undefined || tip === to;
    if (!isMade && !(await updateBranch(lane, { branch, to, from: undefined, why: "start" })))
      throw new UsageError(`there is another branch ${branch} now`, {
        hint: `Run ${lane.run} had no commit: start another run, or rename that branch and resume.`,
      });
    await pointHead(lane, { branch });
    rmSync(noteIn(lane), { force: true });
  });
}
