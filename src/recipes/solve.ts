/**
 * `solve`: a question is answered by code that the model proposes and that is run and judged. Every turn is one proposal;
 * its prompt is made of facts alone. What is stable comes first, so that the provider's cache holds it.
 */
import type { PromptPart, Recipe, TurnAction } from "../loop/actions.ts";
import { iterate } from "../loop/iterate.ts";
import { promptRoom } from "../loop/solve-room.ts";
import { attemptsIn } from "../loop/solve-state.ts";
import { stepActions, stepOf } from "../loop/solve-steps.ts";
import { mainLane, type RunState } from "../loop/state.ts";
import { isOpening } from "./parts/text.ts";
import { history, resultText } from "./solve/history.ts";
import { instructions } from "./solve/instructions.ts";
import { plan, step } from "./solve/plan.ts";
import { question } from "./solve/question.ts";
import { RESULT_SHARE } from "./solve/shares.ts";
import { directives, header, repeatedFailure, verdicts } from "./solve/standing.ts";

export const solveRecipe: Recipe = {
  name: "solve",
  wanted(state, now) {
    const steps = stepActions(state, now);
    return steps.length > 0 ? steps : iterate(state, mainLane(state), now);
  },
  prompt(state, turn) {
    const id = stepOf(turn.lane);
    if (id !== undefined) return stepPrompt(state, turn, id);
    const fixed = [instructions(state, { inStep: false }), ...question(state)];
    return [
      ...(isOpening(turn) ? [...fixed, ...history(state, turn, fixed)] : [result(state, turn)]),
      plan(state),
      verdicts(state, turn),
      repeatedFailure(state, turn),
      directives(state),
      header(state, turn, undefined),
    ];
  },
  maxPromptBytes: promptRoom,
  variables: () => ({}),
};

function stepPrompt(state: RunState, turn: TurnAction, id: string): PromptPart[] {
  const fixed = [instructions(state, { inStep: true }), ...question(state), step(state, id)];
  const known = isOpening(turn) ? [...fixed, ...history(state, turn, fixed)] : [result(state, turn)];
  return [...known, repeatedFailure(state, turn), header(state, turn, id)];
}

/** A session that goes on knows everything but what came of its last proposal. */
function result(state: RunState, { lane }: TurnAction): PromptPart {
  const max = Math.floor(promptRoom(state) * RESULT_SHARE);
  const last = attemptsIn(state, lane).at(-1);
  const problem = last?.problem === undefined ? "" : `Your proposal could not be used: ${last.problem}.`;
  return { name: "result", text: last === undefined ? "" : problem || resultText(last, max), capBytes: max };
}
