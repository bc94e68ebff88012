/** From what the server says of one turn to an agent's events, and what is known of the turn meanwhile. It only reads. */
import type { AgentEvent, TurnEnd } from "../../ports.ts";
import { callOf } from "./done.ts";
import { isObject, listAt, numberAt, objectAt, textAt, type Json } from "./json.ts";
import { contextOf, type Meter } from "./meter.ts";

const MAX_TOOL_OUTPUT_CHARS = 16_384;
/** Marks a prompt of pawl's in opencode's record: the turn's uuid, and what was said into it `<uuid>/<n>`. */
export const MARK = "pawl";
/** How a message of the model ends when the turn is not over. */
const GOES_ON = ["tool-calls", "unknown"];

/** A message with which a turn ends: an answer, or one in a form, which is given by a tool. */
export function isFinish(info: Json): boolean {
  const finish = textAt(info, "finish");
  return info["structured"] !== undefined || (finish !== "" && !GOES_ON.includes(finish));
}

interface TurnView {
  /** The prompt is in the conversation. */
  begun: boolean;
  /** The server has come to rest after the last message that was seen. */
  idle: boolean;
  /** The last message of the model is whole, and an answer. */
  finished: boolean;
  error: Json | undefined;
  finalText: string;
  call: TurnEnd["call"];
  answer: unknown;
  messageId: string | null;
  contextTokens: number | null;
  /** While it waits to ask a model again. */
  retry: { attempt: number; next: number; message: string } | undefined;
}

export interface TurnReader {
  readonly view: Readonly<TurnView>;
  take(type: string, properties: Json): AgentEvent[];
  /** It is of this conversation or one of its subagents'. */
  isOurs(properties: Json): boolean;
  /** A prompt was answered with the last message; whether that is none of this turn: the model was never asked. */
  isNothing(data: unknown): boolean;
  /** The same, once its events do not come. */
  answered(data: unknown): AgentEvent[];
  /** What a prompt was refused with. */
  refused(error: Json): void;
  /** Something will be said under this mark. False when the turn is ending. */
  expect(mark: string, directive: string): boolean;
  /** Nothing is said into it any more. */
  refuse(): void;
}

interface About {
  uuid: string;
  ref: string;
  session: string;
  model: string | undefined;
  meter: Meter;
  requests: () => number;
  /** Of the model's last answer, as far as somebody saw it. */
  status: () => number | null;
}

interface Message {
  model: string;
  parent: string;
  main: boolean;
  /** The conversation's own summary: no answer. */
  summary: boolean;
  whole: boolean;
}

export function turnReader({ uuid, ref, session, model, meter, requests, status }: About): TurnReader {
  const view: TurnView = {
    begun: false,
    idle: false,
    finished: false,
    error: undefined,
    finalText: "",
    call: null,
    answer: undefined,
    messageId: null,
    contextTokens: null,
    retry: undefined,
  };
  /** This one and those of its subagents. */
  const sessions = new Set([session]);
  const messages = new Map<string, Message>();
  /** Ids of messages and parts that were told as far as they can be. */
  const told = new Set<string>();
  const begunTools = new Set<string>();
  const said = new Map<string, { directive: string; message: string | undefined }>();
  let current = "";
  /** The prompt's message; ids grow with time, and what is older is of another turn. */
  let prompt: string | undefined;
  let opened = false;
  let ending = false;

  const usageEvent = (): AgentEvent => ({ type: "usage", usage: meter.usage(requests()) });
  const once = (id: string): boolean => !told.has(id) && told.add(id) !== undefined;

  function open(): AgentEvent[] {
    if (opened) return [];
    opened = true;
    return [{ type: "session-opened", ref, model: model ?? null }];
  }

  /** The model has begun to answer: all that was said up to the prompt that it answers is in the request. */
  function begin({ parent }: Message): AgentEvent[] {
    const events: AgentEvent[] = [{ type: "request" }];
    for (const [mark, { directive, message }] of said) {
      if (message === undefined || message > parent) continue;
      said.delete(mark);
      events.push({ type: "delivered", directive });
    }
    return events;
  }

  function takeMessage(info: Json): AgentEvent[] {
    const id = textAt(info, "id");
    if (info["role"] !== "assistant" || prompt === undefined || id <= prompt) return [];
    const main = textAt(info, "sessionID") === session;
    const known = messages.get(id);
    const message = known ?? {
      model: textAt(info, "modelID"),
      parent: textAt(info, "parentID"),
      main,
      summary: info["summary"] === true,
      whole: false,
    };
    messages.set(id, message);
    if (!main) return [];
    if (id > current) {
      current = id;
      view.idle = false;
      view.finished = false;
      // It goes on, so what went wrong before was got over.
      view.error = undefined;
      view.messageId = id;
      if (!message.summary) view.finalText = "";
    }
    if (id === current && isObject(info["error"])) view.error = info["error"];
    if (numberAt(objectAt(info, "time"), "completed") === 0) return [];
    if (id === current) view.finished = !message.summary && isFinish(info);
    if (info["structured"] !== undefined) view.answer = info["structured"];
    if (message.whole) return [];
    message.whole = true;
    return isObject(info["error"]) ? [] : tellMessage(id);
  }

  /** Whole for opencode is it only after its tools have run; what calls them was said before. */
  const tellMessage = (id: string): AgentEvent[] => (once(id) ? [{ type: "message", id }] : []);

  function takeTool(part: Json, message: Message): AgentEvent[] {
    const id = textAt(part, "callID");
    const name = textAt(part, "tool");
    const state = objectAt(part, "state");
    const { status, input } = state;
    const child = textAt(objectAt(state, "metadata"), "sessionId");
    if (child !== "") sessions.add(child);
    if (status === "pending") return [];
    const events: AgentEvent[] = [];
    if (!begunTools.has(id)) {
      begunTools.add(id);
      meter.tool(id, name);
      if (message.main) events.push(...tellMessage(textAt(part, "messageID")));
      events.push({ type: "tool-start", id, name, input }, usageEvent());
    }
    if (status === "running" || !once(textAt(part, "id"))) return events;
    const ok = status === "completed";
    const output = textAt(state, ok ? "output" : "error").slice(0, MAX_TOOL_OUTPUT_CHARS);
    const call = ok && message.main ? callOf(name, input) : undefined;
    if (call !== undefined) view.call = call;
    return [...events, { type: "tool-end", id, ok, output }];
  }

  function takePart(part: Json): AgentEvent[] {
    const messageId = textAt(part, "messageID");
    const mark = textAt(objectAt(part, "metadata"), MARK);
    if (part["type"] === "text" && mark !== "") {
      const entry = said.get(mark);
      if (entry !== undefined) entry.message = messageId;
      if (mark !== uuid) return [];
      view.begun = true;
      prompt = messageId;
      return open();
    }
    const message = messages.get(messageId);
    if (message === undefined) return [];
    const id = textAt(part, "id");
    switch (part["type"]) {
      case "step-start":
        if (message.main) view.retry = undefined;
        if (!message.main || !once(id)) return [];
        // A message is one request: what it holds already is of a try that broke off.
        if (messageId === current) view.finalText = "";
        return begin(message);
      case "text":
      case "reasoning": {
        if (!message.main || message.summary || numberAt(objectAt(part, "time"), "end") === 0 || !once(id)) return [];
        const text = textAt(part, "text");
        if (text === "") return [];
        if (part["type"] === "reasoning") return [{ type: "thinking", text }];
        if (messageId === current) view.finalText += text;
        return [{ type: "text", text }];
      }
      case "tool":
        return takeTool(part, message);
      case "step-finish":
        if (!once(id)) return [];
        meter.response(message.model, part);
        if (message.main && !message.summary) view.contextTokens = contextOf(part);
        return [usageEvent()];
      default:
        return [];
    }
  }

  function takeStatus(now: Json): AgentEvent[] {
    view.idle = now["type"] === "idle" && (messages.get(current)?.whole ?? view.error !== undefined);
    if (now["type"] === "busy") view.retry = undefined;
    if (now["type"] !== "retry") return [];
    const [attempt, next] = [numberAt(now, "attempt"), numberAt(now, "next")];
    view.retry = { attempt, next, message: textAt(now, "message") };
    return [
      ...open(),
      { type: "retry", attempt, delayMs: Math.max(0, Math.ceil(next - Date.now())), status: status() },
    ];
  }

  return {
    view,
    take(type, properties) {
      const info = objectAt(properties, "info");
      const parent = textAt(info, "parentID");
      if (type === "session.created" && sessions.has(parent)) sessions.add(textAt(info, "id"));
      const from = textAt(properties, "sessionID");
      if (!sessions.has(from)) return [];
      const main = from === session;
      switch (type) {
        case "message.updated":
          return takeMessage(info);
        case "message.part.updated":
          return takePart(objectAt(properties, "part"));
        case "session.status":
          return main ? takeStatus(objectAt(properties, "status")) : [];
        case "session.error":
          if (main && isObject(properties["error"])) view.error = properties["error"];
          return [];
        case "session.compacted":
          return main ? [{ type: "notice", text: "the agent compacted its conversation" }] : [];
        default:
          return [];
      }
    },
    isOurs: (properties) => sessions.has(textAt(properties, "sessionID")),
    isNothing: (data) => prompt !== undefined && textAt(objectAt(data, "info"), "id") <= prompt,
    answered(data) {
      const info = objectAt(data, "info");
      return [...takeMessage({ ...info, time: {} }), ...listAt(data, "parts").flatMap(takePart), ...takeMessage(info)];
    },
    refused(error) {
      view.error ??= error;
      view.idle = true;
    },
    expect(mark, directive) {
      if (ending || !view.begun) return false;
      said.set(mark, { directive, message: undefined });
      return true;
    },
    refuse: () => void (ending = true),
  };
}
