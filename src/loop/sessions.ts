/**
 * Sessions of a lane: each belongs to one agent. The one that worked last is the lane's own; those of other agents are kept
 * on a shelf, and gone on with when their agent comes back. Pure.
 */
import type { FactOf } from "../events.ts";
import type { SessionPlan } from "./actions.ts";
import type { LaneState, RunState, SessionState } from "./state.ts";

/** Of this agent, whoever worked last. */
export const sessionOf = ({ session, shelf }: LaneState, agent: string): SessionState | undefined =>
  session?.agent === agent ? session : shelf.get(agent);

/** What the lane's own session is from this turn on. Part of the fold. */
export function takeSession(lane: LaneState, { agent, turn }: { agent: string; turn: FactOf<"turn-start"> }): void {
  const { session: left, shelf, stale } = lane;
  const { ref } = turn.session;
  if (left?.ref === ref) return;
  // One that is to be left is not come back to.
  if (left !== undefined && left.agent !== agent && left.turns > 0 && stale === undefined) shelf.set(left.agent, left);
  const kept = shelf.get(agent);
  shelf.delete(agent);
  lane.session = kept?.ref === ref ? kept : newSession(agent, ref);
}

const newSession = (agent: string, ref: string): SessionState => ({
  agent,
  ref,
  turns: 0,
  contextTokens: 0,
  lastMessageId: null,
  memos: undefined,
  iteration: 0,
  model: null,
});

interface Planned {
  session: SessionPlan;
  /** It goes on after others have worked: the iteration in which it last did. */
  returning?: number;
}

export function planSession(
  state: RunState,
  lane: LaneState,
  { attempt, agent }: { attempt: number; agent: string },
): Planned {
  const { context, contextLimitTokens } = state.spec.agent;
  const { stale } = lane;
  const own = sessionOf(lane, agent);
  const worked = own !== undefined && own === lane.session;
  const fresh: Planned = { session: { mode: "new" } };
  // Its prompts say everything.
  if (state.spec.solve?.history === "pruned") return fresh;
  if (stale !== undefined && (worked || own === undefined)) {
    const { rewind } = stale;
    if (rewind === undefined || context === "fresh" || (rewind.agent ?? agent) !== agent) return fresh;
    return { session: { mode: "rewind", ref: rewind.ref, at: rewind.messageId } };
  }
  if (own === undefined) return forked(state, agent) ?? fresh;
  if (context === "fresh" && (attempt === 1 || !worked)) return fresh;
  if (context === "auto" && own.contextTokens > contextLimitTokens && (attempt === 1 || !worked)) return fresh;
  return { session: { mode: "continue", ref: own.ref }, ...(worked ? {} : { returning: own.iteration }) };
}

/** The first session of a run that was made from another begins where that one's conversation was. */
function forked({ spec, spent }: RunState, agent: string): Planned | undefined {
  const mark = spec.fork?.mark;
  if (mark === undefined || mark.agent !== agent || spent.requests > 0) return undefined;
  return { session: { mode: "rewind", ref: mark.ref, at: mark.messageId } };
}
