/** The parts that decisions are made of: ends, and what only a person can settle. Pure. */
import type { Outcome } from "../events.ts";
import type { DecisionBody } from "./actions.ts";
import { decisionPoint, endedBy } from "./hold.ts";
import { questionAbout } from "./questions.ts";
import type { LaneState, RunState } from "./state.ts";

export type Draft = Omit<DecisionBody, "type" | "iteration" | "numbers"> & { numbers?: Record<string, number> };

export const ending = (outcome: Outcome, numbers: Record<string, number> = {}): Draft => ({
  rule: outcome.rule,
  next: "end",
  reason: outcome.reason,
  outcome,
  numbers,
});

export const end = (is: Outcome["is"], rule: string, reason: string, numbers?: Record<string, number>): Draft =>
  ending({ is, rule, reason }, numbers);

export const stopOutcome = (when: "now" | "after"): Outcome => ({
  is: "stopped",
  rule: `directive:stop-${when}`,
  reason: "stopped by directive",
});

/** What only a person can: where one is asked the loop waits; otherwise, or without an answer in time, the run ends. */
export function settle(
  state: RunState,
  lane: LaneState,
  { rule, reason, numbers }: { rule: string; reason: string; numbers?: Record<string, number> },
): Draft {
  if (state.spec.agent.ask.questions === "deny") return end("needs-human", rule, reason, numbers);
  if (state.stop !== undefined) return ending(stopOutcome(state.stop));
  const asked = questionAbout(state, decisionPoint(lane, rule));
  const counted = numbers === undefined ? {} : { numbers };
  if (asked?.answer === undefined) return { rule, next: "ask", reason, ...counted };
  const ended = endedBy(asked, { rule, reason });
  return ended === undefined ? { rule, next: "continue", reason, ...counted } : ending(ended, numbers);
}
