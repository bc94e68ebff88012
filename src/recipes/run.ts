/**
 * `run`: one lane, one agent, iterations until the checks pass and the agent says it is done. The prompt of a session's
 * first turn carries everything; later ones only what is new, so that the conversation's prefix stays cached.
 */
import type { MakePart, Recipe } from "../loop/actions.ts";
import { iterate } from "../loop/iterate.ts";
import { mainLane } from "../loop/state.ts";
import { directives } from "./parts/directives.ts";
import { dueRules } from "./parts/due-rules.ts";
import { failures } from "./parts/failures.ts";
import { criteria, goal } from "./parts/goal.ts";
import { handOff } from "./parts/hand-off.ts";
import { hooks } from "./parts/hooks.ts";
import { header, interruption } from "./parts/header.ts";
import { instructions } from "./parts/instructions.ts";
import { decision, verdicts } from "./parts/judgement.ts";
import { knowledge, notes } from "./parts/memos.ts";
import { putBack } from "./parts/put-back.ts";
import { restored } from "./parts/restored.ts";
import { review } from "./parts/review.ts";
import { givingUp, tasks } from "./parts/tasks.ts";
import { variables } from "./parts/variables.ts";
import { reviewPrompt } from "./review-prompt.ts";

/** As they stand in the prompt, most important first; docs/prompts.md says what each is. */
const PARTS: readonly MakePart[] = [
  directives,
  restored,
  putBack,
  review,
  header,
  interruption,
  goal,
  criteria,
  tasks,
  verdicts,
  decision,
  hooks,
  failures,
  knowledge,
  notes,
  handOff,
  dueRules,
  instructions,
  givingUp,
];

export const runRecipe: Recipe = {
  name: "run",
  wanted: (state, now) => iterate(state, mainLane(state), now),
  prompt: (state, turn, context) =>
    turn.role === "review" ? reviewPrompt(state, turn, context) : PARTS.map((make) => make(state, turn, context)),
  variables,
};
