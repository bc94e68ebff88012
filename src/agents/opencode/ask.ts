/**
 * What opencode asks while it works: may it use a tool, which way to go. Policy answers at once; with `ask` it waits for
 * a reply, outside of the turn's time limits, and is denied when the turn ends first.
 */
import type { AskSpec } from "../../spec.ts";
import { DECIDE, whyNot, wordsOf } from "../ask-words.ts";
import { TURN_OVER, type Waiting } from "../waiting.ts";
import { choicesOf, permissionText } from "./ask-words.ts";
import { textAt, type Json } from "./json.ts";
import type { Client } from "./sdk.ts";

export interface Asks {
  /** An event by which the server asks; it is answered there. False: it is none. */
  take(type: string, properties: Json, client: Client): boolean;
}

export function asks({ policy, waiting }: { policy: AskSpec; waiting: Waiting }): Asks {
  async function permission(request: Json, client: Client): Promise<void> {
    const reply = await waiting.permission(permissionText(request), policy.permissions);
    const requestID = textAt(request, "id");
    await client.permission.reply(
      reply.is === "allow" ? { requestID, reply: "once" } : { requestID, reply: "reject", message: whyNot(reply) },
    );
  }

  async function question(request: Json, client: Client): Promise<void> {
    const choices = choicesOf(request);
    const replies =
      policy.questions === "ask"
        ? await Promise.all(choices.map(({ text, options }) => waiting.wait({ kind: "question", text, options })))
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
  };
}
