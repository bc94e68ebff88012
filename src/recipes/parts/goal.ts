/** What shall be reached: whole for a session that begins, the goal's first words as a reminder later. */
import type { MakePart } from "../../loop/actions.ts";
import { isOpening, KIB } from "./text.ts";

export const goal: MakePart = (state, turn) => ({
  name: "goal",
  text: `## Goal\n\n${state.spec.goal}`,
  capBytes: isOpening(turn) ? 33 * KIB : 2 * KIB,
});

export const criteria: MakePart = (state, turn) => {
  const lines = state.spec.criteria.map(({ text }, at) => `${at + 1}. ${text}`);
  const isShown = lines.length > 0 && isOpening(turn);
  return {
    name: "criteria",
    text: isShown
      ? `## Acceptance criteria\n\nThe goal is reached when each of these holds:\n\n${lines.join("\n")}`
      : "",
    ...(lines.length > 0 && !isShown ? { silent: "told at the start of the session" } : {}),
    capBytes: 8 * KIB,
  };
};
