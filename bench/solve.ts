/** What sixty iterations of `solve` cost under a budget of 20,000 tokens a request, by the stand-in's cache accounting. */
import { longSolve } from "../test/support/long-solve.ts";

const ITERATIONS = 60;
const BUDGET_TOKENS = 20_000;
const NO_BUDGET_TOKENS = 2_000_000;
const ratio = (one: number, other: number): number => Number((one / other).toFixed(3));

export async function solveBilled(): Promise<object> {
  const { lastPrompt: _, ...pruned } = await longSolve({
    iterations: ITERATIONS,
    history: "pruned",
    requestTokens: BUDGET_TOKENS,
  });
  const { lastPrompt: __, ...whole } = await longSolve({
    iterations: ITERATIONS,
    history: "pruned",
    requestTokens: NO_BUDGET_TOKENS,
  });
  const { lastPrompt: ___, ...conversation } = await longSolve({
    iterations: ITERATIONS,
    history: "full",
    requestTokens: NO_BUDGET_TOKENS,
  });
  return {
    budgetTokens: BUDGET_TOKENS,
    pruned,
    /** Nothing left out, cached as well as can be. */
    whole,
    conversation,
    prunedOverNaive: ratio(pruned.inputEquivalents, pruned.naiveTokens),
    prunedOverWholeCached: ratio(pruned.inputEquivalents, whole.inputEquivalents),
    prunedOverConversation: ratio(pruned.inputEquivalents, conversation.inputEquivalents),
  };
}
