/** A run as if it had never been: everything of it in the state folder. Its branch and worktree are the user's. */
import { join } from "node:path";
import type { State } from "../compose.ts";
import { UsageError } from "../errors.ts";
import { runDir } from "../platform/paths.ts";
import type { RunSpec } from "../spec.ts";
import { removeAround } from "../workspace/dependencies.ts";
import { forgetWork, workFolders } from "../workspace/forget.ts";

interface Which {
  run: string;
  repository: string;
}

export const foldersOf = ({ dir }: Pick<State, "dir">, { run, repository }: Which): string[] => [
  runDir(dir, run),
  ...workFolders({ stateDir: dir, repository, run }),
];

/** The journal first: from then on nobody drives it again. UsageError while somebody does. */
export async function forgetRun(state: Pick<State, "dir" | "forget">, { run, repository }: Which): Promise<void> {
  state.forget(run);
  await removeKept(state, { run, repository });
}

async function removeKept({ dir }: Pick<State, "dir">, { run, repository }: Which): Promise<void> {
  removeAround(Buffer.from(join(runDir(dir, run))), []);
  await forgetWork({ stateDir: dir, repository, run });
}

/**
 * For a start that went wrong: a run that was refused before its first effect (another one was faster) leaves nothing.
 * False when it is a run by now.
 */
export async function takeBack(
  state: State,
  { run, workspace }: Pick<RunSpec, "run" | "workspace">,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof UsageError)) return false;
  const facts = await state.journal.read(run);
  if (facts.some(({ type }) => type === "lane-start")) return false;
  await forgetRun(state, { run, repository: workspace.repository });
  return true;
}
