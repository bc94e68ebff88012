/** Questions of a running turn that wait for people, outside of its time limits; denied when the turn ends first. */
import type { AgentEvent, Reply } from "../ports.ts";
import type { AskSpec } from "../spec.ts";

type Asked = Extract<AgentEvent, { type: "asked" }>;

/** Of the turn's uuid, as the beginning of its questions' ids. */
const QUESTION_PREFIX_CHARS = 8;
export const TURN_OVER: Reply = { is: "deny", reason: "the turn is over" };

const DENIED: Reply = {
  is: "deny",
  reason: "pawl's policy denies what needs a permission, and nobody is asked. Find another way.",
};

export interface Waiting {
  /** A turn begins; `wake` is called when there is news. */
  begin(uuid: string, wake: () => void): void;
  /** What still waits is denied. Repeatable. */
  end(): void;
  tell(event: AgentEvent): void;
  /** Never rejects. Over, too, when `signal` says so. */
  wait(about: Omit<Asked, "type" | "question">, signal?: AbortSignal): Promise<Reply>;
  /** May it do this? By the rule, or a person. Never rejects. */
  permission(text: string, rule: AskSpec["permissions"], signal?: AbortSignal): Promise<Reply>;
  /** The next event to tell, oldest first. */
  shift(): AgentEvent | undefined;
  isWaiting(): boolean;
  /** Of this turn, spent waiting for people so far; and when that last ended. Monotonic ms. */
  waited(): { ms: number; until: number };
  /** False when nobody waits for it. */
  reply(question: string, reply: Reply): boolean;
}

export function waitingForPeople(): Waiting {
  const news: AgentEvent[] = [];
  const waiting = new Map<string, (reply: Reply) => void>();
  let turn: { prefix: string; wake: () => void; asked: number } | undefined;
  let waitedMs = 0;
  let since = 0;
  let until = 0;

  const tell = (event: AgentEvent): void => {
    news.push(event);
    turn?.wake();
  };

  function wait(about: Omit<Asked, "type" | "question">, signal?: AbortSignal): Promise<Reply> {
    if (turn === undefined || signal?.aborted === true) return Promise.resolve(TURN_OVER);
    turn.asked += 1;
    const question = `${turn.prefix}-${turn.asked}`;
    if (waiting.size === 0) since = performance.now();
    return new Promise((resolve) => {
      const settle = (reply: Reply): void => {
        signal?.removeEventListener("abort", over);
        waiting.delete(question);
        if (waiting.size === 0) {
          until = performance.now();
          waitedMs += until - since;
        }
        turn?.wake();
        resolve(reply);
      };
      const over = (): void => settle(TURN_OVER);
      waiting.set(question, settle);
      signal?.addEventListener("abort", over, { once: true });
      tell({ type: "asked", question, ...about });
    });
  }

  return {
    begin(uuid, wake) {
      turn = { prefix: uuid.slice(0, QUESTION_PREFIX_CHARS), wake, asked: 0 };
      waitedMs = 0;
      until = 0;
    },
    end() {
      turn = undefined;
      for (const settle of waiting.values()) settle(TURN_OVER);
      news.length = 0;
    },
    tell,
    wait,
    permission(text, rule, signal) {
      switch (rule) {
        case "allow":
          return Promise.resolve({ is: "allow" });
        case "ask":
          return wait({ kind: "permission", text, options: ["allow", "deny"] }, signal);
        case "deny":
          tell({ type: "notice", text: `denied by policy: ${text}` });
          return Promise.resolve(DENIED);
      }
    },
    shift: () => news.shift(),
    isWaiting: () => waiting.size > 0,
    waited: () => ({ ms: waitedMs, until }),
    reply(id, reply) {
      const settle = waiting.get(id);
      settle?.(reply);
      return settle !== undefined;
    },
  };
}
