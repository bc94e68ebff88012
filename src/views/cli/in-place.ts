/** Where a planned run will work: the user's directory, or a worktree that is made for it and undone if nothing begins. */
import { copyFileSync, lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Environment } from "../../compose.ts";
import { createWorktree, notMade } from "../../workspace/worktrees.ts";
import type { Planned } from "./start-run.ts";

interface Where {
  /** Its name; true: the run's own; undefined: no worktree. */
  worktree: string | true | undefined;
  stateDir: string;
  env: Environment;
}

export interface InPlace {
  planned: Planned;
  warnings: readonly string[];
  /** For the steps up to the run's first fact: one that fails takes the worktree and its branch with it. */
  orUndo<T>(step: () => T | Promise<T>): Promise<T>;
  /** For a run that was taken back. */
  undo(): Promise<void>;
}

export async function inPlace(planned: Planned, { worktree, stateDir, env }: Where): Promise<InPlace> {
  const { spec, branchNow } = planned;
  if (worktree === undefined)
    return { planned, warnings: [], orUndo: async (step) => await step(), undo: async () => undefined };
  const { repository } = spec.workspace;
  const name = worktree === true ? spec.run : worktree;
  const branch = async (): Promise<string> => (await branchNow()) ?? "";
  const made = await createWorktree({ repository, stateDir, environment: env, name, run: spec.run, branch });
  const undo = async (): Promise<void> => await made.undo();
  try {
    copyMemos(spec.workspace.memos, { from: repository, to: made.path });
  } catch (error) {
    await undo();
    throw notMade(error);
  }
  const workspace = { ...spec.workspace, path: made.path, ...(made.branch === null ? {} : { branch: made.branch }) };
  return {
    planned: { ...planned, spec: { ...spec, workspace } },
    warnings: made.warnings,
    undo,
    async orUndo(step) {
      try {
        return await step();
      } catch (error) {
        await undo();
        throw error;
      }
    },
  };
}

/** As they are now, committed or not: the tasks of a run are those that its user sees. */
function copyMemos(memos: readonly string[], { from, to }: { from: string; to: string }): void {
  for (const path of memos) {
    if (lstatSync(join(from, path), { throwIfNoEntry: false })?.isFile() !== true) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    copyFileSync(join(from, path), join(to, path));
  }
}
