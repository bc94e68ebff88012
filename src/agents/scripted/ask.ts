/** What a scripted turn asks of a person, or of policy, and who waits for the answer. */
import type { AgentEvent, Reply } from "../../ports.ts";
import type { AskSpec } from "../../spec.ts";
import type { Stage } from "./stage.ts";

const TURN_OVER: Reply = { is: "deny", reason: "the turn is over" };

/** A question unless it says otherwise. */
export interface AskedAbout {
  kind?: Extract<AgentEvent, { type: "asked" }>["kind"];
  options?: readonly string[];
}

export interface Asking {
  ask(text: string, about?: AskedAbout): Promise<Reply>;
  /** False when nobody waits for it. */
  reply(question: string, reply: Reply): boolean;
}

/** `prefix` makes the ids of questions unique over the run. */
export function asking({ prefix, policy, on }: { prefix: string; policy: AskSpec; on: Stage }): Asking {
  const waiting = new Map<string, (reply: Reply) => void>();
  let asked = 0;
  return {
    ask(text, { kind = "question", options = kind === "permission" ? ["allow", "deny"] : [] } = {}) {
      const rule = kind === "permission" ? policy.permissions : policy.questions;
      if (rule === "allow") return Promise.resolve({ is: "allow" });
      if (rule === "deny") {
        on.emit({ type: "notice", text: `denied by policy: ${text}` });
        return Promise.resolve({ is: "deny", reason: "denied by policy" });
      }
      if (on.signal.aborted) return Promise.resolve(TURN_OVER);
      asked += 1;
      const question = `${prefix}-${asked}`;
      const release = on.hold();
      return new Promise((resolve) => {
        const settle = (reply: Reply): void => {
          waiting.delete(question);
          on.signal.removeEventListener("abort", over);
          release();
          resolve(reply);
        };
        const over = (): void => settle(TURN_OVER);
        waiting.set(question, settle);
        on.signal.addEventListener("abort", over, { once: true });
        on.emit({ type: "asked", question, kind, text, options: [...options] });
      });
    },
    reply(question, reply) {
      const settle = waiting.get(question);
      settle?.(reply);
      return settle !== undefined;
    },
  };
}
