/**
 * What an agent can do to protected files without changing them: take the right to read them, or put a repository of its
 * own over them. Neither is in any tree, so it is undone in the workspace itself, before it is looked at.
 */
import { chmodSync, constants, cpSync, rmSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { PathChange } from "../events.ts";
import { makePrivateDir, rename } from "../platform/files.ts";
import type { Git } from "./git.ts";
import type { Lane } from "./lane.ts";
import { absolute, look, shown, type RawPath } from "./scan.ts";

export interface Reopened {
  undone: PathChange[];
  warnings: string[];
}

const READ_FILE = constants.S_IRUSR;
const ENTER_FOLDER = constants.S_IRUSR | constants.S_IXUSR;

/** `n`: the snapshot that is about to be taken. */
export async function reopened(lane: Lane, { guard, n }: { guard: string; n: number }): Promise<Reopened> {
  const { files, folders } = await guarded(lane, guard);
  const found: Reopened = { undone: [], warnings: [] };
  // Behind a link nothing is the workspace's.
  const real = new Set<RawPath>([""]);
  // From above: what is in a closed folder cannot be looked at.
  for (const path of folders)
    if (real.has(folderOf(path)) && openFolder(lane, { path, found }) !== undefined) real.add(path);
  for (const path of files) if (real.has(folderOf(path))) openFile(lane, { path, found });
  const before = lane.prepared.gitFolders;
  if (before === undefined) return sorted(found);
  for (const folder of folders.filter((one) => real.has(one) && !before.includes(one)))
    if (lookAt(lane, `${folder}/.git`) !== undefined) moveAway(lane, { folder, n, found });
  return sorted(found);
}

const sorted = ({ undone, warnings }: Reopened): Reopened => ({
  undone: undone.toSorted((one, other) => (one.path < other.path ? -1 : 1)),
  warnings,
});

/** Protected files of a tree, and the folders above them. Remembered: it is asked at every snapshot. */
async function guarded(lane: Lane, guard: string): Promise<{ files: RawPath[]; folders: RawPath[] }> {
  const known = lane.memory.guarded;
  if (known?.guard === guard) return known;
  const files = (await pathsOf(lane.privateGit, guard)).filter(
    (path) => lane.protection.kindOf(textOf(path)) !== undefined,
  );
  const folders = foldersAbove(files);
  lane.memory.guarded = { guard, files, folders };
  return { files, folders };
}

async function pathsOf(git: Git, tree: string): Promise<RawPath[]> {
  const listed = await git.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree]);
  return listed.code !== 0 || listed.truncated ? [] : listed.stdout.toString("latin1").split("\0").filter(Boolean);
}

function foldersAbove(files: readonly RawPath[]): RawPath[] {
  const folders = new Set<RawPath>();
  for (const file of files)
    for (let end = file.lastIndexOf("/"); end > 0; end = file.lastIndexOf("/", end - 1)) {
      const folder = file.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  return [...folders].toSorted();
}

interface Looking {
  path: RawPath;
  found: Reopened;
}

/** undefined where there is none. */
function openFolder(lane: Lane, { path, found }: Looking): Stats | undefined {
  const stats = lookAt(lane, path);
  if (stats?.isDirectory() !== true) return undefined;
  if ((stats.mode & ENTER_FOLDER) !== ENTER_FOLDER) open(lane, { path, found, mode: stats.mode | constants.S_IRWXU });
  return stats;
}

function openFile(lane: Lane, { path, found }: Looking): void {
  const stats = lookAt(lane, path);
  if (stats?.isFile() !== true || (stats.mode & READ_FILE) === READ_FILE) return;
  open(lane, { path, found, mode: stats.mode | constants.S_IRUSR | constants.S_IWUSR });
}

function open(lane: Lane, { path, found, mode }: Looking & { mode: number }): void {
  try {
    chmodSync(absolute(lane.spec.path, path), mode & 0o7777);
    found.undone.push({ path: textOf(path), how: "edited" });
    found.warnings.push(`${shown(path)} judges the work and could not be read any more: its mode was put back`);
  } catch {
    // Another user's: the scan says what cannot be read.
  }
}

/** Where git would find it in place of the user's. */
function moveAway(lane: Lane, { folder, n, found }: { folder: RawPath; n: number; found: Reopened }): void {
  const path = `${folder}/.git`;
  const from = absolute(lane.spec.path, path).toString();
  const aside = join(lane.layout.dir, "aside", String(n));
  const to = join(aside, encodeURIComponent(textOf(path)));
  try {
    makePrivateDir(aside);
    try {
      rename(from, to);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
      cpSync(from, to, { recursive: true, verbatimSymlinks: true });
      rmSync(from, { recursive: true, force: true });
    }
    found.undone.push({ path: textOf(path), how: "added" });
    found.warnings.push(`${shown(path)}, a repository among files that judge the work, was moved to ${to}`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    found.warnings.push(`${shown(path)} lies among files that judge the work and could not be moved away: ${why}`);
  }
}

/** Not through a folder that is closed all the same. */
function lookAt(lane: Lane, path: RawPath): Stats | undefined {
  try {
    return look(lane.spec.path, path);
  } catch {
    return undefined;
  }
}

const folderOf = (path: RawPath): RawPath => path.slice(0, Math.max(path.lastIndexOf("/"), 0));
const textOf = (path: RawPath): string => Buffer.from(path, "latin1").toString("utf8");

/** Folders of tracked files that hold a repository before the run: a person's own. */
export async function gitFoldersIn(lane: Lane, tree: string): Promise<RawPath[]> {
  const folders = foldersAbove(await pathsOf(lane.privateGit, tree));
  return folders.filter((folder) => lookAt(lane, `${folder}/.git`) !== undefined);
}
