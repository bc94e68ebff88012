/** What waits for a person: asked by the agent inside a turn, or by the loop between two. Pure. */
import type { FactOf } from "../events.ts";
import type { RunState } from "./state.ts";

const MAX_KEPT_QUESTIONS = 100;

export type QuestionState = Pick<
  FactOf<"human-requested">,
  "question" | "kind" | "text" | "options" | "turn" | "untilElapsed" | "lane" | "seq"
> & { answer?: Pick<FactOf<"human-answered">, "text" | "by"> };

export function recordQuestion(state: RunState, fact: FactOf<"human-requested">): void {
  const { question, kind, text, options, turn, untilElapsed, lane, seq } = fact;
  state.questions.set(question, { question, kind, text, options, turn, untilElapsed, lane, seq });
  for (const [id, old] of state.questions) {
    if (state.questions.size <= MAX_KEPT_QUESTIONS) break;
    if (old.answer !== undefined) state.questions.delete(id);
  }
}

export function recordAnswer(state: RunState, { question, text, by }: FactOf<"human-answered">): void {
  const asked = state.questions.get(question);
  if (asked !== undefined) asked.answer = { text, by };
}

export const openQuestions = (state: RunState): QuestionState[] =>
  [...state.questions.values()].filter(({ answer }) => answer === undefined);
