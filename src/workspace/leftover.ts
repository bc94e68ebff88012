/**
 * One more look at the workspace when a run ends: what somebody wrote after the last snapshot is kept under a salvage
 * ref. An untouched workspace costs one git process.
 */
import { existsSync } from "node:fs";
import type { Leftover } from "../ports.ts";
import { commit, ensureWorkspace, getRef, keepRef, type Lane } from "./lane.ts";
import { treeNumbers } from "./numbers.ts";
import { following } from "./ignored-before.ts";
import { followTracking } from "./others-index.ts";
import { capsOf, shown } from "./scan.ts";
import { takeTree } from "./take-tree.ts";

const SHOWN_PATHS = 3;

interface Request {
  /** Of the last snapshot. */
  tree: string;
  /** Name below `salvage/`. */
  salvage: string;
  at: number;
}

export async function leftover(lane: Lane, { tree, salvage, at }: Request): Promise<Leftover | undefined> {
  if (!existsSync(lane.spec.path)) throw new Error(`${lane.spec.path} was deleted`);
  ensureWorkspace(lane.spec.path);
  const known = lane.memory.indexTree;
  lane.memory.indexTree = undefined;
  const follow = await followTracking(lane);
  const caps = capsOf(lane.spec);
  const taken = await takeTree(lane.view, { caps, knownTree: known, follow: following(lane, follow) });
  if (taken.scan.refused !== undefined) {
    lane.memory.indexTree = known;
    lane.memory.followedIndex = undefined;
    throw new Error(`${taken.scan.refused}; the files are untouched on disk`);
  }
  lane.memory.indexTree = taken.tree;
  if (taken.tree === tree) return undefined;
  const { changes } = await treeNumbers(lane.privateGit, { from: tree, to: taken.tree });
  const last = getRef(lane, "head") ?? lane.prepared.base.commit;
  const parents = last === null ? [] : [last];
  const oid = await commit(lane, { tree: taken.tree, parents, message: "Left when the run ended", at });
  const name = await keepRef(lane, { name: `salvage/${salvage}`, oid });
  return {
    salvage: name,
    paths: changes.slice(0, SHOWN_PATHS).map(({ path }) => shown(path)),
    fileCount: changes.length,
  };
}
