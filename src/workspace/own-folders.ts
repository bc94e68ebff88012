/**
 * What a tree says about its dependencies, against the base: whether it brings folders of its own in place of what is
 * installed there (an agent that stops ignoring node_modules would choose what its work is judged with), and which files
 * that decide about them it changed.
 */
import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { globMatcher, spelledOut } from "../platform/glob.ts";
import { LOCKFILES } from "../verdict-defaults.ts";
import type { Lane } from "./lane.ts";
import type { RawPath } from "./scan.ts";
import { isWithin } from "./user-git.ts";

/** Made by installers, everywhere; nobody writes them by hand. */
const INSTALLED: ReadonlySet<string> = new Set(["node_modules", ".venv", "venv", "bower_components", ".bundle"]);

export interface OwnFolders {
  /** Folders of the tree that the base does not track and that are left out (bytes). */
  folders: string[];
  /** Files for dependencies that differ from the base's. */
  lockfiles: string[];
}

const NOTHING: OwnFolders = { folders: [], lockfiles: [] };
const isLockfile = globMatcher(LOCKFILES.map(spelledOut));

/** Remembers the last one: a tree is checked by several checks in a row. */
export function ownFoldersOf(lane: Lane): (tree: string) => Promise<OwnFolders> {
  const { base, dependencies } = lane.prepared;
  const copied = dependencies.map((folder) => Buffer.from(folder).toString("latin1"));
  let last: { tree: string; found: Promise<OwnFolders> } | undefined;
  const isAbout = (path: RawPath): boolean =>
    installedAround(path, copied).length > 0 || (dependencies.length > 0 && isLockfile(path));
  /** A tree of which nothing that differs from the base is about dependencies. */
  let plain = base.tree;
  /** A snapshot that is only a step from there needs no git. */
  const isPlain = (tree: string): boolean => {
    const { step } = lane.memory;
    return tree === plain || (step?.to === tree && step.from === plain && !step.paths.some(isAbout));
  };
  const find = async (tree: string): Promise<OwnFolders> => {
    if (tree === base.tree) return NOTHING;
    if (isPlain(tree)) {
      plain = tree;
      return NOTHING;
    }
    const listed = await namesOf(lane, ["diff-tree", "-r", "-z", "--no-renames", "--name-only", base.tree, tree]);
    const changed = listed ?? [];
    if (lane.memory.step?.to === tree && listed?.some(isAbout) === false) plain = tree;
    const folders = [...new Set(changed.flatMap((path) => installedAround(path, copied)))];
    // Where nothing was copied nothing can be out of date.
    const named = dependencies.length === 0 ? [] : changed.filter(isLockfile);
    const lockfiles = named.filter((path) => !folders.some((folder) => isWithin(path, folder)));
    return { folders: await notInBase(lane, folders), lockfiles };
  };
  return async (tree) => {
    if (last?.tree !== tree) last = { tree, found: find(tree) };
    return await last.found;
  };
}

/** The outermost folder around a path that is a dependency folder. */
function installedAround(path: string, copied: readonly string[]): string[] {
  const names = path.split("/");
  const around = names.slice(0, -1).map((_, at) => names.slice(0, at + 1).join("/"));
  const found = [...around, path].find((one) => copied.includes(one) || INSTALLED.has(basename(one)));
  return found === undefined ? [] : [found];
}

/** What the base tracks is the user's. */
async function notInBase(lane: Lane, folders: readonly string[]): Promise<string[]> {
  if (folders.length === 0) return [];
  const paths = folders.map((folder) => Buffer.from(folder, "latin1").toString("utf8"));
  const { base } = lane.prepared;
  const there = new Set((await namesOf(lane, ["ls-tree", "-z", "--name-only", base.tree, "--", ...paths])) ?? []);
  return folders.filter((folder) => !there.has(folder));
}

/** The tree without them, as another tree. */
export async function withoutFolders(lane: Lane, about: { tree: string; folders: readonly string[] }): Promise<string> {
  const index = join(lane.layout.dir, "own-folders.index");
  for (const left of [index, `${index}.lock`]) rmSync(left, { force: true });
  const git = lane.view.at({ index, sync: "few" });
  await git.need(["read-tree", about.tree]);
  const all = (await git.run(["ls-files", "-z"])).stdout.toString("latin1").split("\0").filter(Boolean);
  const out = all.filter((path) => about.folders.some((folder) => isWithin(path, folder)));
  const input = Buffer.from(out.map((path) => `${path}\0`).join(""), "latin1");
  await git.need(["update-index", "--force-remove", "-z", "--stdin"], { input });
  return await git.need(["write-tree"]);
}

async function namesOf(lane: Lane, args: readonly string[]): Promise<string[] | undefined> {
  const { stdout, code } = await lane.privateGit.run(args);
  return code === 0 ? stdout.toString("latin1").split("\0").filter(Boolean) : undefined;
}
