/** What pawl's own checks said of the last change, and what was decided. */
import type { MakePart } from "../../loop/actions.ts";
import { PROMISE_MISPLACED, promiseTag } from "../../loop/claim.ts";
import { judged } from "../../loop/decide.ts";
import { lastJudgement } from "../../loop/prompt.ts";
import { mainLane, type Judgement, type RunState } from "../../loop/state.ts";
import { redCheck } from "./failing-check.ts";
import { isOpening, isReturning, KIB } from "./text.ts";

export const verdicts: MakePart = (state, turn) => ({
  name: "verdicts",
  text: verdictLines(state, lastJudgement(mainLane(state), turn), !isOpening(turn) && !isReturning(turn)),
  capBytes: 12 * KIB,
});

export const decision: MakePart = (state, turn) => ({
  name: "decision",
  text: decisionText(state, lastJudgement(mainLane(state), turn)),
  capBytes: 2 * KIB,
});

/** Of the last judged change, red ones with evidence. `knows`: what the iterations before said is in the session. */
function verdictLines(state: RunState, last: Judgement | undefined, knows: boolean): string {
  if (last?.decision === undefined || last.change?.refused !== undefined) return "";
  const lines = judged(state, last).map(({ check, verdict }) => {
    switch (verdict?.is) {
      case undefined:
        return `- ${check.name}: not run`;
      case "pass":
        return `- ${check.name}: pass`;
      case "skipped":
      case "unverifiable":
        return `- ${check.name}: ${verdict.is} (${verdict.reason})`;
      case "fail":
      case "flaky":
        return redCheck({ state, check, verdict, knows });
    }
  });
  return lines.length === 0
    ? ""
    : `## What the checks said after iteration ${last.iteration}\n\npawl ran these itself, on your change:\n\n${lines.join("\n")}`;
}

/** How a run ended before it was reopened is not the agent's business. */
function decisionText({ spec }: RunState, last: Judgement | undefined): string {
  const made = last?.decision;
  if (made === undefined || made.rule === "continue" || made.outcome !== undefined) return "";
  const wanted = `If the goal is reached in full, change nothing more, and end your final message with this line alone:

${promiseTag(spec.claim.promise)}

If something of the goal is still missing, go on with it.`;
  if (made.rule === "green-unclaimed")
    return `## Every required check passes\n\npawl ran them itself, on your change. ${wanted}`;
  return `## Decision\n\n${made.reason}${made.rule === PROMISE_MISPLACED ? `\n\n${wanted}` : ""}`;
}
