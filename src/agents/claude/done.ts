/**
 * The tool by which Claude Code says how its work stands. Its MCP server runs inside this process and is made by hand:
 * one fixed tool needs neither a schema library nor a process, and its definition is in every request, so it is short.
 */
import type { McpSdkServerConfigWithInstance } from "@anthropic-ai/claude-agent-sdk";
import type { TurnEnd } from "../../ports.ts";

type Call = NonNullable<TurnEnd["call"]>;

export const PAWL_SERVER = "pawl";
const TOOL = "done";
export const DONE_TOOL = `mcp__${PAWL_SERVER}__${TOOL}`;

const STATUSES = ["done", "task", "abort"] as const;
const DEFINITION = {
  name: TOOL,
  description: "Claim how your work stands: done = the goal, task = the current task, abort = it cannot be done.",
  inputSchema: {
    type: "object",
    properties: { status: { type: "string", enum: STATUSES }, summary: { type: "string" } },
    required: ["status", "summary"],
  },
  annotations: { readOnlyHint: true },
  // Never behind a search for tools.
  _meta: { "anthropic/alwaysLoad": true },
};
const NOTED = "Noted. It is a claim: pawl checks it.";
const WRONG = `Not noted: status is one of ${STATUSES.join(", ")}, summary a text.`;
const METHOD_NOT_FOUND = -32_601;

interface Message {
  id?: string | number;
  method?: string;
  params?: { protocolVersion?: string; name?: string; arguments?: unknown };
}
/** As far as the SDK's side of it is used here. */
interface Transport {
  send(message: object): Promise<void>;
}

export function doneServer(): McpSdkServerConfigWithInstance {
  const instance = {
    connect(transport: Transport): Promise<void> {
      const onmessage = (message: Message): void => {
        if (message.id === undefined || message.method === undefined) return;
        void transport.send({ jsonrpc: "2.0", id: message.id, ...answerTo(message) });
      };
      Object.assign(transport, { onmessage });
      return Promise.resolve();
    },
    close: (): Promise<void> => Promise.resolve(),
  };
  // The SDK connects it to its own transport and asks no more of it.
  return {
    type: "sdk",
    name: PAWL_SERVER,
    instance: instance as unknown as McpSdkServerConfigWithInstance["instance"],
  };
}

function answerTo({ method, params }: Message): { result: object } | { error: object } {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: params?.protocolVersion ?? "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: PAWL_SERVER, version: "1" },
        },
      };
    case "ping":
      return { result: {} };
    case "tools/list":
      return { result: { tools: [DEFINITION] } };
    case "tools/call": {
      const isError = params?.name !== TOOL || callOf(params.arguments) === undefined;
      return { result: { content: [{ type: "text", text: isError ? WRONG : NOTED }], isError } };
    }
    default:
      return { error: { code: METHOD_NOT_FOUND, message: `no ${method}` } };
  }
}

function callOf(input: unknown): Call | undefined {
  if (typeof input !== "object" || input === null) return undefined;
  const { status, summary } = input as { status?: unknown; summary?: unknown };
  const is = STATUSES.find((word) => word === status);
  return is === undefined || typeof summary !== "string" ? undefined : { is, text: summary };
}

export interface DoneCalls {
  /** A tool call of the main conversation; others are passed over. */
  start(id: string, name: string, input: unknown): void;
  /** Its result: only what the server took counts. */
  end(id: string, ok: boolean): void;
  /** The last that counts. */
  last(): Call | null;
}

/** Calls of one message run side by side: the order is that of the calls, not of their results. */
export function doneCalls(): DoneCalls {
  const open = new Map<string, { n: number; call: Call }>();
  let started = 0;
  let last: { n: number; call: Call } | undefined;
  return {
    start(id, name, input) {
      const call = name === DONE_TOOL ? callOf(input) : undefined;
      if (call === undefined || open.has(id)) return;
      started += 1;
      open.set(id, { n: started, call });
    },
    end(id, ok) {
      const one = open.get(id);
      open.delete(id);
      if (one !== undefined && ok && one.n > (last?.n ?? 0)) last = one;
    },
    last: () => last?.call ?? null,
  };
}
