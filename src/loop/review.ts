/**
 * The review of a change: a second agent, in a session that knows nothing of the work, looks at it before it is judged and
 * may mend it. Given the facts it says what is to be done next, and how the review stands. Pure.
 */
import type { TurnOutcome } from "../events.ts";
import type { Body, Now, SessionPlan } from "./actions.ts";
import { exhausted } from "./budget.ts";
import { claimWords, misplacedWords } from "./claim.ts";
import { chosen, dueBench, seatOf, type Seat } from "./seats.ts";
import type { LaneState, ReviewState, RunState } from "./state.ts";
import { neverHeals, sayOutcome } from "./turn-outcome.ts";

type Stand =
  | { is: "none" }
  /** Not done, or not to its end. */
  | { is: "due" }
  | { is: "passed" }
  | { is: "rejected"; why: string }
  | { is: "failed"; why: string };

type Reviewed = Pick<LaneState, "review" | "change"> & Partial<Pick<LaneState, "lastReview">>;

export function reviewStand({ spec }: RunState, { review, change, lastReview }: Reviewed): Stand {
  if (spec.review === undefined || change === undefined) return { is: "none" };
  if (review !== undefined) return standOf(review);
  if (change.changed) return { is: "due" };
  // What is rejected and not changed since is still rejected.
  const before = lastReview === undefined ? undefined : standOf(lastReview);
  return before?.is === "rejected" ? before : { is: "none" };
}

function standOf({ ended, mended }: ReviewState): Stand {
  if (ended === undefined || mended === undefined) return { is: "due" };
  if (ended.outcome.is !== "done") return { is: "failed", why: sayOutcome(ended.outcome) };
  if (ended.misplaced !== undefined)
    return { is: "failed", why: `its word is not clear: ${misplacedWords(ended.misplaced)}` };
  return ended.claim?.is === "abort" ? { is: "rejected", why: claimWords(ended.claim) } : { is: "passed" };
}

/** Its agent cannot work at all: going on would be without what was asked for. */
export function reviewIsHopeless({ review }: Pick<LaneState, "review">): TurnOutcome | undefined {
  const outcome = review?.ended?.outcome;
  return neverHeals(outcome) ? outcome : undefined;
}

/** undefined: nothing more is to be done about it. */
export function dueReview(state: RunState, lane: LaneState, now: Now): Body[] | undefined {
  const { review: spec } = state.spec;
  const { review, iteration } = lane;
  if (spec === undefined || reviewStand(state, lane).is !== "due" || state.stop === "now") return undefined;
  const seat = seatOf(spec.agent);
  const ended = review?.ended;
  if (ended !== undefined) {
    if (!isUnfinished(state, { outcome: ended.outcome, seat })) return [mended(state, lane)];
    const bench = dueBench(state, { ended, seat: seat.name, alone: true, now });
    if (bench !== undefined) return [bench];
  }
  if (exhausted(state, { iteration: 0, elapsed: now.elapsed }) !== undefined) return undefined;
  const free = chosen(state, lane, { seats: [seat], now });
  if ("do" in free) return [free];
  const attempt = (review?.attempts ?? 0) + 1;
  const key = reviewKey(lane.lane, { iteration, attempt });
  return [
    {
      do: "turn",
      key,
      why: "the change is looked at before it is judged",
      role: "review",
      iteration,
      attempt,
      seat,
      session: planned(lane),
    },
  ];
}

export const reviewKey = (lane: string, { iteration, attempt }: { iteration: number; attempt: number }): string =>
  `review/${lane}/${iteration}.${attempt}`;

/** A review that was cut off is gone on with: what it read is paid for. */
function planned({ review }: LaneState): SessionPlan {
  const isKnown = review?.ended !== undefined && review.ended.usage.requests > 0;
  return isKnown ? { mode: "continue", ref: review.ref } : { mode: "new" };
}

function isUnfinished(state: RunState, { outcome, seat }: { outcome: TurnOutcome; seat: Seat }): boolean {
  if (outcome.is === "limited") return true;
  if (outcome.is === "interrupted") return outcome.by.startsWith("driver:");
  const errors = state.seats.get(seat.name)?.errors ?? 0;
  return outcome.is !== "done" && !neverHeals(outcome) && errors < state.spec.maxErrors;
}

/** Whatever came of it, what the reviewer did to the files is part of the change. */
const mended = (state: RunState, { lane, iteration, head }: LaneState): Body => ({
  do: "snapshot",
  key: `snapshot/${lane}/${iteration}/review`,
  why: "review ended",
  by: "agent",
  iteration,
  n: state.snapshots,
  parent: head?.snapshot ?? 0,
});
