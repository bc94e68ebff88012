/** Where the run is, and whether the turn before was cut off. */
import type { MakePart } from "../../loop/actions.ts";
import { mainLane } from "../../loop/state.ts";
import { KIB } from "./text.ts";

export const header: MakePart = (state, { iteration, attempt }) => {
  const max = state.limits.iterations;
  const of = max === undefined ? "" : ` of ${max}`;
  const text = `Iteration ${iteration}${of}${attempt > 1 ? ` (attempt ${attempt})` : ""}`;
  return { name: "header", text, capBytes: 1 * KIB };
};

export const interruption: MakePart = (state, { attempt }) => ({
  name: "interruption",
  text:
    attempt === 1 || mainLane(state).ended === undefined
      ? ""
      : "The last turn did not end: it was cut off. Look at what is already done in the files, and go on from there.",
  capBytes: 1 * KIB,
  always: true,
});
