/** What proposals, executions, plans and steps change. Part of the fold. */
import type { FactOf, TurnOutcome } from "../events.ts";
import { MAX_TIGHTENINGS } from "./solve-room.ts";
import { solveOf, type Attempt, type SolveState, type StepState } from "./solve-state.ts";
import type { LaneState, RunState } from "./state.ts";

const MAX_KEPT_ATTEMPTS = 400;
const MAX_KEPT_ERRORS = 200;
const MAX_KEPT_SETTLED = 50;

type OfTurn = Pick<FactOf<"proposal-made">, "turn" | "lane" | "iteration" | "epoch">;

function attemptFor(solve: SolveState, { turn, lane, iteration, epoch }: OfTurn): Attempt {
  const known = solve.attempts.findLast((attempt) => attempt.turn === turn);
  if (known !== undefined) return known;
  const attempt: Attempt = {
    turn,
    lane,
    iteration,
    epoch,
    does: "nothing",
    note: "",
    problem: undefined,
    code: undefined,
    answer: undefined,
    executed: undefined,
    executions: 0,
  };
  solve.attempts.push(attempt);
  if (solve.attempts.length > MAX_KEPT_ATTEMPTS) {
    solve.attempts.shift();
    solve.forgotten += 1;
  }
  return attempt;
}

/**
 * A turn that ended because its request was too long: it is nobody's error where the next one is shorter. True: it is. A
 * conversation is begun anew first; where a prompt by itself was too long, the next have half of the room.
 */
export function makesRoom(
  state: RunState,
  { open, outcome }: { open: LaneState["open"]; outcome: TurnOutcome },
): boolean {
  const { solve } = state;
  if (solve === undefined || outcome.is !== "failed" || outcome.kind !== "context") return false;
  if (open?.fact.session.mode === "continue") return true;
  const times = solve.tightened ?? 0;
  if (times >= MAX_TIGHTENINGS) return false;
  solve.tightened = times + 1;
  return true;
}

export function recordProposal(state: RunState, fact: FactOf<"proposal-made">): void {
  const attempt = attemptFor(solveOf(state), fact);
  attempt.epoch = fact.epoch;
  attempt.does = fact.do;
  attempt.note = fact.note;
  attempt.problem = fact.problem;
  attempt.answer = fact.answer;
  if (fact.final === true) attempt.final = true;
  attempt.code =
    fact.code === undefined || fact.language === undefined ? undefined : { language: fact.language, kept: fact.code };
}

export function recordExecution(state: RunState, fact: FactOf<"execution-recorded">): void {
  const solve = solveOf(state);
  const attempt = attemptFor(solve, fact);
  const { by, language, code, end, stdout, stderr, files, durationMs, kind, fingerprint, message } = fact;
  attempt.executed = { by, language, code, end, stdout, stderr, files, durationMs, kind, fingerprint, message };
  attempt.executions += 1;
  if (fingerprint === null) return;
  const times = (solve.errors.get(fingerprint) ?? 0) + 1;
  solve.errors.delete(fingerprint);
  solve.errors.set(fingerprint, times);
  const oldest = solve.errors.size > MAX_KEPT_ERRORS ? solve.errors.keys().next().value : undefined;
  if (oldest !== undefined) solve.errors.delete(oldest);
}

/** A step of the same name and words keeps its result: what is finished is not done again. */
export function recordPlan(state: RunState, { revision, by, turn, steps }: FactOf<"plan-made">): void {
  const solve = solveOf(state);
  const before = [...solve.settled, ...(solve.plan?.steps ?? [])].filter(({ is }) => is === "done");
  const planned = steps.map((step): StepState => {
    const known = before.findLast(({ id, title }) => id === step.id && title === step.title);
    return { ...step, is: known === undefined ? "todo" : "done", result: known?.result };
  });
  solve.plan = { revision, by, turn, steps: planned };
  const kept = new Set(planned.filter(({ is }) => is === "done").map(({ id }) => id));
  solve.settled = before.filter(({ id }) => !kept.has(id)).slice(-MAX_KEPT_SETTLED);
}

export function endStep(state: RunState, { step, is, result }: FactOf<"step-end">): void {
  const known = solveOf(state).plan?.steps.find(({ id }) => id === step);
  if (known === undefined) return;
  known.is = is;
  known.result = result;
}
