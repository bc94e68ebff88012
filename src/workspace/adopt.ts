/**
 * What to do about a branch that somebody else moved. Its commits are copied in, which re-hashes them, before anything
 * is concluded from them; the user's own objects only tell how much there would be to copy.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import { commitBytes, commitName } from "./objects.ts";
import { keepRef, placesOf, treeOf, type Lane } from "./lane.ts";
import { treeNumbers } from "./numbers.ts";
import { copyCommit, copyHistory, cutHistory, parseCommit, readCommit } from "./private-repository.ts";
import { shown } from "./scan.ts";

const MAX_ADOPTED_COMMITS = 2_000;
const SHOWN_PATHS = 3;

export type Moved =
  /** `parent` of our commit; `have`: what the user's repository surely holds of it. */
  | { is: "ours"; parent: string | undefined; have: string | undefined; adopted: string[]; warnings: string[] }
  | { is: "diverged"; tip: string }
  /** The user's repository has not got what the work is based on any more. */
  | { is: "baseless"; base: string };

interface Request {
  tree: string;
  message: string;
  at: number;
}

/** Without a request nothing of ours is looked for among the commits. */
export async function adopt(
  lane: Lane,
  { seen, head, request }: { seen: string; head: string | undefined; request?: Request },
): Promise<Moved> {
  if (head === undefined) return await adoptFirst(lane, { seen, request });
  if (seen === lane.prepared.origin || (await reaches(lane, { from: head, to: seen })))
    return {
      is: "ours",
      parent: head,
      have: seen,
      adopted: [],
      warnings: [`the branch was set back to ${seen}; the run's commits are on it again`],
    };
  if (!(await mayDescend(lane, { seen, head })))
    return (await retold(lane, { seen, head })) ?? (await maybeOlder(lane, { seen, head }));
  // A commit that is not whole cannot be built upon.
  if (!(await isCopied(copyHistory({ tip: seen, known: head }, placesOf(lane))))) return { is: "diverged", tip: seen };
  const commits = await commitsBetween(lane, { from: seen, to: head });
  if (commits === undefined) return { is: "diverged", tip: seen };
  await cutHistory(commits.outer, lane.layout);
  const adopted = commits.oids;
  if (request === undefined) return { is: "ours", parent: seen, have: seen, adopted, warnings: [] };
  // A crash after our own commit: the last one is not somebody else's.
  if (await isOurs(lane, { oid: seen, request })) {
    const before = (await readCommit(seen, lane.privateGit)).parents[0];
    return { is: "ours", parent: before, have: seen, adopted: adopted.filter((oid) => oid !== seen), warnings: [] };
  }
  const { missing, other } = await undone(lane, { head, tip: seen, request });
  // From another worktree: the files were never here, and nothing would bring them back.
  const isFromHere = wasCheckedOut(lane, seen);
  if (lane.isApart && missing.length + other.length > 0 && !isFromHere) return { is: "diverged", tip: seen };
  // What was committed here and differs now was changed on from there.
  const warnings = undoneWords(seen, { missing, other: isFromHere ? [] : other });
  return { is: "ours", parent: seen, have: seen, adopted, warnings };
}

/** What our commit takes back of theirs: it was committed after the snapshot, or changed back before it. */
async function undone(
  lane: Lane,
  { head, tip, request }: { head: string; tip: string; request: Request },
): Promise<Undone> {
  const from = await treeOf(lane, head);
  const [theirs, ours] = await Promise.all([
    treeNumbers(lane.privateGit, { from, to: await treeOf(lane, tip) }),
    treeNumbers(lane.privateGit, { from, to: request.tree }),
  ]);
  const judged = new Map(ours.changes.map(({ path, blob }) => [path, blob]));
  const not = (isJudged: boolean): string[] =>
    theirs.changes
      .filter(({ path, blob }) => judged.has(path) === isJudged && judged.get(path) !== blob)
      .map(({ path }) => shown(path));
  return { missing: not(false), other: not(true) };
}

interface Undone {
  missing: string[];
  /** The run changed them, too. */
  other: string[];
}

function undoneWords(tip: string, { missing, other }: Undone): string[] {
  const named = (all: readonly string[]): string =>
    `${all.slice(0, SHOWN_PATHS).join(", ")}${all.length > SHOWN_PATHS ? ` and ${all.length - SHOWN_PATHS} more` : ""}`;
  return [
    ...(missing.length === 0
      ? []
      : [
          `the judged tree is without what ${tip} did to ${named(missing)}: it is in the history, and in the work tree if it came later`,
        ]),
    ...(other.length === 0
      ? []
      : [`${tip} and the run both changed ${named(other)}: look whether all of it is in the judged tree`]),
  ];
}

/** Whether the workspace itself has ever been at this commit; true where git keeps no log of that. */
function wasCheckedOut({ prepared }: Lane, commit: string): boolean {
  const log = join(prepared.gitDir, "logs/HEAD");
  return !existsSync(log) || readFileSync(log, "latin1").includes(commit);
}

/** Keeps somebody's commit with its tree in pawl's repository; says where, or why not. */
export async function keepLost(lane: Lane, { commit, name }: { commit: string; name: string }): Promise<string> {
  try {
    await copyCommit(commit, placesOf(lane));
    return `that commit is kept as ${await keepRef(lane, { name: `lost/${name}`, oid: commit })}`;
  } catch (error) {
    return `that commit could not be copied: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The first commits of a repository that had none. */
async function adoptFirst(
  lane: Lane,
  { seen, request }: { seen: string; request: Request | undefined },
): Promise<Moved> {
  if (!(await isCopied(copyCommit(seen, placesOf(lane))))) return { is: "diverged", tip: seen };
  const ours = request !== undefined && (await isOurs(lane, { oid: seen, request }));
  const parent = ours ? (await readCommit(seen, lane.privateGit)).parents[0] : seen;
  return { is: "ours", parent, have: seen, adopted: ours ? [] : [seen], warnings: [] };
}

/**
 * The same files in other commits on top of the base: who amends a message, or puts several into one, takes nothing away.
 */
async function retold(lane: Lane, { seen, head }: { seen: string; head: string }): Promise<Moved | undefined> {
  const base = lane.prepared.origin;
  const tree = await treeOf(lane, head);
  const found = await lane.user.run(["rev-parse", "-q", "--verify", `${seen}^{tree}`]);
  if (base === null || found.code !== 0 || found.stdout.toString("latin1").trim() !== tree) return undefined;
  if (!(await mayDescend(lane, { seen, head: base }))) return undefined;
  if (!(await isCopied(copyHistory({ tip: seen, known: base }, placesOf(lane))))) return undefined;
  const commits = await commitsBetween(lane, { from: seen, to: base });
  if (commits === undefined || (await treeOf(lane, seen)) !== tree) return undefined;
  await cutHistory(commits.outer, lane.layout);
  return { is: "ours", parent: seen, have: seen, adopted: commits.oids, warnings: [] };
}

/** Set back to before the base: only the user's own history can tell, and there is nothing new in it. */
async function maybeOlder(lane: Lane, { seen, head }: { seen: string; head: string }): Promise<Moved> {
  const base = lane.prepared.origin;
  const older = base !== null && (await lane.user.run(["merge-base", "--is-ancestor", seen, base])).code === 0;
  if (!older) return { is: "diverged", tip: seen };
  return { is: "ours", parent: head, have: base, adopted: [], warnings: [`the branch was set back to ${seen}`] };
}

/** On a full disk the conflict cannot be written down either, and that is told. */
async function isCopied(copying: Promise<void>): Promise<boolean> {
  return await copying.then(
    () => true,
    (error: unknown) => {
      if (error instanceof TerminalError) return false;
      throw error;
    },
  );
}

async function mayDescend(lane: Lane, { seen, head }: { seen: string; head: string }): Promise<boolean> {
  if ((await lane.user.run(["merge-base", "--is-ancestor", head, seen])).code !== 0) return false;
  const limit = `--max-count=${MAX_ADOPTED_COMMITS + 1}`;
  const counted = await lane.user.run(["rev-list", "--count", limit, seen, `^${head}`]);
  return counted.code === 0 && Number(counted.stdout.toString().trim()) <= MAX_ADOPTED_COMMITS;
}

/**
 * The commits from `from` down to `to`; undefined when they do not lead there. The user's repository only suggests which
 * commits to look at: their content, and so their parents, come from the re-hashed copies.
 */
async function commitsBetween(
  lane: Lane,
  { from, to }: { from: string; to: string },
): Promise<{ oids: string[]; outer: string[] } | undefined> {
  const hint = await lane.user.need(["rev-list", from, `^${to}`]);
  const parentsOf = await readParents(lane, hint);
  const oids = new Set<string>();
  const edges: [child: string, parent: string][] = [];
  for (const queue = [from]; queue.length > 0;) {
    const oid = queue.shift() ?? "";
    const parents = parentsOf.get(oid);
    if (parents === undefined || oids.has(oid)) continue;
    oids.add(oid);
    queue.push(...parents);
    for (const parent of parents) if (!parentsOf.has(parent)) edges.push([oid, parent]);
  }
  if (!edges.some(([, parent]) => parent === to)) return undefined;
  const present = await presentCommits(
    lane,
    edges.map(([, parent]) => parent),
  );
  return {
    oids: [...oids].toReversed(),
    outer: edges.filter(([, parent]) => !present.has(parent)).map(([oid]) => oid),
  };
}

async function readParents(lane: Lane, oids: string): Promise<Map<string, string[]>> {
  const format = "--batch=%(objectname) %(objecttype) %(objectsize)";
  const output = (await lane.privateGit.run(["cat-file", format], { input: `${oids}\n` })).stdout;
  const parentsOf = new Map<string, string[]>();
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(10, at);
    const [oid = "", type, size = "0"] = output.toString("latin1", at, end).split(" ");
    if (type === "missing") {
      at = end + 1;
      continue;
    }
    const bodyEnd = end + 1 + Number(size);
    if (type === "commit") parentsOf.set(oid, parseCommit(output.toString("utf8", end + 1, bodyEnd)).parents);
    at = bodyEnd + 1;
  }
  return parentsOf;
}

async function presentCommits(lane: Lane, oids: readonly string[]): Promise<Set<string>> {
  const result = await lane.privateGit.need(["cat-file", "--batch-check"], { input: `${oids.join("\n")}\n` });
  const found = result.split("\n").filter((line) => line.includes(" commit "));
  return new Set(found.map((line) => line.split(" ")[0] ?? ""));
}

async function reaches(lane: Lane, { from, to }: { from: string; to: string }): Promise<boolean> {
  return (await lane.privateGit.run(["merge-base", "--is-ancestor", to, from])).code === 0;
}

async function isOurs(lane: Lane, { oid, request }: { oid: string; request: Request }): Promise<boolean> {
  const { parents } = await readCommit(oid, lane.privateGit);
  const body = commitBytes({ ...request, parents, author: lane.prepared.author });
  return commitName(body, lane.prepared.objectFormat) === oid;
}
