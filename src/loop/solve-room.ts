/** How much one prompt of a run that solves may hold. Pure. */
import { promptBytes } from "./history.ts";
import { solveOf } from "./solve-state.ts";
import type { RunState } from "./state.ts";

/**
 * So often the room of prompts is halved when one had more tokens than it was thought to have. Then there is less than a
 * byte for each token of the budget, and no text has more tokens than bytes.
 */
export const MAX_TIGHTENINGS = 2;

/** In the measure of `wireBytes`. */
export const promptRoom = (state: RunState): number =>
  Math.floor(promptBytes(state.spec.solve?.requestTokens ?? 0) / 2 ** (solveOf(state).tightened ?? 0));
