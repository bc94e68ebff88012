/**
 * Who takes a turn, where a run has several agents: the one whose turn it is, unless it is on the bench; then the next. An
 * agent that fails is benched with a reason and an end, each for itself; when all are, the run waits for the first to
 * come back. Pure.
 */
import { entryName } from "../agent-entry.ts";
import type { FactOf, TurnOutcome } from "../events.ts";
import type { AgentEntry, AgentSpec, RunSpec } from "../spec.ts";
import type { Action, Body, Now } from "./actions.ts";
import { backoffMs } from "./backoff.ts";
import type { LaneState, RunState } from "./state.ts";
import { neverHeals, sayOutcome } from "./turn-outcome.ts";

const MAX_DOUBLINGS = 20;
const MAX_REASON_CHARS = 300;
/** How the key of a wait for agents begins. */
export const ALL_BENCHED = "agents/";

/** One entry of a run's agents. */
export interface Seat {
  /** `agent` or `agent:model`: what facts and people call it. */
  name: string;
  agent: string;
  model: string | undefined;
}

export interface Bench {
  reason: string;
  until: number | null;
  untilElapsed: number;
}

export interface SeatState {
  /** In a row. */
  errors: number;
  limits: number;
  /** Its last turn failed in a way that does not heal by trying again. */
  hopeless: boolean;
  bench: Bench | undefined;
  /** The last turn that it was benched for, why, and how often it was. */
  benchedTurn: number;
  benchedFor: string;
  benchings: number;
  /** What a directive made of it. */
  model: string | undefined;
}

export const seatOf = (entry: AgentEntry): Seat => ({ name: entryName(entry), agent: entry.agent, model: entry.model });

export const ownSeat = ({ agent: { name, model } }: Pick<RunSpec, "agent">): Seat =>
  seatOf({ agent: name, ...(model === undefined ? {} : { model }) });

/** What its adapter is told. Options are those of the run's own agent, which no other understands. */
export function agentSpecOf({ agent: own }: Pick<RunSpec, "agent">, { agent, model }: Seat): AgentSpec {
  if (agent === own.name) return own;
  const { model: _, fallbackModel: __, ...shared } = own;
  return { ...shared, name: agent, options: {}, ...(model === undefined ? {} : { model }) };
}

/** All of a run, each once; its own agent first. */
export function rosterOf(spec: Pick<RunSpec, "agent" | "mix" | "review">): Seat[] {
  const { mix, review } = spec;
  const entries = [
    ...(mix === undefined ? [] : [...mix.rotate, ...mix.fallback, ...mix.escalate]),
    ...(review === undefined ? [] : [review.agent]),
  ];
  return unique([ownSeat(spec), ...entries.map(seatOf)]);
}

const unique = (seats: readonly Seat[]): Seat[] => [...new Map(seats.map((seat) => [seat.name, seat])).values()];

/** Who may take the turns of an iteration, the most wanted first. */
export function candidates({ spec }: RunState, { escalated }: LaneState, iteration: number): Seat[] {
  const { mix } = spec;
  const own = ownSeat(spec);
  if (mix === undefined) return [own];
  const stronger = escalated === 0 ? undefined : mix.escalate[escalated - 1];
  const first = mix.rotate.length === 0 ? 0 : Math.max(0, iteration - 1) % mix.rotate.length;
  const inTurn = [...mix.rotate.slice(first), ...mix.rotate.slice(0, first)].map(seatOf);
  return unique([
    ...(stronger === undefined ? [] : [seatOf(stronger)]),
    ...(inTurn.length === 0 ? [own] : inTurn),
    ...mix.fallback.map(seatOf),
  ]);
}

/** The model it works with now. */
export function modelOf(state: RunState, seat: Seat): string | undefined {
  if (seat.name === ownSeat(state.spec).name) return state.model;
  return state.seats.get(seat.name)?.model ?? seat.model;
}

export function seatState(state: RunState, name: string): SeatState {
  let found = state.seats.get(name);
  if (found === undefined) {
    found = {
      errors: 0,
      limits: 0,
      hopeless: false,
      bench: undefined,
      benchedTurn: 0,
      benchedFor: "",
      benchings: 0,
      model: undefined,
    };
    state.seats.set(name, found);
  }
  return found;
}

/** A clock that is set back does not make it longer. */
const isOver = ({ until, untilElapsed }: Bench, now: Now): boolean =>
  now.elapsed >= untilElapsed || (until !== null && now.wall >= until);

function benchOf(state: RunState, name: string, now: Now): Bench | undefined {
  const bench = state.seats.get(name)?.bench;
  return bench === undefined || isOver(bench, now) ? undefined : bench;
}

const leftMs = ({ until, untilElapsed }: Bench, now: Now): number =>
  Math.min(untilElapsed - now.elapsed, until === null ? Infinity : until - now.wall);

type Wait = Body<Extract<Action, { do: "wait" }>>;

/** The first that can; or the wait for the one that can first. */
export function chosen(
  state: RunState,
  lane: LaneState,
  { seats, now }: { seats: readonly Seat[]; now: Now },
): Seat | Wait {
  const benched = seats.map((seat) => ({ seat, bench: benchOf(state, seat.name, now) }));
  const free = benched.find(({ bench }) => bench === undefined);
  if (free !== undefined) return free.seat;
  const [first] = benched
    .flatMap(({ seat, bench }) => (bench === undefined ? [] : [{ seat, bench }]))
    .toSorted((one, other) => leftMs(one.bench, now) - leftMs(other.bench, now));
  const others = seats.length === 1 ? "" : `no agent can go on; the first is ${first?.seat.name}: `;
  return {
    do: "wait",
    key: `${ALL_BENCHED}${lane.lane}/${state.turns}`,
    why: "every agent is on the bench",
    reason: `${others}${first?.bench.reason}`,
    until: first?.bench.until ?? null,
    untilElapsed: first?.bench.untilElapsed ?? now.elapsed,
  };
}

/** Others may not have what this one has: a limit, a crash, a hang, a login. */
function isForBench({ outcome, foundOut }: Pick<FactOf<"turn-end">, "outcome" | "foundOut">): boolean {
  switch (outcome.is) {
    case "done":
    case "interrupted":
      return false;
    case "cut":
      // Its driver died: that says nothing about the agent.
      return !foundOut;
    case "failed":
      return outcome.kind !== "context" && outcome.kind !== "max-turns";
    case "limited":
    case "timeout":
      return true;
  }
}

/** `alone`: nobody can stand in for it, so that it is tried again as soon as it is polite. */
export function dueBench(
  state: RunState,
  { ended, seat: name, alone, now }: { ended: FactOf<"turn-end">; seat: string; alone: boolean; now: Now },
): Body | undefined {
  const seat = state.seats.get(name);
  if (seat === undefined || seat.benchedTurn >= ended.turn || !isForBench(ended)) return undefined;
  const { until, ms } = benchTime(state, { seat, outcome: ended.outcome, alone, now });
  return {
    do: "bench",
    key: `bench/${ended.turn}`,
    why: "others may go on",
    seat: name,
    turn: ended.turn,
    reason: benchWords(ended.outcome),
    until: until ? now.wall + ms : null,
    untilElapsed: now.elapsed + ms,
  };
}

function benchTime(
  state: RunState,
  { seat, outcome, alone, now }: { seat: SeatState; outcome: TurnOutcome; alone: boolean; now: Now },
): { until: boolean; ms: number } {
  const { mix, waits } = state.spec;
  const backoff = backoffMs(state, seat.errors + seat.limits);
  if (outcome.is === "limited") {
    if (outcome.resetAt === undefined) return { until: false, ms: backoff };
    return { until: true, ms: Math.min(Math.max(outcome.resetAt - now.wall, backoff), waits.limitCapMs) };
  }
  if (alone || mix === undefined) return { until: false, ms: backoff };
  if (neverHeals(outcome)) return { until: false, ms: mix.benchMaxMs };
  const doubled = mix.benchMs * 2 ** Math.min(Math.max(1, seat.errors) - 1, MAX_DOUBLINGS);
  return { until: false, ms: Math.min(doubled, mix.benchMaxMs) };
}

function benchWords(outcome: TurnOutcome): string {
  const what = outcome.is === "limited" ? `${outcome.kind} limit` : outcome.is === "failed" ? outcome.kind : outcome.is;
  return `${what}: ${sayOutcome(outcome)}`.slice(0, MAX_REASON_CHARS);
}

/** Nobody is left who could do it: each failed too often in a row, or for good. */
export function noneLeft(state: RunState, lane: LaneState): boolean {
  const { maxErrors } = state.spec;
  const all = candidates(state, lane, lane.iteration);
  if (all.length === 1) return neverHeals(lane.ended?.outcome) || lane.errorsInRow >= maxErrors;
  return all.every(({ name }) => {
    const seat = state.seats.get(name);
    return seat !== undefined && (seat.hopeless || seat.errors >= maxErrors);
  });
}
