/**
 * Dependency folders for checks: ignored folders such as node_modules, copied once before the first turn, so that no
 * check uses what an agent put there later. Mounting them over the workspace's own path belongs to the judged tree.
 */
import { spawn } from "node:child_process";
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fault } from "../platform/faults.ts";
import { rename } from "../platform/files.ts";
import { gitFailed, type Git } from "./git.ts";
import { workTreeOf } from "./scan.ts";
import { isWithin } from "./user-git.ts";

const FOLDERS = new Set(["node_modules", ".venv", "venv", "vendor", "target", "bower_components", ".bundle", "deps"]);
const LIST = ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"];

/** Copies what is missing in `to`; repeatable. Returns the folders' paths, relative. */
export async function copyDependencies(git: Git, to: string): Promise<string[]> {
  const from = workTreeOf(git);
  const listed = await git.run(LIST);
  if (listed.code !== 0) throw gitFailed(LIST, listed);
  const folders = listed.stdout
    .toString("utf8")
    .split("\0")
    .filter((path) => path.endsWith("/") && FOLDERS.has(basename(path)))
    .map((path) => path.slice(0, -1));
  for (const folder of folders) await copyFolder({ from, to, folder });
  return folders;
}

async function copyFolder({ from, to, folder }: { from: string; to: string; folder: string }): Promise<void> {
  const target = join(to, folder);
  if (existsSync(target)) return;
  const unfinished = `${target}.pawl-copying`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(dirname(target), { recursive: true });
  if (!(await copyWithSystem(join(from, folder), unfinished)))
    cpSync(join(from, folder), unfinished, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  repointLinks(unfinished, { from, to });
  rename(unfinished, target);
}

/** `cp` clones blocks where the file system can; false where it cannot do this. */
async function copyWithSystem(from: string, to: string): Promise<boolean> {
  fault("spawn");
  const child = spawn("cp", ["-a", "--reflink=auto", "--", from, to], { stdio: "ignore" });
  const code = await new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", resolve);
  });
  if (code !== 0) rmSync(to, { recursive: true, force: true });
  return code === 0;
}

/** A link into the workspace (npm workspaces, editable installs) must mean the tree under judgement. */
function repointLinks(root: string, { from, to }: { from: string; to: string }): void {
  const folders = [root];
  for (let dir = folders.pop(); dir !== undefined; dir = folders.pop()) {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isSymbolicLink()) continue;
      const target = readlinkSync(path);
      if (!isWithin(target, from)) continue;
      rmSync(path);
      symlinkSync(join(to, target.slice(from.length)), path);
    }
  }
}

/** Removes `path` but not the kept folders below it; no link is followed. */
export function removeAround(path: string, kept: readonly string[]): void {
  const inside = kept.filter((folder) => isWithin(folder, path));
  if (inside.includes(path)) return;
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (inside.length === 0 || !stats.isDirectory()) {
    rmSync(path, { recursive: true, force: true });
    return;
  }
  for (const name of readdirSync(path)) removeAround(join(path, name), inside);
}
