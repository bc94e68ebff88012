/**
 * What others put into the user's index since pawl last wrote it: which ignored files they track, and contents they
 * staged that no file has any more. It is read as a copy with pawl's own settings, for an agent can write it.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import type { Git } from "./git.ts";
import { followMarks } from "./index-marks.ts";
import { isOn, readHead } from "./inspect.ts";
import { commit, dropRef, getRef, keepRef, keptRefs, placesOf, treeOf, type Lane } from "./lane.ts";
import { indexNumbers, isNoObject } from "./numbers.ts";
import { commitBytes, commitName, PAWL } from "./objects.ts";
import { copyObjects, isWhole, readCommit } from "./private-repository.ts";
import { shown, type RawPath, type Scan } from "./scan.ts";
import { copyIndex, copyShared, MAX_INDEX_BYTES } from "./user-index.ts";

const TRACKED_AND_IGNORED = ["ls-files", "-z", "-c", "-i", "--exclude-standard"];
const SHOWN_PATHS = 3;
/** The subject of the commit that keeps it; its body is what is told. */
const STAGED_MESSAGE = "What was staged before a hand-over";

export type TheirIndex =
  | { is: "absent" }
  /** The mark changes whenever somebody writes the index. */
  | { is: "file"; mark: string }
  /** Not to be replaced: git locks and writes what a link leads to, which may be anywhere. */
  | { is: "odd"; why: string };

export function theirIndex({ prepared }: Lane): TheirIndex {
  try {
    const stats = lstatSync(join(prepared.gitDir, "index"), { bigint: true });
    if (stats.isSymbolicLink()) return { is: "odd", why: "a link" };
    if (!stats.isFile()) return { is: "odd", why: "no file" };
    if (stats.size > BigInt(MAX_INDEX_BYTES)) return { is: "odd", why: `larger than ${MAX_INDEX_BYTES} bytes` };
    return { is: "file", mark: `${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}` };
  } catch {
    return { is: "absent" };
  }
}

/** undefined when it is not there, or no file, or no index at all by its size. */
export function indexMark(lane: Lane): string | undefined {
  const index = theirIndex(lane);
  return index.is === "file" ? index.mark : undefined;
}

/**
 * Ignore rules are not for files that are tracked: what was added by force counts, what was untracked does not. Marks are
 * followed, too.
 */
export async function followTracking(lane: Lane): Promise<Pick<Scan, "update" | "drop">> {
  const nothing = { update: [], drop: [] };
  const mark = indexMark(lane);
  if (mark === undefined || mark === lane.memory.followedIndex || !isOnBranch(lane)) return nothing;
  const copy = copyOfTheirs(lane);
  if (copy === undefined) return nothing;
  if (isSame(copy, lane.view)) {
    lane.memory.followedIndex = mark;
    return nothing;
  }
  await followMarks(lane, copy);
  const [theirs, ours] = await Promise.all([trackedAndIgnored(copy), trackedAndIgnored(lane.view)]);
  if (theirs === undefined || ours === undefined) return nothing;
  lane.memory.followedIndex = mark;
  return { update: [...theirs].filter((path) => !ours.has(path)), drop: [...ours].filter((path) => !theirs.has(path)) };
}

export interface Keeping {
  /** Below `lost/`; the same for the same hand-over, and so is the time. */
  name: string;
  at: number;
}

/** undefined when there is none, or nobody wrote the one that pawl put. */
export function othersIndex(lane: Lane): Git | undefined {
  const mark = indexMark(lane);
  return mark === undefined || mark === lane.memory.keptIndex ? undefined : copyOfTheirs(lane);
}

/** Before that index is replaced: staged contents that pawl's repository lacks are kept under a ref. Returns why not. */
export async function keepStaged(lane: Lane, about: Keeping & { theirs: Git }): Promise<string[]> {
  try {
    await keepDifferent(lane, about);
    return [];
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return [`what was staged could not be kept: ${error.message}`];
  }
}

/** What is to be told of that, by whichever driver it was kept: one that was killed has told nobody. */
export async function keptWords(lane: Lane, { name, at }: Keeping): Promise<string[]> {
  const words = [];
  for (const { name: kept, oid } of keptRefs(lane, `lost/${name}`)) {
    const { tree, parents, message } = await readCommit(oid, lane.privateGit);
    const ofThis = commitName(commitBytes({ tree, parents, message, at, author: PAWL }), lane.prepared.objectFormat);
    // Another hand-over of that snapshot has told of it.
    if (ofThis !== oid) continue;
    if (await isWhole(oid, lane.privateGit))
      words.push(`${message.slice(STAGED_MESSAGE.length).trim()}: kept as ${kept}`);
    // A driver was killed before it had copied all, and then it was staged no more.
    else dropRef(lane, kept);
  }
  return words;
}

async function keepDifferent(lane: Lane, { theirs, name, at }: Keeping & { theirs: Git }): Promise<void> {
  const head = getRef(lane, "head");
  const before = head === undefined ? lane.prepared.base.tree : await treeOf(lane, head);
  const { changes } = await indexNumbers(theirs, before, { counted: false, toBeAdded: "absent" });
  const unmerged = changes.filter(({ blob }) => blob !== null && isNoObject(blob)).map(({ path }) => path);
  const blobs = changes.flatMap(({ blob }) => (blob === null || isNoObject(blob) ? [] : [blob]));
  const missing = await missingFrom(lane.privateGit, blobs);
  if (missing.size === 0) return;
  if (unmerged.length > 0)
    await theirs.need(["update-index", "--force-remove", "-z", "--stdin"], {
      input: Buffer.from(`${unmerged.join("\0")}\0`, "latin1"),
    });
  const tree = await theirs.need(["write-tree", "--missing-ok"]);
  const paths = changes.filter(({ blob }) => blob !== null && missing.has(blob)).map(({ path }) => shown(path));
  const more = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : "";
  const message = `${STAGED_MESSAGE}\n\n${paths.slice(0, SHOWN_PATHS).join(", ")}${more} was staged with content that the work has not`;
  const oid = await commit(lane, { tree, parents: head === undefined ? [] : [head], message, at });
  const kept = await keepRef(lane, { name: `lost/${name}`, oid });
  try {
    // Behind the ref: after a kill between the two they are still missing, and the ref is found.
    await copyObjects([...missing], placesOf(lane));
  } catch (error) {
    dropRef(lane, kept);
    throw error;
  }
}

async function missingFrom(git: Git, oids: readonly string[]): Promise<Set<string>> {
  if (oids.length === 0) return new Set();
  const found = await git.need(["cat-file", "--batch-check"], { input: `${oids.join("\n")}\n` });
  const lines = found.split("\n").filter((line) => line.endsWith(" missing"));
  return new Set(lines.map((line) => line.slice(0, line.indexOf(" "))));
}

/** As before the first turn, when pawl's is a copy of theirs. */
function isSame(one: Git, other: Git): boolean {
  const [a, b] = [one.place.index, other.place.index];
  if (a === undefined || b === undefined || !existsSync(b) || statSync(a).size !== statSync(b).size) return false;
  return readFileSync(a).equals(readFileSync(b));
}

async function trackedAndIgnored(git: Git): Promise<Set<RawPath> | undefined> {
  const listed = await git.run(TRACKED_AND_IGNORED);
  return listed.code === 0 ? new Set(listed.stdout.toString("latin1").split("\0").filter(Boolean)) : undefined;
}

/** On another branch their index is about other files. */
function isOnBranch({ prepared }: Lane): boolean {
  return prepared.branch === null || isOn(readHead(prepared.gitDir), prepared.branch);
}

export function copyOfTheirs({ layout, prepared: { gitDir }, view }: Lane): Git | undefined {
  const dir = join(layout.dir, "theirs");
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir);
  const index = join(dir, "index");
  try {
    copyIndex(join(gitDir, "index"), index);
    copyShared(gitDir, dir);
  } catch (error) {
    // Gone since the look.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return view.at({ index, sync: "few" });
}
