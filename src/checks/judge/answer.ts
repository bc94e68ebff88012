/** What a judging model has to answer, and what its answer comes to. */
import { z } from "zod";
import type { Failure } from "../../events.ts";

const MAX_FAILURES = 20;
const MAX_RULE_CHARS = 120;

const answerSchema = z.strictObject({
  score: z.number().min(0).max(1),
  reasons: z.string(),
  failures: z.array(z.strictObject({ rule: z.string(), message: z.string() })),
});
export type JudgeAnswer = z.infer<typeof answerSchema>;

const { $schema: _, ...json } = z.toJSONSchema(answerSchema);
/** For the agent that answers. */
export const ANSWER_SCHEMA: Readonly<Record<string, unknown>> = json;

export function answerOf(given: unknown): JudgeAnswer | undefined {
  return answerSchema.safeParse(given).data;
}

/** Nothing when the score is enough. The score comes first, so that there is one whatever else was said. */
export function failuresOf(
  { score, reasons, failures }: JudgeAnswer,
  { name, passScore }: { name: string; passScore: number },
): Failure[] {
  if (score >= passScore) return [];
  return [
    {
      fingerprint: `judge:${name}:score`,
      message: `scored ${score}, and needs ${passScore}: ${reasons}`,
      expected: `at least ${passScore}`,
      actual: String(score),
    },
    ...failures.slice(0, MAX_FAILURES).map(({ rule, message }) => ({
      fingerprint: `judge:${name}:${ruleName(rule)}`,
      message: `${rule.slice(0, MAX_RULE_CHARS)}: ${message}`,
    })),
  ];
}

/** Letters and digits only: a model does not write the same words in the same way twice. */
const ruleName = (rule: string): string =>
  rule
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, MAX_RULE_CHARS);
