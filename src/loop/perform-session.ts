/** The agents' live sessions: one per lane for the work, one beside it while a change is reviewed. */
import type { FactOf } from "../events.ts";
import type { Agent, OpenRequest } from "../ports.ts";
import type { TurnAction } from "./actions.ts";
import { openRequest, type Hands, type LiveSession } from "./hands.ts";
import { modelOf, ownSeat, rosterOf, type Seat } from "./seats.ts";
import { sessionOf } from "./sessions.ts";
import { laneOf, MAIN_LANE, type RunState } from "./state.ts";

interface Place {
  lane: string;
  role?: TurnAction["role"] | undefined;
}

const keyOf = ({ lane, role }: Place): string => (role === undefined ? lane : `${lane}/${role}`);

export function agentOf({ ports }: Hands, { agent: name }: Seat): Agent {
  const agent = Object.hasOwn(ports.agents, name) ? ports.agents[name] : undefined;
  if (agent === undefined) throw new Error(`no agent named ${name}`);
  return agent;
}

/** Whose a turn is that a fact tells of. */
export function seatOfTurn({ spec }: RunState, { agent, seat }: FactOf<"turn-start">): Seat {
  const own = ownSeat(spec);
  const known = rosterOf(spec).find(({ name }) => name === (seat ?? own.name));
  return known ?? { ...own, agent: agent ?? own.agent };
}

interface Opened {
  seat: Seat;
  /** As it can be done: not every agent can rewind, or change the model of a session. */
  action: TurnAction;
  live: LiveSession;
  session: FactOf<"turn-start">["session"];
}

export async function sessionFor(wanted: TurnAction, hands: Hands): Promise<Opened> {
  const { run, ports, sessions } = hands;
  const seat = wanted.seat ?? ownSeat(run.state.spec);
  const model = modelOf(run.state, seat);
  const agent = agentOf(hands, seat);
  const action = fitted(wanted, { state: run.state, agent, model });
  const live = sessions.get(keyOf(action));
  const plan = action.session;
  const isOurs = live?.agent === seat.agent;
  if (live !== undefined && isOurs && plan.mode === "continue" && live.ref === plan.ref) {
    if (live.model !== model && model !== undefined) {
      await live.session.setModel(model);
      live.model = model;
    }
    return { seat, action, live, session: { ref: live.ref, mode: "continue" } };
  }
  if (live?.unused === true && isOurs && plan.mode === "new" && live.model === model) {
    live.unused = false;
    return { seat, action, live, session: { ref: live.ref, mode: "new" } };
  }
  await dropSession(hands, action);
  const session =
    plan.mode === "continue"
      ? { ref: plan.ref, mode: "continue" as const }
      : plan.mode === "rewind"
        ? { ref: ports.uuid(), mode: "rewind" as const, at: `${plan.ref}:${plan.at}` }
        : { ref: ports.uuid(), mode: "new" as const };
  return { seat, action, live: await openSession(hands, { ...action, seat, session }), session };
}

/** What the agent cannot do becomes a fresh session, which is told everything. */
function fitted(
  action: TurnAction,
  { state, agent, model }: { state: RunState; agent: Agent; model: string | undefined },
): TurnAction {
  const cannot = (what: Agent["gaps"][number]["cannot"]): boolean => agent.gaps.some((gap) => gap.cannot === what);
  const { session: plan, returning: _, ...rest } = action;
  const fresh: TurnAction = { ...rest, session: { mode: "new" } };
  if (plan.mode === "rewind" && cannot("rewind")) return fresh;
  if (plan.mode !== "continue") return action;
  if (cannot("resume") && action.returning !== undefined) return fresh;
  const before = sessionOf(laneOf(state, action.lane), agent.name)?.model ?? undefined;
  return cannot("switch-model") && before !== undefined && model !== undefined && before !== model ? fresh : action;
}

async function openSession(
  hands: Hands,
  { lane, role, seat, session }: Place & { seat: Seat; session: OpenRequest["session"] },
): Promise<LiveSession> {
  const request = openRequest(hands, { lane, role, session, seat });
  const opened = await agentOf(hands, seat).open(request);
  const { agent } = seat;
  const { model } = request;
  const live: LiveSession = { agent, ref: session.ref, model, session: opened, announced: false, unused: false };
  hands.sessions.set(keyOf({ lane, role }), live);
  return live;
}

/** A session whose process died or hangs is closed; the next turn resumes it in a new one. */
export async function dropSession(hands: Hands, place: Place): Promise<void> {
  const live = hands.sessions.get(keyOf(place));
  hands.sessions.delete(keyOf(place));
  await live?.session.close();
}

export async function closeSessions(hands: Hands): Promise<void> {
  const open = [...hands.sessions.values()];
  hands.sessions.clear();
  await Promise.all(open.map(({ session }) => session.close()));
}

/** The agent starts beside the first effects of a run; the first turn then finds it ready. */
export async function warmUp(hands: Hands, lane: string): Promise<void> {
  const { ports } = hands;
  const { ahead } = ports;
  const seat = ownSeat(hands.run.state.spec);
  if (ahead !== undefined && lane === MAIN_LANE) {
    const { agent, model } = seat;
    hands.sessions.set(lane, { ...ahead, agent, model, announced: false, unused: true });
    return;
  }
  // It begins in a conversation that there is already.
  if (hands.run.state.spec.fork?.mark !== undefined) return;
  const live = await openSession(hands, { lane, seat, session: { ref: ports.uuid(), mode: "new" } });
  live.unused = true;
  void live.session.warm?.();
}
