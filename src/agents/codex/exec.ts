/**
 * Codex without its app-server: one `codex exec --json` per turn, told in the app-server's words so that everything
 * else stays the same. For a program whose app-server does not start; nothing can be said into a turn.
 */
import { afterReading } from "../../platform/clock.ts";
import { lines } from "../lines.ts";
import type { Live } from "./live.ts";
import type { Piped } from "../piped.ts";
import { isObject, textAt, type CodexWake, type Json } from "./protocol.ts";
import { wakes } from "../wakes.ts";
import { lookUp } from "../../platform/look-up.ts";

/** How long the stream may still deliver after the process has exited. */
const EXIT_DRAIN_MS = 300;
const TYPES: Readonly<Record<string, string>> = {
  agent_message: "agentMessage",
  reasoning: "reasoning",
  command_execution: "commandExecution",
  file_change: "fileChange",
  mcp_tool_call: "mcpToolCall",
  web_search: "webSearch",
};

interface About {
  /** Starts the program for one turn; the prompt goes to its standard input. */
  start: (turn: Json) => Promise<Piped>;
  onThread: (thread: string) => void;
}

export function execLive({ start, onThread }: About): Live {
  const inbox = wakes<CodexWake>();
  let current: Piped | undefined;
  let ended = false;

  const note = (method: string, params: Json): void => inbox.put({ is: "note", method, params });

  async function run(params: Json): Promise<void> {
    const uuid = textAt(params, "clientUserMessageId");
    const turn = { id: uuid };
    const process = await start(params);
    current = process;
    let over = false;
    const complete = (status: string, error?: Json): void => {
      if (over) return;
      over = true;
      note("turn/completed", { turn: { ...turn, status, error } });
    };
    const reader = lines((line) => {
      const event = parsed(line);
      const type = textAt(event, "type");
      if (type === "thread.started") onThread(textAt(event, "thread_id"));
      if (type === "turn.started") {
        note("turn/started", { turn });
        note("item/completed", { item: { type: "userMessage", id: uuid, clientId: uuid } });
      }
      if (type === "item.started" || type === "item.completed")
        note(type.replace(".", "/"), { item: itemOf(event["item"]) });
      if (type === "turn.completed") complete("completed");
      if (type === "turn.failed") {
        const error = isObject(event["error"]) ? event["error"] : {};
        complete("failed", { message: textAt(error, "message"), codexErrorInfo: null });
      }
    });
    process.stdout.on("data", (chunk: Buffer) => reader.take(chunk));
    inbox.put({ is: "answered", result: { turn } });
    const how = await process.exited;
    await new Promise<void>((resolve) => afterReading(EXIT_DRAIN_MS, resolve));
    if (over) return;
    over = true;
    inbox.put({ is: "ended", why: `Codex ended (${how}): ${process.lastWords()}` });
  }

  return {
    isDead: () => ended,
    async request(method) {
      // What it started in the background ends with it.
      if (method === "turn/interrupt" || method === "thread/backgroundTerminals/clean") await current?.end();
      else throw new Error("codex exec cannot be spoken to");
      return {};
    },
    notify: () => undefined,
    respond: () => undefined,
    refuse: () => undefined,
    listen: () => inbox.clear(),
    unlisten: () => inbox.clear(),
    ask(_, params) {
      run(params).catch((error: Error) => inbox.put({ is: "refused", message: error.message }));
    },
    next: (options) => inbox.next(options),
    nudge: () => inbox.nudge(),
    limits: () => current?.limits() ?? [],
    async end() {
      ended = true;
      await current?.end();
    },
  };
}

function itemOf(item: unknown): Json {
  if (!isObject(item)) return { type: "", id: "" };
  const { type, text, aggregated_output: aggregatedOutput, exit_code: exitCode, ...rest } = item;
  return {
    ...rest,
    type: lookUp(TYPES, String(type)) ?? "",
    ...(type === "reasoning" ? { summary: [text] } : { text }),
    aggregatedOutput,
    exitCode,
  };
}

function parsed(line: string): Json {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
