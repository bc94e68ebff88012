/** What sixty iterations of `solve` cost under a budget of 20,000 tokens a request, by the stand-in's cache accounting. */
import { longSolve, type LongSolve } from "../test/support/long-solve.ts";

const ITERATIONS = 60;
const BUDGET_TOKENS = 20_000;
const NO_BUDGET_TOKENS = 2_000_000;
const ratio = (one: number, other: number): number => Number((one / other).toFixed(3));

async function measured(options: Parameters<typeof longSolve>[0]): Promise<Omit<LongSolve, "lastPrompt" | "prompts">> {
  const { lastPrompt: _, prompts: __, ...figures } = await longSolve(options);
  return figures;
}

export async function solveBilled(): Promise<object> {
  const pruned = await measured({
    iterations: ITERATIONS,
    history: "pruned",
    requestTokens: BUDGET_TOKENS,
  });
  const whole = await measured({
    iterations: ITERATIONS,
    history: "pruned",
    requestTokens: NO_BUDGET_TOKENS,
  });
  const conversation = await measured({
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
    prunedOverNaive: ratio(pruned.inputBilled, pruned.naiveTokens),
    prunedOverWholeCached: ratio(pruned.inputBilled, whole.inputBilled),
    prunedOverConversation: ratio(pruned.inputBilled, conversation.inputBilled),
  };
}
