/**
 * The tool by which Claude Code says how its work stands. Its MCP server runs inside this process and is made by hand:
 * one fixed tool needs neither a schema library nor a process.
 */
import { answerTo, callOf, PAWL_SERVER, TOOL, type Call } from "../done-call.ts";

export const DONE_TOOL = `mcp__${PAWL_SERVER}__${TOOL}`;

/** Of the tool's definition. */
const MORE = {
  annotations: { readOnlyHint: true },
  // Never behind a search for tools.
  _meta: { "anthropic/alwaysLoad": true },
};

interface Message {
  id?: string | number;
  method?: string;
  params?: { protocolVersion?: string; name?: string; arguments?: unknown };
}

/** What is no request gets this. */
const HEARD = { jsonrpc: "2.0", id: 0, result: {} };

/** What pawl's server says to a message for it. Throws for another server's. */
export function answerOfServer(server: unknown, message: unknown): object {
  if (server !== PAWL_SERVER) throw new Error(`there is no MCP server ${String(server)} here`);
  const { id, method, params = {} } = (message ?? {}) as Message;
  if (id === undefined || method === undefined) return HEARD;
  return { jsonrpc: "2.0", id, ...answerTo({ method, params, more: MORE }) };
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
