/**
 * Judging a change: the baseline beside the first turn, then the checks, cheap ones first and those of models only where
 * they can still matter, and at the end the proof. Given the facts it says what is to be done next. Pure.
 */
import type { CheckSpec } from "../spec.ts";
import type { Action, Body, Now } from "./actions.ts";
import { backoffMs } from "./backoff.ts";
import { exhausted } from "./budget.ts";
import { accepted, isJudge } from "./combine.ts";
import { votesOf } from "./completion.ts";
import { decide, isFatal, judged } from "./decide.ts";
import { askFirst } from "./hold.ts";
import { blamed } from "./pre-existing.ts";
import { dueProof } from "./proof.ts";
import { dueExecution, hasNothingToJudge } from "./solve-execution.ts";
import { dueReview, reviewIsHopeless } from "./review.ts";
import { verdictOf, type LaneState, type Recorded, type RunState } from "./state.ts";

const MAX_UNVERIFIABLE_TRIES = 3;

type Kind = CheckSpec["kind"];
/** Without a process of its own, with one, with a model. */
const COST: Record<Kind, number> = { requirement: 0, guard: 0, command: 1, custom: 1, metric: 1, judge: 2 };
/** A guard looks at the change, of which there is none yet; what a model thinks of the base is not worth its price. */
const WITH_BASELINE: ReadonlySet<Kind> = new Set(["command", "custom", "metric", "requirement"]);
/** What new tests can lie to: a metric may be of just these tests. */
const IN_TWO_STAGES: ReadonlySet<Kind> = new Set(["command"]);

const inOrder = (checks: readonly CheckSpec[]): CheckSpec[] =>
  checks.toSorted((one, other) => COST[one.kind] - COST[other.kind]);

/**
 * The base is judged beside the first turn, and the first judgement waits for it. A run that ended before (a login that
 * failed, a stop) makes up for it when it is driven on: without, nobody could tell which tests there were.
 */
export function baselineActions(state: RunState): Action[] {
  // Before the first answer there is nothing to judge.
  if (state.stop !== undefined || state.spec.recipe === "solve") return [];
  return [...state.lanes.values()].flatMap((lane) => {
    const { head, decision, baseTree: tree } = lane;
    if (head === undefined || head.refused !== undefined || decision?.next === "end") return [];
    // One at a time: they share the verify tree.
    const due = inOrder(state.spec.checks).find(
      ({ kind, name }) => WITH_BASELINE.has(kind) && !state.baselines.has(name),
    );
    if (due === undefined) return [];
    const key = `baseline/${lane.lane}/${due.name}`;
    return [{ do: "baseline", key, lane: lane.lane, why: "to tell what was red before", check: due.name, tree }];
  });
}

export function judge(state: RunState, lane: LaneState, now: Now): Body[] {
  const { change, iteration } = lane;
  if (change === undefined) {
    const code = dueExecution(state, lane);
    if (code !== undefined) return [code];
    return [
      {
        do: "snapshot",
        key: `snapshot/${lane.lane}/${iteration}`,
        why: "turn ended",
        by: "agent",
        iteration,
        n: state.snapshots,
        parent: lane.head?.snapshot ?? 0,
      },
    ];
  }
  if (!isPastJudging(state, lane, change)) {
    const review = dueReview(state, lane, now);
    if (review !== undefined) return review;
    if (baselineActions(state).length > 0) return [];
    const due = dueChecks(state, lane, now, change);
    if (due.length > 0) return due;
    const lesson = toRemember(state, lane, change);
    if (lesson !== undefined) return [lesson];
  }
  const decision = decide(state, lane, now);
  const proof = decision.outcome?.is === "verified" ? dueProof(state, lane, change) : [];
  if (proof.length > 0) return proof;
  if (decision.next === "ask") return askFirst(state, lane, now, decision);
  return [{ do: "decide", key: `decide/${lane.lane}/${iteration}`, why: "iteration complete", decision }];
}

/** The run ends, or waits for a person, whatever the checks would say. */
function isPastJudging(state: RunState, lane: LaneState, change: Recorded): boolean {
  return (
    isFatal(state, lane) ||
    change.refused !== undefined ||
    reviewIsHopeless(lane) !== undefined ||
    state.stop === "now" ||
    lane.ended?.claim?.is === "abort" ||
    state.hooks.trouble !== undefined ||
    hasNothingToJudge(state, lane)
  );
}

/** Those that run commands one at a time, for each must find the verify tree clean; then all that ask a model at once. */
function dueChecks(state: RunState, lane: LaneState, now: Now, change: Recorded): Body[] {
  const about = { now, change };
  const { checks } = state.spec;
  const due = inOrder(checks).filter((check) => isDue(state, lane, check, change));
  const first = due.find((check) => !isJudge(check));
  if (first !== undefined) return [judgement(state, lane, first, about)];
  const facts = votesOf(state, change).filter(({ check }) => !isJudge(check));
  const isRed = facts.length > 0 && !accepted(facts, state.spec.verdicts, ["pass", "left"]);
  const pointless = isRed ? "a check that needs no model is red" : unpaid(state, now, change);
  if (pointless !== undefined) return due.flatMap((check) => skip(state, lane, check, { change, why: pointless }));
  const steps = due.map((check) => judgement(state, lane, check, about));
  const ready = steps.filter((step) => step.do === "check");
  return ready.length > 0 ? ready : steps.slice(0, 1);
}

/** Models that were asked together are heard together, though the first of them spent what was left. */
function unpaid(state: RunState, { elapsed }: Now, { judged: tree }: Recorded): string | undefined {
  const isAsked = state.spec.checks.some((check) => {
    const verdict = isJudge(check) ? verdictOf(state, tree, check.name) : undefined;
    return verdict !== undefined && verdict.is !== "skipped";
  });
  return isAsked || exhausted(state, { iteration: 0, elapsed }) === undefined ? undefined : "the budget is spent";
}

/** Only what says pass or fail is final for its tree; `flaky` is asked again when an iteration comes back to it. */
function isDue(state: RunState, { checksTried }: LaneState, { name }: CheckSpec, { judged: tree }: Recorded): boolean {
  const verdict = verdictOf(state, tree, name);
  const { times } = checksTried.get(name) ?? { times: 0 };
  switch (verdict?.is) {
    case undefined:
    case "skipped":
      return true;
    case "unverifiable":
      return times < MAX_UNVERIFIABLE_TRIES;
    case "flaky":
      return times === 0;
    case "pass":
    case "fail":
      return false;
  }
}

/** A model's call is not paid for where it cannot change anything, or nothing is left to pay it with; said once. */
function skip(
  state: RunState,
  { iteration }: LaneState,
  { name }: CheckSpec,
  { change: { judged: tree }, why }: { change: Recorded; why: string },
): Body[] {
  if (verdictOf(state, tree, name) !== undefined) return [];
  return [{ do: "skip", key: `skip/${tree}/${name}`, why, check: name, tree, iteration }];
}

/** The check, or the wait before a check that could not judge tries again. */
function judgement(
  state: RunState,
  { lane, iteration, checksTried }: LaneState,
  { name: check, kind }: CheckSpec,
  { now, change: { judged: tree, baseTests } }: { now: Now; change: Recorded },
): Body {
  const { times, seq } = checksTried.get(check) ?? { times: 0, seq: 0 };
  const verdict = verdictOf(state, tree, check);
  if (times > 0 && verdict?.is === "unverifiable" && state.lastWait < seq) {
    const waitMs = Math.max(verdict.retryAfterMs ?? 0, backoffMs(state, times));
    const key = `wait/${lane}/${iteration}/${check}/${times}`;
    const reason = `check ${check} could not judge: ${verdict.reason}`;
    return { do: "wait", key, why: "unverifiable", reason, until: null, untilElapsed: now.elapsed + waitMs };
  }
  const isKnown = baseTests === undefined || verdictOf(state, baseTests, check)?.is === "pass";
  const stages = IN_TWO_STAGES.has(kind) && !isKnown ? baseTests : undefined;
  const key = `check/${tree}/${check}/${times}`;
  return { do: "check", key, why: "tree not judged yet", check, tree, baseTests: stages, iteration };
}

/** Where nothing was changed nothing was tried. */
function toRemember(state: RunState, lane: LaneState, change: Recorded): Body | undefined {
  // An iteration may go on with what the one before began.
  const from = lane.track.mark ?? lane.baseTree;
  if (!change.changed || change.judged === from || lane.remembered) return undefined;
  const verdicts = judged(state, lane).flatMap(({ check, verdict }) => {
    const blame = check.required && verdict !== undefined ? blamed(state, check.name, verdict) : undefined;
    return blame?.is === "fail" ? [blame] : [];
  });
  if (verdicts.length === 0) return undefined;
  return {
    do: "remember",
    key: `remember/${lane.lane}/${lane.iteration}`,
    why: "checks failed",
    iteration: lane.iteration,
    from,
    to: change.judged,
    verdicts,
  };
}
