/**
 * Makes the workspace equal to a tree again. What is there first becomes a salvage ref, ignored files that would be
 * written over included; other ignored files stay. git's own checkout code writes, which follows no link out of the tree.
 */
import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { TerminalError } from "../errors.ts";
import { rename } from "../platform/files.ts";
import { following } from "./ignored-before.ts";
import { commit, ensureWorkspace, getRef, keepRef, setRef, treeOf, type Lane } from "./lane.ts";
import { snapshotNested } from "./nested.ts";
import { NO_NUMBERS, treeNumbers } from "./numbers.ts";
import { absolute, look, scan, shown, uncapped, type RawPath } from "./scan.ts";
import { takeTree, updateIndex } from "./take-tree.ts";

export interface RestoreRequest {
  tree: string;
  /** The salvage's name below `salvage/`. */
  salvage: string;
  at: number;
}

export async function restore(
  lane: Lane,
  { tree, salvage, at }: RestoreRequest,
): Promise<{ tree: string; salvage: string }> {
  ensureWorkspace(lane.spec.path);
  const name = `salvage/${salvage.replace(/^salvage\//, "")}`;
  const known = lane.memory.indexTree;
  lane.memory.indexTree = undefined;
  const taken = await takeTree(lane.view, { caps: uncapped(lane.spec), knownTree: known, follow: following(lane) });
  await snapshotNested(lane, { found: taken.scan.nested, name, at, caps: uncapped(lane.spec) });
  const coming = await arrivals(lane, { from: taken.tree, to: tree });
  await refuseUnreadable(lane, { unreadable: taken.scan.unreadable, coming });
  moveNestedAside(lane, { nested: taken.scan.nested, coming, name });
  const inTheWay = obstacles(lane.spec.path, coming);
  const left = inTheWay.length > 0 ? await updateIndex(lane.view, { update: inTheWay, drop: [] }) : undefined;
  const raw = [...taken.leftOut, ...(left?.paths ?? [])];
  if (raw.length > 0) await addRaw(lane, raw);
  const current = left !== undefined || raw.length > 0 ? await lane.view.need(["write-tree"]) : taken.tree;
  await keepCurrent(lane, { current, target: tree, name, at });
  await checkOut(lane, { tree, before: current });
  lane.memory.indexTree = tree;
  return { tree, salvage: name };
}

/** An earlier attempt's salvage is the true one: what is there now may be half restored. That is kept too. */
async function keepCurrent(
  lane: Lane,
  { current, target, name, at }: { current: string; target: string; name: string; at: number },
): Promise<void> {
  const base = lane.prepared.base.commit;
  const make = async () =>
    await commit(lane, {
      tree: current,
      parents: base === null ? [] : [base],
      message: `Salvage before a restore`,
      at,
    });
  const before = getRef(lane, name);
  if (before === undefined) return await setRef(lane, { name, oid: await make() });
  if (current === target || (await treeOf(lane, before)) === current) return;
  await keepRef(lane, { name: name.replace("salvage/", "lost/"), oid: await make() });
}

/** Before anything is written over: what nobody can read nobody can keep. */
async function refuseUnreadable(
  lane: Lane,
  { unreadable, coming }: { unreadable: readonly RawPath[]; coming: readonly RawPath[] },
): Promise<void> {
  if (unreadable.length === 0) return;
  const tracked = new Set([...(await entriesOf(lane)).map(({ path }) => path), ...coming]);
  const lost = unreadable.filter((path) => tracked.has(path));
  if (lost.length === 0) return;
  throw new TerminalError(`${lost.map(shown).slice(0, 3).join(", ")} cannot be read, so it cannot be salvaged`, {
    hint: "Make it readable (chmod u+r), or remove it, then do this again; nothing was changed.",
  });
}

/** What git could not take in goes into the salvage byte for byte, past every filter. */
async function addRaw(lane: Lane, paths: readonly RawPath[]): Promise<void> {
  const lines: string[] = [];
  for (const path of paths) {
    const stats = look(lane.spec.path, path);
    if (stats?.isFile() !== true) continue;
    const oid = await lane.view.need(["hash-object", "-w", "--stdin"], { input: readPlain(lane.spec.path, path) });
    lines.push(`${(stats.mode & constants.S_IXUSR) === 0 ? "100644" : "100755"} ${oid}\t${path}\0`);
  }
  const input = Buffer.from(lines.join(""), "latin1");
  await lane.view.need(["update-index", "--add", "--replace", "-z", "--index-info"], { input });
}

function readPlain(root: string, path: RawPath): Buffer {
  const whole = absolute(root, path);
  const fd = openSync(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    // A folder on the way may have become a link since it was looked at.
    if (process.platform === "linux" && !readlinkSync(`/proc/self/fd/${fd}`, { encoding: "buffer" }).equals(whole))
      throw new TerminalError(`${shown(path)} was moved while it was read`, {
        hint: "Do this again; nothing was changed.",
      });
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

async function entriesOf(lane: Lane): Promise<{ mode: string; path: RawPath }[]> {
  const listed = await lane.view.run(["ls-files", "-z", "-s"]);
  const lines = listed.stdout.toString("latin1").split("\0").filter(Boolean);
  return lines.map((line) => ({ mode: line.slice(0, line.indexOf(" ")), path: line.slice(line.indexOf("\t") + 1) }));
}

/** What is in neither tree stays: it was ignored by a rule that is gone now, and nobody has kept it. */
async function checkOut(lane: Lane, { tree, before }: { tree: string; before: string }): Promise<void> {
  await lane.view.need(["read-tree", "--reset", "-u", tree]);
  const left = await scan(lane.view, uncapped(lane.spec));
  const different = [...left.update, ...left.drop];
  if (different.length === 0) return;
  // A submodule is a repository of its own: which commit is checked out there is not pawl's to change.
  const entries = new Map((await entriesOf(lane)).map(({ path, mode }) => [path, mode]));
  const listed = await lane.privateGit.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", before]);
  const gone = new Set(listed.stdout.toString("latin1").split("\0"));
  const wrong = different.filter((path) => entries.get(path) !== "160000" && (entries.has(path) || gone.has(path)));
  if (wrong.length === 0) return;
  throw new TerminalError(`${wrong.map(shown).slice(0, 3).join(", ")} could not be restored in ${lane.spec.path}`, {
    hint: "See who owns these files and whether something still writes them, then resume; the salvage is safe.",
  });
}

/** Paths that the target has and the workspace's tree has not. */
async function arrivals(lane: Lane, { from, to }: { from: string; to: string }): Promise<RawPath[]> {
  const numbers = from === to ? NO_NUMBERS : await treeNumbers(lane.privateGit, { from, to });
  return numbers.changes.filter(({ isNew }) => isNew).map(({ path }) => path);
}

/** Ignored files where the target will write: at the path, below it, or instead of one of its directories. */
export function obstacles(root: string, coming: readonly RawPath[]): RawPath[] {
  const found = new Set<RawPath>();
  for (const path of coming) {
    const parts = path.split("/");
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const place = parts.slice(0, depth).join("/");
      const stats = look(root, place);
      if (stats === undefined) break;
      if (stats.isDirectory() && depth < parts.length) continue;
      for (const file of stats.isDirectory() ? filesBelow(root, place) : [place]) found.add(file);
      break;
    }
  }
  return [...found].filter((path) => {
    const stats = look(root, path);
    return stats?.isFile() === true || stats?.isSymbolicLink() === true;
  });
}

function filesBelow(root: string, dir: RawPath): RawPath[] {
  return readdirSync(absolute(root, dir), { withFileTypes: true, encoding: "buffer" }).flatMap((entry) => {
    const path = `${dir}/${entry.name.toString("latin1")}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}

/** A repository has more than its files; one in the way is moved, not written over. */
export function moveNestedAside(
  lane: Lane,
  { nested, coming, name }: { nested: readonly RawPath[]; coming: readonly RawPath[]; name: string },
): void {
  for (const path of nested) {
    if (!coming.some((file) => file === path || file.startsWith(`${path}/`))) continue;
    const aside = `${path}.${name.replaceAll("/", "-")}`;
    rename(absolute(lane.spec.path, path).toString(), absolute(lane.spec.path, aside).toString());
  }
}
