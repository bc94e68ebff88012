/**
 * What should be in flight, given these facts and this time. Pure and total: because a killed run is answered by the
 * same function as a living one, there is no resume code.
 */
import type { Action, Now, Recipe } from "./actions.ts";
import { throttledUntil } from "./budget.ts";
import { HURRIED, TAKEN_BACK } from "./fold-directives.ts";
import { haltReason, THROTTLE } from "./iterate.ts";
import { baselineActions } from "./judge.ts";
import { answerReceipt, deadlineOf, openQuestions, questionActions } from "./questions.ts";
import { MAIN_LANE, type DirectiveState, type RunState } from "./state.ts";
import { hasPendingEdit, taskDirectiveStep } from "./task-directives.ts";

export interface Wanted {
  actions: Map<string, Action>;
  /** When to look again even if nothing happens. */
  wakeAt: { wall: number | null; elapsed: number | null };
  /** Why actions in flight that are not wanted any more are ended. */
  because: string;
}

export function wanted(recipe: Recipe, state: RunState, now: Now): Wanted {
  const list = state.outcome === undefined ? choose(recipe, state, now) : [];
  return { actions: new Map(list.map((a) => [a.key, a])), wakeAt: wakeAt(state), because: because(state, now) };
}

function choose(recipe: Recipe, state: RunState, now: Now): Action[] {
  const orphans = findOut(state);
  if (orphans.length > 0) return orphans;
  const lane = MAIN_LANE;
  const prepared = [...state.lanes.values()].some((l) => l.head !== undefined);
  if (!prepared) return [{ do: "prepare", key: "prepare", lane, why: "first effect of a run" }];
  const receipts = [...directiveActions(state), ...questionActions(state, now)];
  if (state.wait !== undefined) {
    const over = waitOver(state, now);
    // What needs neither the agent nor the workspace goes on meanwhile.
    const beside = [...baselineActions(state), ...receipts, ...underWay(recipe, state, now)];
    return over === undefined
      ? beside
      : [...beside, { do: "end-wait", key: `end-wait/${state.wait.wait}`, lane, why: over, wait: state.wait.wait }];
  }
  // A person's change of the tasks comes before the next iteration, and is alone with the files.
  if (receipts.some((action) => action.do === "edit-tasks")) return [...receipts, ...baselineActions(state)];
  const next = recipe.wanted(state, now).filter((action) => !startsTurn(state, action) || mayStart(state, action));
  const isClosing = next.some((action) => action.do === "decide" || action.do === "end");
  return [...receipts, ...next, ...(isClosing ? [] : baselineActions(state))];
}

/** Who waits does not hold up the others. */
const underWay = (recipe: Recipe, state: RunState, now: Now): Action[] =>
  recipe
    .wanted(state, now)
    .filter((action) => action.do === "execute" || (action.do === "turn" && !startsTurn(state, action)));

function mayStart(state: RunState, action: Action): boolean {
  const beginsIteration = action.do === "turn" && action.iteration > (state.lanes.get(action.lane)?.iteration ?? 0);
  return !state.paused && !(beginsIteration && hasPendingEdit(state));
}

/** A turn that an earlier driver began and nobody saw the end of. */
function findOut(state: RunState): Action[] {
  return [...state.lanes.values()].flatMap(({ lane, open }) =>
    open !== undefined && open.fact.epoch < state.epoch
      ? [
          {
            do: "find-out" as const,
            key: `find-out/${open.fact.turn}`,
            lane,
            why: "its driver is gone",
            turn: open.fact,
          },
        ]
      : [],
  );
}

function startsTurn(state: RunState, action: Action): boolean {
  return action.do === "turn" && state.lanes.get(action.lane)?.open === undefined;
}

function waitOver(state: RunState, now: Now): string | undefined {
  const { wait } = state;
  if (wait === undefined) return undefined;
  if (state.stop !== undefined) return "stopped";
  const { drivenMs } = state.limits;
  if (drivenMs !== undefined && now.elapsed >= drivenMs) return "budget:time";
  if (wait.until !== null && now.wall >= wait.until) return "over";
  if (wait.untilElapsed !== null && now.elapsed >= wait.untilElapsed) return "over";
  if (wait.wait.startsWith(THROTTLE) && throttledUntil(state, now.wall) === undefined) return "over";
  const hurried = [...state.directives.values()].some((d) => d.directive.kind === "resume" && d.receivedSeq > wait.seq);
  return hurried ? HURRIED : undefined;
}

/** Receipts: what has been done about each directive that is not delivered yet. */
function directiveActions(state: RunState): Action[] {
  return [...state.directives.values()].flatMap((d) => (d.delivered === undefined ? (receipt(state, d) ?? []) : []));
}

function receipt(state: RunState, { id, directive, duringTurn, receivedSeq }: DirectiveState): Action | undefined {
  const running = [...state.lanes.values()].find((lane) => lane.open !== undefined);
  const lane = running?.lane ?? MAIN_LANE;
  const deliver = (how: string): Extract<Action, { do: "deliver" }> => ({
    do: "deliver",
    key: `deliver/${id}`,
    lane,
    why: directive.kind,
    directive: id,
    how,
  });
  const refuse = (how: string): Action => ({ ...deliver(how), refused: true });
  switch (directive.kind) {
    case "say":
      if (directive.when === "only-now" && (duringTurn === null || running?.open?.fact.turn !== duringTurn)) {
        return refuse(duringTurn === null ? "not said: no turn was running" : "not said: the turn had ended");
      }
      // What cannot go into the running turn stands in the next prompt, or in this turn's own; that turn records it.
      if (directive.when === "next" || running?.open === undefined) return undefined;
      if (running.open.fact.directives.includes(id)) return undefined;
      // A reviewer has its own task: what is said is for those who work.
      if (running.open.fact.role === "review" && directive.when === "now") return undefined;
      return {
        do: "tell",
        key: `tell/${id}/${running.open.fact.turn}`,
        lane,
        why: "say now",
        directive: id,
        text: directive.text,
      };
    case "answer":
      return answerReceipt(state, { id, directive, lane });
    case "task-add":
    case "task-mark": {
      const step = taskDirectiveStep(state, { id, directive });
      if (step === undefined || step.do === "wait") return undefined;
      return step.do === "refuse" ? refuse(step.how) : { ...step, key: `edit-tasks/${id}`, lane, why: directive.kind };
    }
    case "cancel": {
      const words = state.directives.get(directive.directive);
      // A cancel of what came after it took nothing back: another one did.
      const took = words?.delivered?.how === TAKEN_BACK && words.receivedSeq < receivedSeq;
      return took ? deliver("took it back") : refuse("too late: it is on its way, or there");
    }
    case "interrupt":
      if (running !== undefined && running.open?.fact.turn === duringTurn) return undefined;
      return deliver(interruption(state, duringTurn));
    case "pause":
      return deliver("no new turn starts");
    case "resume":
      return deliver("going on");
    case "stop":
      return deliver(directive.when === "now" ? "stopping now" : "stopping after this iteration");
    case "model":
      if (running === undefined) return deliver(`next turn uses ${directive.model}`);
      return {
        do: "switch-model",
        key: `switch-model/${id}`,
        lane,
        why: "model",
        directive: id,
        model: directive.model,
      };
    case "budget":
      return deliver("limits changed");
    case "memory":
      return deliver(directive.op === "pin" ? "pinned" : "cleared");
  }
}

/** It may have been done before the interrupt reached it. */
function interruption(state: RunState, turn: number | null): string {
  if (turn === null) return "no turn was running";
  const ended = [...state.lanes.values()].find((lane) => lane.ended?.turn === turn)?.ended;
  return ended?.outcome.is === "interrupted" ? `turn ${turn} interrupted` : `turn ${turn} had ended`;
}

function wakeAt(state: RunState): Wanted["wakeAt"] {
  const answers = openQuestions(state).map((open) => deadlineOf(state, open));
  const times = [state.wait?.untilElapsed ?? Infinity, state.limits.drivenMs ?? Infinity, ...answers];
  const next = Math.min(...times);
  return { wall: state.wait?.until ?? null, elapsed: next === Infinity ? null : next };
}

function because(state: RunState, now: Now): string {
  for (const lane of state.lanes.values()) {
    const reason = haltReason(state, lane, now);
    if (reason !== undefined) return reason;
  }
  return state.stop === undefined ? "driver:not wanted any more" : "directive:stop";
}
