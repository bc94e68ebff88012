/** The prompt of a turn, as the recipe has it or as a person's template says. Pure. */
import type { PromptContext, Recipe, TurnAction } from "./actions.ts";
import { joinParts, type ComposedPrompt } from "./prompt.ts";
import type { RunState } from "./state.ts";
import { fillParts } from "./template-prompt.ts";

interface Scene {
  state: RunState;
  turn: TurnAction;
  context: PromptContext;
}

export function composePrompt(
  recipe: Pick<Recipe, "prompt" | "variables" | "maxPromptBytes">,
  { state, turn, context }: Scene,
): ComposedPrompt {
  const parts = recipe.prompt(state, turn, context);
  const { template } = state.spec;
  // A template is for the work.
  if (template === undefined || turn.role === "review") return joinParts(parts, recipe.maxPromptBytes?.(state));
  return fillParts(parts, { template, variables: recipe.variables(state, turn) });
}
