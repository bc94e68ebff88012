/**
 * What opencode asks while it works: may it use a tool, which way to go. Policy answers at once; with `ask` it waits for
 * a reply, outside of the turn's time limits, and is denied when the turn ends first.
 */
import type { AgentEvent, Reply } from "../../ports.ts";
import type { AskSpec } from "../../spec.ts";
import { choicesOf, permissionText } from "./ask-words.ts";
import { textAt, type Json } from "./json.ts";
import type { Client } from "./sdk.ts";

type Asked = Extract<AgentEvent, { type: "asked" }>;

/** Of the turn's uuid, as the beginning of its questions' ids. */
const QUESTION_PREFIX_CHARS = 8;
const TURN_OVER: Reply = { is: "deny", reason: "the turn is over" };
const POLICY = "Not allowed: pawl's policy denies what needs a permission, and nobody is asked. Find another way.";
const DECIDE = "Nobody is asked: decide yourself, and say how you decided.";

export interface Asks {
  /** An event by which the server asks; it is answered there. False: it is none. */
  take(type: string, properties: Json, client: Client): boolean;
  /** A turn begins; `wake` is called when there is news. */
  begin(uuid: string, wake: () => void): void;
  /** What still waits is denied. Repeatable. */
  end(): void;
  /** The next event to tell, oldest first. */
  shift(): AgentEvent | undefined;
  isWaiting(): boolean;
  /** Of this turn, spent waiting for people so far; and when that last ended. Monotonic ms. */
  waited(): { ms: number; until: number };
  /** False when nobody waits for it. */
  reply(question: string, reply: Reply): boolean;
}

export function asks(policy: AskSpec): Asks {
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

  function wait(about: Omit<Asked, "type" | "question">): Promise<Reply> {
    if (turn === undefined) return Promise.resolve(TURN_OVER);
    turn.asked += 1;
    const question = `${turn.prefix}-${turn.asked}`;
    if (waiting.size === 0) since = performance.now();
    return new Promise((resolve) => {
      waiting.set(question, (reply) => {
        waiting.delete(question);
        if (waiting.size === 0) {
          until = performance.now();
          waitedMs += until - since;
        }
        turn?.wake();
        resolve(reply);
      });
      tell({ type: "asked", question, ...about });
    });
  }

  /** undefined: it may; else why not. */
  async function refusal(request: Json): Promise<string | undefined> {
    if (policy.permissions === "allow") return undefined;
    const text = permissionText(request);
    if (policy.permissions === "deny") {
      tell({ type: "notice", text: `denied by policy: ${text}` });
      return POLICY;
    }
    const reply = await wait({ kind: "permission", text, options: ["allow", "deny"] });
    switch (reply.is) {
      case "allow":
        return undefined;
      case "deny":
        return `Not allowed: ${reply.reason}`;
      case "text":
        return `Not allowed. A person says: ${reply.text}`;
    }
  }

  async function permission(request: Json, client: Client): Promise<void> {
    const message = await refusal(request);
    const requestID = textAt(request, "id");
    await client.permission.reply(
      message === undefined ? { requestID, reply: "once" } : { requestID, reply: "reject", message },
    );
  }

  async function question(request: Json, client: Client): Promise<void> {
    const choices = choicesOf(request);
    const replies =
      policy.questions === "ask"
        ? await Promise.all(choices.map(({ text, options }) => wait({ kind: "question", text, options })))
        : undefined;
    const answers = choices.map((_, at) => [replies === undefined ? DECIDE : wordsOf(replies[at] ?? TURN_OVER)]);
    await client.question.reply({ requestID: textAt(request, "id"), answers });
  }

  return {
    take(type, properties, client) {
      const answer = type === "permission.asked" ? permission : type === "question.asked" ? question : undefined;
      // It may be gone before it can be told.
      answer?.(properties, client).catch(() => undefined);
      return answer !== undefined;
    },
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

function wordsOf(reply: Reply): string {
  switch (reply.is) {
    case "text":
      return reply.text;
    case "allow":
      return "Yes.";
    case "deny":
      return `No answer (${reply.reason}): decide yourself.`;
  }
}
