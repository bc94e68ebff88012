/**
 * Dependency folders for checks: ignored folders such as node_modules, copied once before the first turn, so that no
 * check uses what an agent put there later (`pristine.ts` keeps that true). Mounting them over the workspace's own path belongs to the judged tree.
 */
import { spawn } from "node:child_process";
import { isUtf8 } from "node:buffer";
import {
  chmodSync,
  constants,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  type Stats,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { SYSTEM_PATH } from "../platform/environment.ts";
import { fault } from "../platform/faults.ts";
import { rename } from "../platform/files.ts";
import type { RawPath } from "./scan.ts";
import { isWithin } from "./user-git.ts";

const FOLDERS = new Set(["node_modules", ".venv", "venv", "vendor", "target", "bower_components", ".bundle", "deps"]);

interface Copying {
  /** What is ignored in the workspace. */
  ignored: readonly RawPath[];
  to: string;
  instead: string;
}

/** Copies what is missing in `to`, with links into the workspace made to mean `instead`. Returns the relative paths. */
export async function copyDependencies(from: string, { ignored, to, instead }: Copying): Promise<string[]> {
  const folders = ignored
    .filter((path) => path.endsWith("/") && FOLDERS.has(basename(path)))
    .map((path) => Buffer.from(path.slice(0, -1), "latin1"))
    // `cp` could not be told another name.
    .filter((path) => isUtf8(path))
    .map((path) => path.toString());
  for (const folder of folders) await copyFolder({ from, to, folder, links: { from, instead } });
  return folders;
}

interface Copy {
  from: string;
  to: string;
  folder: string;
  links?: { from: string; instead: string };
}

/** A folder that is there already is left as it is. */
export async function copyFolder({ from, to, folder, links }: Copy): Promise<void> {
  const target = join(to, folder);
  if (existsSync(target)) return;
  const unfinished = `${target}.pawl-copying`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  if (!(await copyWithSystem(join(from, folder), unfinished)))
    cpSync(join(from, folder), unfinished, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  if (links !== undefined) repointLinks(unfinished, links);
  rename(unfinished, target);
}

/** `cp` clones blocks where the file system can; false where it cannot do this. */
async function copyWithSystem(from: string, to: string): Promise<boolean> {
  fault("spawn");
  const child = spawn("cp", ["-a", "--reflink=auto", "--", from, to], {
    stdio: "ignore",
    detached: true,
    env: { PATH: SYSTEM_PATH },
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  if (code !== 0) rmSync(to, { recursive: true, force: true });
  return code === 0;
}

/** A link into the workspace (npm workspaces, editable installs) must mean the tree under judgement. */
function repointLinks(root: string, links: { from: string; instead: string }): void {
  const [inside, instead] = [Buffer.from(links.from).toString("latin1"), Buffer.from(links.instead)];
  const folders: Buffer[] = [Buffer.from(root)];
  for (let dir = folders.pop(); dir !== undefined; dir = folders.pop()) {
    for (const entry of readdirSync(dir, { withFileTypes: true, encoding: "buffer" })) {
      const path = below(dir, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isSymbolicLink()) continue;
      const target = readlinkSync(path, { encoding: "buffer" }).toString("latin1");
      if (!isWithin(target, inside)) continue;
      rmSync(path);
      symlinkSync(Buffer.concat([instead, Buffer.from(target.slice(inside.length), "latin1")]), path);
    }
  }
}

function below(dir: Buffer, name: Buffer): Buffer {
  return Buffer.concat([dir, Buffer.from("/"), name]);
}

/** Removes `path` but not the kept folders below it; no link is followed. Paths are bytes: checks name files as they like. */
export function removeAround(path: Buffer, kept: readonly Buffer[]): void {
  const inside = kept.filter((folder) => isWithin(folder.toString("latin1"), path.toString("latin1")));
  if (inside.some((folder) => folder.equals(path))) return;
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (inside.length === 0 || !stats.isDirectory()) {
    removeWhole(path, stats);
    return;
  }
  for (const name of readdirSync(path, { encoding: "buffer" })) removeAround(below(path, name), inside);
}

/** Makes folders that nobody may write or enter usable again, except the kept ones; no link is followed. */
export function openUp(path: Buffer, kept: readonly Buffer[]): void {
  if (kept.some((folder) => folder.equals(path))) return;
  if ((lstatSync(path).mode & constants.S_IRWXU) !== constants.S_IRWXU) chmodSync(path, constants.S_IRWXU);
  for (const entry of readdirSync(path, { withFileTypes: true, encoding: "buffer" }))
    if (entry.isDirectory()) openUp(below(path, entry.name), kept);
}

/**
 * Also what is in folders that nobody may write or enter (module caches are made so), and names that are no text.
 * What goes meanwhile is fine: an `fs.rm` that failed may still have removals under way.
 */
function removeWhole(path: Buffer, stats: Stats): void {
  if (!stats.isDirectory()) return unlessGone(() => unlinkSync(path));
  unlessGone(() => {
    if ((stats.mode & constants.S_IRWXU) !== constants.S_IRWXU) chmodSync(path, constants.S_IRWXU);
    for (const name of readdirSync(path, { encoding: "buffer" })) {
      const child = below(path, name);
      const found = lstatSync(child, { throwIfNoEntry: false });
      if (found !== undefined) removeWhole(child, found);
    }
    rmdirSync(path);
  });
}

function unlessGone(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
