/** A long history under a small budget, on the stand-in model: what requests hold, and what they cost. */
import { describe, expect, it } from "vitest";
import { figure } from "../../../test/support/figure.ts";
import { FACT_OF_ITERATION_2, longSolve } from "../../../test/support/long-solve.ts";

const BUDGET_TOKENS = 20_000;
const ITERATIONS = 60;

describe("a long history under a small budget", () => {
  it("never exceeds the budget of a request, keeps what was found early, and costs a fraction of naive history (S2)", async () => {
    const long = await longSolve({ iterations: ITERATIONS, history: "pruned", requestTokens: BUDGET_TOKENS });
    expect(long.iterations).toBe(ITERATIONS);
    expect(long.largestRequest).toBeLessThanOrEqual(BUDGET_TOKENS);
    expect(long.lastPrompt).toContain(FACT_OF_ITERATION_2);
    expect(long.lastPrompt).toMatch(/attempt 2 \(iteration 2\).*\n[^]*pawl show r-\S+ --attempt NUMBER/);
    expect(long.lastPrompt).toContain("## Attempt 59 (iteration 59)");
    expect(long.inputBilled).toBeLessThan(long.naiveTokens / 5);
    expect(long.cacheReadTokens).toBeGreaterThan(long.inputTokens / 2);
    const { lastPrompt: _, prompts: __, ...counts } = long;
    figure("solve", { ...counts, ratio: long.inputBilled / long.naiveTokens });
  });

  it.each(["pruned", "full"] as const)(
    "holds for a model whose every byte is a token, with --history %s, and the run goes on (S2)",
    async (history) => {
      const iterations = 12;
      const long = await longSolve({
        iterations,
        history,
        requestTokens: BUDGET_TOKENS,
        tokensIn: (text) => Buffer.byteLength(text),
      });
      expect(long.iterations).toBe(iterations);
      expect(long.largestRequest).toBeLessThanOrEqual(BUDGET_TOKENS);
      expect(long.largestRequest).toBeGreaterThan(BUDGET_TOKENS / 4);
      expect(long.prompts.findLast((prompt) => prompt.includes("## Question"))).toContain("(iteration 2)");
    },
  );

  it("lets one conversation go on until it is full, and begins another with the pruned history", async () => {
    const long = await longSolve({ iterations: 20, history: "full", requestTokens: BUDGET_TOKENS });
    expect(long.iterations).toBe(20);
    expect(long.largestRequest).toBeLessThanOrEqual(BUDGET_TOKENS);
    expect(long.conversations).toBeGreaterThan(1);
    expect(long.conversations).toBeLessThan(10);
    expect(long.prompts.findLast((prompt) => prompt.includes("## Question"))).toContain(FACT_OF_ITERATION_2);
  });
});
