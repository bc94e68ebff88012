/**
 * The life of one lane, iteration after iteration: prompt, turn, change, checks, decision, hand-over. Given the facts it
 * says what should be in flight next; recipes build on it.
 */
import type { TurnOutcome } from "../events.ts";
import type { Action, Now, SessionPlan } from "./actions.ts";
import { exhausted, throttledUntil } from "./budget.ts";
import { decide, isFatal, judged } from "./decide.ts";
import { verdictOf, type HandOver, type LaneState, type RunState } from "./state.ts";

/** A workspace left alone this long may have been edited by its user: it is looked at before the next turn. */
const USER_EDIT_GAP_MS = 1_000;
const MAX_UNVERIFIABLE_TRIES = 3;

type Body<T> = T extends unknown ? Omit<T, "lane"> : never;

export function iterate(state: RunState, lane: LaneState, now: Now): Action[] {
  return steps(state, lane, now).map((action) => ({ ...action, lane: lane.lane }));
}

function steps(state: RunState, lane: LaneState, now: Now): Body<Action>[] {
  const { open } = lane;
  const handOver = [acceptance(state, lane) ?? []].flat();
  if (open !== undefined) {
    const { iteration, attempt } = open.fact;
    return haltReason(state, lane, now) === undefined
      ? [turn(lane, iteration, attempt, "under way"), ...handOver]
      : handOver;
  }
  if (lane.iteration === 0 || lane.decision !== undefined) return betweenIterations(state, lane, now);
  // The hand-over of the last iteration may overlap the turn, not the judgement of the next change.
  if (handOver.length > 0) return handOver;
  return needsAnotherTurn(state, lane, now) ? again(state, lane, now) : judge(state, lane, now);
}

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
  if (state.stop !== undefined || isFatal(lane, state.spec.maxErrors)) return false;
  if (exhausted(state, { iteration: 0, elapsed: now.elapsed }) !== undefined) return false;
  return lane.ended === undefined || isUnfinished(lane.ended.outcome);
}

function isUnfinished(outcome: TurnOutcome): boolean {
  switch (outcome.is) {
    case "done":
      return false;
    case "interrupted":
      // A driver that ends lets go of its turn; that says nothing about the turn's work.
      return outcome.by.startsWith("driver:");
    case "failed":
      return outcome.kind === "agent" || outcome.kind === "context";
    case "cut":
    case "limited":
    case "timeout":
      return true;
  }
}

function again(state: RunState, lane: LaneState, now: Now): Body<Action>[] {
  const wait = pauseBefore(state, lane, now);
  return wait === undefined ? startTurn(state, lane, now, lane.iteration, lane.attempt + 1) : [wait];
}

/** Waits are facts of their own: once per ended turn. */
function pauseBefore(state: RunState, lane: LaneState, now: Now): Body<Action> | undefined {
  const { ended } = lane;
  if (ended === undefined || ended.foundOut || ended.outcome.is === "interrupted" || state.lastWait > ended.seq)
    return undefined;
  const key = `wait/${ended.turn}`;
  const { backoffBaseMs, backoffMaxMs, limitCapMs } = state.spec.waits;
  const inRow = Math.max(1, lane.errorsInRow + lane.limitsInRow);
  const backoff = Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.min(inRow - 1, 20));
  const { outcome } = ended;
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
  const until = Math.min(Math.max(outcome.resetAt, now.wall + backoff), now.wall + limitCapMs);
  return { do: "wait", key, why: "limit", reason, until, untilElapsed: null };
}

function startTurn(state: RunState, lane: LaneState, now: Now, iteration: number, attempt: number): Body<Action>[] {
  const throttled = throttledUntil(state, now.wall);
  if (throttled !== undefined) {
    const reason = `${state.limits.callsPerHour} calls in the last hour`;
    return [
      { do: "wait", key: `throttle/${state.turns}`, why: "throttle", reason, until: throttled, untilElapsed: null },
    ];
  }
  return [{ ...turn(lane, iteration, attempt, "next"), session: planSession(state, lane, attempt) }];
}

const turn = (
  lane: LaneState,
  iteration: number,
  attempt: number,
  why: string,
): Body<Extract<Action, { do: "turn" }>> => ({
  do: "turn",
  key: `turn/${lane.lane}/${iteration}.${attempt}`,
  why,
  iteration,
  attempt,
  session: { mode: "new" },
});

function planSession(state: RunState, lane: LaneState, attempt: number): SessionPlan {
  const { context, contextLimitTokens } = state.spec.agent;
  const { session, stale } = lane;
  if (stale !== undefined) {
    if (stale.rewind === undefined || context === "fresh") return { mode: "new" };
    return { mode: "rewind", ref: stale.rewind.ref, at: stale.rewind.messageId };
  }
  if (session === undefined) return { mode: "new" };
  if (context === "fresh" && attempt === 1) return { mode: "new" };
  if (context === "auto" && session.contextTokens > contextLimitTokens && attempt === 1) return { mode: "new" };
  return { mode: "continue", ref: session.ref };
}

function judge(state: RunState, lane: LaneState, now: Now): Body<Action>[] {
  const { change, iteration } = lane;
  if (change === undefined) {
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
  const fatal = isFatal(lane, state.spec.maxErrors) || change.refused !== undefined || state.stop === "now";
  if (!fatal) {
    const due = state.spec.checks.find((check) => {
      const verdict = verdictOf(state, change.judged, check.name);
      if (verdict === undefined) return true;
      return verdict.is === "unverifiable" && (lane.checksTried.get(check.name) ?? 0) < MAX_UNVERIFIABLE_TRIES;
    });
    // One at a time: they share the verify tree, and each must find it clean.
    if (due !== undefined) {
      const tries = lane.checksTried.get(due.name) ?? 0;
      const key = `check/${change.judged}/${due.name}/${tries}`;
      return [{ do: "check", key, why: "tree not judged yet", check: due.name, tree: change.judged, iteration }];
    }
    const red = judged(state, lane).flatMap(({ check, verdict }) =>
      check.required && verdict?.is === "fail" ? [verdict] : [],
    );
    if (red.length > 0 && !lane.remembered) {
      const from = lane.track.trees.at(-1) ?? lane.baseTree;
      return [
        {
          do: "remember",
          key: `remember/${lane.lane}/${iteration}`,
          why: "checks failed",
          iteration,
          from,
          to: change.judged,
          verdicts: red,
        },
      ];
    }
  }
  return [
    {
      do: "decide",
      key: `decide/${lane.lane}/${iteration}`,
      why: "iteration complete",
      decision: decide(state, lane, now),
    },
  ];
}

function betweenIterations(state: RunState, lane: LaneState, now: Now): Body<Action>[] {
  const { head, decision } = lane;
  if (head === undefined) return [];
  const handOver = acceptance(state, lane);
  if (decision?.next === "end" && decision.outcome !== undefined) {
    if (handOver !== undefined) return [handOver];
    const outcome =
      lane.conflict === undefined
        ? decision.outcome
        : {
            is: "needs-human" as const,
            rule: "branch-moved",
            reason: `the branch moved; the work is kept as ${lane.conflict}`,
          };
    return [{ do: "end", key: `end/${state.reopened}`, why: outcome.rule, outcome }];
  }
  if (state.stop !== undefined) {
    if (handOver !== undefined) return [handOver];
    return [
      {
        do: "end",
        key: `end/${state.reopened}`,
        why: "stop",
        outcome: { is: "stopped", rule: `directive:stop-${state.stop}`, reason: "stopped by directive" },
      },
    ];
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

function nextTurn(state: RunState, lane: LaneState, now: Now): Body<Action>[] {
  const over = exhausted(state, { iteration: lane.iteration, elapsed: now.elapsed });
  if (state.paused) return [];
  if (over !== undefined) {
    const reason = `limit on ${over.which} reached`;
    if (acceptance(state, lane) !== undefined) return [];
    return [
      {
        do: "end",
        key: `end/${state.reopened}`,
        why: `budget:${over.which}`,
        outcome: { is: "exhausted", rule: `budget:${over.which}`, reason },
      },
    ];
  }
  const seen = Math.max(lane.head?.elapsed ?? 0, 0);
  if (now.elapsed - seen > USER_EDIT_GAP_MS) {
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
  return startTurn(state, lane, now, lane.iteration + 1, 1);
}

function acceptance(state: RunState, lane: LaneState): Body<Action> | undefined {
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

function commitMessage(state: RunState, { tree, iteration, title }: HandOver): string {
  const verdicts = state.spec.checks.map((c) => ({
    check: c.name,
    is: verdictOf(state, tree, c.name)?.is ?? "skipped",
  }));
  const green = verdicts.every(({ is }) => is === "pass");
  const detail = verdicts.map(({ check, is }) => `${check}: ${is}`).join(", ");
  const verdict = verdicts.length === 0 ? "unchecked" : `${green ? "green" : "red"} (${detail.replaceAll("\n", " ")})`;
  return `${title}\n\nPawl-Run: ${state.run}\nPawl-Iteration: ${iteration}\nPawl-Verdict: ${verdict}\n`;
}
