/**
 * The point between two iterations at which a program may have its say. The next iteration starts when the program has
 * answered; once per boundary and driver, so a killed driver's boundary is asked about again by the next one.
 */
import type { Action } from "./actions.ts";
import { MAIN_LANE, type RunState } from "./state.ts";

/** What it puts into the inbox counts for the next iteration. Aborted when the run ends without one. */
export type Between = (state: RunState, signal: AbortSignal) => Promise<void>;

interface Around {
  between: Between | undefined;
  state: RunState;
  /** Moves what was put into the inbox into the journal. */
  take: () => Promise<void>;
  fail: (error: unknown) => void;
  ring: () => void;
}

export interface Gate {
  /** True while this action has to wait for the program's answer; asked when nothing else is under way (`idle`). */
  holds(action: Action, about: { idle: boolean }): boolean;
  /** Nobody waits for the answer any more. */
  leave(): void;
}

export function makeGate({ between, state, take, fail, ring }: Around): Gate {
  let passed = "";
  let asking: AbortController | undefined;

  const ask = (boundary: string, asked: Between): void => {
    const mine = new AbortController();
    asking = mine;
    asked(state, mine.signal)
      .then(take, (error: unknown) => take().then(() => Promise.reject(error)))
      .then(
        () => {
          if (asking !== mine) return;
          asking = undefined;
          passed = boundary;
          ring();
        },
        (error: unknown) => {
          if (asking === mine) fail(error);
        },
      );
  };
  return {
    holds(action, { idle }) {
      if (
        between === undefined ||
        action.do !== "turn" ||
        action.lane !== MAIN_LANE ||
        action.role === "review" ||
        action.attempt > 1 ||
        action.iteration === 1
      )
        return false;
      const boundary = `${state.reopened}/${action.lane}/${action.iteration}`;
      if (passed === boundary) return false;
      if (asking === undefined && idle) ask(boundary, between);
      return true;
    },
    leave() {
      asking?.abort("the run ends");
      asking = undefined;
    },
  };
}
