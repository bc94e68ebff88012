/**
 * Where HEAD is between turns. Who has switched to another commit meanwhile has its files in the workspace: taken for a
 * change they would undo the run's work, and bring other tests.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../platform/files.ts";
import { adopt } from "./adopt.ts";
import { isWaiting } from "./drop-branch.ts";
import { branchTip } from "./handover.ts";
import { readHead } from "./inspect.ts";
import { getRef, treeOf, type Lane } from "./lane.ts";

/** HEAD may hold anything where an agent can write it, and this is said on a terminal. */
const PLAIN_NAME = /^[\p{L}\p{N}_./@+#-]{1,200}$/u;

type Head = ReturnType<typeof readHead>;

const noteIn = (lane: Lane): string => join(lane.layout.dir, "head-left-at");
const wordsOf = (head: Head): string => (head === undefined ? "" : "ref" in head ? head.ref : head.commit);

/** After a hand-over that left HEAD elsewhere, where the agent had put it: that is no news then. */
export function noteHead(lane: Lane, { isLeft }: { isLeft: boolean }): void {
  const note = noteIn(lane);
  if (isLeft) writeDurably(note, wordsOf(readHead(lane.prepared.gitDir)));
  else if (existsSync(note)) rmSync(note, { force: true });
}

interface Led {
  says: string;
  /** How to get back. */
  hint: string;
}

/** Whether the workspace was led to other work than the run's since it was last handed over. */
export async function ledToOtherWork(lane: Lane): Promise<Led | undefined> {
  const led = await ledElsewhere(lane);
  const { branch, gitDir } = lane.prepared;
  const delivered = getRef(lane, "head");
  if (led !== undefined || branch === null || delivered === undefined) return led;
  if (wordsOf(readHead(gitDir)) !== `refs/heads/${branch}`) return undefined;
  return await movedAway(lane, { branch, tip: await branchTip(lane, branch), delivered });
}

/** Whether something else than the run's branch is checked out, and it was not the agent who did that. */
export async function ledElsewhere(lane: Lane): Promise<Led | undefined> {
  const { branch, gitDir } = lane.prepared;
  const delivered = getRef(lane, "head");
  const head = readHead(gitDir);
  if (branch === null || delivered === undefined || head === undefined) return undefined;
  const at = wordsOf(head);
  if (at === `refs/heads/${branch}`) return undefined;
  const isThere = await isWaiting(lane);
  if (isThere !== undefined) return isThere ? undefined : wentOn(lane);
  const tip = await branchTip(lane, branch);
  if (at === delivered || (existsSync(noteIn(lane)) && readFileSync(noteIn(lane), "utf8") === at)) return undefined;
  const name = at.replace(/^refs\/heads\//, "");
  const place = PLAIN_NAME.test(name) ? name : "another place";
  const again = tip === undefined ? `pawl restore ${lane.run} --at N --branch ${branch}, ` : "";
  return {
    says: `the workspace is at ${place}, but the work of run ${lane.run} is on ${branch}`,
    hint: `Take what is uncommitted there to safety, then: ${again}git switch ${branch}, and resume.`,
  };
}

/** The end of a run without a commit removed its branch, and the user has gone elsewhere since. */
const wentOn = (lane: Lane): Led => ({
  says: `what is checked out does not go on from where run ${lane.run}, which made no commit, began`,
  hint: `Start another run; or, to go on with this one: git switch --detach ${lane.prepared.origin ?? ""}, and resume.`,
});

/**
 * The tree of what a person has committed on top of the work while an agent worked that cannot: its files were in the
 * workspace when that ended, and are no work of the agent's.
 */
export async function committedBeside(lane: Lane): Promise<string | undefined> {
  const { branch, gitDir } = lane.prepared;
  const delivered = getRef(lane, "head");
  if (!lane.isApart || branch === null || delivered === undefined) return undefined;
  if (wordsOf(readHead(gitDir)) !== `refs/heads/${branch}`) return undefined;
  const tip = await branchTip(lane, branch);
  if (tip === undefined || tip === delivered) return undefined;
  const moved = await adopt(lane, { seen: tip, head: delivered });
  return moved.is === "ours" && moved.adopted.includes(tip) ? await treeOf(lane, tip) : undefined;
}

/** Told before a turn is paid: what is done on top of it could not be handed over. */
async function movedAway(
  lane: Lane,
  { branch, tip, delivered }: { branch: string; tip: string | undefined; delivered: string },
): Promise<Led | undefined> {
  if (tip === undefined || tip === delivered) return undefined;
  const moved = await adopt(lane, { seen: tip, head: delivered });
  if (moved.is === "ours") return undefined;
  return {
    says: `${branch} was moved to ${tip}, which does not go on from the work of run ${lane.run}`,
    hint: `To go on from there, start another run. To go on with this one: git switch -C ${branch} ${delivered}, and resume.`,
  };
}
