/**
 * Codex's own goal loop inside one turn of pawl's: while its thread has an active goal, it begins another turn by itself
 * whenever one has ended, also when it goes on with a thread after a crash. What it says of the goal is a claim at most.
 */
import type { AgentEvent } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { within } from "./bounded.ts";
import type { Live } from "./live.ts";
import { isObject, textAt, type Json } from "./protocol.ts";

/** From the end of one of its turns to the beginning of the next; it takes milliseconds. */
export const GO_ON_LIMIT_MS = 10_000;
const CLEAR_LIMIT_MS = 2_000;
const UPDATED = "thread/goal/updated";
const ACTIVE = "active";

export interface Goal {
  /** Into a running turn: on an idle thread it would begin one without the prompt. */
  set(): void;
  /** It is set, or will not be: a model that answers before that could not say that it is reached. */
  readonly settled: Promise<void>;
  /** It begins another turn when this one ends. */
  isActive(): boolean;
  take(method: string, params: Json): AgentEvent[];
  /** That it was not taken, once. */
  told(): AgentEvent[];
  /** Whether it is known to have none any more. */
  clear(): Promise<boolean>;
}

interface About {
  live: Live;
  thread: string;
  objective: string;
}

export function goalOf({ live, thread, objective }: About): Goal {
  let status = "";
  let refusal: string | undefined;
  const settled = Promise.withResolvers<void>();

  function told(): AgentEvent[] {
    const why = refusal;
    refusal = undefined;
    return why === undefined ? [] : [{ type: "notice", text: `codex did not take the goal: ${brief(why)}` }];
  }

  return {
    told,
    settled: settled.promise,
    set() {
      // It is, once this is sent: a turn that ends meanwhile is gone on with.
      status = ACTIVE;
      setGoal(live, thread, objective)
        .catch((error: Error) => {
          status = "";
          refusal = error.message;
          live.nudge();
        })
        .finally(settled.resolve);
    },
    isActive: () => status === ACTIVE,
    take(method, params) {
      if (method !== UPDATED || params["threadId"] !== thread || !isObject(params["goal"])) return [];
      const before = status;
      status = textAt(params["goal"], "status");
      return status === before || status === ACTIVE
        ? []
        : [{ type: "notice", text: `codex says of its goal: ${status}` }];
    },
    clear: () => within(CLEAR_LIMIT_MS, clearGoal(live, thread)),
  };
}

const setGoal = (live: Live, threadId: string, objective: string): Promise<Json> =>
  live.request("thread/goal/set", { threadId, objective, status: ACTIVE, origin: "user" });

/** Also of a thread that is not open. */
export const clearGoal = (live: Live, threadId: string): Promise<Json> =>
  live.request("thread/goal/clear", { threadId, origin: "user" });
