/**
 * Repositories inside the workspace: untracked ones an agent made, and submodules. Their files are snapshotted by the
 * same code with pawl's settings, under refs of their own; nothing of their own git directory is used.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDir } from "../platform/files.ts";
import { hashOf } from "./layout.ts";
import { commit, getRef, setRef, treeOf, type Lane } from "./lane.ts";
import { look, shown, type Caps, type RawPath } from "./scan.ts";
import { clearOwnLock, takeTree } from "./take-tree.ts";

const MAX_DEPTH = 8;
const MAX_NESTED = 100;

interface Request {
  /** Untracked nested repositories that the scan of the workspace met. */
  found: readonly RawPath[];
  /** Below each one's refs: `snap/3`, `salvage/1`. */
  name: string;
  at: number;
  caps: Caps;
}

/** Returns what people must know: which repositories are kept apart, and which could not be. */
export async function snapshotNested(lane: Lane, request: Request): Promise<string[]> {
  const warnings: string[] = [];
  const queue = [...request.found.map((path) => ({ path, depth: 1, submodule: false })), ...submodules(lane)];
  for (let done = 0; queue.length > 0; done += 1) {
    const next = queue.shift();
    if (next === undefined) break;
    if (done >= MAX_NESTED || next.depth > MAX_DEPTH) {
      warnings.push(`${shown(next.path)} and what follows are too many nested repositories; they are only on disk`);
      break;
    }
    try {
      const { deeper, warning } = await snapshotOne(lane, { ...request, ...next });
      if (warning !== undefined) warnings.push(warning);
      queue.push(...deeper.map((path) => ({ path, depth: next.depth + 1, submodule: false })));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      warnings.push(`the nested repository ${shown(next.path)} could not be snapshotted and is only on disk: ${why}`);
    }
  }
  return warnings;
}

function submodules(lane: Lane): { path: RawPath; depth: number; submodule: boolean }[] {
  const populated = lane.prepared.gitlinks.filter((path) => look(lane.spec.path, `${path}/.git`) !== undefined);
  return populated.map((path) => ({ path, depth: 1, submodule: true }));
}

async function snapshotOne(
  lane: Lane,
  about: Request & { path: RawPath; submodule: boolean },
): Promise<{ deeper: RawPath[]; warning?: string }> {
  const { path } = about;
  const key = hashOf(path);
  const dir = join(lane.layout.nested, key);
  makePrivateDir(dir);
  const index = join(dir, "index");
  await clearOwnLock(index);
  const workTree = join(lane.spec.path, Buffer.from(path, "latin1").toString("utf8"));
  if (!existsSync(workTree))
    return { deeper: [], warning: `${shown(path)} has a name that is no text; it is only on disk` };
  const git = lane.view.at({ workTree, index });
  const taken = await takeTree(git, { caps: about.caps, knownTree: lane.memory.nestedTrees.get(key) });
  if (taken.scan.refused !== undefined)
    return { deeper: [], warning: `the nested repository ${shown(path)} is only on disk: ${taken.scan.refused}` };
  lane.memory.nestedTrees.set(key, taken.tree);
  const refs = `nested/${key}`;
  const last = getRef(lane, `${refs}/head`);
  const changed = last === undefined || (await treeOf(lane, last)) !== taken.tree;
  const oid =
    last !== undefined && !changed
      ? last
      : await commit(lane, {
          tree: taken.tree,
          parents: last === undefined ? [] : [last],
          message: `nested repository ${shown(path)}`,
          at: about.at,
        });
  await setRef(lane, { name: `${refs}/head`, oid });
  await setRef(lane, { name: `${refs}/${about.name}`, oid });
  const deeper = taken.scan.nested.map((below) => `${path}/${below}`);
  const extra = taken.warnings.length > 0 ? ` (${taken.warnings.join("; ")})` : "";
  const where = `${lane.layout.refs}/${refs}/${about.name}`;
  if (!about.submodule)
    return {
      deeper,
      warning: `${shown(path)} is a repository of its own: kept in ${where}, not in the run's commits${extra}`,
    };
  // The first look at a submodule is its baseline.
  if (!changed || last === undefined) return { deeper };
  return { deeper, warning: `the submodule ${shown(path)} changed: its files are kept in ${where}${extra}` };
}
