/** The workspace of a run that solves and its first fact; where it does not come to be, nothing of it is left. */
import { rmSync } from "node:fs";
import type { State } from "../../compose.ts";
import { runDir } from "../../platform/paths.ts";
import type { Base } from "../../ports.ts";
import { makeScratch } from "../../workspace/scratch.ts";
import { begin } from "../cli/start-run.ts";
import type { PlannedSolve } from "./plan-solve.ts";

export async function beginSolve(
  state: State,
  { spec, files }: Pick<PlannedSolve, "spec" | "files">,
  lock: (path: string) => void,
): Promise<Base> {
  const { path } = spec.workspace;
  try {
    const base = makeScratch(path, files);
    lock(path);
    await begin(state, { spec, base });
    return base;
  } catch (error) {
    rmSync(runDir(state.dir, spec.run), { recursive: true, force: true });
    throw error;
  }
}
