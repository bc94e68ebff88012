/** Which iteration of a run was the best, and whether that is what the run left. Pure. */
import { hasTheirs, isBehind } from "../loop/at-end.ts";
import { counted as whatCounts } from "../loop/measured.ts";
import { failingSet } from "../loop/progress.ts";
import { mainLane, type RunState } from "../loop/state.ts";
import { counted } from "./cli/format.ts";
import { oneLine } from "./plain.ts";

const MAX_REASON_CHARS = 300;

/** undefined where none was measured that changed anything. */
export function bestWords(state: RunState): string | undefined {
  const { bestWork: best } = mainLane(state).track;
  if (best === undefined) return undefined;
  const before = failuresBefore(state);
  const compared = before === undefined ? "" : `, ${before} before the run`;
  const tasks = best.tasks === 0 ? "" : `, ${counted(best.tasks, "task")} done`;
  const where = whereItIs(state);
  return `iteration ${best.iteration} (${counted(best.failing, "failure")}${compared}${tasks})${where === "" ? "" : `: ${where}`}`;
}

/** undefined where the tree before the first turn was not judged. */
function failuresBefore(state: RunState): number | undefined {
  const verdicts = state.spec.checks.map(({ name }) => state.baselines.get(name));
  return failingSet(whatCounts(state, verdicts))?.length;
}

function whereItIs(state: RunState): string {
  const lane = mainLane(state);
  const { bestWork: best, setAside: aside } = lane.track;
  if (best === undefined || state.outcome === undefined) return "";
  const again = `pawl restore ${state.run} --at ${best.snapshot} has it`;
  if (aside?.iteration === lane.iteration) {
    if (aside.failed !== undefined)
      return `not put back: ${oneLine(aside.failed, { max: MAX_REASON_CHARS })}; ${again}`;
    return `put back at the end; the last state: pawl restore ${state.run} --at ${aside.salvage}`;
  }
  if (!isBehind(state, lane, best)) return lane.head?.judged === best.tree ? "delivered" : "";
  const isTheirs = hasTheirs(state, lane, best.snapshot);
  return `${isTheirs ? "not put back, because you have changed files since" : "not put back"}; ${again}`;
}
