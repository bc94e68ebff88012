/**
 * What is said between pawl and a running Claude Code: JSON, a message a line, with requests in both directions. The
 * Agent SDK speaks the same; pawl does it itself, so that a `claude` in the PATH is all that a run needs.
 */
import { randomUUID } from "node:crypto";
import type { SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { lines } from "../lines.ts";
import type { Piped } from "../piped.ts";
import type { Asks } from "./ask.ts";
import { answerOfServer } from "./done.ts";
import { shortResults } from "./short-results.ts";

/** Messages that wait for a reader before the program is made to wait. What tools returned is short in each. */
const MAX_WAITING = 128;

export interface Protocol {
  say(message: SDKUserMessage): void;
  /** Rejects when the program refuses it, or is gone before it has answered. */
  request(request: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** How many of the messages nobody has taken yet. */
  waiting(messages: number): void;
}

interface Parts {
  asks: Asks;
  onMessage: (message: SDKMessage) => void;
  /** Its output is over. */
  onEnd: () => void;
}

type Json = Record<string, unknown>;

interface Line extends Json {
  type: string;
  request_id?: string;
  request?: Json;
  response?: { subtype?: string; request_id?: string; response?: unknown; error?: unknown };
}

export function protocol({ stdin, stdout, exited }: Piped, { asks, onMessage, onEnd }: Parts): Protocol {
  /** Requests of ours, by their names. */
  const open = new Map<string, { resolve(answer: unknown): void; reject(error: Error): void }>();
  /** Requests of the program that are being answered. */
  const asked = new Map<string, AbortController>();
  const output = stdout.pipe(shortResults());

  const send = (line: object): void => void stdin.write(`${JSON.stringify(line)}\n`);

  function take(text: string): void {
    const line = parsed(text);
    switch (line?.type) {
      case undefined:
      case "keep_alive":
        return;
      case "control_response":
        return answered(line?.response ?? {});
      case "control_request":
        return void answer(line?.request_id ?? "", line?.request ?? {});
      case "control_cancel_request":
        return asked.get(line?.request_id ?? "")?.abort();
      default:
        onMessage(line as unknown as SDKMessage);
    }
  }

  function answered({ subtype, request_id: id = "", response, error }: NonNullable<Line["response"]>): void {
    const waiting = open.get(id);
    open.delete(id);
    if (subtype === "error") waiting?.reject(new Error(String(error)));
    else waiting?.resolve(response);
  }

  async function answer(id: string, request: Json): Promise<void> {
    if (asked.has(id)) return;
    const cancel = new AbortController();
    asked.set(id, cancel);
    const reply = await answerTo(request, { asks, signal: cancel.signal }).then(
      (response) => ({ subtype: "success", response }),
      (error: unknown) => ({ subtype: "error", error: error instanceof Error ? error.message : String(error) }),
    );
    asked.delete(id);
    send({ type: "control_response", response: { request_id: id, ...reply } });
  }

  const reader = lines(take);
  output.on("data", (chunk: Buffer) => reader.take(chunk));
  output.on("end", () => {
    reader.end();
    onEnd();
  });
  void exited.then((how) => {
    for (const request of open.values()) request.reject(new Error(`Claude Code ended (${how})`));
    open.clear();
  });

  return {
    // No `@file` in it is expanded and no `/command` is run: a prompt is what pawl composed.
    say: (message) => send({ ...message, client_composed: true }),
    async request(request) {
      const id = randomUUID();
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      open.set(id, { resolve, reject });
      send({ type: "control_request", request_id: id, request });
      return await promise;
    },
    waiting(messages) {
      if (messages >= MAX_WAITING) output.pause();
      else if (output.isPaused()) output.resume();
    },
  };
}

/** Rejects for what nobody here can answer. */
async function answerTo(request: Json, { asks, signal }: { asks: Asks; signal: AbortSignal }): Promise<unknown> {
  switch (request["subtype"]) {
    case "can_use_tool": {
      const { tool_name: name, input, tool_use_id: toolUseID } = request;
      return { ...(await asks.canUseTool(String(name), isObject(input) ? input : {}, signal)), toolUseID };
    }
    case "elicitation":
      return asks.declineForm(String(request["mcp_server_name"]));
    case "mcp_message":
      return { mcp_response: answerOfServer(request["server_name"], request["message"]) };
    default:
      throw new Error(`pawl does not answer ${String(request["subtype"])}`);
  }
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** undefined: it is none. */
function parsed(line: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value["type"] === "string" ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}
