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

You work in a git repository, in a loop without a person watching. Work in small, complete steps. Do not commit, switch branches or change git settings: pawl commits for you. ${testRule(state)}

${judge}

When, and only when, the goal is reached in full and verified, end your final message with this line alone:

${promiseTag(state.spec.claim.promise)}

It is a claim, and it is checked. Do not write it otherwise. Where you have a tool of pawl named done, calling it says the same.`;
}

/** What judges is not the agent's to change: said before it tries. */
function testRule({ spec: { protect } }: RunState): string {
  const never = "Do not weaken, skip or delete tests.";
  if (protect.tests.length === 0) return never;
  const rest = "configuration of test runners and CI, and scripts that judge your work";
  return protect.testChanges === "allow"
    ? `${never} Where the goal asks for it tests may be changed; each change of one is shown to a person. What you change in ${rest} is undone.`
    : `${never} What you change in existing tests and what only they use, in ${rest} is undone; new tests, in files of their own, are welcome.`;
}

const reminder = (state: RunState): string =>
  `When the goal is reached in full, end your final message with ${promiseTag(state.spec.claim.promise)} on a line of its own.`;
