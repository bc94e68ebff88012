/**
 * The life of one lane, iteration after iteration: prompt, turn, change, checks, decision, hand-over. Given the facts it
 * says what should be in flight next; recipes build on it.
 */
import type { FactOf, Outcome, TurnOutcome } from "../events.ts";
import type { Action, Body, Now } from "./actions.ts";
import { bestAtEnd, returnedToWork } from "./at-end.ts";
import { backoffMs } from "./backoff.ts";
import { exhausted, throttledUntil } from "./budget.ts";
import { commitMessage } from "./commit-message.ts";
import { isFatal, notHandedOver, outOfBudget } from "./decide.ts";
import { stopOutcome } from "./draft.ts";
import { held, troubleOutcome } from "./hold.ts";
import { dueHook, iterationStart, runEnd } from "./hooks.ts";
import { judge } from "./judge.ts";
import { oversizeBetween } from "./oversize.ts";
import { reviewKey } from "./review.ts";
import { candidates, chosen, dueBench, type Seat } from "./seats.ts";
import { planSession } from "./sessions.ts";
import type { LaneState, RunState } from "./state.ts";
import { counted } from "../plural.ts";

/** A workspace left alone this long may have been edited by its user: it is looked at before the next turn. */
const USER_EDIT_GAP_MS = 1_000;
/** How the key of a wait for `callsPerHour` begins. */
export const THROTTLE = "throttle/";

export function iterate(state: RunState, lane: LaneState, now: Now): Action[] {
  return steps(state, lane, now).map((action) => ({ ...action, lane: lane.lane }));
}

/** No turn has left anything that is not judged and handed over: what the workspace is now, it was made by people. */
export function isBetween({ lanes }: RunState): boolean {
  return [...lanes.values()].every(
    ({ open, iteration, decision, handOver, restoreTo }) =>
      open === undefined &&
      (iteration === 0 || decision !== undefined) &&
      handOver === undefined &&
      restoreTo === undefined,
  );
}

function steps(state: RunState, lane: LaneState, now: Now): Body[] {
  const { open } = lane;
  const handOver = [acceptance(state, lane) ?? []].flat();
  if (open !== undefined) {
    return haltReason(state, lane, now) === undefined ? [underWay(lane, open.fact), ...handOver] : handOver;
  }
  const holding = held(state, lane, now);
  if (holding !== undefined) return [...handOver, ...holding];
  if (lane.iteration === 0 || lane.decision !== undefined) return betweenIterations(state, lane, now);
  const bench = benchFor(state, lane, now);
  if (bench !== undefined) return [bench, ...handOver];
  // The hand-over of the last iteration may overlap the turn, not the judgement of the next change.
  if (handOver.length > 0) return handOver;
  return needsAnotherTurn(state, lane, now) ? again(state, lane, now) : judge(state, lane, now);
}

/** Who failed is left alone for a while, where there is somebody else. */
function benchFor(state: RunState, lane: LaneState, now: Now): Body | undefined {
  const { ended, seat, iteration } = lane;
  if (ended === undefined || seat === undefined || candidates(state, lane, iteration).length === 1) return undefined;
  return dueBench(state, { ended, seat, alone: false, now });
}

/** Of a lane that only takes turns: what the one under way needs; undefined once it is over, or before there is one. */
export function takeTurns(state: RunState, lane: LaneState, now: Now): Body[] | undefined {
  const { open } = lane;
  if (open !== undefined) return haltReason(state, lane, now) === undefined ? [underWay(lane, open.fact)] : [];
  if (lane.iteration === 0) return undefined;
  const bench = benchFor(state, lane, now);
  if (bench !== undefined) return [bench];
  return needsAnotherTurn(state, lane, now) ? again(state, lane, now) : undefined;
}

export const beginTurn = (state: RunState, lane: LaneState, now: Now): Body[] =>
  startTurn(state, lane, now, lane.iteration + 1, 1);

/** Why the open turn should not go on, if so. */
export function haltReason(state: RunState, lane: LaneState, now: Now): string | undefined {
  const { open } = lane;
  if (open === undefined) return undefined;
  if (state.stop === "now") return "directive:stop";
  const { drivenMs } = state.limits;
  if (drivenMs !== undefined && now.elapsed >= drivenMs) return "budget:time";
  for (const { directive, delivered, duringTurn } of state.directives.values()) {
    if (directive.kind === "interrupt" && delivered === undefined && duringTurn === open.fact.turn)
      return "directive:interrupt";
  }
  return undefined;
}

/** The turn has not done its work: the provider said no, the agent died or hung. The iteration goes on with another. */
function needsAnotherTurn(state: RunState, lane: LaneState, now: Now): boolean {
  if (state.stop !== undefined || isFatal(state, lane) || state.hooks.trouble !== undefined) return false;
  if (exhausted(state, { iteration: 0, elapsed: now.elapsed }) !== undefined) return false;
  return lane.ended === undefined || isUnfinished(lane.ended.outcome);
}

export function isUnfinished(outcome: TurnOutcome): boolean {
  switch (outcome.is) {
    case "done":
      return false;
    case "interrupted":
      // A driver that ends lets go of its turn; that says nothing about the turn's work.
      return outcome.by.startsWith("driver:");
    case "failed":
      // Those that never heal are another agent's to do, or the end.
      return outcome.kind !== "max-turns";
    case "cut":
    case "limited":
    case "timeout":
      return true;
  }
}

function again(state: RunState, lane: LaneState, now: Now): Body[] {
  const wait = pauseBefore(state, lane, now);
  return wait === undefined ? startTurn(state, lane, now, lane.iteration, lane.attempt + 1) : [wait];
}

/** Waits are facts of their own: once per ended turn. */
function pauseBefore(state: RunState, lane: LaneState, now: Now): Body | undefined {
  const { ended } = lane;
  if (ended === undefined || state.lastWait > ended.seq) return undefined;
  // The bench is its wait.
  if (lane.seat !== undefined && state.seats.get(lane.seat)?.benchedTurn === ended.turn) return undefined;
  const { outcome } = ended;
  // Its driver died, or let go of it: nobody asked for patience.
  if (outcome.is === "interrupted" || (ended.foundOut && outcome.is === "cut")) return undefined;
  // The next request is shorter, and as welcome as any.
  if (outcome.is === "failed" && outcome.kind === "context" && lane.errorsInRow === 0) return undefined;
  const key = `wait/${ended.turn}`;
  const backoff = backoffMs(state, lane.errorsInRow + lane.limitsInRow);
  if (outcome.is !== "limited") {
    return {
      do: "wait",
      key,
      why: "error",
      reason: `backing off after: ${outcome.is}`,
      until: null,
      untilElapsed: now.elapsed + backoff,
    };
  }
  const reason = `${outcome.kind} limit: ${outcome.message}`;
  if (outcome.resetAt === undefined) {
    return { do: "wait", key, why: "limit", reason, until: null, untilElapsed: now.elapsed + backoff };
  }
  // A reset in the past must not become a hot loop, one in a month not a timer nobody lives to see.
  const { limitCapMs } = state.spec.waits;
  const waitMs = Math.min(Math.max(outcome.resetAt - now.wall, backoff), limitCapMs);
  return { do: "wait", key, why: "limit", reason, ...untilWall(now, waitMs) };
}

/** A wall clock that is set back does not make a wait longer. */
const untilWall = (now: Now, waitMs: number): { until: number; untilElapsed: number } => ({
  until: now.wall + waitMs,
  untilElapsed: now.elapsed + waitMs,
});

function startTurn(state: RunState, lane: LaneState, now: Now, iteration: number, attempt: number): Body[] {
  const throttled = throttledUntil(state, now.wall);
  if (throttled !== undefined) {
    const { callsPerHour } = state.limits;
    const reason = `${counted(callsPerHour ?? 0, "call")} in the last hour`;
    const key = `${THROTTLE}${state.turns}`;
    return [{ do: "wait", key, why: "throttle", reason, ...untilWall(now, throttled - now.wall) }];
  }
  const seat = chosen(state, lane, { seats: candidates(state, lane, iteration), now });
  if ("do" in seat) return [seat];
  return [turn(state, lane, { iteration, attempt, seat })];
}

type Turn = Body<Extract<Action, { do: "turn" }>>;

const turnKey = (lane: string, { iteration, attempt }: { iteration: number; attempt: number }): string =>
  `turn/${lane}/${iteration}.${attempt}`;

function turn(
  state: RunState,
  lane: LaneState,
  { iteration, attempt, seat }: { iteration: number; attempt: number; seat: Seat },
): Turn {
  const key = turnKey(lane.lane, { iteration, attempt });
  return {
    do: "turn",
    key,
    why: "next",
    iteration,
    attempt,
    seat,
    ...planSession(state, lane, { attempt, agent: seat.agent }),
  };
}

/** Known by its key alone. */
function underWay({ lane }: LaneState, { iteration, attempt, role }: FactOf<"turn-start">): Turn {
  const key = (role === "review" ? reviewKey : turnKey)(lane, { iteration, attempt });
  return { do: "turn", key, why: "under way", iteration, attempt, session: { mode: "new" } };
}

function betweenIterations(state: RunState, lane: LaneState, now: Now): Body[] {
  const { head, decision } = lane;
  if (head === undefined) return [];
  const handOver = acceptance(state, lane);
  const outcome = endOf(state, lane, now);
  if (outcome !== undefined) {
    const last = handOver ?? bestAtEnd(state, lane, outcome) ?? dueHook(state, lane, [runEnd(state, lane, outcome)]);
    return [last ?? { do: "end", key: `end/${state.reopened}`, why: outcome.rule, outcome }];
  }
  if (lane.restoreTo !== undefined) {
    if (handOver !== undefined) return [handOver];
    const salvage = `salvage/${lane.salvages}`;
    return [
      {
        do: "restore",
        key: `restore/${lane.lane}/${lane.iteration}`,
        why: "decision",
        to: lane.restoreTo,
        iteration: lane.iteration,
        reason: decision?.reason ?? "",
        salvage,
      },
    ];
  }
  const next = nextTurn(state, lane, now);
  // The hand-over of the last iteration overlaps the next turn.
  return handOver === undefined ? next : [handOver, ...next];
}

/** How the run ends here, if it does: the decision said so, or something happened since. */
function endOf(state: RunState, lane: LaneState, now: Now): Outcome | undefined {
  if (lane.conflict !== undefined) return notHandedOver(lane.conflict, lane.conflictReason);
  const blocked = troubleOutcome(state);
  if (blocked !== undefined) return blocked;
  const oversized = oversizeBetween(state, lane);
  if (oversized !== undefined) return oversized;
  if (lane.decision?.next === "end" && lane.decision.outcome !== undefined) return lane.decision.outcome;
  if (state.stop !== undefined) return stopOutcome(state.stop);
  if (state.paused || lane.restoreTo !== undefined) return undefined;
  return outOfBudget(state, lane, now)?.outcome;
}

function nextTurn(state: RunState, lane: LaneState, now: Now): Body[] {
  if (state.paused) return [];
  const hook = dueHook(state, lane, [iterationStart(lane.iteration + 1)]);
  if (hook !== undefined) return [hook];
  const seen = lane.head?.elapsed ?? 0;
  // Driven time stands still while nobody drives; the user's hands do not.
  if (now.elapsed - seen > USER_EDIT_GAP_MS || lane.head?.epoch !== state.epoch || state.hooks.touched) {
    return [
      {
        do: "snapshot",
        key: `look/${lane.lane}/${state.snapshots}/${Math.round(seen)}`,
        why: "the user may have edited",
        by: "user",
        iteration: lane.iteration,
        n: state.snapshots,
        parent: lane.head?.snapshot ?? 0,
      },
    ];
  }
  const work = returnedToWork(state, lane);
  return work === undefined ? startTurn(state, lane, now, lane.iteration + 1, 1) : [work];
}

function acceptance(state: RunState, lane: LaneState): Body | undefined {
  const { handOver } = lane;
  if (handOver === undefined || lane.conflict !== undefined) return undefined;
  const { tree, snapshot, iteration } = handOver;
  return {
    do: "accept",
    key: `accept/${snapshot}/${tree}`,
    why: "judged",
    tree,
    iteration,
    snapshot,
    message: commitMessage(state, handOver),
  };
}
