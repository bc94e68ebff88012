/** What the user's hooks said for the prompt since the last turn: once, whole or not at all. */
import type { MakePart } from "../../loop/actions.ts";
import { hookWords } from "../../loop/hooks.ts";
import { KIB } from "./text.ts";

export const hooks: MakePart = (state) => ({
  name: "hooks",
  text: hookWords(state),
  capBytes: 8 * KIB,
  always: true,
});
