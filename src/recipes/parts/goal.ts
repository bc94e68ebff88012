/** What shall be reached: whole for a session that begins, its first words as a reminder later. */
import type { MakePart } from "../../loop/actions.ts";
import { isOpening, KIB } from "./text.ts";

export const goal: MakePart = (state, turn) => ({
  name: "goal",
  text: `## Goal\n\n${state.spec.goal}`,
  capBytes: isOpening(turn) ? 33 * KIB : 2 * KIB,
});
