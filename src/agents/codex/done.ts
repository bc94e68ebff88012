/** The tool by which Codex says how its work stands: one of the client's own, so that no server and no process is needed. */
import type { TurnEnd } from "../../ports.ts";
import { isObject, type Json } from "./protocol.ts";

type Call = NonNullable<TurnEnd["call"]>;

const TOOL = "done";
const STATUSES = ["done", "task", "abort"] as const;
export const DONE_TOOL: Json = {
  type: "function",
  name: TOOL,
  description: "Claim how your work stands: done = the goal, task = the current task, abort = it cannot be done.",
  inputSchema: {
    type: "object",
    properties: { status: { type: "string", enum: STATUSES }, summary: { type: "string" } },
    required: ["status", "summary"],
    additionalProperties: false,
  },
};
const NOTED = "Noted. It is a claim: pawl checks it.";
const WRONG = `Not noted: status is one of ${STATUSES.join(", ")}, summary a text.`;

/** undefined: it is no such call. */
export function callOf(tool: unknown, input: unknown): Call | undefined {
  if (tool !== TOOL || !isObject(input)) return undefined;
  const is = STATUSES.find((word) => word === input["status"]);
  const text = input["summary"];
  return is === undefined || typeof text !== "string" ? undefined : { is, text };
}

export function answerToCall({ tool, arguments: input }: Json): Json {
  const success = callOf(tool, input) !== undefined;
  return { contentItems: [{ type: "inputText", text: success ? NOTED : WRONG }], success };
}
