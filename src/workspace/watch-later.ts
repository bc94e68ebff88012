/**
 * Which files that run later (`runs-later.ts`) a turn has touched: those of the snapshot, and those at the top level that
 * git ignores and no snapshot holds. The second kind is compared with the look before.
 */
import { createHash } from "node:crypto";
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, readSync, type Stats } from "node:fs";
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../platform/files.ts";
import type { Lane } from "./lane.ts";
import type { Numbers } from "./numbers.ts";
import { mayRunLater, runsLater } from "./runs-later.ts";

/** Looked at below the top level; what lies beyond is not. */
const MAX_WATCHED_FILES = 500;
const MAX_HASHED_BYTES = 1024 * 1024;
const MAX_DEPTH = 6;
/** Named in a fact; more are counted. */
const MAX_FLAGGED = 50;

type Seen = Readonly<Record<string, string>>;

/** The first look of a run is the baseline. */
export function watchLater(lane: Lane, changes: Numbers["changes"] = []): string[] {
  const now = look(lane);
  const before = lastSeen(lane);
  const changed = changes
    .filter(({ blob }) => blob !== null)
    .map(({ path }) => Buffer.from(path, "latin1").toString("utf8"))
    .filter(runsLater);
  const unseen =
    before === undefined ? [] : Object.keys(now).filter((path) => now[path] !== before[path] && runsLater(path));
  if (before === undefined || JSON.stringify(before) !== JSON.stringify(now))
    writeDurably(fileOf(lane), JSON.stringify(now));
  return [...new Set([...changed, ...unseen])].toSorted().slice(0, MAX_FLAGGED);
}

const fileOf = ({ layout }: Lane): string => join(layout.dir, "later.json");

function lastSeen(lane: Lane): Seen | undefined {
  const path = fileOf(lane);
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Seen) : undefined;
}

function look({ spec, layout, prepared }: Lane): Seen {
  const seen: Record<string, string> = {};
  const roots = names(spec.path).filter((name) => mayRunLater(name) && name.toLowerCase() !== ".git");
  for (const name of roots) walk(spec.path, { path: name, depth: 0, seen });
  // Behind a fence the agent has a repository of its own; without one, the user's is in its reach.
  if (existsSync(layout.fencedGit)) return seen;
  const git: Record<string, string> = {};
  for (const name of ["hooks", "config"]) walk(prepared.commonDir, { path: name, depth: 0, seen: git });
  return { ...seen, ...Object.fromEntries(Object.entries(git).map(([path, mark]) => [`.git/${path}`, mark])) };
}

function walk(root: string, at: { path: string; depth: number; seen: Record<string, string> }): void {
  const { path, depth, seen } = at;
  if (Object.keys(seen).length >= MAX_WATCHED_FILES || depth > MAX_DEPTH) return;
  const full = join(root, path);
  const stats = statsOf(full);
  if (stats?.isDirectory() === true) {
    for (const name of names(full)) walk(root, { path: join(path, name), depth: depth + 1, seen });
    return;
  }
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) seen[path] = `-> ${linkOf(full)}`;
  else if (stats.isFile()) seen[path] = hashOf(full);
}

/** What cannot be looked at (a file where a folder was, no rights) is not there. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "?";
  }
}

/** Never through a link, and never waits for the other end of a pipe that took a file's place. */
function hashOf(path: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, MAX_HASHED_BYTES));
    const read = readSync(fd, bytes, 0, bytes.length, 0);
    return `${size}:${createHash("sha256").update(bytes.subarray(0, read)).digest("hex")}`;
  } catch {
    return "unreadable";
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
