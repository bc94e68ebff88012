/**
 * The decision that closes an iteration. Pure; the rule that fired and the numbers it saw are in the fact. Order: fatal
 * error, stop now, verified, stop after this iteration, budget, struggle ladder, continue.
 */
import type { Outcome, Verdict } from "../events.ts";
import type { CheckSpec, Rung } from "../spec.ts";
import type { DecisionBody, Now } from "./actions.ts";
import { exhausted } from "./budget.ts";
import { isBlocked, type Lesson } from "./memory.ts";
import { measure, type Signal } from "./progress.ts";
import { verdictOf, type Judgement, type LaneState, type RunState } from "./state.ts";

/** Turn failures that never heal by trying again. */
const FATAL: ReadonlySet<string> = new Set(["login", "model", "billing", "refused"]);

type Draft = Omit<DecisionBody, "type" | "iteration" | "numbers"> & { numbers?: Record<string, number> };

export function decide(state: RunState, lane: LaneState, now: Now): DecisionBody {
  const draft =
    fatal(state, lane) ??
    (state.stop === "now" ? stopped(state) : undefined) ??
    finished(state, lane) ??
    stopped(state) ??
    outOfBudget(state, lane, now) ??
    struggle(state, lane) ??
    goOn(state, lane);
  const failing = lane.track.failingCounts.at(-1);
  return {
    type: "decision-made",
    lane: lane.lane,
    iteration: lane.iteration,
    ...draft,
    numbers: {
      iteration: lane.iteration,
      struggling: lane.track.struggling,
      ...(failing === undefined ? {} : { failingBefore: failing }),
      ...draft.numbers,
    },
  };
}

const ending = (outcome: Outcome, numbers: Record<string, number> = {}): Draft => ({
  rule: outcome.rule,
  next: "end",
  reason: outcome.reason,
  outcome,
  numbers,
});
const end = (is: Outcome["is"], rule: string, reason: string, numbers?: Record<string, number>): Draft =>
  ending({ is, rule, reason }, numbers);

/** Without a reason (of an older journal) it was the branch. */
export const notHandedOver = (kept: string, why: string | undefined): Outcome => ({
  is: "needs-human",
  rule: why === undefined ? "branch-moved" : "hand-over-refused",
  reason: `${why ?? "the branch was moved away from pawl's"}; the work is kept as ${kept}`,
});

export const stopOutcome = (when: "now" | "after"): Outcome => ({
  is: "stopped",
  rule: `directive:stop-${when}`,
  reason: "stopped by directive",
});

export function isFatal(lane: LaneState, maxErrors: number): boolean {
  const outcome = lane.ended?.outcome;
  return (outcome?.is === "failed" && FATAL.has(outcome.kind)) || lane.errorsInRow >= maxErrors;
}

function fatal(state: RunState, lane: LaneState): Draft | undefined {
  if (lane.conflict !== undefined) return ending(notHandedOver(lane.conflict, lane.conflictReason));
  if (lane.change?.refused !== undefined) return end("needs-human", "snapshot-refused", lane.change.refused);
  const outcome = lane.ended?.outcome;
  if (outcome === undefined) return undefined;
  if (outcome.is === "failed" && FATAL.has(outcome.kind))
    return end("failed", `agent:${outcome.kind}`, outcome.message);
  if (lane.errorsInRow >= state.spec.maxErrors) {
    return end(
      "failed",
      "agent:errors",
      `${lane.errorsInRow} turns in a row failed; the last: ${sayOutcome(outcome)}`,
      {
        errors: lane.errorsInRow,
      },
    );
  }
  return undefined;
}

function sayOutcome(outcome: NonNullable<LaneState["ended"]>["outcome"]): string {
  switch (outcome.is) {
    case "failed":
    case "limited":
      return outcome.message;
    case "cut":
      return outcome.reason;
    case "timeout":
      return outcome.which === "idle" ? "no sign of life from the agent" : "the turn took too long";
    case "interrupted":
      return `interrupted by ${outcome.by}`;
    case "done":
      return "done";
  }
}

function stopped(state: RunState): Draft | undefined {
  return state.stop === undefined ? undefined : ending(stopOutcome(state.stop));
}

/** Whether the agent's "done" counts: late enough, and with work behind it. */
function claimStands(state: RunState, lane: LaneState): { stands: boolean; why: string } {
  if (lane.ended?.claim?.is !== "done") return { stands: false, why: "no claim" };
  if (lane.iteration < state.spec.minIterations) {
    return {
      stands: false,
      why: `claimed in iteration ${lane.iteration}, before the minimum of ${state.spec.minIterations}`,
    };
  }
  const changed = lane.change !== undefined && lane.change.tree !== lane.baseTree;
  if (!changed && (state.spent.toolCalls === 0 || lane.iteration < 2)) {
    return { stands: false, why: "claimed without any work: no file is changed and nothing was looked at twice" };
  }
  return { stands: true, why: "claimed" };
}

export interface Judged {
  check: CheckSpec;
  verdict: Verdict | undefined;
}
export function judged(state: RunState, { change }: Pick<LaneState, "change"> | Judgement): Judged[] {
  const tree = change?.judged;
  return state.spec.checks.map((check) => ({
    check,
    verdict: tree === undefined ? undefined : verdictOf(state, tree, check.name),
  }));
}

function finished(state: RunState, lane: LaneState): Draft | undefined {
  const claim = claimStands(state, lane);
  const required = judged(state, lane).filter(({ check }) => check.required);
  if (required.length === 0) {
    return claim.stands ? end("claimed", "claim", "the agent says it is done; no check is required") : undefined;
  }
  if (!claim.stands && state.spec.claim.required) return undefined;
  if (lane.iteration < state.spec.minIterations) return undefined;
  const unsure = required.find(({ verdict }) => verdict?.is === "unverifiable");
  if (
    unsure?.verdict?.is === "unverifiable" &&
    required.every(({ verdict }) => verdict?.is === "pass" || verdict?.is === "unverifiable")
  ) {
    return end("needs-human", "unverifiable", `check ${unsure.check.name} could not judge: ${unsure.verdict.reason}`);
  }
  if (!required.every(({ verdict }) => verdict?.is === "pass")) return undefined;
  const suspicions = required.flatMap(({ verdict }) => (verdict?.is === "pass" ? verdict.evidence.suspicions : []));
  if (suspicions.length > 0)
    return end("needs-human", "suspicions", suspicions.join("; "), { suspicions: suspicions.length });
  const passed = required.map(({ check }) => check.name).join(", ");
  return end("verified", "all-required-pass", `${passed} passed on the delivered tree`, { checks: required.length });
}

function outOfBudget(state: RunState, lane: LaneState, now: Now): Draft | undefined {
  const over = exhausted(state, { iteration: lane.iteration, elapsed: now.elapsed });
  if (over === undefined) return undefined;
  const reason =
    over.which === "usd-unknown"
      ? `the cost of ${over.spent} turns is unknown and no token or time limit is set beside the dollar limit`
      : `limit on ${over.which} reached: ${round(over.spent)} of ${round(over.limit)}`;
  return end("exhausted", `budget:${over.which}`, reason, { spent: over.spent, limit: over.limit });
}

const round = (n: number): number => Math.round(n * 10_000) / 10_000;

function struggle(state: RunState, lane: LaneState): Draft | undefined {
  const change = lane.change;
  if (change === undefined) return undefined;
  const { signals, progress } = measure(lane.track, {
    iteration: lane.iteration,
    snapshot: change.snapshot,
    tree: change.judged,
    changed: change.changed,
    verdicts: judged(state, lane).flatMap(({ verdict }) => (verdict === undefined ? [] : [verdict])),
    text: lane.lastText,
    turnMs: lane.ended?.durationMs ?? 0,
    repeatedCalls: lane.ended?.repeatedCalls ?? 0,
    shortTurnMs: state.spec.struggle.shortTurnMs,
  });
  // What got better is kept, whatever it looks like.
  const blocked = progress ? undefined : repeatsBlocked(state, lane);
  const { patience } = state.spec.struggle;
  // Going to and fro is seen in one look; everything else has to last.
  const lasting = signals.filter((s) => s === "oscillation" || lane.track.signals[s] + 1 >= patience);
  const rung = lasting.length === 0 ? undefined : climb(state, lane, lasting);
  if (blocked === undefined || rung?.next === "end" || rung?.next === "restore") return rung;
  const putBack = `this approach (${blocked.id}: ${blocked.summary}) has failed ${blocked.failures} times; its change was put back. Take a different one.`;
  return {
    rule: "approach-blocked",
    next: "restore",
    ...rung,
    restoreTo: change.before.snapshot,
    reason: rung === undefined ? putBack : `${rung.reason}\n\n${putBack}`,
    numbers: { ...rung?.numbers, failures: blocked.failures },
  };
}

/** The lesson of this iteration, where it is one that was forbidden. */
function repeatsBlocked(state: RunState, lane: LaneState): Lesson | undefined {
  const lesson = [...state.memory.lessons.values()].findLast((l) => l.last === lane.iteration);
  return lane.remembered && lesson !== undefined && isBlocked(state.memory, lesson.id) ? lesson : undefined;
}

/** One rung per struggling iteration; rungs that cannot be taken here are passed over. */
function climb(state: RunState, lane: LaneState, signals: Signal[]): Draft {
  const { ladder } = state.spec.struggle;
  const why = `struggling: ${signals.join(", ")} for ${lane.track.struggling + 1} iterations`;
  const numbers = { rung: lane.track.rung };
  const rung = ladder.slice(lane.track.rung).find((candidate) => isPossible(candidate, state, lane)) ?? "stop";
  switch (rung) {
    case "hint":
      return {
        rule: "struggle:hint",
        next: "continue",
        reason: `${why}. Stop, look at what has been tried, and take a different approach.`,
        numbers,
      };
    case "fresh-session":
      return {
        rule: "struggle:fresh-session",
        next: "fresh-session",
        reason: `${why}; starting with a fresh mind`,
        numbers,
      };
    case "other-agent":
      return {
        rule: "struggle:other-agent",
        next: "other-agent",
        reason: `${why}; going on with ${state.spec.agent.fallbackModel}`,
        numbers,
      };
    case "restore-best":
      return {
        rule: "struggle:restore-best",
        next: "restore",
        restoreTo: lane.track.best?.snapshot ?? 0,
        reason: `${why}; the files were put back to the best state so far (iteration ${lane.track.best?.iteration})`,
        numbers,
      };
    case "ask":
      return end("needs-human", "struggle:ask", why, numbers);
    case "stop":
      return end("stuck", "struggle:stop", why, numbers);
  }
}

function isPossible(rung: Rung, state: RunState, lane: LaneState): boolean {
  const { fallbackModel } = state.spec.agent;
  if (rung === "fresh-session") return state.spec.agent.context !== "fresh";
  if (rung === "other-agent") return fallbackModel !== undefined && state.model !== fallbackModel;
  if (rung === "restore-best") return lane.track.best !== undefined && lane.track.best.tree !== lane.change?.judged;
  return true;
}

function goOn(state: RunState, lane: LaneState): Draft {
  const required = judged(state, lane).filter(({ check }) => check.required);
  const red = required.filter(({ verdict }) => verdict?.is !== "pass");
  if (lane.ended?.claim?.is === "done") {
    if (red.length > 0) {
      const names = red.map(({ check, verdict }) => `${check.name}: ${verdict?.is ?? "not run"}`).join(", ");
      return { rule: "claim-refused", next: "continue", reason: `the claim is refused: ${names}` };
    }
    return { rule: "claim-early", next: "continue", reason: `the claim is refused: ${claimStands(state, lane).why}` };
  }
  if (required.length > 0 && red.length === 0)
    return { rule: "green-unclaimed", next: "continue", reason: "all checks pass; the goal is not claimed yet" };
  return {
    rule: "continue",
    next: "continue",
    reason: red.length > 0 ? `${red.length} of ${required.length} checks are red` : "not claimed yet",
  };
}
