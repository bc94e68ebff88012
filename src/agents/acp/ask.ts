/**
 * What an ACP agent asks while it works: may it use a tool, which way to go. Policy answers at once; with `ask` a person
 * is asked. The protocol has no place for the reason of a refusal, so it is said into the turn where the agent can hear.
 */
import { resolve, sep } from "node:path";
import type { Reply } from "../../ports.ts";
import type { AskSpec } from "../../spec.ts";
import { whyNot, wordsOf } from "../ask-words.ts";
import { TURN_OVER, type Waiting } from "../waiting.ts";
import { answersOf, choicesOf, permissionText } from "./ask-words.ts";
import { listAt, textAt, type Json } from "./json.ts";

/** For an agent to say whether it has heard. */
const EXPLAIN_LIMIT_MS = 2_000;
export const CANCELLED: Json = { outcome: { outcome: "cancelled" } };

export interface Asks {
  /** `tool`: the call as it is known so far. */
  permission(request: Json, tool: Json): Promise<Json>;
  form(request: Json): Promise<Json>;
  /** Why something was denied, since the last time: for an agent that stops at a refusal to be told what to do instead. */
  takeReasons(): Promise<string[]>;
}

interface About {
  policy: AskSpec;
  workspace: string;
  /** Nothing is allowed: the session only answers. */
  answersOnly: boolean;
  waiting: Waiting;
  /** Says it into the running turn, where the agent can hear. */
  explain: (text: string) => Promise<unknown>;
}

export function asks({ policy, workspace, answersOnly, waiting, explain }: About): Asks {
  let reasons: { why: string; explained: Promise<unknown> }[] = [];

  async function mayIt(tool: Json): Promise<Reply> {
    if (answersOnly) return { is: "deny", reason: "This session has no tools: answer from what you were told." };
    // Edits in the workspace are what a run is for, and every one can be undone.
    if (isEditInside(tool, workspace)) return { is: "allow" };
    return await waiting.permission(permissionText(tool), policy.permissions);
  }

  return {
    async permission(request, tool) {
      const reply = await mayIt(tool);
      if (reply === TURN_OVER) return CANCELLED;
      const wanted = reply.is === "allow" ? ["allow_once", "allow_always"] : ["reject_once", "reject_always"];
      const offered = listAt(request, "options");
      const [option] = wanted
        .map((kind) => offered.find((one) => one["kind"] === kind))
        .filter((one) => one !== undefined);
      if (reply.is !== "allow") {
        const why = whyNot(reply);
        // Once the refusal has left: what is said before it would be lost with the call.
        reasons.push({ why, explained: new Promise((resolve) => setImmediate(resolve)).then(() => explain(why)) });
      }
      if (option === undefined) return CANCELLED;
      return { outcome: { outcome: "selected", optionId: textAt(option, "optionId") } };
    },
    async takeReasons() {
      const taken = reasons;
      reasons = [];
      // What is still on its way would be heard twice.
      const late = new Promise((resolve) => setTimeout(resolve, EXPLAIN_LIMIT_MS).unref());
      await Promise.race([late, Promise.allSettled(taken.map(({ explained }) => explained))]);
      return taken.map(({ why }) => why);
    },
    async form(request) {
      const choices = policy.questions === "ask" && !answersOnly ? choicesOf(request) : [];
      if (choices.length === 0) return { action: "decline" };
      const replies = await Promise.all(
        choices.map(({ text, options }) => waiting.wait({ kind: "question", text, options })),
      );
      if (replies.every((reply) => reply.is === "deny"))
        return { action: replies.some((reply) => reply === TURN_OVER) ? "cancel" : "decline" };
      return { action: "accept", content: answersOf(choices, (at) => answerOf(replies[at])) };
    },
  };
}

/** undefined: the field stays empty. */
const answerOf = (reply: Reply | undefined): string | undefined =>
  reply === undefined || reply.is === "deny" ? undefined : wordsOf(reply);

function isEditInside(tool: Json, workspace: string): boolean {
  const paths = listAt(tool, "locations").map((one) => textAt(one, "path"));
  if (tool["kind"] !== "edit" || paths.length === 0) return false;
  return paths.every((path) => path !== "" && resolve(workspace, path).startsWith(workspace + sep));
}
