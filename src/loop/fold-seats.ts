/** What turns say of the agents that took them, and what each has cost. Part of the fold. */
import type { FactOf, TurnOutcome, Usage } from "../events.ts";
import { addUsage, noSpending, type Spent } from "./budget.ts";
import { ownSeat, seatState } from "./seats.ts";
import type { LaneState, RunState } from "./state.ts";
import { neverHeals } from "./turn-outcome.ts";

/** What one agent with one model has cost; all of them together are what the run has. */
export interface SpentBy extends Spent {
  agent: string;
  /** As it was asked for, else as the agent said; null: nobody said. */
  model: string | null;
}

/** Ends that say nothing about the agent or the machine being broken. */
export const isSound = (outcome: TurnOutcome): boolean =>
  outcome.is === "done" || outcome.is === "interrupted" || (outcome.is === "failed" && outcome.kind === "max-turns");

export const agentOfTurn = ({ spec }: RunState, { agent }: FactOf<"turn-start">): string => agent ?? spec.agent.name;

export function recordBench(
  state: RunState,
  { seat, turn, reason, until, untilElapsed }: FactOf<"agent-benched">,
): void {
  const benched = seatState(state, seat);
  benched.bench = { reason, until, untilElapsed };
  benched.benchedTurn = turn;
  benched.benchedFor = reason;
  benched.benchings += 1;
}

/** A person says go on: whoever was benched may have been mended. */
export function clearBenches(state: RunState): void {
  for (const seat of state.seats.values()) {
    seat.bench = undefined;
    seat.errors = 0;
    seat.limits = 0;
    seat.hopeless = false;
  }
}

/** Kept only where there is more than one agent. */
export function recordSeat(
  state: RunState,
  { start, end }: { start: FactOf<"turn-start">; end: FactOf<"turn-end"> },
): void {
  const { mix, review } = state.spec;
  if (mix === undefined && review === undefined) return;
  const seat = seatState(state, start.seat ?? ownSeat(state.spec).name);
  const { outcome, foundOut } = end;
  seat.hopeless = neverHeals(outcome);
  if (isSound(outcome)) {
    seat.errors = 0;
    seat.limits = 0;
    seat.bench = undefined;
  } else if (outcome.is === "limited") seat.limits += 1;
  else if (!foundOut) seat.errors += 1;
}

export function charge(
  state: RunState,
  { agent, model, usage, turns }: { agent: string; model: string | null; usage: Usage; turns: number },
): void {
  let by = find(state.spentBy, agent, model);
  if (by === undefined) {
    by = { agent, model, ...noSpending() };
    state.spentBy.set(JSON.stringify([agent, model]), by);
  }
  for (const spent of [state.spent, by]) {
    spent.turns += turns;
    addUsage(spent, usage);
  }
}

/** They are few, and it is asked for every turn there ever was. */
function find(spentBy: RunState["spentBy"], agent: string, model: string | null): SpentBy | undefined {
  for (const by of spentBy.values()) if (by.agent === agent && by.model === model) return by;
  return undefined;
}

/** For the one that works, or worked last; without any the run's own. */
export function switchModel(state: RunState, lane: LaneState, model: string): void {
  const name = lane.open?.fact.seat ?? lane.seat;
  if (name === undefined || name === ownSeat(state.spec).name) state.model = model;
  else seatState(state, name).model = model;
}
