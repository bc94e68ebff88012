/**
 * Brings the workspace from a snapshot to its judged tree: only what was undone is written. The agent's version is kept
 * under a ref first, with ignored files that stood in the way; a nested repository there is moved aside.
 */
import { join } from "node:path";
import { commit, keepRef, type Lane } from "./lane.ts";
import { moveNestedAside, obstacles } from "./restore.ts";
import type { RawPath } from "./scan.ts";
import { updateIndex } from "./take-tree.ts";
import type { Exchange } from "./tree-entries.ts";
import { copyIndex } from "./user-index.ts";

interface Request {
  n: number;
  at: number;
  parents: readonly string[];
  /** The snapshot as it was found; pawl's index is at it. */
  from: string;
  to: string;
  exchange: Exchange;
  nested: readonly RawPath[];
}

interface PutBack {
  kept: string;
  /** Also in the workspace. */
  isWhole: boolean;
  warnings: string[];
}

export async function putBack(lane: Lane, about: Request): Promise<PutBack> {
  const { n, at, parents, from, to, nested } = about;
  const coming = [...about.exchange].flatMap(([path, blob]) => (blob === null ? [] : [path]));
  const name = `protected/${n}`;
  moveNestedAside(lane, { nested, coming, name });
  const tree = await withObstacles(lane, { tree: from, coming });
  const message = `What the agent made of protected files, in snapshot ${n}`;
  const kept = await keepRef(lane, { name, oid: await commit(lane, { tree, parents, message, at }) });
  lane.memory.indexTree = undefined;
  const written = await lane.view.run(["read-tree", "--reset", "-u", from, to]);
  if (written.code === 0) {
    lane.memory.indexTree = to;
    return { kept, isWhole: true, warnings: [] };
  }
  // Whatever keeps a file from being written: what is judged and delivered does not come from the workspace.
  await lane.view.need(["read-tree", "--reset", to]);
  lane.memory.indexTree = to;
  const why = written.stderr.trim().split("\n").at(-1) ?? "";
  const warning = `protected files could not be put back in the workspace, only in what is judged: ${why}`;
  return { kept, isWhole: false, warnings: [warning] };
}

/** Files that git ignores and no snapshot holds, where something will be written. */
async function withObstacles(lane: Lane, { tree, coming }: { tree: string; coming: RawPath[] }): Promise<string> {
  const inTheWay = obstacles(lane.spec.path, coming);
  if (inTheWay.length === 0) return tree;
  const index = join(lane.layout.dir, "kept.index");
  copyIndex(lane.layout.index, index);
  const git = lane.view.at({ index, sync: "few" });
  await updateIndex(git, { update: inTheWay, drop: [] });
  return await git.need(["write-tree"]);
}
