/**
 * A new run begins at HEAD. Where that is the branch of a run that is not verified, its unfinished work is in the new one,
 * too: said before anything is spent.
 */
import type { Environment, State } from "../../compose.ts";
import { TerminalError } from "../../errors.ts";
import { fold } from "../../loop/fold.ts";
import { MAIN_LANE, type RunState } from "../../loop/state.ts";
import type { Base } from "../../ports.ts";
import { readPrepared } from "../../workspace/lane.ts";
import { laneLayout } from "../../workspace/layout.ts";
import { isAncestor } from "../../workspace/user-git.ts";
import { quoted, resumeCommand } from "../summary.ts";

interface Begun {
  base: Base;
  /** Top level. */
  repository: string;
  environment: Environment;
}

/** One line, or undefined where there is nothing to say. */
export async function begunOn(state: State, { base, repository, environment }: Begun): Promise<string | undefined> {
  const { branch, commit } = base;
  if (branch === null || commit === null) return undefined;
  const other = await ownerOf(state, { branch, repository });
  if (other === undefined || other.outcome?.is === "verified") return undefined;
  const from = other.base.branch;
  if (from !== null && (await isAncestor(commit, `refs/heads/${from}`, { cwd: repository, environment })))
    return undefined;
  const instead = from === null ? "" : `to begin at ${from} instead: git switch ${quoted(from)}; `;
  const is = other.outcome === undefined ? "not ended" : `ended ${other.outcome.is}`;
  return `this run begins on ${branch}, with the work of run ${other.run} (${is}), which is not merged; ${instead}to go on with that run: ${resumeCommand(other)}`;
}

/** The newest run that has this branch for its own. */
async function ownerOf(
  state: State,
  { branch, repository }: { branch: string; repository: string },
): Promise<RunState | undefined> {
  const rows = (await state.journal.runs()).filter((row) => row.repository === repository);
  for (const { run } of rows.toReversed()) {
    const layout = laneLayout({ repository, run, lane: MAIN_LANE, stateDir: state.dir });
    if (readPrepared(layout)?.branch !== branch) continue;
    const other = await folded(state, run);
    if (other?.spec.workspace.commit === "branch") return other;
  }
  return undefined;
}

async function folded({ journal }: State, run: string): Promise<RunState | undefined> {
  try {
    return fold(await journal.read(run));
  } catch (error) {
    if (error instanceof TerminalError) return undefined;
    throw error;
  }
}
