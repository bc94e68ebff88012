/**
 * The decision that closes an iteration. Pure; the rule that fired and the numbers it saw are in the fact. Order: fatal
 * error, too much for a snapshot, stop now, given up, verified, stop after this iteration, budget, claim to confirm, struggle ladder, continue.
 */
import { entryName } from "../agent-entry.ts";
import type { Outcome, TurnOutcome, Verdict } from "../events.ts";
import type { CheckSpec, Rung } from "../spec.ts";
import type { DecisionBody, Now } from "./actions.ts";
import { exhausted } from "./budget.ts";
import { endedBy, errorsPause, errorsPoint, troubleOutcome } from "./hold.ts";
import { CLAIM_UNCONFIRMED, claimWords, misplacedWords, PROMISE_MISPLACED } from "./claim.ts";
import { CLAIM_REFUSED, claimStands, completion, orForPerson, refusedFor, settles, votesOf } from "./completion.ts";
import { end, ending, settle, stopOutcome, type Draft } from "./draft.ts";
import { measured } from "./measured.ts";
import { isBlocked, type Lesson } from "./memory.ts";
import { oversize } from "./oversize.ts";
import { measure, type Signal } from "./progress.ts";
import { questionAbout } from "./questions.ts";
import { reviewIsHopeless, reviewStand } from "./review.ts";
import { astray, solved, tryOn } from "./solve-decide.ts";
import { modelOf, noneLeft, ownSeat } from "./seats.ts";
import { failedTurns, neverHeals, sayOutcome } from "./turn-outcome.ts";
import { verdictOf, type Judgement, type LaneState, type RunState } from "./state.ts";
import { hasPendingEdit } from "./task-directives.ts";
import { refusedTask, sayTasks, taskStep } from "./task-decisions.ts";
import { openTasks } from "./tasks.ts";
import { counted } from "../plural.ts";

/** Rules that say nothing of their own. */
const CONTINUE = "continue";
const GREEN_UNCLAIMED = "green-unclaimed";

export function decide(state: RunState, lane: LaneState, now: Now): DecisionBody {
  const rules = RULES[state.spec.recipe];
  const draft =
    fatal(state, lane) ??
    oversize(state, lane, now) ??
    (state.stop === "now" ? stopped(state) : undefined) ??
    givenUp(lane) ??
    rules.finished(state, lane) ??
    stopped(state) ??
    outOfBudget(state, lane, now) ??
    rules.unconfirmed(state, lane) ??
    orForPerson(state, lane, rules.struggle(state, lane)) ??
    rules.goOn(state, lane);
  const { rule, reason } = withMisplaced(lane, draft);
  const failing = lane.track.failingCounts.at(-1);
  return {
    type: "decision-made",
    lane: lane.lane,
    iteration: lane.iteration,
    ...draft,
    rule,
    reason,
    numbers: {
      iteration: lane.iteration,
      struggling: lane.track.struggling,
      ...(failing === undefined ? {} : { failingBefore: failing }),
      ...draft.numbers,
    },
  };
}

/** Said first, whatever else is decided: who takes its word for a claim would say it again and again. */
function withMisplaced({ ended }: LaneState, { rule, reason, outcome }: Draft): Pick<Draft, "rule" | "reason"> {
  if (ended?.misplaced === undefined || outcome !== undefined) return { rule, reason };
  const isQuiet = rule === CONTINUE || rule === GREEN_UNCLAIMED;
  return { rule: isQuiet ? PROMISE_MISPLACED : rule, reason: `${misplacedWords(ended.misplaced)}. ${reason}` };
}

type Rule = (state: RunState, lane: LaneState) => Draft | undefined;
interface Rules extends Record<"finished" | "unconfirmed" | "struggle", Rule> {
  goOn: (state: RunState, lane: LaneState) => Draft;
}

/** What differs between recipes. */
const RULES: Readonly<Record<RunState["spec"]["recipe"], Rules>> = {
  run: { finished, unconfirmed, struggle, goOn },
  solve: { finished: solved, unconfirmed: () => undefined, struggle: astray, goOn: tryOn },
};

/** Without a reason (of an older journal) it was the branch. */
export const notHandedOver = (kept: string, why: string | undefined): Outcome => ({
  is: "needs-human",
  rule: why === undefined ? "branch-moved" : "hand-over-refused",
  reason: `${why ?? "the branch was moved away from pawl's"}; the work is kept as ${kept}`,
});

/** Nobody is left who could go on with the iteration. */
export const isFatal = (state: RunState, lane: LaneState): boolean => lane.ended !== undefined && noneLeft(state, lane);

function fatal(state: RunState, lane: LaneState): Draft | undefined {
  if (lane.conflict !== undefined) return ending(notHandedOver(lane.conflict, lane.conflictReason));
  const blocked = troubleOutcome(state);
  if (blocked !== undefined) return ending(blocked);
  const outcome = lane.ended?.outcome;
  const reviewer = reviewIsHopeless(lane);
  if (reviewer?.is === "failed")
    return end("failed", `review:${reviewer.kind}`, `the reviewer cannot work: ${reviewer.message}`);
  if (outcome === undefined || !isFatal(state, lane)) return undefined;
  if (outcome.is === "failed" && neverHeals(outcome)) return end("failed", `agent:${outcome.kind}`, outcome.message);
  if (errorsPause(state, lane)) {
    const reason = errorWords(lane.errorsInRow, outcome);
    const ended = endedBy(questionAbout(state, errorsPoint(lane)), { rule: "agent:errors", reason });
    return state.stop !== undefined || ended === undefined ? undefined : ending(ended, { errors: lane.errorsInRow });
  }
  return end("failed", "agent:errors", errorWords(lane.errorsInRow, outcome), { errors: lane.errorsInRow });
}

const errorWords = (inRow: number, last: TurnOutcome): string =>
  `${failedTurns(inRow)}${inRow === 1 ? "" : "; the last"}: ${sayOutcome(last)}`;

function stopped(state: RunState): Draft | undefined {
  return state.stop === undefined ? undefined : ending(stopOutcome(state.stop));
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

/** Nothing has to be proven to give up; the work so far is handed over as usual. */
function givenUp({ ended }: LaneState): Draft | undefined {
  if (ended?.claim?.is !== "abort") return undefined;
  const why = claimWords(ended.claim);
  return end("failed", "claim:abort", `the agent gives up${why === "" ? "" : `: ${why}`}`);
}

function finished(state: RunState, lane: LaneState): Draft | undefined {
  const done = completion(state, lane);
  const needsPerson = done?.outcome?.is === "needs-human";
  return needsPerson || lane.claimsInRow + 1 >= state.spec.claim.confirmations ? done : undefined;
}

/** Nothing is missing but another claim of the same. */
function unconfirmed(state: RunState, lane: LaneState): Draft | undefined {
  if (completion(state, lane) === undefined) return undefined;
  const { confirmations } = state.spec.claim;
  const confirmed = lane.claimsInRow + 1;
  return {
    rule: CLAIM_UNCONFIRMED,
    next: "continue",
    reason: `The claim stands so far: confirmation ${confirmed} of ${confirmations}. Now look again, as if somebody else had done it: read the goal word by word, and look for what is missing, untested or wrong. Mend what you find. If nothing is left to do, claim again: that is confirmation ${confirmed + 1} of ${confirmations}.`,
    numbers: { confirmed, confirmations },
  };
}

/** A limit leaves nothing for another turn. */
export function outOfBudget(state: RunState, lane: LaneState, now: Pick<Now, "elapsed">): Draft | undefined {
  const over = exhausted(state, { iteration: lane.iteration, elapsed: now.elapsed });
  if (over === undefined) return undefined;
  const reason =
    over.which === "usd-unknown"
      ? `the cost of ${counted(over.spent, "turn")} is unknown and no token or time limit is set beside the dollar limit`
      : `limit on ${over.which} reached: ${amount(over.spent, over.which)} of ${amount(over.limit, over.which)}`;
  const draft = end("exhausted", `budget:${over.which}`, reason, { spent: over.spent, limit: over.limit });
  return orForPerson(state, lane, draft);
}

const round = (n: number): number => Math.round(n * 10_000) / 10_000;

const amount = (n: number, which: string): string => (which === "time" ? `${round(n / 1_000)} s` : String(round(n)));

function struggle(state: RunState, lane: LaneState): Draft | undefined {
  const { change } = lane;
  const seen = measured(state, lane);
  if (change === undefined || seen === undefined || settles(state, lane)) return undefined;
  const { signals, progress } = measure(lane.track, seen);
  // What got better is kept, whatever it looks like.
  const blocked = progress ? undefined : repeatsBlocked(state, lane);
  const { patience } = state.spec.struggle;
  // Going to and fro is seen in one look; everything else has to last.
  const lasting = signals.filter((s) => s === "oscillation" || lane.track.signals[s] + 1 >= patience);
  const rung = lasting.length === 0 ? undefined : climb(state, lane, lasting);
  if (blocked === undefined || rung?.next === "end" || rung?.next === "ask" || rung?.next === "restore") return rung;
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
  const why = `struggling: ${signals.join(", ")} for ${counted(lane.track.struggling + 1, "iteration")}`;
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
        reason: `${why}; going on with ${strongerThan(state, lane)}`,
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
      return settle(state, lane, { rule: "struggle:ask", reason: why, numbers });
    case "stop":
      return end("stuck", "struggle:stop", why, numbers);
  }
}

function isPossible(rung: Rung, state: RunState, lane: LaneState): boolean {
  if (rung === "fresh-session") return state.spec.agent.context !== "fresh";
  if (rung === "other-agent") return strongerThan(state, lane) !== undefined;
  if (rung === "restore-best") return lane.track.best !== undefined && lane.track.best.tree !== lane.change?.judged;
  return true;
}

/** Who goes on where those at work are stuck, in words. */
function strongerThan(state: RunState, { escalated }: LaneState): string | undefined {
  const { agent, mix } = state.spec;
  const next = mix?.escalate[escalated];
  if (next !== undefined) return entryName(next);
  const { fallbackModel } = agent;
  return modelOf(state, ownSeat(state.spec)) === fallbackModel ? undefined : fallbackModel;
}

/** What a reviewer would not let pass is sent back with its words. */
function notReviewed(state: RunState, lane: LaneState): Draft | undefined {
  const stand = reviewStand(state, lane);
  switch (stand.is) {
    case "none":
    case "passed":
      return undefined;
    case "rejected":
      return { rule: "review-rejected", next: "continue", reason: `the review rejects the change: ${stand.why}` };
    case "failed":
      return { rule: "review-failed", next: "continue", reason: `the change was not reviewed: ${stand.why}` };
    case "due":
      return { rule: "review-failed", next: "continue", reason: "the change was not reviewed" };
  }
}

function goOn(state: RunState, lane: LaneState): Draft {
  const votes = votesOf(state, lane.change);
  const red = votes.filter(({ stand }) => stand !== "pass" && stand !== "left");
  const reds = red.map(({ check }) => `${check.name}: ${verdictIn(state, lane, check.name)?.is ?? "not run"}`);
  const unreviewed = notReviewed(state, lane);
  if (unreviewed !== undefined) return { ...unreviewed, reason: [unreviewed.reason, ...reds].join("; ") };
  if (lane.ended?.claim?.is === "done") {
    const open = openTasks(state);
    const excusable = open.length === 0 ? refusedFor(state, lane) : undefined;
    if (excusable !== undefined) return { ...excusable, next: "continue" };
    const missing = [...reds, ...(open.length === 0 ? [] : [sayTasks(open)])];
    if (missing.length > 0)
      return { rule: CLAIM_REFUSED, next: "continue", reason: `the claim is refused: ${missing.join(", ")}` };
    const { stands, why } = claimStands(state, lane);
    if (stands && hasPendingEdit(state))
      return { rule: "tasks-changed", next: "continue", reason: "a person has changed the tasks meanwhile" };
    return { rule: "claim-early", next: "continue", reason: `the claim is refused: ${why}` };
  }
  const step = refusedTask(state, lane) ?? taskStep(state);
  if (step !== undefined) return { ...step, next: "continue", reason: [step.reason, ...reds].join("; ") };
  if (votes.length > 0 && red.length === 0)
    return {
      rule: GREEN_UNCLAIMED,
      next: "continue",
      reason: "every required check passes; the agent does not claim",
    };
  return {
    rule: CONTINUE,
    next: "continue",
    reason:
      red.length > 0
        ? `${red.length} of ${counted(votes.length, "check")} ${red.length === 1 ? "is" : "are"} red`
        : "not claimed yet",
  };
}

const verdictIn = (state: RunState, { change }: LaneState, check: string): Verdict | undefined =>
  change === undefined ? undefined : verdictOf(state, change.judged, check);
