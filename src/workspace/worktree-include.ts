/**
 * Files that git does not keep and a worktree needs all the same (`.env`, local settings): those that `.worktreeinclude`
 * names, in the syntax of .gitignore. Only ignored ones: any other would be an uncommitted change of the worktree.
 */
import { constants, copyFileSync, lstatSync, mkdirSync, readlinkSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isWithin, userGit, type Environment } from "./user-git.ts";

const INCLUDE_FILE = ".worktreeinclude";
const MAX_INCLUDED_FILES = 50_000;
const MAX_INCLUDED_BYTES = 2 * 1024 * 1024 * 1024;
const SHOWN_PATHS = 3;

/** Returns what to warn of. */
export async function copyIncluded(
  { repository, environment }: { repository: string; environment: Environment },
  path: string,
): Promise<string[]> {
  const include = join(repository, INCLUDE_FILE);
  if (lstatSync(include, { throwIfNoEntry: false })?.isFile() !== true) return [];
  const others = ["ls-files", "-z", "-o", "-i"];
  const [named, ignored] = await Promise.all([
    userGit([...others, `--exclude-from=${include}`], { cwd: repository, environment }),
    userGit([...others, "--exclude-standard"], { cwd: repository, environment }),
  ]);
  const names = (result: { stdout: Buffer }) => result.stdout.toString("utf8").split("\0").filter(Boolean);
  const allowed = new Set(names(ignored));
  const [wanted, tracked] = [
    names(named).filter((name) => allowed.has(name)),
    names(named).filter((n) => !allowed.has(n)),
  ];
  const warnings = tracked.length === 0 ? [] : [`${listed(tracked)}: not copied, for git does not ignore it`];
  if (named.truncated || ignored.truncated) warnings.push(`${INCLUDE_FILE} names more files than can be listed`);
  return [...warnings, ...copyAll(wanted, { from: repository, to: path })];
}

const listed = (names: readonly string[]): string =>
  `${names
    .slice(0, SHOWN_PATHS)
    .map((name) => JSON.stringify(name))
    .join(", ")}${names.length > SHOWN_PATHS ? ` and ${names.length - SHOWN_PATHS} more` : ""}`;

function copyAll(names: readonly string[], place: { from: string; to: string }): string[] {
  let bytes = 0;
  const left: string[] = [];
  for (const [at, name] of names.entries()) {
    const stats = lstatSync(join(place.from, name), { throwIfNoEntry: false });
    if (stats === undefined) continue;
    bytes += stats.size;
    if (at >= MAX_INCLUDED_FILES || bytes > MAX_INCLUDED_BYTES) {
      const cap = at >= MAX_INCLUDED_FILES ? `${MAX_INCLUDED_FILES} files` : `${MAX_INCLUDED_BYTES / 1024 ** 3} GiB`;
      return [
        ...said(left),
        `${INCLUDE_FILE} names more than ${cap}; the rest from ${JSON.stringify(name)} on is not copied`,
      ];
    }
    if (!isCopied(name, { ...place, kind: stats.isFile() ? "file" : stats.isSymbolicLink() ? "link" : "other" }))
      left.push(name);
  }
  return said(left);
}

const said = (left: readonly string[]): string[] =>
  left.length === 0 ? [] : [`${listed(left)}: not copied, for it is no plain file inside the repository`];

/** Links stay links, and only those that lead to something inside; nothing is read or written through one. */
function isCopied(
  name: string,
  { from, to, kind }: { from: string; to: string; kind: "file" | "link" | "other" },
): boolean {
  const [source, target] = [join(from, name), join(to, name)];
  if (kind === "other") return false;
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return true;
  const parent = dirname(target);
  if (!isRealBelow(parent, to)) return false;
  mkdirSync(parent, { recursive: true });
  if (kind === "file") {
    copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    return true;
  }
  const leadsTo = readlinkSync(source);
  if (isAbsolute(leadsTo) || !isWithin(resolve(dirname(source), leadsTo), from)) return false;
  symlinkSync(leadsTo, target);
  return true;
}

/** A folder that the commit holds as a link would lead what is copied out of the worktree. */
function isRealBelow(dir: string, root: string): boolean {
  for (let at = dir; isWithin(at, root) && at !== root; at = dirname(at)) {
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats !== undefined) return stats.isDirectory() && isWithin(realpathSync(at), realpathSync(root));
  }
  return true;
}
