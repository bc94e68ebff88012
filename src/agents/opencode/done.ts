/**
 * The tool by which opencode says how its work stands: an MCP server that is a path of the gateway, so that it needs
 * neither a process nor another way through the fence. Its definition is in every request, so it is short.
 */
import type { TurnEnd } from "../../ports.ts";
import { isObject, objectAt, parsed, textAt, type Json } from "./json.ts";

type Call = NonNullable<TurnEnd["call"]>;

export const PAWL_SERVER = "pawl";
const TOOL = "done";
/** As opencode names the tools of servers. */
export const DONE_TOOL = `${PAWL_SERVER}_${TOOL}`;
export const DONE_PATH = "/pawl/mcp";

const STATUSES = ["done", "task", "abort"] as const;
const DEFINITION = {
  name: TOOL,
  description: "Claim how your work stands: done = the goal, task = the current task, abort = it cannot be done.",
  inputSchema: {
    type: "object",
    properties: { status: { type: "string", enum: STATUSES }, summary: { type: "string" } },
    required: ["status", "summary"],
  },
};
const NOTED = "Noted. It is a claim: pawl checks it.";
const WRONG = `Not noted: status is one of ${STATUSES.join(", ")}, summary a text.`;
const METHOD_NOT_FOUND = -32_601;

/** undefined: it is no such call. */
export function callOf(tool: string, input: unknown): Call | undefined {
  if (tool !== DONE_TOOL || !isObject(input)) return undefined;
  const is = STATUSES.find((word) => word === input["status"]);
  const text = input["summary"];
  return is === undefined || typeof text !== "string" ? undefined : { is, text };
}

/** What the server says to one request; streams are not offered. */
export function answerDone({ method, body }: { method: string; body: Buffer }): { status: number; body: string } {
  if (method !== "POST") return { status: 405, body: "" };
  const message = parsed(body.toString("utf8"));
  if (!isObject(message)) return { status: 400, body: "" };
  if (message["id"] === undefined) return { status: 202, body: "" };
  return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: message["id"], ...answerTo(message) }) };
}

function answerTo(message: Json): { result: object } | { error: object } {
  const params = objectAt(message, "params");
  switch (message["method"]) {
    case "initialize":
      return {
        result: {
          protocolVersion: textAt(params, "protocolVersion") || "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: PAWL_SERVER, version: "1" },
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: [DEFINITION] } };
    case "tools/call": {
      const isError = callOf(`${PAWL_SERVER}_${textAt(params, "name")}`, params["arguments"]) === undefined;
      return { result: { content: [{ type: "text", text: isError ? WRONG : NOTED }], isError } };
    }
    default:
      return { error: { code: METHOD_NOT_FOUND, message: "no such method" } };
  }
}
