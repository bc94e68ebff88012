/** How to work, what judges it and how to say it is done: whole for a session that begins, one line later. */
import type { MakePart } from "../../loop/actions.ts";
import { promiseTag } from "../../loop/claim.ts";
import type { RunState } from "../../loop/state.ts";
import { isOpening, KIB } from "./text.ts";

export const instructions: MakePart = (state, turn) => ({
  name: "instructions",
  text: isOpening(turn) ? rules(state) : reminder(state),
  capBytes: 4 * KIB,
});

function rules(state: RunState): string {
  const checks = state.spec.checks.map((c) => `- ${c.name}: \`${c.command}\``).join("\n");
  const judge =
    checks === ""
      ? "No check is configured."
      : `After your turn pawl runs these itself, on a copy of your files:\n\n${checks}`;
  return `## Rules

You work in a git repository, in a loop without a person watching. Work in small, complete steps. Do not commit, switch branches or change git settings: pawl commits for you. Do not weaken, skip or delete tests.

${judge}

When, and only when, the goal is reached in full and verified, end your final message with this line alone:

${promiseTag(state.spec.claim.promise)}

It is a claim, and it is checked. Do not write it otherwise. Where you have a tool of pawl named done, calling it says the same.`;
}

const reminder = (state: RunState): string =>
  `When the goal is reached in full, end your final message with ${promiseTag(state.spec.claim.promise)} on a line of its own.`;
