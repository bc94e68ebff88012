/**
 * What Claude Code asks while it works: may it use a tool, which way to go. Policy answers at once; with `ask` the call
 * waits for a reply, outside of the turn's time limits, and is denied when the turn ends first.
 */
import type { ElicitationResult, PermissionResult } from "@anthropic-ai/claude-agent-sdk";
import type { AskSpec } from "../../spec.ts";
import { DECIDE, whyNot, wordsOf } from "../ask-words.ts";
import { TURN_OVER, type Waiting } from "../waiting.ts";
import { choicesOf, permissionText, QUESTION_TOOL } from "./ask-words.ts";

const deny = (message: string): PermissionResult => ({ behavior: "deny", message });

export interface Asks {
  /** Never rejects. */
  canUseTool(name: string, input: Record<string, unknown>, signal: AbortSignal): Promise<PermissionResult>;
  /** Forms of MCP servers are not filled in. */
  declineForm(serverName: string): ElicitationResult;
}

export function asks({ policy, waiting }: { policy: AskSpec; waiting: Waiting }): Asks {
  async function permission(name: string, input: Record<string, unknown>, signal: AbortSignal) {
    const text = permissionText(name, input);
    const reply = await waiting.permission(text, policy.permissions === "ask" ? "ask" : "deny", signal);
    if (reply.is !== "allow") return deny(whyNot(reply));
    return { behavior: "allow", updatedInput: input } satisfies PermissionResult;
  }

  /** One `asked` for each question of a call; the call needs all answers together. */
  async function question(input: Record<string, unknown>, signal: AbortSignal): Promise<PermissionResult> {
    const choices = policy.questions === "ask" ? choicesOf(input) : [];
    if (choices.length === 0) return deny(DECIDE);
    const replies = await Promise.all(
      choices.map(({ text, options }) => waiting.wait({ kind: "question", text, options }, signal)),
    );
    const refusals = replies.flatMap((reply) => (reply.is === "deny" ? [reply.reason] : []));
    if (refusals.length === replies.length) return deny(`No answer: ${refusals.join("; ")}. Decide yourself.`);
    const answers = choices.map(({ key }, at) => [key, wordsOf(replies[at] ?? TURN_OVER)] as const);
    return { behavior: "allow", updatedInput: { ...input, answers: Object.fromEntries(answers) } };
  }

  return {
    canUseTool: async (name, input, signal) =>
      await (name === QUESTION_TOOL ? question(input, signal) : permission(name, input, signal)),
    declineForm(serverName) {
      waiting.tell({ type: "notice", text: `declined by policy: a form of the MCP server ${serverName}` });
      return { action: "decline" };
    },
  };
}
