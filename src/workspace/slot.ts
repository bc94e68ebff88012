/**
 * A directory that holds exactly one tree and that nobody but pawl writes to: checks see it under a layer of their own.
 * So it is known what is in it, and going from tree to tree costs what differs between them.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { currentOwner } from "../platform/owner.ts";
import { removeAround } from "./dependencies.ts";
import type { Lane } from "./lane.ts";
import { absolute, type RawPath } from "./scan.ts";

export interface Slot {
  readonly path: string;
  /** The tree it holds; undefined while that is not certain. */
  at(): string | undefined;
  bring(tree: string): Promise<void>;
}

interface Entry {
  path: RawPath;
  mode: string;
  oid: string;
}

interface Difference {
  gone: RawPath[];
  written: Entry[];
}

export function openSlot(lane: Lane, path: string): Slot {
  const note = `${path}.holds`;
  const index = `${path}.index`;
  const git = lane.view.at({ workTree: path, index, sync: "none" });
  let at = noted(note);

  const whole = async (tree: string): Promise<void> => {
    removeAround(Buffer.from(path), []);
    for (const left of [index, `${index}.lock`]) rmSync(left, { force: true });
    mkdirSync(path, { recursive: true });
    await git.need(["read-tree", "--reset", "-u", tree]);
  };
  /** By an index of only what differs: git reads, compares and writes a whole one otherwise. */
  const step = async ({ gone, written }: Difference): Promise<void> => {
    for (const removed of gone) remove(path, removed);
    if (written.length === 0) return;
    for (const left of [index, `${index}.lock`]) rmSync(left, { force: true });
    const lines = written.map((entry) => `${entry.mode} ${entry.oid}\t${entry.path}\0`);
    await git.need(["update-index", "-z", "--index-info"], { input: Buffer.from(lines.join(""), "latin1") });
    await git.need(["checkout-index", "-f", "-a", "-q"]);
  };
  return {
    path,
    at: () => at,
    async bring(tree) {
      if (at === tree) return;
      const before = at;
      at = undefined;
      rmSync(note, { force: true });
      const difference = before === undefined ? undefined : await differenceOf(lane, { from: before, to: tree });
      await (difference === undefined ? whole(tree) : step(difference).catch(() => whole(tree)));
      at = tree;
      writeFileSync(note, `${currentOwner().boot} ${tree}`);
    },
  };
}

/** Nothing here is synced: what was written before the machine went down is not believed. */
function noted(note: string): string | undefined {
  if (!existsSync(note)) return undefined;
  const [boot, tree] = readFileSync(note, "utf8").split(" ");
  return boot === currentOwner().boot ? tree : undefined;
}

/** undefined when the rules by which files are written differ too: then every file may. */
async function differenceOf(lane: Lane, { from, to }: { from: string; to: string }): Promise<Difference | undefined> {
  const args = ["diff-tree", "-r", "-z", "--no-renames", from, to];
  const listed = await lane.privateGit.run(args);
  if (listed.code !== 0) return undefined;
  const fields = listed.stdout.toString("latin1").split("\0");
  const difference: Difference = { gone: [], written: [] };
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode = "", , oid = "", status = ""] = (fields[at] ?? "").split(" ");
    const path = fields[at + 1] ?? "";
    if (basename(path) === ".gitattributes") return undefined;
    // What changes its kind is in the way of what it becomes.
    if (status === "D" || status === "T") difference.gone.push(path);
    if (status !== "D") difference.written.push({ path, mode, oid });
  }
  return difference;
}

/** With the folders that are empty then. */
function remove(root: string, path: RawPath): void {
  removeAround(absolute(root, path), []);
  const names = path.split("/").slice(0, -1);
  while (names.length > 0) {
    try {
      rmdirSync(absolute(root, names.join("/")));
    } catch {
      return;
    }
    names.pop();
  }
}
