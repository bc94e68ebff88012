/** What the start and the end of a turn change. Part of the fold. */
import type { FactOf } from "../events.ts";
import { agentOfTurn, charge, isSound, recordSeat } from "./fold-seats.ts";
import { makesRoom } from "./fold-solve.ts";
import { heardHooks } from "./hooks.ts";
import { takeSession } from "./sessions.ts";
import type { LaneState, RunState } from "./state.ts";

const MAX_KEPT_CALL_TIMES = 10_000;
const HOUR_MS = 3_600_000;

export function startTurn(state: RunState, lane: LaneState, fact: FactOf<"turn-start">): void {
  state.turns = Math.max(state.turns, fact.turn);
  state.callTimes.push(fact.at);
  const hourAgo = fact.at - HOUR_MS;
  while (state.callTimes.length > MAX_KEPT_CALL_TIMES || (state.callTimes[0] ?? fact.at) < hourAgo)
    state.callTimes.shift();
  lane.open = { fact };
  lane.record.turns += 1;
  noteAgent(state, lane, fact);
  if (fact.role === "review") {
    lane.review = { ref: fact.session.ref, attempts: fact.attempt, ended: undefined, mended: undefined };
    return;
  }
  lane.attempt = fact.attempt;
  lane.seat = fact.seat;
  takeSession(lane, { agent: agentOfTurn(state, fact), turn: fact });
  if (lane.session !== undefined) lane.session.iteration = fact.iteration;
}

/** Where there is more than one it is worth telling who. */
function noteAgent({ spec }: RunState, { record }: LaneState, { seat, role }: FactOf<"turn-start">): void {
  if (seat === undefined || (spec.mix === undefined && spec.review === undefined)) return;
  const name = role === "review" ? `${seat} (review)` : seat;
  if (record.agents?.includes(name) !== true) record.agents = [...(record.agents ?? []), name];
}

export function endTurn(state: RunState, lane: LaneState, fact: FactOf<"turn-end">): void {
  const { open } = lane;
  lane.open = undefined;
  payTurn(state, lane, { open, fact });
  if (open?.fact.role === "review") {
    const { session: of, attempt: attempts } = open.fact;
    lane.review = { ref: of.ref, attempts, ended: fact, mended: undefined };
    return;
  }
  if (fact.usage.requests > 0 && open !== undefined) heardHooks(state, open.fact);
  const session = lane.session;
  lane.ended = fact;
  if (fact.misplaced !== undefined) lane.record.misplaced = fact.misplaced;
  // Who takes over from one that was stopped by its limit is told what that one said before.
  if (fact.text.trim() !== "") lane.lastText = fact.text;
  if (fact.usage.requests > 0 && session !== undefined) {
    session.turns += 1;
    session.contextTokens = fact.contextTokens ?? session.contextTokens;
    session.lastMessageId = fact.messageId ?? session.lastMessageId;
    // Unknown where nobody saw its end: then it is shown again.
    session.memos = fact.memos;
    lane.stale = undefined;
  }
  // A session that never reached the model may not exist on the agent's side: it cannot be continued.
  if (session !== undefined && session.turns === 0) lane.session = undefined;
  if (fact.outcome.is === "failed" && fact.outcome.kind === "context") lane.stale = { why: "its context was full" };
  const isRelieved = makesRoom(state, { open, outcome: fact.outcome });
  if (isSound(fact.outcome)) {
    lane.errorsInRow = 0;
    lane.limitsInRow = 0;
  } else if (fact.outcome.is === "limited") {
    lane.limitsInRow += 1;
  } else if (!fact.foundOut && !isRelieved) {
    lane.errorsInRow += 1;
  }
}

/** Every turn is charged, to the run and to who took it. */
function payTurn(
  state: RunState,
  lane: LaneState,
  { open, fact }: { open: LaneState["open"]; fact: FactOf<"turn-end"> },
): void {
  const { record, session } = lane;
  const isWork = open?.fact.role !== "review";
  const model = open?.fact.model ?? open?.said ?? (isWork ? session?.model : null) ?? null;
  if (isWork && session !== undefined) session.model = model;
  const agent = open === undefined ? state.spec.agent.name : agentOfTurn(state, open.fact);
  charge(state, { agent, model, usage: fact.usage, turns: 1 });
  if (open !== undefined) recordSeat(state, { start: open.fact, end: fact });
  record.usd = record.usd === null || fact.usage.usd === null ? null : record.usd + fact.usage.usd;
  record.estimated ||= fact.usage.estimated;
  record.tools = mergeCounts(record.tools, fact.tools);
}

function mergeCounts(a: [string, number][], b: [string, number][]): [string, number][] {
  if (a.length === 0) return b;
  const counts = new Map(a);
  for (const [name, n] of b) counts.set(name, (counts.get(name) ?? 0) + n);
  return [...counts];
}
