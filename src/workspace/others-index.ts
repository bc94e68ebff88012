/**
 * What others put into the user's index since pawl last wrote it: which ignored files they track, and contents they
 * staged that no file has any more. It is read as a copy with pawl's own settings, for an agent can write it.
 */
import { existsSync, lstatSync, readFileSync, statSync, type BigIntStats } from "node:fs";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import type { Git } from "./git.ts";
import { isOn, readHead } from "./inspect.ts";
import { commit, getRef, keepRef, placesOf, treeOf, type Lane } from "./lane.ts";
import { indexNumbers, isNoObject } from "./numbers.ts";
import { copyObjects } from "./private-repository.ts";
import { shown, type RawPath, type Scan } from "./scan.ts";
import { copyIndex } from "./user-index.ts";

const TRACKED_AND_IGNORED = ["ls-files", "-z", "-c", "-i", "--exclude-standard"];
const MAX_INDEX_BYTES = 1024n * 1024n * 1024n;
const SHOWN_PATHS = 3;
const STAGED_MESSAGE = "What was staged before a hand-over";

/** Changes whenever somebody writes the index. */
export function indexMark(lane: Lane): string | undefined {
  const stats = lookAtTheirs(lane);
  return stats === undefined ? undefined : `${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`;
}

/** Whether both marks are of one index, which may have lost or got a name. */
export function isSameIndex(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.split(":", 1)[0] === other?.split(":", 1)[0];
}

/** undefined when it is not there, or no file, or no index at all by its size. */
function lookAtTheirs({ prepared }: Lane): BigIntStats | undefined {
  try {
    const stats = lstatSync(join(prepared.gitDir, "index"), { bigint: true });
    return stats.isFile() && stats.size <= MAX_INDEX_BYTES ? stats : undefined;
  } catch {
    return undefined;
  }
}

/** Ignore rules are not for files that are tracked: what was added by force counts, what was untracked does not. */
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
  const [theirs, ours] = await Promise.all([trackedAndIgnored(copy), trackedAndIgnored(lane.view)]);
  if (theirs === undefined || ours === undefined) return nothing;
  lane.memory.followedIndex = mark;
  return { update: [...theirs].filter((path) => !ours.has(path)), drop: [...ours].filter((path) => !theirs.has(path)) };
}

/** Before their index is replaced: staged contents that pawl's repository lacks are kept under a ref. Returns what to say. */
export async function keepStaged(lane: Lane, { name, at }: { name: string; at: number }): Promise<string[]> {
  const mark = indexMark(lane);
  if (mark === undefined || mark === lane.memory.keptIndex) return [];
  const copy = copyOfTheirs(lane);
  if (copy === undefined) return [];
  try {
    return await keepDifferent(lane, { copy, name, at });
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return [`what was staged could not be kept: ${error.message}`];
  }
}

async function keepDifferent(
  lane: Lane,
  { copy, name, at }: { copy: Git; name: string; at: number },
): Promise<string[]> {
  const head = getRef(lane, "head");
  const before = head === undefined ? lane.prepared.base.tree : await treeOf(lane, head);
  const { changes } = await indexNumbers(copy, before, { counted: false });
  const unmerged = changes.filter(({ blob }) => blob !== null && isNoObject(blob)).map(({ path }) => path);
  const blobs = changes.flatMap(({ blob }) => (blob === null || isNoObject(blob) ? [] : [blob]));
  const missing = await missingFrom(lane.privateGit, blobs);
  if (missing.size === 0) return [];
  await copyObjects([...missing], placesOf(lane));
  if (unmerged.length > 0)
    await copy.need(["update-index", "--force-remove", "-z", "--stdin"], {
      input: Buffer.from(`${unmerged.join("\0")}\0`, "latin1"),
    });
  const tree = await copy.need(["write-tree"]);
  const oid = await commit(lane, { tree, parents: head === undefined ? [] : [head], message: STAGED_MESSAGE, at });
  const kept = await keepRef(lane, { name: `lost/${name}`, oid });
  const paths = changes.filter(({ blob }) => blob !== null && missing.has(blob)).map(({ path }) => shown(path));
  const more = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : "";
  return [
    `${paths.slice(0, SHOWN_PATHS).join(", ")}${more} was staged with other content than on disk: kept as ${kept}`,
  ];
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

function copyOfTheirs(lane: Lane): Git | undefined {
  const index = join(lane.layout.dir, "theirs.index");
  try {
    copyIndex(join(lane.prepared.gitDir, "index"), index);
  } catch (error) {
    // Gone since the look.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return lane.view.at({ index, sync: "few" });
}
