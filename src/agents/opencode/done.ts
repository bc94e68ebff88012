/**
 * The tool by which opencode says how its work stands: an MCP server that is a path of the gateway, so that it needs
 * neither a process nor another way through the fence.
 */
import { answerTo, callOf as callIn, PAWL_SERVER, TOOL, type Call } from "../done-call.ts";
import { isObject, objectAt, parsed, textAt } from "./json.ts";

/** As opencode names the tools of servers. */
export const DONE_TOOL = `${PAWL_SERVER}_${TOOL}`;
export const DONE_PATH = "/pawl/mcp";

/** undefined: it is no such call. */
export const callOf = (tool: string, input: unknown): Call | undefined =>
  tool === DONE_TOOL ? callIn(input) : undefined;

/** What the server says to one request; streams are not offered. */
export function answerDone({ method, body }: { method: string; body: Buffer }): { status: number; body: string } {
  if (method !== "POST") return { status: 405, body: "" };
  const message = parsed(body.toString("utf8"));
  if (!isObject(message)) return { status: 400, body: "" };
  if (message["id"] === undefined) return { status: 202, body: "" };
  const answer = answerTo({ method: textAt(message, "method"), params: objectAt(message, "params") });
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: message["id"], ...answer }) };
}
