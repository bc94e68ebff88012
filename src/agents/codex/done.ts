/** The tool by which Codex says how its work stands: one of the client's own, so that no server and no process is needed. */
import { callOf as callIn, DEFINITION, NOTED, TOOL, WRONG, type Call } from "../done-call.ts";
import type { Json } from "./protocol.ts";

export const DONE_TOOL: Json = {
  type: "function",
  ...DEFINITION,
  inputSchema: { ...DEFINITION.inputSchema, additionalProperties: false },
};

/** undefined: it is no such call. */
export const callOf = (tool: unknown, input: unknown): Call | undefined => (tool === TOOL ? callIn(input) : undefined);

export function answerToCall({ tool, arguments: input }: Json): Json {
  const success = callOf(tool, input) !== undefined;
  return { contentItems: [{ type: "inputText", text: success ? NOTED : WRONG }], success };
}
