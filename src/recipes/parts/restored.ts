/** What was done to the files since the agent last saw them. */
import type { MakePart } from "../../loop/actions.ts";
import { mainLane } from "../../loop/state.ts";
import { KIB } from "./text.ts";

export const restored: MakePart = (state) => {
  const { stale } = mainLane(state);
  const { restored: done } = stale ?? {};
  return {
    name: "restored",
    text:
      done === undefined
        ? ""
        : `## Files put back\n\nThe files are those of snapshot ${done.snapshot} again: ${stale?.why}. What was there before is kept aside (${done.salvage}); do not make it again as it was.`,
    capBytes: 2 * KIB,
    always: true,
  };
};
