/** `rules:` of the project: words that stand in the prompt of every n-th iteration. */
import type { MakePart } from "../../loop/actions.ts";
import { KIB } from "./text.ts";

export const dueRules: MakePart = (state, { iteration }) => {
  const due = state.spec.rules.filter(({ every }) => iteration % every === 0).map(({ text }) => text);
  return {
    name: "rules",
    text: due.length === 0 ? "" : `## For this iteration\n\n${due.join("\n\n")}`,
    ...(due.length === 0 && state.spec.rules.length > 0 ? { silent: "not due" } : {}),
    capBytes: 8 * KIB,
  };
};
