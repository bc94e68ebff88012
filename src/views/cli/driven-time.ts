/** Driven time of a run at this moment: the facts say it as of the last of them. Pure. */
import type { RunState } from "../../loop/state.ts";

export const drivenNow = (
  { elapsed, at }: Pick<RunState, "elapsed" | "at">,
  { driven, now }: { driven: boolean; now: number },
): number => elapsed + (driven ? Math.max(0, now - at) : 0);
