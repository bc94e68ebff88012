/**
 * What Claude Code asks while it works: may it use a tool, which way to go. Policy answers at once; with `ask` the call
 * waits for a reply, outside of the turn's time limits, and is denied when the turn ends first.
 */
import type { CanUseTool, ElicitationResult, PermissionResult } from "@anthropic-ai/claude-agent-sdk";
import type { AgentEvent, Reply } from "../../ports.ts";
import type { AskSpec } from "../../spec.ts";
import { choicesOf, permissionText, QUESTION_TOOL } from "./ask-words.ts";

type Asked = Extract<AgentEvent, { type: "asked" }>;

/** Of the turn's uuid, as the beginning of its questions' ids. */
const QUESTION_PREFIX_CHARS = 8;
const TURN_OVER: Reply = { is: "deny", reason: "the turn is over" };
const deny = (message: string): PermissionResult => ({ behavior: "deny", message });

export interface Asks {
  /** For the SDK. Never rejects. */
  canUseTool: CanUseTool;
  /** For the SDK: forms of MCP servers are not filled in. */
  declineForm(serverName: string): ElicitationResult;
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

  function wait(about: Omit<Asked, "type" | "question">, signal: AbortSignal): Promise<Reply> {
    if (turn === undefined || signal.aborted) return Promise.resolve(TURN_OVER);
    turn.asked += 1;
    const question = `${turn.prefix}-${turn.asked}`;
    if (waiting.size === 0) since = performance.now();
    return new Promise((resolve) => {
      const settle = (reply: Reply): void => {
        signal.removeEventListener("abort", over);
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
      signal.addEventListener("abort", over, { once: true });
      tell({ type: "asked", question, ...about });
    });
  }

  async function permission(name: string, input: Record<string, unknown>, signal: AbortSignal) {
    const text = permissionText(name, input);
    if (policy.permissions !== "ask") {
      tell({ type: "notice", text: `denied by policy: ${text}` });
      return deny("Not allowed: pawl's policy denies what needs a permission, and nobody is asked. Find another way.");
    }
    const reply = await wait({ kind: "permission", text, options: ["allow", "deny"] }, signal);
    switch (reply.is) {
      case "allow":
        return { behavior: "allow", updatedInput: input } satisfies PermissionResult;
      case "deny":
        return deny(`Not allowed: ${reply.reason}`);
      case "text":
        return deny(`Not allowed. A person says: ${reply.text}`);
    }
  }

  /** One `asked` for each question of a call; the call needs all answers together. */
  async function question(input: Record<string, unknown>, signal: AbortSignal): Promise<PermissionResult> {
    const choices = policy.questions === "ask" ? choicesOf(input) : [];
    if (choices.length === 0) return deny("Nobody is asked: decide yourself, and say how you decided.");
    const replies = await Promise.all(
      choices.map(({ text, options }) => wait({ kind: "question", text, options }, signal)),
    );
    const refusals = replies.flatMap((reply) => (reply.is === "deny" ? [reply.reason] : []));
    if (refusals.length === replies.length) return deny(`No answer: ${refusals.join("; ")}. Decide yourself.`);
    const answers = choices.map(({ key }, at) => [key, answerOf(replies[at] ?? TURN_OVER)] as const);
    return { behavior: "allow", updatedInput: { ...input, answers: Object.fromEntries(answers) } };
  }

  return {
    canUseTool: async (name, input, { signal }) =>
      await (name === QUESTION_TOOL ? question(input, signal) : permission(name, input, signal)),
    declineForm(serverName) {
      tell({ type: "notice", text: `declined by policy: a form of the MCP server ${serverName}` });
      return { action: "decline" };
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

function answerOf(reply: Reply): string {
  switch (reply.is) {
    case "text":
      return reply.text;
    case "allow":
      return "Yes.";
    case "deny":
      return `No answer (${reply.reason}): decide yourself.`;
  }
}
