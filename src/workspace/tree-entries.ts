/** Entries of trees with their modes: which differ between two, and a tree with some of them exchanged. No checkout. */
import { rmSync } from "node:fs";
import { gitFailed, type Git } from "./git.ts";
import type { RawPath } from "./scan.ts";

export interface Blob {
  mode: string;
  oid: string;
}

export interface Difference {
  path: RawPath;
  before: Blob | undefined;
  after: Blob | undefined;
}

/** null: not there. */
export type Exchange = ReadonlyMap<RawPath, Blob | null>;

const NO_MODE = "000000";

export async function differences(git: Git, { from, to }: { from: string; to: string }): Promise<Difference[]> {
  if (from === to) return [];
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to, "--"];
  const result = await git.run(args);
  if (result.code !== 0 || result.truncated) throw gitFailed(args, result);
  const tokens = result.stdout.toString("latin1").split("\0");
  const found: Difference[] = [];
  for (let at = 0; at + 1 < tokens.length; at += 2) {
    const [mode = "", newMode = "", oid = "", newOid = ""] = (tokens[at] ?? "").slice(1).split(" ");
    const blob = (m: string, o: string): Blob | undefined => (m === NO_MODE ? undefined : { mode: m, oid: o });
    found.push({ path: tokens[at + 1] ?? "", before: blob(mode, oid), after: blob(newMode, newOid) });
  }
  return found;
}

/** The tree of the given index with entries exchanged; the index is changed, so it is a copy that the caller throws away. */
export async function exchanged(git: Git, exchange: Exchange): Promise<string> {
  const none = (oid: string): string => "0".repeat(oid.length || 40);
  const entries = [...exchange];
  const some = entries.find(([, blob]) => blob !== null)?.[1]?.oid ?? "";
  // What goes makes room: a file stands where a folder has to be.
  const lines = [
    ...entries.flatMap(([path, blob]) => (blob === null ? [`0 ${none(some)}\t${path}\0`] : [])),
    ...entries.flatMap(([path, blob]) => (blob === null ? [] : [`${blob.mode} ${blob.oid}\t${path}\0`])),
  ];
  await git.need(["update-index", "-z", "--index-info"], { input: Buffer.from(lines.join(""), "latin1") });
  return await git.need(["write-tree"]);
}

/** The same of any tree. */
export async function exchangedIn(
  git: Git,
  { tree, index, exchange }: { tree: string; index: string; exchange: Exchange },
): Promise<string> {
  rmSync(index, { force: true });
  const scratch = git.at({ index, sync: "few" });
  await scratch.need(["read-tree", tree]);
  return await exchanged(scratch, exchange);
}
