/** Words of people that have not reached the model yet: once, above everything else. */
import type { MakePart } from "../../loop/actions.ts";
import { MAX_SAID_BYTES, pendingSays } from "../../loop/state.ts";
import { KIB } from "./text.ts";

export const directives: MakePart = (state) => {
  const says = pendingSays(state).map(({ text }) => text);
  return {
    name: "directives",
    text: says.length === 0 ? "" : `## Orchestrator directive (priority)\n\n${says.join("\n\n")}`,
    capBytes: MAX_SAID_BYTES + 1 * KIB,
    always: true,
  };
};
