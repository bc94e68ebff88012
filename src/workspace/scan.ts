/**
 * What differs between the work tree and the index, sorted by what is to be done with it. Paths are bytes (latin1
 * strings): an agent may name files in any encoding. Nothing is opened and no link is followed here.
 */
import { accessSync, constants, lstatSync, type Stats } from "node:fs";
import { TerminalError } from "../errors.ts";
import { sizeWords } from "../platform/fence/held.ts";
import type { WorkspaceSpec } from "../spec.ts";
import { gitFailed, type Git } from "./git.ts";

/** A path as git stores it: bytes, one character each. */
export type RawPath = string;

export interface Caps {
  maxBytes: number;
  maxFiles: number;
  /** What ignore files name, too. */
  withIgnored?: boolean;
}
export const capsOf = ({ maxSnapshotBytes, maxSnapshotFiles, scratch }: WorkspaceSpec): Caps => ({
  maxBytes: maxSnapshotBytes,
  maxFiles: maxSnapshotFiles,
  withIgnored: scratch === true,
});
export const uncapped = ({ scratch }: WorkspaceSpec): Caps => ({ ...NO_CAPS, withIgnored: scratch === true });
export const NO_CAPS: Caps = { maxBytes: Number.POSITIVE_INFINITY, maxFiles: Number.POSITIVE_INFINITY };

export interface Scan {
  /** For `update-index --add --remove`. */
  update: RawPath[];
  /** Gone for git, though something that it cannot store, or a link's target, has their name. */
  drop: RawPath[];
  /** Untracked directories with a repository of their own. */
  nested: RawPath[];
  /** Files that may not be read, so nobody can keep them. */
  unreadable: RawPath[];
  warnings: string[];
  refused?: string;
}

/** What git says of a folder that it may not enter, and then leaves out. */
export const CLOSED = /^warning: could not open directory '(.*)': /gm;
const WITHOUT_IGNORED = "--exclude-standard";
const LIST = ["ls-files", "-z", "-m", "-o", "-d", WITHOUT_IGNORED, "--deduplicate"];
/** Names of files beyond the cap are not worth reading. */
const MAX_PATH_BYTES = 4096;
const MAX_SHOWN = 200;
const MAX_NAMED = 3;
const MIN_LIST_BYTES = 64 * 1024 * 1024;
const MAX_LIST_BYTES = 1024 * 1024 * 1024;

export interface Follow extends Pick<Scan, "update" | "drop"> {
  /** Of new or changed files: those that are no part of the work. */
  leftOut?: (paths: Iterable<RawPath>) => Promise<ReadonlySet<RawPath>>;
}

/** `follow`: ignored files that count all the same, and tracked ones that do not any more. */
export async function scan(git: Git, caps: Caps, follow: Follow = { update: [], drop: [] }): Promise<Scan> {
  const maxBytes = Math.min(Math.max(caps.maxFiles * MAX_PATH_BYTES, MIN_LIST_BYTES), MAX_LIST_BYTES);
  const list = caps.withIgnored === true ? LIST.filter((word) => word !== WITHOUT_IGNORED) : LIST;
  const listed = await git.run(list, { maxBytes });
  if (listed.truncated) return { ...nothing(), refused: "the workspace lists more files than can be read" };
  if (listed.code !== 0) throw gitFailed(list, listed);
  const names = [...listed.stdout.toString("latin1").split("\0").filter(Boolean), ...follow.update];
  // What was a file and is a folder now stands before what is in it: git takes them in this order only.
  const paths = new Set(names.toSorted());
  for (const path of follow.drop) paths.delete(path);
  const left = (await follow.leftOut?.(paths)) ?? new Set();
  for (const path of left) paths.delete(path);
  if (paths.size > caps.maxFiles)
    return {
      ...nothing(),
      refused: `${paths.size} new or changed files are more than the ${caps.maxFiles} of a snapshot${most(paths, () => 1)}`,
    };
  const found = classify(paths, { root: workTreeOf(git), caps });
  if (left.size > 0) found.warnings.push(leftWords([...left]));
  for (const [, name] of listed.stderr.matchAll(CLOSED))
    found.warnings.push(`${JSON.stringify(name)} cannot be entered; what is in it is not in the snapshot`);
  return found.refused === undefined ? { ...found, drop: [...found.drop, ...follow.drop] } : found;
}

function leftWords(left: readonly RawPath[]): string {
  const names = left.slice(0, MAX_NAMED).map(shown).join(", ");
  const more = left.length > MAX_NAMED ? ` and ${left.length - MAX_NAMED} more` : "";
  return `${names}${more} was ignored before the run and is left out, though no rule names it any more; \`git add\` has it taken in`;
}

function classify(paths: Iterable<RawPath>, { root, caps }: { root: string; caps: Caps }): Scan {
  const found = nothing();
  const isReal = realDirectories(root);
  const sizes = new Map<RawPath, number>();
  for (const path of paths) {
    if (path.endsWith("/")) {
      found.nested.push(path.slice(0, -1));
      continue;
    }
    if (!isReal(parentOf(path))) {
      found.drop.push(path);
      continue;
    }
    const stats = lookOrSay(root, { path, warnings: found.warnings });
    if (stats === "unreachable") continue;
    switch (kindOf(stats)) {
      case "missing":
      case "link":
      case "directory":
        found.update.push(path);
        break;
      case "file":
        sizes.set(path, stats?.size ?? 0);
        if (isReadable(root, path)) {
          found.update.push(path);
          break;
        }
        found.unreadable.push(path);
        found.warnings.push(`${shown(path)} cannot be read; its content is not in the snapshot`);
        break;
      case "other":
        found.drop.push(path);
        found.warnings.push(`${shown(path)} is a pipe, socket or device; git cannot store it`);
    }
  }
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (bytes <= caps.maxBytes) return found;
  const where = most(sizes.keys(), (path) => sizes.get(path) ?? 0);
  return {
    ...nothing(),
    refused: `${sizeWords(bytes)} of new or changed files are more than the ${sizeWords(caps.maxBytes)} of a snapshot${where}`,
  };
}

/** In words, after what is too much: which file or folder at the top holds most of it. */
function most(paths: Iterable<RawPath>, weight: (path: RawPath) => number): string {
  const sums = new Map<string, number>();
  for (const path of paths) {
    const top = path.replace(/(?<=\/).*/s, "");
    sums.set(top, (sums.get(top) ?? 0) + weight(path));
  }
  const [first] = [...sums].toSorted(([, one], [, other]) => other - one);
  return first === undefined ? "" : `, most of them in ${shown(first[0])}`;
}

/** A path too long for the system, or in a directory that may not be entered. */
function lookOrSay(
  root: string,
  { path, warnings }: { path: RawPath; warnings: string[] },
): Stats | undefined | "unreachable" {
  try {
    return look(root, path);
  } catch (error) {
    warnings.push(`${shown(path).slice(0, MAX_SHOWN)} cannot be reached (${(error as NodeJS.ErrnoException).code})`);
    return "unreachable";
  }
}

type Kind = "missing" | "file" | "link" | "directory" | "other";

function kindOf(stats: Stats | undefined): Kind {
  if (stats === undefined) return "missing";
  if (stats.isFile()) return "file";
  if (stats.isSymbolicLink()) return "link";
  return stats.isDirectory() ? "directory" : "other";
}

/** Whether a directory of the work tree is one, all the way from the root: behind a link nothing belongs to the tree. */
function realDirectories(root: string): (dir: RawPath) => boolean {
  const known = new Map<RawPath, boolean>([["", true]]);
  const isReal = (dir: RawPath): boolean => {
    const before = known.get(dir);
    if (before !== undefined) return before;
    // A missing parent is no reason to drop: the file is simply gone, and git sees that by itself.
    const real = isReal(parentOf(dir)) && !isLink(root, dir);
    known.set(dir, real);
    return real;
  };
  return isReal;
}

function isLink(root: string, dir: RawPath): boolean {
  const stats = lookOrSay(root, { path: dir, warnings: [] });
  return typeof stats === "object" && stats.isSymbolicLink();
}

function parentOf(path: RawPath): RawPath {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

/** lstat; undefined when nothing is there. */
export function look(root: string, path: RawPath): Stats | undefined {
  try {
    return lstatSync(absolute(root, path));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

export function absolute(root: string, path: RawPath): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")]);
}

function isReadable(root: string, path: RawPath): boolean {
  try {
    accessSync(absolute(root, path), constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** For people. */
export function shown(path: RawPath): string {
  return JSON.stringify(Buffer.from(path, "latin1").toString("utf8"));
}

export function workTreeOf(git: Git): string {
  if (git.place.workTree === undefined) throw new TerminalError("a work tree is needed here");
  return git.place.workTree;
}

function nothing(): Scan {
  return { update: [], drop: [], nested: [], unreadable: [], warnings: [] };
}
