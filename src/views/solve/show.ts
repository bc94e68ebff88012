/** `pawl show` of a run that solves: its plan, its attempts in a line each, or one of them whole. */
import { UsageError } from "../../errors.ts";
import { solveOf, type Attempt } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import type { Blobs } from "../../ports.ts";
import { columns } from "../cli/format.ts";
import { plain } from "../plain.ts";
import { attemptView, cellsOf, planCells, solveView } from "./status.ts";
import { attemptWords } from "./transcript.ts";

export interface ShownParts {
  attempt?: number | undefined;
  attempts?: boolean | undefined;
  plan?: boolean | undefined;
}

export const isOfSolve = ({ attempt, attempts, plan }: ShownParts): boolean =>
  attempt !== undefined || attempts === true || plan === true;

export function refuseOthers(state: RunState): void {
  if (state.spec.solve !== undefined) return;
  throw new UsageError(`run ${state.run} is no run of \`pawl solve\`: it has iterations, not attempts`, {
    hint: `pawl show ${state.run} -i N`,
  });
}

/** An attempt is called by the number of its turn. */
export function attemptNumbered(state: RunState, n: number): Attempt {
  const { attempts } = solveOf(state);
  const found = attempts.find(({ turn }) => turn === n);
  if (found !== undefined) return found;
  const [first, last] = [attempts.at(0)?.turn, attempts.at(-1)?.turn];
  throw new UsageError(`run ${state.run} has no attempt ${n}`, {
    hint: first === undefined ? "it has none yet" : `there are ${first} to ${last}`,
  });
}

export async function showSolve(
  state: RunState,
  { blobs, shown }: { blobs: Blobs; shown: ShownParts },
): Promise<string> {
  const { attempt, attempts = false, plan = false } = shown;
  const parts: string[] = [];
  if (plan) {
    const cells = planCells(solveView(state));
    parts.push(cells.length === 0 ? "there is no plan" : columns(cells));
  }
  if (attempts) {
    const { attempts: all, forgotten } = solveOf(state);
    const gone =
      forgotten === 0 ? [] : [`${forgotten} earlier attempts are only in the journal: pawl logs ${state.run}`];
    parts.push(
      [...gone, all.length === 0 ? "nothing was tried yet" : columns(all.map((one) => cellsOf(attemptView(one))))].join(
        "\n",
      ),
    );
  }
  if (attempt !== undefined) parts.push(plain(await attemptWords(attemptNumbered(state, attempt), blobs)));
  return parts.join("\n\n");
}
