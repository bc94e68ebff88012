/**
 * Hands a judged tree to the user as a commit on the run's branch. The same arguments make the same commit, so a crash
 * anywhere is answered by doing it again; what others did to the branch meanwhile is adopted or kept, never dropped.
 */
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import type { Accepted } from "../ports.ts";
import { adopt, keepLost, type Moved } from "./adopt.ts";
import {
  branchTip,
  freeStaleLocks,
  pointHead,
  putHeadBack,
  sendCommit,
  sendLoose,
  troubleWith,
  updateBranch,
} from "./handover.ts";
import { indexFirst } from "./index-first.ts";
import { inProgressIn, isOn, readHead } from "./inspect.ts";
import { noteHead } from "./elsewhere.ts";
import { commit, getRef, keepRef, setRef, treeOf, type Lane } from "./lane.ts";
import { commitBytes, commitName } from "./objects.ts";
import { keptWords, type Keeping } from "./others-index.ts";
import { isWhole } from "./private-repository.ts";
import { copyIndex } from "./user-index.ts";

/** How often branch or HEAD may move under our hands before it is called a conflict. */
const MAX_ATTEMPTS = 3;

export interface AcceptRequest {
  tree: string;
  message: string;
  at: number;
  snapshot: number;
}

export async function accept(lane: Lane, request: AcceptRequest): Promise<Accepted> {
  const { branch } = lane.prepared;
  if (branch === null) return { commit: null, branch: null, adopted: [], warnings: [] };
  const said: string[] = [];
  const accepted = await handOver(lane, { request, branch, said }).catch(async (error: unknown) => {
    const warning = await reasonOf(lane, error);
    return await conflict(lane, { ...request, branch, warning });
  });
  const kept = await keptWords(lane, keepingOf(request));
  return { ...accepted, warnings: [...said, ...kept, ...accepted.warnings] };
}

const keepingOf = ({ snapshot, at }: AcceptRequest): Keeping => ({ name: `index-${snapshot}`, at });

/** Why nothing can be handed over though nothing of pawl's is broken; anything else is thrown again. */
async function reasonOf(lane: Lane, error: unknown): Promise<string> {
  if (error instanceof TerminalError && error.message.includes("cannot lock ref")) return error.message;
  const works = await lane.user.run(["rev-parse", "--git-dir"]);
  if (works.code === 0) throw error;
  return `git cannot use the repository any more: ${works.stderr.trim()}`;
}

interface HandingOver {
  request: AcceptRequest;
  branch: string;
  /** What is to be told however it ends. */
  said: string[];
}

async function handOver(lane: Lane, about: HandingOver): Promise<Accepted> {
  const { request, branch, said } = about;
  const trouble = troubleWith(lane);
  if (trouble !== undefined) return await conflict(lane, { ...request, branch, warning: trouble });
  said.push(...putHeadBack(lane));
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const seen = await branchTip(lane, branch);
    const moved = await moveOf(lane, { seen, request });
    if (moved.is === "diverged") {
      const kept = await keepLost(lane, { commit: moved.tip, name: `conflict-${request.snapshot}` });
      return await conflict(lane, { ...request, branch, warning: `${branch} was moved to ${moved.tip}; ${kept}` });
    }
    if (moved.is === "baseless") {
      const warning = `the repository has not got ${moved.base} any more, the commit that the work is based on`;
      return await conflict(lane, { ...request, branch, warning });
    }
    const oid = await bring(lane, { request, seen, moved });
    const sight = await sightOf(lane, { branch, tip: oid });
    // Before the rest: what is committed from now on is on the branch.
    if (sight.is === "here" && sight.isLedBack && seen !== undefined) await pointHead(lane, { branch });
    const index = sight.is === "here" ? await putIndex(lane, { request, branch, seen }) : undefined;
    said.push(...(index?.said ?? []));
    if (index?.is === "moved") continue;
    try {
      const why = request.message.split("\n")[0] ?? "";
      if (oid !== seen && !(await updateBranch(lane, { branch, to: oid, from: seen, why }))) continue;
    } finally {
      index?.letGo();
    }
    lane.memory.pending = { tree: request.tree, changes: new Map() };
    const [warnings] = await Promise.all([
      freeStaleLocks(lane, branch).then(async () => await leadHead(lane, { branch, sight, seen })),
      setRef(lane, { name: "head", oid }),
    ]);
    return { commit: oid, branch, adopted: moved.adopted, warnings: [...moved.warnings, ...warnings] };
  }
  return await conflict(lane, { ...request, branch, warning: `${branch} keeps moving` });
}

async function moveOf(
  lane: Lane,
  { seen, request }: { seen: string | undefined; request: AcceptRequest },
): Promise<Moved> {
  const head = getRef(lane, "head");
  if (seen === head) return { is: "ours", parent: head, have: head, adopted: [], warnings: [] };
  const { origin } = lane.prepared;
  // gc may have removed it, or it is another repository.
  if (seen === undefined && origin !== null && !(await isWhole(origin, lane.user)))
    return { is: "baseless", base: origin };
  if (seen === undefined)
    return {
      is: "ours",
      parent: head,
      have: undefined,
      adopted: [],
      warnings: head === undefined ? [] : ["the branch was deleted; it is back"],
    };
  return await adopt(lane, { seen, head, request });
}

/** The commit's name, once the user's repository has it. */
async function bring(
  lane: Lane,
  about: { request: AcceptRequest; seen: string | undefined; moved: Extract<Moved, { is: "ours" }> },
): Promise<string> {
  const { request, seen, moved } = about;
  const { tree, message, at } = request;
  const same = moved.parent !== undefined && (await treeOf(lane, moved.parent)) === tree;
  const parents = moved.parent === undefined ? [] : [moved.parent];
  const content = { tree, parents, author: lane.prepared.author, message, at };
  const name = commitName(commitBytes(content), lane.prepared.objectFormat);
  const oid = same && moved.parent !== undefined ? moved.parent : name;
  const usual = !same && moved.have !== undefined && moved.have === moved.parent && moved.adopted.length === 0;
  const [sent] = await Promise.all([
    usual && oid !== seen && sendLoose(lane, content),
    same ? undefined : commit(lane, content),
  ]);
  if (oid !== seen && !sent) await sendCommit(lane, { commit: oid, have: moved.have ?? lane.prepared.origin });
  return oid;
}

/** Where HEAD is when the work is handed over: with it go the files and the index. */
type Sight =
  | { is: "here"; isLedBack: boolean; words: string[] }
  /** `isNoted`: the agent led it there, which is no news at the next look. */
  | { is: "elsewhere"; isNoted: boolean; words: string[] };

async function sightOf(lane: Lane, { branch, tip }: { branch: string; tip: string }): Promise<Sight> {
  const head = readHead(lane.prepared.gitDir);
  const unfinished = inProgressIn(lane.prepared.gitDir);
  // Its own HEAD and index are what it goes on with.
  if (unfinished === "rebase") {
    const left = `a rebase is in progress: HEAD and the index are left to it; the work is on ${branch}`;
    return { is: "elsewhere", isNoted: true, words: [left] };
  }
  const words = unfinished === null ? [] : [`a ${unfinished} is in progress: \`git ${unfinished} --quit\` forgets it`];
  if (isOn(head, branch)) return { is: "here", isLedBack: false, words };
  // A person who went elsewhere is not led back: the files are those of that place.
  const isTheirs = lane.isApart && head !== undefined;
  if (!isTheirs && (await isKnown(lane, { head, tip }))) return { is: "here", isLedBack: true, words };
  const place = head === undefined ? "nothing" : "ref" in head ? head.ref : head.commit;
  const left = `HEAD was moved to ${place} and is left there; the work is on ${branch}`;
  return { is: "elsewhere", isNoted: !isTheirs, words: [left] };
}

async function putIndex(
  lane: Lane,
  { request, branch, seen }: { request: AcceptRequest; branch: string; seen: string | undefined },
): ReturnType<typeof indexFirst> {
  return await indexFirst(lane, {
    from: await indexFor(lane, request.tree),
    keeping: keepingOf(request),
    isStill: async () =>
      (seen === undefined || isOn(readHead(lane.prepared.gitDir), branch)) && (await branchTip(lane, branch)) === seen,
  });
}

async function leadHead(
  lane: Lane,
  { branch, sight, seen }: { branch: string; sight: Sight; seen: string | undefined },
): Promise<string[]> {
  // To a branch that was not there before.
  if (sight.is === "here" && sight.isLedBack && seen === undefined) await pointHead(lane, { branch });
  noteHead(lane, { isLeft: sight.is === "elsewhere" && sight.isNoted });
  return sight.words;
}

/** Nothing is lost by leaving it: no commit at all, or one that the run's history holds. */
async function isKnown(
  lane: Lane,
  { head, tip }: { head: ReturnType<typeof readHead>; tip: string },
): Promise<boolean> {
  if (head === undefined) return true;
  const name = "ref" in head ? head.ref : head.commit;
  if (!/^(refs\/|[0-9a-f]{40})/.test(name)) return false;
  const found = await lane.user.run(["rev-parse", "-q", "--verify", `${name}^{commit}`]);
  if (found.code !== 0) return "ref" in head;
  const oid = found.stdout.toString("latin1").trim();
  if (oid === lane.prepared.origin) return true;
  return (await lane.privateGit.run(["merge-base", "--is-ancestor", oid, tip])).code === 0;
}

/** pawl's index where it is at that tree, else a copy brought there; stat data of equal files stays. */
async function indexFor(lane: Lane, tree: string): Promise<string> {
  if (lane.memory.indexTree === tree) return lane.layout.index;
  const index = join(lane.layout.dir, "handover.index");
  copyIndex(lane.layout.index, index);
  await lane.view.at({ index }).need(["read-tree", "-i", "-m", tree]);
  return index;
}

/** The work is kept under a ref of pawl's and a person must look. */
async function conflict(lane: Lane, about: AcceptRequest & { branch: string; warning: string }): Promise<Accepted> {
  const head = getRef(lane, "head");
  const parents = head === undefined ? [] : [head];
  const oid = await commit(lane, {
    tree: about.tree,
    parents,
    author: lane.prepared.author,
    message: about.message,
    at: about.at,
  });
  const name = await keepRef(lane, { name: `salvage/conflict-${about.snapshot}`, oid });
  const { branch, warning } = about;
  return { commit: null, branch, adopted: [], warnings: [warning], conflict: name, conflictReason: warning };
}
