/** The tool by which an agent says how its work stands, and its MCP server: the same for every agent that can have one. */
import type { TurnEnd } from "../ports.ts";

export type Call = NonNullable<TurnEnd["call"]>;

export const PAWL_SERVER = "pawl";
export const TOOL = "done";
const STATUSES = ["done", "task", "abort"] as const;
/** It is in every request, so it is short. */
export const DEFINITION = {
  name: TOOL,
  description: "Claim how your work stands: done = the goal, task = the current task, abort = it cannot be done.",
  inputSchema: {
    type: "object",
    properties: { status: { type: "string", enum: STATUSES }, summary: { type: "string" } },
    required: ["status", "summary"],
  },
};
export const NOTED = "Noted. It is a claim: pawl checks it.";
export const WRONG = `Not noted: status is one of ${STATUSES.join(", ")}, summary a text.`;
const METHOD_NOT_FOUND = -32_601;
const PROTOCOL = "2025-06-18";

/** undefined: it says nothing that counts. */
export function callOf(input: unknown): Call | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const { status, summary } = input as { status?: unknown; summary?: unknown };
  const is = STATUSES.find((word) => word === status);
  return is === undefined || typeof summary !== "string" ? undefined : { is, text: summary };
}

interface Asked {
  method: string;
  params: { protocolVersion?: unknown; name?: unknown; arguments?: unknown };
  /** What the tool's definition has beside, for one agent. */
  more?: object;
}

/** What the server says to a request. */
export function answerTo({ method, params, more = {} }: Asked): { result: object } | { error: object } {
  switch (method) {
    case "initialize": {
      const { protocolVersion: asked } = params;
      return {
        result: {
          protocolVersion: typeof asked === "string" && asked !== "" ? asked : PROTOCOL,
          capabilities: { tools: {} },
          serverInfo: { name: PAWL_SERVER, version: "1" },
        },
      };
    }
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: [{ ...DEFINITION, ...more }] } };
    case "tools/call": {
      const isError = params.name !== TOOL || callOf(params.arguments) === undefined;
      return { result: { content: [{ type: "text", text: isError ? WRONG : NOTED }], isError } };
    }
    default:
      return { error: { code: METHOD_NOT_FOUND, message: `no ${method}` } };
  }
}
