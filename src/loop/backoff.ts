/** How long is waited after something that may heal by itself: doubled each time in a row. Pure. */
import type { RunState } from "./state.ts";

const MAX_DOUBLINGS = 20;

export function backoffMs({ spec }: Pick<RunState, "spec">, inRow: number): number {
  const { backoffBaseMs, backoffMaxMs } = spec.waits;
  return Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.min(Math.max(1, inRow) - 1, MAX_DOUBLINGS));
}
