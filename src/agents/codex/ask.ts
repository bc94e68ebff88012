/**
 * What Codex asks while it works: may it run a command, which way to go. Policy answers at once; with `ask` it waits
 * for a reply, outside of the turn's time limits, and is denied when the turn ends first.
 */
import { resolve, sep } from "node:path";
import type { AgentEvent, Reply } from "../../ports.ts";
import type { AskSpec } from "../../spec.ts";
import { answersOf, choicesOf, isToolApproval, permissionText } from "./ask-words.ts";
import { answerToCall } from "./done.ts";
import { isObject, textAt, type Item, type Json } from "./protocol.ts";

type Asked = Extract<AgentEvent, { type: "asked" }>;

/** Of the turn's uuid, as the beginning of its questions' ids. */
const QUESTION_PREFIX_CHARS = 8;
const TURN_OVER: Reply = { is: "deny", reason: "the turn is over" };
const POLICY = "Not allowed: pawl's policy denies what needs a permission, and nobody is asked. Find another way.";
const DECIDE = "Nobody is asked: decide yourself, and say how you decided.";

export interface Asks {
  /**
   * The result for the program; undefined: pawl does not know such a request. Never rejects. `explain` puts words into
   * the running turn: a refusal has no place for a reason.
   */
  answer(asked: Question, explain: (text: string) => Promise<void>): Promise<Json | undefined>;
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

interface Question {
  method: string;
  params: Json;
  /** What it is about, as far as it was told. */
  item: Item | undefined;
}

interface About {
  policy: AskSpec;
  workspace: string;
}

export function asks({ policy, workspace }: About): Asks {
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

  async function mayIt({ params, item }: Question, explain: (text: string) => Promise<void>): Promise<boolean> {
    // Edits in the workspace are what a run is for, and every one can be undone.
    if (item?.type === "fileChange" && isInside(item, workspace)) return true;
    const text = permissionText(params, item);
    if (policy.permissions !== "ask") {
      if (policy.permissions === "allow") return true;
      tell({ type: "notice", text: `denied by policy: ${text}` });
      await explain(POLICY);
      return false;
    }
    const reply = await wait({ kind: "permission", text, options: ["allow", "deny"] });
    switch (reply.is) {
      case "allow":
        return true;
      case "deny":
        if (reply !== TURN_OVER) await explain(`Not allowed: ${reply.reason}`);
        return false;
      case "text":
        await explain(`Not allowed. A person says: ${reply.text}`);
        return false;
    }
  }

  async function answers(params: Json): Promise<Json> {
    const choices = choicesOf(params);
    if (policy.questions !== "ask") return answersOf(choices, () => DECIDE);
    const replies = await Promise.all(
      choices.map(({ text, options }) => wait({ kind: "question", text, options: [...options] })),
    );
    return answersOf(choices, (at) => wordsOf(replies[at] ?? TURN_OVER));
  }

  return {
    async answer(question, explain) {
      switch (question.method) {
        case "item/commandExecution/requestApproval":
        case "item/fileChange/requestApproval":
          return { decision: (await mayIt(question, explain)) ? "accept" : "decline" };
        case "item/permissions/requestApproval": {
          const granted = (await mayIt(question, explain)) && isObject(question.params["permissions"]);
          return { permissions: granted ? question.params["permissions"] : {}, scope: "turn" };
        }
        case "item/tool/requestUserInput":
          return await answers(question.params);
        case "item/tool/call":
          return answerToCall(question.params);
        case "mcpServer/elicitation/request": {
          // A tool of such a server asks in the form of a form.
          if (isToolApproval(question.params)) {
            const action = (await mayIt(question, explain)) ? "accept" : "decline";
            return { action, content: {}, _meta: null };
          }
          tell({
            type: "notice",
            text: `declined by policy: a form of the MCP server ${textAt(question.params, "serverName")}`,
          });
          return { action: "decline", content: null, _meta: null };
        }
        default:
          return undefined;
      }
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

function isInside({ changes = [] }: Item, workspace: string): boolean {
  return changes.length > 0 && changes.every(({ path }) => resolve(workspace, path).startsWith(workspace + sep));
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
