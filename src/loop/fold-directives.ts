/** What a directive changes by having been received, and its receipts. Part of the fold. */
import type { FactOf } from "../events.ts";
import { steerMemory } from "./memory.ts";
import { switchModel } from "./fold-seats.ts";
import { mainLane, type RunState } from "./state.ts";

const MAX_KEPT_DIRECTIVES = 200;
/** The receipt of a directive that was cancelled before it reached anybody. */
export const TAKEN_BACK = "taken back";
/** Why a wait ended that a person ended. */
export const HURRIED = "directive:resume";

export function receive(state: RunState, fact: FactOf<"directive-received">): void {
  const duringTurn = [...state.lanes.values()].find((l) => l.open !== undefined)?.open?.fact.turn ?? null;
  state.directives.set(fact.id, {
    id: fact.id,
    directive: fact.directive,
    source: fact.source,
    receivedSeq: fact.seq,
    duringTurn,
  });
  for (const [id, old] of state.directives) {
    if (state.directives.size <= MAX_KEPT_DIRECTIVES) break;
    if (old.delivered !== undefined) state.directives.delete(id);
  }
  const directive = fact.directive;
  switch (directive.kind) {
    case "pause":
      state.paused = true;
      return;
    case "resume":
      // To go on is the newer wish: it takes back a pause, and a stop that has not come to its end.
      state.paused = false;
      delete state.stop;
      return;
    case "stop":
      state.stop = directive.when === "now" || state.stop === "now" ? "now" : "after";
      return;
    case "model":
      return switchModel(state, mainLane(state), directive.model);
    case "budget":
      state.limits = { ...state.limits, ...directive.limits };
      return;
    case "memory":
      steerMemory(state.memory, directive);
      return;
    case "cancel":
      return takeBack(state, directive.directive);
    case "answer":
    case "say":
    case "interrupt":
    case "task-add":
    case "task-mark":
      return;
  }
}

/** Words only, and only while they are not on their way; every other kind has had its effect by being received. */
function takeBack(state: RunState, id: string): void {
  const taken = state.directives.get(id);
  if (taken === undefined || taken.delivered !== undefined || taken.directive.kind !== "say") return;
  const open = [...state.lanes.values()].find((lane) => lane.open !== undefined)?.open?.fact;
  const onItsWay = open !== undefined && (taken.directive.when !== "next" || open.directives.includes(id));
  if (!onItsWay) taken.delivered = { how: TAKEN_BACK, turn: null };
}

export function deliver(state: RunState, fact: FactOf<"directive-delivered">): void {
  const directive = state.directives.get(fact.id);
  if (directive !== undefined) directive.delivered = { how: fact.how, turn: fact.turn };
}
