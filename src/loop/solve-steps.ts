/**
 * The steps of a plan: those whose needs are met are worked on beside each other, each in a lane of its own, turn after
 * turn until its result is there. What is finished stays finished, whoever drives. Pure.
 */
import type { Action, Body, Now } from "./actions.ts";
import type { Kept } from "../events.ts";
import { exhausted } from "./budget.ts";
import { isFatal } from "./decide.ts";
import { beginTurn, takeTurns } from "./iterate.ts";
import { dueExecution } from "./solve-execution.ts";
import { presentCandidate, settled } from "./solve-answer.ts";
import { DEFAULT_REPEATS } from "./solve-decide.ts";
import { hopelessSteps, isCarriedOut, readySteps } from "./solve-plan.ts";
import { attemptOf, attemptsIn, endsWithPlan, solveOf, type PlanState, type StepState } from "./solve-state.ts";
import { laneOf, mainLane, type LaneState, type RunState } from "./state.ts";
import { sayOutcome } from "./turn-outcome.ts";
import { counted } from "../plural.ts";

const STEP_LANE = "step/";
const stepLane = (id: string): string => `${STEP_LANE}${id}`;
/** Of the step that a lane works on; undefined: on none. */
export const stepOf = (lane: string): string | undefined =>
  lane.startsWith(STEP_LANE) ? lane.slice(STEP_LANE.length) : undefined;

/** Nothing where no plan is being carried out. */
export function stepActions(state: RunState, now: Now): Action[] {
  const { plan } = solveOf(state);
  if (plan === undefined || isCarriedOut(plan) || !isTime(state, plan)) return [];
  const given = hopelessSteps(plan).map((step): Action => {
    const why = `step ${step.needs.find((need) => plan.steps.some(({ id, is }) => id === need && is !== "done"))} has no result`;
    return endStep({ step, plan, is: "skipped", why });
  });
  if (given.length > 0) return given;
  const over = state.stop !== undefined || exhausted(state, { iteration: 0, elapsed: now.elapsed }) !== undefined;
  const begun = (step: StepState): boolean => isBegun(state, plan, step);
  const ready = readySteps(plan).toSorted((a, b) => Number(begun(b)) - Number(begun(a)));
  return ready
    .slice(0, state.spec.solve?.parallel ?? 1)
    .flatMap((step) => workOn(state, { plan, step, now, over }).map((body) => ({ ...body, lane: stepLane(step.id) })));
}

/** The plan is of the present iteration, or a person's from before the first. */
function isTime(state: RunState, { turn }: PlanState): boolean {
  const main = mainLane(state);
  if (state.stop === "now" || main.open !== undefined || main.head === undefined || endsWithPlan(state)) return false;
  if (main.decision?.next === "end" || state.hooks.trouble !== undefined) return false;
  return turn === null ? main.iteration === 0 : main.ended?.turn === turn;
}

const since = ({ turn }: PlanState): number => turn ?? 0;

const isBegun = (state: RunState, plan: PlanState, { id }: StepState): boolean => {
  const lane = state.lanes.get(stepLane(id));
  return (lane?.open?.fact.turn ?? lane?.ended?.turn ?? 0) > since(plan);
};

interface Work {
  plan: PlanState;
  step: StepState;
  now: Now;
  /** No new turn begins. */
  over: boolean;
}

function workOn(state: RunState, { plan, step, now, over }: Work): Body[] {
  const lane = laneOf(state, stepLane(step.id));
  if (!isBegun(state, plan, step)) return over ? [] : beginTurn(state, lane, now);
  const turns = takeTurns(state, lane, now);
  if (turns !== undefined) return over && lane.open === undefined ? [] : turns;
  const due = dueExecution(state, lane);
  if (due !== undefined) return [due];
  const ended = outcomeOf(state, { plan, step, lane });
  if (ended !== undefined) return [ended];
  return over ? [] : beginTurn(state, lane, now);
}

/** How the step ends here, if it does. */
function outcomeOf(
  state: RunState,
  { plan, step, lane }: { plan: PlanState; step: StepState; lane: LaneState },
): Body | undefined {
  const attempt = attemptOf(state, lane);
  const tries = attemptsIn(state, lane.lane).filter(({ turn }) => turn > since(plan)).length;
  const isLast = tries >= (state.spec.solve?.stepTries ?? 1);
  const result = resultOf(state, { plan, lane, isLast });
  if (result !== undefined) return endStep({ step, plan, is: "done", ...result });
  if (attempt?.executed?.end.is === "unavailable")
    return endStep({ step, plan, is: "failed", why: attempt.executed.end.reason });
  if (isFatal(state, lane) && lane.ended !== undefined)
    return endStep({ step, plan, is: "failed", why: sayOutcome(lane.ended.outcome) });
  if (!isLast) return undefined;
  const last = attempt?.executed?.message ?? attempt?.problem ?? "it printed nothing";
  return endStep({ step, plan, is: "failed", why: `no result after ${counted(tries, "attempt")}; the last: ${last}` });
}

/**
 * Whether what was expected is there is the model's to say, who sees it: by an answer, or before by the word that the
 * program will print it. Programs that print the same again settle it as they do for a question. At the last attempt
 * what there is has to do: who goes on with it is shown what was expected.
 */
function resultOf(
  state: RunState,
  { plan, lane, isLast }: { plan: PlanState; lane: LaneState; isLast: boolean },
): { why: string; kept: Kept } | undefined {
  const candidate = presentCandidate(state, lane);
  if (candidate === undefined) return undefined;
  const { kept } = candidate;
  if (candidate.from === "answer") return { why: "the model gives its result", kept };
  if (attemptOf(state, lane)?.final === true) return { why: "its result is there, as was said", kept };
  const same = settled(state, lane, { repeats: state.spec.solve?.repeats ?? DEFAULT_REPEATS, since: since(plan) });
  if (same !== undefined) return { why: `${same.times} programs in a row came to the same`, kept };
  return isLast ? { why: "its attempts are used up, and this was printed last", kept } : undefined;
}

interface Ending {
  step: StepState;
  plan: PlanState;
  is: "done" | "failed" | "skipped";
  why: string;
  kept?: StepState["result"];
}

const endStep = ({ step: { id }, plan, is, why, kept }: Ending): Extract<Action, { do: "end-step" }> => ({
  do: "end-step",
  key: `end-step/${plan.revision}/${id}`,
  lane: stepLane(id),
  why,
  step: id,
  is,
  kept,
});
