/**
 * The rules by which a run that solves ends or goes on, in the places of those of other runs (`decide.ts`). A check that
 * passes proves the answer; without a check the best is a claim: the model's word, or outputs that stay the same. Pure.
 */
import { accepted } from "./combine.ts";
import { green, GREEN, NOT_REFUTED, votesOf } from "./completion.ts";
import { end, settle, type Draft } from "./draft.ts";
import { oscillates, presentCandidate, sameInRow, settled } from "./solve-answer.ts";
import { attemptOf, endsWithPlan, solveOf, type Attempt } from "./solve-state.ts";
import type { LaneState, RunState } from "./state.ts";
import { counted } from "../plural.ts";

export const DEFAULT_REPEATS = 2;
/** A model that is told what failed may need more than one look at it. */
const PATIENCES = 2;
export const PLAN_ONLY = "plan-only";

export function solved(state: RunState, lane: LaneState): Draft | undefined {
  const attempt = attemptOf(state, lane);
  return notRunnable(attempt) ?? planned(state, attempt) ?? answered(state, lane);
}

/** Not the code's fault, and no other code would fare better. */
function notRunnable(attempt: Attempt | undefined): Draft | undefined {
  const last = attempt?.executed?.end;
  if (last?.is !== "unavailable") return undefined;
  return end("failed", "executor:unavailable", `code cannot be run: ${last.reason}`);
}

function planned(state: RunState, attempt: Attempt | undefined): Draft | undefined {
  const { plan } = solveOf(state);
  if (!endsWithPlan(state) || plan === undefined || attempt?.does !== "plan") return undefined;
  return end("claimed", PLAN_ONLY, `a plan of ${counted(plan.steps.length, "step")} was asked for, and is there`);
}

function answered(state: RunState, lane: LaneState): Draft | undefined {
  const candidate = presentCandidate(state, lane);
  if (candidate === undefined) return undefined;
  const votes = votesOf(state, lane.change);
  if (votes.length > 0) {
    if (accepted(votes, state.spec.verdicts, GREEN)) return green(state, votes);
    if (!accepted(votes, state.spec.verdicts, NOT_REFUTED)) return undefined;
    const unsure = votes.find(({ stand }) => stand === "unsure");
    const why = unsure?.verdict?.is === "unverifiable" ? unsure.verdict.reason : "";
    return settle(state, lane, { rule: "unverifiable", reason: `check ${unsure?.check.name} could not judge: ${why}` });
  }
  if (candidate.from === "answer") return end("claimed", "done", "the model gives its answer; no check judges it");
  const same = settled(state, lane, { repeats: state.spec.solve?.repeats ?? DEFAULT_REPEATS });
  if (same === undefined) return undefined;
  const what = same.rule === "repeated-output" ? "printed exactly the same" : "ended with the same last line";
  return end("claimed", same.rule, `${same.times} programs in a row ended well and ${what}; no check judges it`, {
    times: same.times,
  });
}

export function astray(state: RunState, lane: LaneState): Draft | undefined {
  if (oscillates(state, lane))
    return end("stuck", "oscillation", "the last four attempts came to two results in turn: A, B, A, B");
  const times = sameInRow(state, lane);
  const { patience } = state.spec.struggle;
  if (times < PATIENCES * patience) return undefined;
  return end("stuck", "same-result", `the last ${times} attempts came to the same, and it is no answer`, { times });
}

export function tryOn(state: RunState, lane: LaneState): Draft {
  const attempt = attemptOf(state, lane);
  const draft = (rule: string, reason: string): Draft => ({ rule, next: "continue", reason });
  if (attempt === undefined) return draft("no-proposal", "the turn came to no proposal");
  if (attempt.problem !== undefined) return draft("no-proposal", `the proposal cannot be used: ${attempt.problem}`);
  const { executed, does } = attempt;
  if (executed !== undefined && executed.kind !== "ok")
    return draft("code-failed", `the code failed: ${executed.kind}`);
  if (presentCandidate(state, lane) !== undefined) return refused(state, lane, draft);
  if (does === "plan") return draft("plan-carried-out", sayPlan(state));
  if (executed?.stdout.isCut === true)
    return draft("output-too-long", `the code printed ${executed.stdout.bytes} bytes: too long for an answer`);
  if (executed !== undefined) return draft("no-output", "the code ended well and printed nothing");
  return draft("continue", "there is no answer yet");
}

function refused(state: RunState, lane: LaneState, draft: (rule: string, reason: string) => Draft): Draft {
  const red = votesOf(state, lane.change).filter(({ stand }) => !GREEN.includes(stand));
  const names = red.map(({ check, verdict }) => `${check.name}: ${verdict?.is ?? "not run"}`);
  if (names.length > 0) return draft("answer-refused", `the answer is refused: ${names.join(", ")}`);
  return draft("output-unconfirmed", "the code ended well; the model has not said that it is the answer");
}

function sayPlan(state: RunState): string {
  const steps = solveOf(state).plan?.steps ?? [];
  const left = steps.filter(({ is }) => is !== "done");
  const open = left.map(({ id, is }) => `${id} ${is}`).join(", ");
  return `${steps.length - left.length} of ${counted(steps.length, "step")} of the plan done${open === "" ? "" : `; ${open}`}`;
}
