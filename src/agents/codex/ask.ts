/**
 * What Codex asks while it works: may it run a command, which way to go. Policy answers at once; with `ask` it waits
 * for a reply, outside of the turn's time limits, and is denied when the turn ends first.
 */
import { resolve, sep } from "node:path";
import type { AskSpec } from "../../spec.ts";
import { DECIDE, whyNot, wordsOf } from "../ask-words.ts";
import { TURN_OVER, type Waiting } from "../waiting.ts";
import { answersOf, choicesOf, isToolApproval, permissionText } from "./ask-words.ts";
import { answerToCall } from "./done.ts";
import { isObject, textAt, type Item, type Json } from "./protocol.ts";

export interface Asks {
  /**
   * The result for the program; undefined: pawl does not know such a request. Never rejects. `explain` puts words into
   * the running turn: a refusal has no place for a reason.
   */
  answer(asked: Question, explain: (text: string) => Promise<void>): Promise<Json | undefined>;
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
  waiting: Waiting;
}

export function asks({ policy, workspace, waiting }: About): Asks {
  async function mayIt({ params, item }: Question, explain: (text: string) => Promise<void>): Promise<boolean> {
    // Edits in the workspace are what a run is for, and every one can be undone.
    if (item?.type === "fileChange" && isInside(item, workspace)) return true;
    const reply = await waiting.permission(permissionText(params, item), policy.permissions);
    if (reply.is !== "allow" && reply !== TURN_OVER) await explain(whyNot(reply));
    return reply.is === "allow";
  }

  async function answers(params: Json): Promise<Json> {
    const choices = choicesOf(params);
    if (policy.questions !== "ask") return answersOf(choices, () => DECIDE);
    const replies = await Promise.all(
      choices.map(({ text, options }) => waiting.wait({ kind: "question", text, options })),
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
          waiting.tell({
            type: "notice",
            text: `declined by policy: a form of the MCP server ${textAt(question.params, "serverName")}`,
          });
          return { action: "decline", content: null, _meta: null };
        }
        default:
          return undefined;
      }
    },
  };
}

function isInside({ changes = [] }: Item, workspace: string): boolean {
  return changes.length > 0 && changes.every(({ path }) => resolve(workspace, path).startsWith(workspace + sep));
}
