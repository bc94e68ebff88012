/** Puts the files back to a snapshot: intent, effect, result, and people's own edits of the task list again. */
import { TerminalError, UsageError } from "../errors.ts";
import type { NewFact } from "../events.ts";
import type { Action } from "./actions.ts";
import type { Hands } from "./hands.ts";
import { leftoverWords } from "./perform-end.ts";
import { lookAtTasks, repeatEdits } from "./perform-tasks.ts";
import { recorded } from "./recorded.ts";
import { laneOf } from "./state.ts";

type Restore = Extract<Action, { do: "restore" }>;

export async function restore(action: Restore, hands: Hands): Promise<void> {
  if (action.atEnd !== true) return await putBack(action, hands);
  try {
    const reason = await reasonToLeave(action, hands);
    if (reason !== undefined) return await leave(action, hands, reason);
    await putBack(action, hands);
  } catch (error) {
    // What cannot be written any more keeps no run from its end.
    if (!(error instanceof TerminalError)) throw error;
    await leave(action, hands, error.message);
  }
}

/** What a person did since the last snapshot, and where they led the workspace, is not written over. */
async function reasonToLeave({ lane, iteration }: Restore, { run, ports }: Hands): Promise<string | undefined> {
  const { head, effect } = laneOf(run.state, lane);
  // It was begun before: what differs now may be half of it.
  if (head === undefined || effect?.kind === "restore") return undefined;
  try {
    await ports.workspace.ready?.("between");
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  const about = { salvage: `before-end-${iteration}`, at: run.now().wall };
  const left = await ports.workspace.leftover(head.tree, about);
  return left === undefined ? undefined : leftoverWords(left);
}

async function leave({ lane, iteration, to, reason, salvage }: Restore, { run }: Hands, failed: string): Promise<void> {
  const tree = laneOf(run.state, lane).head?.tree ?? run.state.base.tree;
  await run.append([{ type: "change-restored", lane, iteration, to, tree, salvage, why: reason, atEnd: true, failed }]);
}

async function putBack(action: Restore, hands: Hands): Promise<void> {
  const { run, ports } = hands;
  const { lane, iteration, to, reason, salvage, atEnd } = action;
  const laneState = laneOf(run.state, lane);
  if (laneState.effect?.kind !== "restore") {
    const tree = laneState.head?.tree ?? run.state.base.tree;
    await run.append([
      { type: "effect-intended", lane, effect: action.key, kind: "restore", iteration, tree, message: reason },
    ]);
  }
  const done = await ports.workspace.restore(to, { salvage, at: laneState.effect?.at ?? run.now().wall });
  const restored: NewFact = {
    type: "change-restored",
    lane,
    iteration,
    to,
    tree: done.tree,
    salvage: done.salvage,
    why: reason,
    ...(atEnd === undefined ? {} : { atEnd }),
  };
  const edited = await repeatEdits(hands, { to });
  const n = run.state.snapshots;
  const message = `pawl: before iteration ${iteration + 1}`;
  const about = { parent: to, message, at: run.now().wall, by: "user" as const };
  const again = edited ? await ports.workspace.snapshot(n, about) : undefined;
  await run.append([
    restored,
    ...(again === undefined ? [] : [recorded(again, { lane, iteration, n, by: "user" })]),
    ...(await lookAtTasks(hands, { lane, iteration, by: "pawl" })),
  ]);
}
