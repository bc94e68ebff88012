/** `runs clean --branches`: which branches of ended runs nobody needs any more. Work that is nowhere else is kept. */
import { existsSync } from "node:fs";
import type { Environment, State } from "../../compose.ts";
import { TerminalError } from "../../errors.ts";
import { fold } from "../../loop/fold.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import type { RunRow } from "../../ports.ts";
import { cleanBranch, type BranchEnd } from "../../workspace/run-branches.ts";

interface Cleaning {
  /** Those whose branches may go. */
  rows: readonly RunRow[];
  dryRun: boolean;
  environment: Environment;
}

export type CleanedBranch = BranchEnd & { run: string; branch: string };

export async function cleanBranches(state: State, { rows, dryRun, environment }: Cleaning): Promise<CleanedBranch[]> {
  const runs = await withOwnBranches(state);
  const ofRuns = new Set(runs.map(({ branch }) => branch));
  const cleaned: CleanedBranch[] = [];
  for (const { row, folded, branch } of runs) {
    if (!rows.some(({ run }) => run === row.run) || !existsSync(row.repository)) continue;
    const { run, repository } = row;
    const base = folded.base.commit;
    const about = { repository, environment, branch, base, ofRuns };
    const open =
      row.owner !== undefined
        ? "its run is driven"
        : folded.outcome === undefined
          ? "its run has not ended"
          : undefined;
    const end = await cleanBranch({ ...about, dryRun: dryRun || open !== undefined });
    if (end !== undefined) cleaned.push({ run, branch, ...(open === undefined ? end : { is: "kept", why: open }) });
  }
  return cleaned;
}

interface Owned {
  row: RunRow;
  folded: RunState;
  branch: string;
}

/** The name of a branch that is gone may be another run's by now: the newest has it. Of runs that cannot be read nothing is known. */
async function withOwnBranches({ journal }: State): Promise<Owned[]> {
  const found = new Map<string, Owned>();
  for (const row of await journal.runs()) {
    try {
      const folded = fold(await journal.read(row.run));
      const { commit, branch } = folded.spec.workspace;
      const own = mainLane(folded).branch ?? branch;
      if (commit === "branch" && own !== undefined) found.set(`${row.repository} ${own}`, { row, folded, branch: own });
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
    }
  }
  return [...found.values()];
}
