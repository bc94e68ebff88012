/** From what the app-server says of one turn to an agent's events, and what is known of the turn meanwhile. */
import type { AgentEvent, TurnEnd } from "../../ports.ts";
import { callOf } from "./done.ts";
import { resultOf, toolOf } from "./items.ts";
import type { Meter } from "./meter.ts";
import { statusIn } from "./outcome.ts";
import { isObject, textAt, type Item, type Json, type TokenBreakdown, type TurnError } from "./protocol.ts";

export interface TurnView {
  /** Codex's own name of the turn; undefined until it is told. */
  turn: string | undefined;
  /** The prompt is in the conversation. */
  begun: boolean;
  /** How the turn ended; undefined while it runs. */
  status: string | undefined;
  /** It has ended, and Codex will begin another one by itself. */
  between: boolean;
  error: TurnError | undefined;
  finalText: string;
  call: TurnEnd["call"];
  contextTokens: number | null;
}

export interface TurnReader {
  readonly view: Readonly<TurnView>;
  take(method: string, params: Json): AgentEvent[];
  /** The answer to the request that started it. */
  started(turn: string): void;
  /** The turn that has ended is not the last. */
  goOn(): AgentEvent[];
  /** Something will be said under this id. False when the turn is ending. */
  expect(id: string, directive: string): boolean;
  /** It was not taken. */
  forget(id: string): void;
  /** What the program took into the conversation and the model has not begun to answer, with its directives. */
  unanswered(): [id: string, directive: string][];
  /** Nothing is said into it any more. */
  refuse(): void;
  /** What a question of the program is about. */
  item(id: string): Item | undefined;
}

export const USAGE_TOLD = "thread/tokenUsage/updated";

/** Of a note that tells usage: all tokens of the thread so far. */
export function threadTokens({ tokenUsage }: Json): number | undefined {
  const total = isObject(tokenUsage) && isObject(tokenUsage["total"]) ? tokenUsage["total"] : {};
  const { totalTokens } = total;
  return typeof totalTokens === "number" ? totalTokens : undefined;
}

interface About {
  uuid: string;
  ref: string;
  thread: string;
  /** That gave the n-th response of this turn; without a number: that is asked. */
  model: (response?: number) => string;
  meter: Meter;
  requests: () => number;
  /** Whether so many tokens of the thread were not told before. */
  isNews: (tokens: number) => boolean;
  /** Warnings that were told already; shared by the turns of a session. */
  told: Set<string>;
}

export function turnReader({ uuid, ref, thread, model, meter, requests, isNews, told }: About): TurnReader {
  const view: TurnView = {
    turn: undefined,
    begun: false,
    status: undefined,
    between: false,
    error: undefined,
    finalText: "",
    call: null,
    contextTokens: null,
  };
  const said = new Map<string, { directive: string; taken: boolean }>();
  const items = new Map<string, Item>();
  let opened = false;
  let ending = false;
  /** A request was made that the model has not begun to answer. */
  let asked = true;
  let acknowledged = true;
  /** A request for a summary of the conversation: it answers nothing that was said. */
  let compacting = false;
  let retries = 0;

  const usageEvent = (): AgentEvent => ({ type: "usage", usage: meter.usage(requests()) });

  /** The model has shown that it answers. */
  function answering(): AgentEvent[] {
    if (!asked || compacting || !view.begun) return [];
    asked = false;
    acknowledged = false;
    view.finalText = "";
    const events: AgentEvent[] = [{ type: "request" }];
    for (const [id, { directive, taken }] of said) {
      if (!taken) continue;
      said.delete(id);
      events.push({ type: "delivered", directive });
    }
    return events;
  }

  function message(): AgentEvent[] {
    if (acknowledged) return [];
    acknowledged = true;
    return [{ type: "message", id: view.turn ?? "" }];
  }

  function takeUserMessage({ clientId }: Item): void {
    if (clientId === uuid) view.begun = true;
    const entry = said.get(clientId ?? "");
    if (entry !== undefined) entry.taken = true;
  }

  function begin(item: Item): AgentEvent[] {
    if (item.type === "userMessage") {
      takeUserMessage(item);
      return [];
    }
    if (item.type === "contextCompaction") compacting = true;
    const tool = toolOf(item);
    if (tool === undefined) return item.type === "agentMessage" || item.type === "reasoning" ? answering() : [];
    if (items.has(item.id)) return [];
    items.set(item.id, item);
    meter.tool(item.id, tool.name);
    return [...answering(), ...message(), { type: "tool-start", id: item.id, ...tool }, usageEvent()];
  }

  function finish(item: Item): AgentEvent[] {
    switch (item.type) {
      case "userMessage":
        takeUserMessage(item);
        return [];
      case "agentMessage": {
        const before = answering();
        const text = item.text ?? "";
        view.finalText += text;
        return [...before, { type: "text", text }, ...message()];
      }
      case "reasoning": {
        const content = Array.isArray(item.content) ? item.content : [];
        const text = [...(item.summary ?? []), ...content].join("\n").trim();
        return text === "" ? answering() : [...answering(), { type: "thinking", text }];
      }
      case "contextCompaction":
        compacting = false;
        return [{ type: "notice", text: "the agent compacted its conversation" }];
      default: {
        if (toolOf(item) === undefined) return [];
        const before = begin(item);
        const result = resultOf(item);
        const call = item.type === "dynamicToolCall" && result.ok ? callOf(item.tool, item.arguments) : undefined;
        if (call !== undefined) view.call = call;
        return [...before, { type: "tool-end", id: item.id, ...result }];
      }
    }
  }

  function takeUsage(params: Json): AgentEvent[] {
    const { tokenUsage, turnId } = params;
    const total = threadTokens(params);
    if (!isObject(tokenUsage) || total === undefined) return [];
    // Of a turn before this one it is told late, and then again as if it were of this one.
    const isNew = isNews(total);
    if (turnId !== view.turn) return [];
    const last = tokenUsage["last"] as TokenBreakdown;
    view.contextTokens = last.totalTokens;
    // What is told before another request has left is an old sum, too.
    if (!isNew || meter.responses() >= requests()) return [];
    const before = answering();
    meter.response(`${total}`, model(meter.responses()), {
      input: last.inputTokens,
      cached: last.cachedInputTokens,
      cacheWrite: last.cacheWriteInputTokens ?? 0,
      output: last.outputTokens,
    });
    if (compacting) return [usageEvent()];
    asked = true;
    return [...before, ...message(), usageEvent()];
  }

  function takeError({ error, willRetry }: Json): AgentEvent[] {
    if (willRetry !== true) {
      view.error = error as TurnError;
      return [];
    }
    retries += 1;
    const { codexErrorInfo } = error as TurnError;
    return [{ type: "retry", attempt: retries, delayMs: 0, status: statusIn(codexErrorInfo) ?? null }];
  }

  function notice(text: string): AgentEvent[] {
    if (text === "" || told.has(text)) return [];
    told.add(text);
    return [{ type: "notice", text }];
  }

  return {
    view,
    take(method, params) {
      // Of another thread, or of a turn before this one: what that left may end when this one has not got its name yet.
      if (params["threadId"] !== undefined && params["threadId"] !== thread) return [];
      const { turnId } = params;
      if (typeof turnId === "string" && turnId !== view.turn && method !== USAGE_TOLD) return [];
      const item = isObject(params["item"]) ? (params["item"] as unknown as Item) : undefined;
      switch (method) {
        case "turn/started":
          if (view.between) {
            view.turn = textAt(params["turn"] as Json, "id");
            view.status = undefined;
            view.between = false;
          }
          view.turn ??= textAt(params["turn"] as Json, "id");
          if (opened) return [];
          opened = true;
          return [{ type: "session-opened", ref, model: model() === "" ? null : model() }];
        case "item/started":
          return item === undefined ? [] : begin(item);
        case "item/completed":
          return item === undefined ? [] : finish(item);
        case USAGE_TOLD:
          return takeUsage(params);
        case "error":
          return takeError(params);
        case "warning":
        case "configWarning":
          return notice(textAt(params, "message") || textAt(params, "summary"));
        case "model/rerouted":
          return notice(`the model was changed by the provider: ${textAt(params, "toModel")}`);
        case "turn/completed": {
          const turn = params["turn"] as Json;
          if (turn["id"] !== view.turn) return [];
          view.status = textAt(turn, "status");
          if (isObject(turn["error"])) view.error = turn["error"] as unknown as TurnError;
          return [];
        }
        default:
          return [];
      }
    },
    started: (turn) => void (view.turn ??= turn),
    goOn() {
      view.between = true;
      return [{ type: "notice", text: "codex goes on with its goal by itself" }];
    },
    expect(id, directive) {
      if (ending || view.turn === undefined) return false;
      said.set(id, { directive, taken: false });
      return true;
    },
    forget: (id) => void said.delete(id),
    unanswered: () => [...said].flatMap(([id, { directive, taken }]) => (taken ? [[id, directive]] : [])),
    refuse: () => void (ending = true),
    item: (id) => items.get(id),
  };
}
