/**
 * What keeps a lane from going on between two turns: hooks that are due, and people who are asked. Given the facts it says
 * what is to be done about it; the loop goes on when it says nothing. Pure.
 */
import type { Outcome } from "../events.ts";
import type { Action, DecisionBody, Now } from "./actions.ts";
import { dueHook, hookKey, hookTrouble, occasionsOf, policyOf } from "./hooks.ts";
import { GO_ON, questionAbout, STOP, wayOf, type QuestionState } from "./questions.ts";
import { noneLeft } from "./seats.ts";
import type { LaneState, RunState } from "./state.ts";
import { failedTurns, neverHeals } from "./turn-outcome.ts";

type Ask = Extract<Action, { do: "ask" }>;

/** undefined: nothing holds it. An empty list: it waits for a person. */
export function held(state: RunState, lane: LaneState, now: Now): Action[] | undefined {
  if (state.stop === undefined) {
    const asking = aboutTrouble(state, lane) ?? aboutErrors(state, lane);
    if (asking !== undefined) return ask(state, lane, now, asking);
  }
  if (state.spec.hooks.length === 0 || state.hooks.trouble !== undefined) return undefined;
  const due = dueHook(state, lane, occasionsOf(state, lane));
  return due === undefined ? undefined : [due];
}

type Asking = Pick<Ask, "kind" | "about" | "text">;

/** A hook that failed and suspends. Settled ones are gone from the state, or end the run. */
function aboutTrouble(state: RunState, _lane: LaneState): Asking | undefined {
  const { trouble } = state.hooks;
  if (trouble === undefined || policyOf(state, trouble) !== "suspend") return undefined;
  const about = hookKey(trouble);
  return questionAbout(state, about)?.answer === undefined
    ? { kind: "hook", about, text: hookTrouble(trouble).reason }
    : undefined;
}

/** Too many failed turns in a row, where that is to be looked at by a person. */
function aboutErrors(state: RunState, lane: LaneState): Asking | undefined {
  const { ended, decision, errorsInRow } = lane;
  if (!errorsPause(state, lane) || decision !== undefined || ended === undefined) return undefined;
  const about = errorsPoint(lane);
  const text = `${failedTurns(errorsInRow)}; the last errors stand in ${state.spec.notes?.file ?? "the journal"}`;
  return questionAbout(state, about)?.answer === undefined ? { kind: "errors", about, text } : undefined;
}

export const errorsPause = (state: RunState, lane: LaneState): boolean =>
  state.spec.onErrors === "pause" &&
  lane.ended !== undefined &&
  !neverHeals(lane.ended.outcome) &&
  noneLeft(state, lane);
export const errorsPoint = ({ lane, ended }: LaneState): string => `errors/${lane}/${ended?.turn ?? 0}`;

/** Asks once; while it is open nothing else happens here. */
function ask(state: RunState, { lane }: LaneState, now: Now, asking: Asking): Action[] {
  if (questionAbout(state, asking.about) !== undefined) return [];
  const waitsForEver = asking.kind === "errors" || asking.kind === "hook";
  return [
    {
      do: "ask",
      key: `ask/${asking.about}`,
      lane,
      why: asking.kind,
      ...asking,
      options: [asking.kind === "unverifiable" ? "retry" : GO_ON, STOP],
      untilElapsed: waitsForEver ? null : now.elapsed + state.spec.agent.ask.timeoutMs,
    },
  ];
}

/** In place of a decision that a person has to make first. */
export function askFirst(state: RunState, lane: LaneState, now: Now, decision: DecisionBody): Action[] {
  const kind = decision.rule === "unverifiable" ? "unverifiable" : "ladder";
  return ask(state, lane, now, { kind, about: decisionPoint(lane, decision.rule), text: decision.reason });
}

/** What could not be judged is asked again after every new try of the checks. */
export function decisionPoint({ lane, iteration, checksTried }: LaneState, rule: string): string {
  const lastTry = Math.max(0, ...[...checksTried.values()].map(({ seq }) => seq));
  return `${rule}/${lane}/${iteration}${rule === "unverifiable" ? `/${lastTry}` : ""}`;
}

/** How the run ends by a person's answer, or by none; undefined when it goes on. */
export function endedBy(asked: QuestionState | undefined, open: Pick<Outcome, "rule" | "reason">): Outcome | undefined {
  const answer = asked?.answer;
  if (answer?.by === "person") {
    if (wayOf(answer.text) !== "stop") return undefined;
    return { is: "stopped", rule: `answer:${STOP}`, reason: `a person said stop to: ${open.reason}` };
  }
  return { is: "needs-human", ...open };
}

/** The end that a hook's failure makes, once nobody is asked about it any more. */
export function troubleOutcome(state: RunState): Outcome | undefined {
  const { trouble } = state.hooks;
  if (trouble === undefined || state.stop !== undefined) return undefined;
  return endedBy(questionAbout(state, hookKey(trouble)), hookTrouble(trouble));
}
