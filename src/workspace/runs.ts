/** What the command line asks of a run's work when nobody drives it: its snapshots, its diff, and getting one back. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../errors.ts";
import type { FileChange } from "../events.ts";
import type { WorkspaceSpec } from "../spec.ts";
import { checkedBranch } from "./branch.ts";
import { diffTrees } from "./diff.ts";
import { branchTip, putHeadBack, sendCommit, troubleWith, updateBranch } from "./handover.ts";
import { commit, getRef, openLane, readPrepared, treeOf, type Lane } from "./lane.ts";
import { laneLayout } from "./layout.ts";
import { treeNumbers } from "./numbers.ts";
import { isWhole } from "./private-repository.ts";
import { restore } from "./restore.ts";
import { clearOwnLock } from "./take-tree.ts";

export interface RunPlace {
  spec: WorkspaceSpec;
  run: string;
  lane: string;
  stateDir: string;
}

/**
 * `3` is a snapshot's number, `salvage/2` what a restore put aside, `protected/3` what the agent made of protected files,
 * `lost/…` what nobody else holds.
 */
export type At = number | `${(typeof NAMED)[number]}/${string}`;
export const NAMED = ["salvage", "protected", "lost"] as const;

export interface Kept {
  at: At;
  commit: string;
  tree: string;
}

/** Snapshots by number, then the others by name. */
export async function listSnapshots(place: RunPlace): Promise<Kept[]> {
  const lane = laneOf(place);
  const numbers = refNames(lane, "snap")
    .map(Number)
    .toSorted((a, b) => a - b);
  const named = NAMED.flatMap((kind) => refNames(lane, kind).map((name): At => `${kind}/${name}`));
  return await Promise.all([...numbers, ...named].map(async (at) => await keptAt(lane, at)));
}

/** From the run's base to its last snapshot, or between the ones asked for. */
export async function diffRun(
  place: RunPlace & { from?: At; to?: At; maxBytes: number },
): Promise<{ text: string; files: FileChange[]; fileCount: number; added: number; removed: number }> {
  const lane = laneOf(place);
  const last = Math.max(-1, ...refNames(lane, "snap").map(Number));
  const at = place.to ?? (last < 0 ? undefined : last);
  const [from, to] = [
    place.from === undefined ? lane.prepared.base.tree : (await keptAt(lane, place.from)).tree,
    at === undefined ? lane.prepared.base.tree : (await keptAt(lane, at)).tree,
  ];
  const [text, { changes: _, ...numbers }] = await Promise.all([
    diffTrees(lane.privateGit, { from, to, maxBytes: place.maxBytes }),
    treeNumbers(lane.privateGit, { from, to }),
  ]);
  return { text, ...numbers };
}

/**
 * With `branch`: makes that branch at the kept work, on top of the run's base, or `alone` where the repository has not
 * got that any more; no file changes. Without: makes the
 * workspace equal to it, what was there becomes a salvage. The caller holds the workspace's lock.
 */
export async function restoreRun(
  place: RunPlace & { at: At; branch?: string },
): Promise<{ tree: string; salvage?: string; branch?: string; alone?: boolean }> {
  const lane = laneOf(place);
  const { tree } = await keptAt(lane, place.at);
  if (place.branch !== undefined)
    return await branchAt(lane, { at: place.at, tree, branch: checkedBranch(place.branch) });
  if (!existsSync(lane.spec.path))
    throw new UsageError(`the workspace of run ${lane.run} is gone: ${lane.spec.path}`, {
      hint: `as a branch: pawl restore ${lane.run} --at ${place.at} --branch NAME`,
    });
  await clearOwnLock(lane.layout.index);
  return await restore(lane, { tree, salvage: freeSalvage(lane), at: Date.now() });
}

async function branchAt(
  lane: Lane,
  { at, tree, branch }: { at: At; tree: string; branch: string },
): Promise<{ tree: string; branch: string; alone: boolean }> {
  const target = { ...lane, prepared: { ...lane.prepared, branch } };
  const trouble = troubleWith(target);
  if (trouble !== undefined)
    throw new UsageError(`no branch can be made: ${trouble}`, { hint: "Repair the repository first." });
  putHeadBack(lane);
  if ((await branchTip(target, branch)) !== undefined)
    throw new UsageError(`the branch ${branch} exists already`, { hint: "Give another name with --branch." });
  const { origin, author } = lane.prepared;
  const message = `Work of run ${lane.run} at ${typeof at === "number" ? `snapshot ${at}` : at}`;
  const base = origin !== null && (await isWhole(origin, target.user)) ? origin : null;
  const oid = await commit(lane, { tree, parents: base === null ? [] : [base], author, message, at: Date.now() });
  await sendCommit(target, { commit: oid, have: base });
  if (!(await updateBranch(target, { branch, to: oid, from: undefined, why: "restore" })))
    throw new UsageError(`the branch ${branch} exists already`, { hint: "Give another name with --branch." });
  return { tree, branch, alone: base !== origin };
}

export function laneOf(place: RunPlace): Lane {
  const layout = laneLayout({ ...place, repository: place.spec.repository });
  const prepared = readPrepared(layout);
  if (prepared === undefined)
    throw new UsageError(`run ${place.run} has no snapshots`, {
      hint: "`pawl runs` lists the runs and how far they came.",
    });
  // Of a worktree that was removed: refs and objects are those of the repository it belonged to.
  const gitDir = existsSync(prepared.gitDir) ? prepared.gitDir : prepared.commonDir;
  return openLane({ layout, run: place.run, spec: place.spec, prepared: { ...prepared, gitDir } });
}

async function keptAt(lane: Lane, at: At): Promise<Kept> {
  const oid = getRef(lane, typeof at === "number" ? `snap/${at}` : at);
  if (oid !== undefined) return { at, commit: oid, tree: await treeOf(lane, oid) };
  const named = NAMED.flatMap((kind) => refNames(lane, kind).map((name) => `${kind}/${name}`));
  const names = [...refNames(lane, "snap"), ...named];
  throw new UsageError(`run ${lane.run} has nothing kept at ${at}`, {
    hint: names.length === 0 ? "It has no snapshots." : `There are: ${names.join(", ")}.`,
  });
}

function freeSalvage(lane: Lane): string {
  for (let k = 1; ; k += 1) if (getRef(lane, `salvage/by-hand-${k}`) === undefined) return `by-hand-${k}`;
}

function refNames(lane: Lane, kind: "snap" | (typeof NAMED)[number]): string[] {
  try {
    const names = readdirSync(join(lane.layout.privateGit, lane.layout.refs, kind));
    return names.filter((name) => !name.endsWith(".lock")).toSorted();
  } catch {
    return [];
  }
}
