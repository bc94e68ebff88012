/**
 * The last look before a run ends. What was judged must be what its user has: otherwise it is not verified, whatever the
 * checks said. What somebody wrote after the last snapshot is kept, and told.
 */
import type { Outcome } from "../events.ts";
import type { Leftover, Standing } from "../ports.ts";
import type { Action } from "./actions.ts";
import type { Hands } from "./hands.ts";
import { laneOf, WORK_MISSING } from "./state.ts";

interface End {
  outcome: Outcome;
  warnings: string[];
}

export async function endRun(action: Extract<Action, { do: "end" }>, hands: Hands, signal: AbortSignal): Promise<void> {
  const { outcome, warnings } = await asItStands(action, hands);
  if (signal.aborted) return;
  const { lane } = action;
  const isRemoved = warnings.length === 0 && (await dropEmptyBranch(lane, hands));
  await hands.run.append([
    {
      type: "run-end",
      lane,
      outcome,
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(isRemoved ? { branchRemoved: true } : {}),
    },
  ]);
}

/** Only where everything is as it was before the run: there is nothing that somebody would look for on it. */
async function dropEmptyBranch(lane: string, { run, ports }: Hands): Promise<boolean> {
  const { head, baseTree, conflict, handOver, lastCommit } = laneOf(run.state, lane);
  const isEmpty = head !== undefined && head.refused === undefined && head.tree === baseTree;
  if (!isEmpty || conflict !== undefined || handOver !== undefined || lastCommit !== run.state.base.commit)
    return false;
  try {
    return (await ports.workspace.dropBranch?.()) !== undefined;
  } catch {
    // It stays, as branches do.
    return false;
  }
}

/** The outcome as it is by now, which is not always what the decision said. */
export async function asItStands(
  { lane: name, outcome }: { lane: string; outcome: Outcome },
  hands: Hands,
): Promise<End> {
  const { head, conflict } = laneOf(hands.run.state, name);
  if (head === undefined || head.refused !== undefined) return { outcome, warnings: [] };
  const stands = conflict === undefined ? await branchStands(hands, outcome) : { is: "whole" as const, warnings: [] };
  const left = await lookAgain(hands, { tree: head.tree, outcome });
  if (stands.is === "missing") return lost(outcome, { why: stands.reason, kept: stands.kept, warnings: left });
  if (hands.run.state.spec.workspace.commit === "none" && left.length > 0) {
    const why = `the work tree is not as it was judged: ${left.join("; ")}`;
    return lost(outcome, { why, kept: `snap/${head.snapshot}`, warnings: [] });
  }
  return { outcome, warnings: [...stands.warnings, ...left] };
}

const isDone = ({ is }: Outcome): boolean => is === "verified" || is === "claimed";

/** Of an outcome that promises nothing it is told beside it. */
function lost(outcome: Outcome, { why, kept, warnings }: { why: string; kept: string; warnings: string[] }): End {
  const reason = `${why}; the work is kept as ${kept}`;
  if (!isDone(outcome)) return { outcome, warnings: [reason, ...warnings] };
  return { outcome: { is: "needs-human", rule: WORK_MISSING, reason }, warnings };
}

const said = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A machine that fails now hides no bad outcome; a good one is looked at again by whoever drives the run next. */
async function branchStands({ ports, run }: Hands, outcome: Outcome): Promise<Standing> {
  try {
    return await ports.workspace.standing();
  } catch (error) {
    if (isDone(outcome)) throw error;
    return { is: "missing", reason: said(error), kept: `the snapshots of ${run.state.run}` };
  }
}

async function lookAgain(
  { ports, run }: Hands,
  { tree, outcome }: { tree: string; outcome: Outcome },
): Promise<string[]> {
  try {
    const salvage = `end-${run.state.reopened}`;
    const left = await ports.workspace.leftover(tree, { salvage, at: run.now().wall });
    return left === undefined ? [] : [leftoverWords(left)];
  } catch (error) {
    if (isDone(outcome) && run.state.spec.workspace.commit === "none") throw error;
    return [`the workspace could not be looked at again: ${said(error)}`];
  }
}

export function leftoverWords({ salvage, paths, fileCount }: Leftover): string {
  const more = fileCount > paths.length ? ` and ${fileCount - paths.length} more` : "";
  return `changed after the last snapshot, so neither judged nor delivered: ${paths.join(", ")}${more}; kept as ${salvage}`;
}
