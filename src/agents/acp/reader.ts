/** From an ACP agent's updates of one turn to an agent's events, and what is known of the turn meanwhile. */
import type { AgentEvent } from "../../ports.ts";
import { countAt, objectAt, textAt, type Json } from "./json.ts";
import type { Meter } from "./meter.ts";
import { boundedText, type TurnRecord } from "./record.ts";
import { inputOf, isEmptyInput, merged, nameOf, outputOf, printedOf } from "./tools.ts";

/** A block that is longer is told in parts. */
const MAX_BLOCK_CHARS = 256 * 1024;
const FINAL = new Set(["completed", "failed"]);

interface Tool {
  call: Json;
  /** What a command printed so far, where it is sent in pieces. */
  printed: string;
  is: "new" | "started" | "ended";
}

export interface TurnView {
  finalText: string;
  contextTokens: number | null;
  /** Dollars that the session has cost, as the agent says. */
  costUsd: number | undefined;
}

export interface TurnReader {
  readonly view: Readonly<TurnView>;
  take(update: Json): AgentEvent[];
  /** The model has begun to answer a request. */
  answering(): AgentEvent[];
  /** What the turn cost so far, also for the record. */
  usage(): AgentEvent;
  /** What was told in parts is complete. */
  flush(): AgentEvent[];
  /** As far as it was told. */
  tool(id: string): Json;
}

interface About {
  uuid: string;
  meter: Meter;
  record: TurnRecord;
  /** Every request is seen; otherwise its answer is the only sign of one. */
  isSeen: boolean;
}

export function turnReader({ uuid, meter, record, isSeen }: About): TurnReader {
  const view: TurnView = { finalText: "", contextTokens: null, costUsd: undefined };
  const tools = new Map<string, Tool>();
  let block: { is: "text" | "thinking"; message: string; text: string } | undefined;
  let lastMessage = "";
  /** A request was made that the model has not begun to answer, as far as can be told. */
  let asked = true;
  /** Something of an answer was told, and not yet that the message is complete. */
  let unfinished = false;

  function usageEvent(): AgentEvent {
    const usage = meter.usage();
    record.write({ at: "usage", usage });
    return { type: "usage", usage };
  }

  function answering(): AgentEvent[] {
    asked = false;
    return [...finishMessage(), { type: "request" }];
  }

  /** A sign of the model where its requests cannot be seen. */
  function sign(): AgentEvent[] {
    if (isSeen || !asked) return [];
    asked = false;
    meter.request();
    const usage = meter.usage();
    record.write({ at: "request", usage });
    return [{ type: "request" }, { type: "usage", usage }];
  }

  function flushBlock(): AgentEvent[] {
    if (block === undefined || block.text === "") return [];
    const { is, text } = block;
    block = { ...block, text: "" };
    return [{ type: is, text }];
  }

  function finishMessage(): AgentEvent[] {
    const events = flushBlock();
    block = undefined;
    if (!unfinished) return events;
    unfinished = false;
    return [...events, { type: "message", id: lastMessage || uuid }];
  }

  function takeChunk(is: "text" | "thinking", { content, messageId }: Json): AgentEvent[] {
    const text = textAt(objectAt({ content }, "content"), "text");
    const message = typeof messageId === "string" ? messageId : (block?.message ?? "");
    const before = sign();
    if (block !== undefined && block.message !== message) {
      before.push(...finishMessage());
      view.finalText = "";
    }
    if (block !== undefined && block.is !== is) before.push(...flushBlock());
    if (message !== lastMessage && is === "text") view.finalText = "";
    if (is === "text") {
      lastMessage = message;
      view.finalText = boundedText(view.finalText + text);
    }
    unfinished = true;
    block = { is, message, text: (block?.is === is ? block.text : "") + text };
    return [...before, ...(block.text.length > MAX_BLOCK_CHARS ? flushBlock() : [])];
  }

  function begin(id: string, tool: Tool): AgentEvent[] {
    if (tool.is !== "new") return [];
    tool.is = "started";
    const name = nameOf(tool.call);
    meter.tool(id, name);
    record.write({ at: "tool", name });
    view.finalText = "";
    return [...finishMessage(), { type: "tool-start", id, name, input: inputOf(tool.call) }, usageEvent()];
  }

  function takeTool(update: Json): AgentEvent[] {
    const id = textAt(update, "toolCallId");
    if (id === "") return [];
    const known = tools.get(id);
    const tool: Tool = known ?? { call: {}, printed: "", is: "new" };
    tool.printed = printedOf(tool.printed, update);
    tool.call = merged(tool.call, update);
    tools.set(id, tool);
    if (tool.is === "ended") return [];
    unfinished = unfinished || tool.is === "new";
    const before = sign();
    const status = textAt(tool.call, "status");
    // Some tell of a call before they know what it is called with.
    if (tool.is === "new" && isEmptyInput(tool.call)) {
      if (status === "" || status === "pending") return before;
      // It was in an answer that broke off: nobody called it.
      if (known !== undefined && status === "failed") {
        tool.is = "ended";
        return before;
      }
    }
    const started = begin(id, tool);
    if (!FINAL.has(status)) return [...before, ...started];
    tool.is = "ended";
    asked = true;
    return [
      ...before,
      ...started,
      { type: "tool-end", id, ok: status === "completed", output: outputOf(tool.call, tool.printed) },
    ];
  }

  function takeUsage(update: Json): AgentEvent[] {
    view.contextTokens = countAt(update, "used") || view.contextTokens;
    const cost = objectAt(update, "cost");
    if (cost["currency"] === "USD" && typeof cost["amount"] === "number") view.costUsd = cost["amount"];
    return [];
  }

  return {
    view,
    answering,
    usage: usageEvent,
    take(update) {
      switch (update["sessionUpdate"]) {
        case "agent_message_chunk":
          return takeChunk("text", update);
        case "agent_thought_chunk":
          return takeChunk("thinking", update);
        case "tool_call":
        case "tool_call_update":
          return takeTool(update);
        case "usage_update":
          return takeUsage(update);
        case "compaction_update":
          return update["status"] === "completed"
            ? [{ type: "notice", text: "the agent compacted its conversation" }]
            : [];
        case "notice":
          return [{ type: "notice", text: `${textAt(update, "title")} ${textAt(update, "description")}`.trim() }];
        default:
          return [];
      }
    },
    // A call that was told of and never begun was in an answer that broke off.
    flush: () => [...finishMessage(), usageEvent()],
    tool: (id) => tools.get(id)?.call ?? {},
  };
}
