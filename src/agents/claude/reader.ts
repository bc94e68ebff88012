/**
 * Folds the messages of Claude Code's stream into a turn's events. It only reads: no time, no process, no decision
 * beyond what a message says.
 */
import type { SDKAssistantMessageError, SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { AgentEvent, TurnEnd } from "../../ports.ts";
import { doneCalls } from "./done.ts";
import type { Meter } from "../api-meter.ts";
import { sumOf } from "../api-meter.ts";
import type { ResultSignal } from "./outcome.ts";

const MAX_TOOL_OUTPUT_CHARS = 16_384;

/** A block of a message as far as it is read here; both sides' content has this shape. */
interface Block {
  type: string;
  text?: string;
  thinking?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  is_error?: boolean;
  content?: unknown;
}

/** Cumulative over a whole process, so a turn is a difference. */
export interface Totals {
  usd: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** `usd` holds requests to a model that the program has no price for. */
  guessed?: true;
}

interface TurnView {
  /** The program has read the prompt: an idle from now on is the end of this turn. */
  heard: boolean;
  /** The prompt is part of the conversation. */
  begun: boolean;
  idle: boolean;
  /** A request is out and the model has not begun to answer it. */
  unanswered: boolean;
  result: ResultSignal | undefined;
  totals: Totals | undefined;
  error: SDKAssistantMessageError | undefined;
  rejected: { resetAt: number | undefined } | undefined;
  finalText: string;
  /** Last entry of the conversation, where a rewind would go back to. */
  messageId: string | null;
  contextTokens: number | null;
  /** Of a session that only answers. */
  answer: unknown;
}

export interface TurnReader {
  readonly view: Readonly<TurnView>;
  /** How the agent said its work stands, by the last call that counts. */
  call(): TurnEnd["call"];
  take(message: SDKMessage): AgentEvent[];
  /**
   * A message will be said into the turn; `delivered` follows once it is part of a request. False when the turn is
   * ending and must not be given more.
   */
  expect(uuid: string, directive: string): boolean;
  /** From now on nothing more is expected. */
  refuse(): void;
  /** Uuids of what was said and not yet delivered. */
  undelivered(): string[];
}

interface About {
  uuid: string;
  meter: Meter;
  /** Hears which Claude Code it is; what people should know of that, if anything. */
  onVersion?: (version: string) => string | undefined;
}

export function turnReader({ uuid, meter, onVersion }: About): TurnReader {
  const view: TurnView = {
    heard: false,
    begun: false,
    idle: false,
    unanswered: false,
    result: undefined,
    totals: undefined,
    error: undefined,
    rejected: undefined,
    finalText: "",
    messageId: null,
    contextTokens: null,
    answer: undefined,
  };
  /** Directives by the uuid of their message; the flag: the program has put it into the conversation. */
  const said = new Map<string, { directive: string; taken: boolean }>();
  const calls = doneCalls();
  let opened = false;
  let ending = false;
  let mainId = "";
  let assistantUuid = "";
  /** The answer to the last request has begun, by which the request is counted. */
  let answered = false;
  const streams = new Map<string, { id: string; model: string }>();

  const usageEvent = (): AgentEvent => ({ type: "usage", usage: meter.usage() });

  /** A request came to nothing; one whose answer broke off has been counted when that began. */
  function refused(): void {
    if (!answered) meter.bareRequest();
    answered = false;
    view.unanswered = false;
  }

  function takeReplay(id: string): void {
    if (id === uuid) view.begun = view.heard = true;
    const entry = said.get(id);
    if (entry !== undefined) entry.taken = true;
  }

  function request(): AgentEvent[] {
    const events: AgentEvent[] = [{ type: "request" }];
    for (const [id, { directive, taken }] of said) {
      if (!taken) continue;
      said.delete(id);
      events.push({ type: "delivered", directive });
    }
    return events;
  }

  function takeStream(message: Extract<SDKMessage, { type: "stream_event" }>): AgentEvent[] {
    const parent = message.parent_tool_use_id ?? "";
    const { event } = message;
    if (event.type === "message_start") {
      const { id, model, usage } = event.message;
      streams.set(parent, { id, model });
      meter.message(id, model, usage);
      // It goes on, so what looked like the end was none.
      if (parent === "") {
        answered = true;
        view.unanswered = false;
        view.result = undefined;
        assistantUuid = "";
      }
      return [...(parent === "" ? request() : []), usageEvent()];
    }
    const stream = streams.get(parent);
    if (stream === undefined) return [];
    if (event.type === "message_delta") {
      meter.message(stream.id, stream.model, event.usage);
      const tokens = parent === "" ? meter.of(stream.id) : undefined;
      if (tokens !== undefined) view.contextTokens = sumOf(tokens);
      return [usageEvent()];
    }
    if (event.type === "message_stop" && parent === "" && assistantUuid !== "") {
      return [{ type: "message", id: assistantUuid }];
    }
    return [];
  }

  function takeAssistant(message: Extract<SDKMessage, { type: "assistant" }>): AgentEvent[] {
    const main = message.parent_tool_use_id === null;
    const { id, model, usage } = message.message;
    if (message.error !== undefined) {
      view.error = message.error;
      refused();
      return [];
    }
    meter.message(id, model, usage);
    if (main) {
      view.error = undefined;
      view.messageId = message.uuid;
      assistantUuid = message.uuid;
      if (mainId !== id) view.finalText = "";
      mainId = id;
    }
    return blocksOf(message.message.content).flatMap((block): AgentEvent[] => {
      if (block.type === "tool_use" && block.id !== undefined && block.name !== undefined) {
        meter.tool(block.id, block.name);
        if (main) calls.start(block.id, block.name, block.input);
        return [{ type: "tool-start", id: block.id, name: block.name, input: block.input }, usageEvent()];
      }
      if (!main) return [];
      if (block.type === "text" && block.text !== undefined) {
        view.finalText += block.text;
        return [{ type: "text", text: block.text }];
      }
      if (block.type === "thinking" && block.thinking) return [{ type: "thinking", text: block.thinking }];
      return [];
    });
  }

  function takeUser(message: Extract<SDKMessage, { type: "user" }>): AgentEvent[] {
    if ("isReplay" in message && message.isReplay) {
      takeReplay(message.uuid);
      return [];
    }
    if (message.parent_tool_use_id === null && message.uuid !== undefined) view.messageId = message.uuid;
    return blocksOf(message.message.content).flatMap((block): AgentEvent[] => {
      if (block.type !== "tool_result" || block.tool_use_id === undefined) return [];
      calls.end(block.tool_use_id, block.is_error !== true);
      const output = textOf(block.content).slice(0, MAX_TOOL_OUTPUT_CHARS);
      return [{ type: "tool-end", id: block.tool_use_id, ok: block.is_error !== true, output }];
    });
  }

  /** Newer than the types. A prompt that is interrupted before it starts is told by nothing else. */
  function takeLifecycle(message: { type: string; command_uuid?: string }): void {
    if (message.type === "command_lifecycle" && message.command_uuid === uuid) view.heard = true;
  }

  function versionNotice({ claude_code_version: version }: { claude_code_version?: string }): AgentEvent[] {
    const text = onVersion?.(version ?? "");
    return text === undefined ? [] : [{ type: "notice", text }];
  }

  function takeSystem(message: Extract<SDKMessage, { type: "system" }>): AgentEvent[] {
    switch (message.subtype) {
      case "init":
        // Also told again before the answer to something said.
        if (opened) return [];
        opened = true;
        return [{ type: "session-opened", ref: message.session_id, model: message.model }, ...versionNotice(message)];
      case "status":
        if (message.status === "requesting") {
          view.unanswered = true;
          answered = false;
        }
        // Newer than the types: which of our messages are in the request that is being made.
        for (const id of (message as { user_message_uuids?: string[] }).user_message_uuids ?? []) takeReplay(id);
        return [];
      case "session_state_changed":
        view.idle = view.heard && message.state === "idle";
        return [];
      case "api_retry":
        refused();
        return [
          {
            type: "retry",
            attempt: message.attempt,
            delayMs: message.retry_delay_ms,
            status: message.error_status,
          },
          usageEvent(),
        ];
      case "compact_boundary":
        return [{ type: "notice", text: "the agent compacted its conversation" }];
      case "session_writes_lost":
        return [{ type: "notice", text: `the agent could not save its conversation: ${message.error_code}` }];
      default:
        return [];
    }
  }

  return {
    view,
    call: () => calls.last(),
    take(message) {
      switch (message.type) {
        case "stream_event":
          return takeStream(message);
        case "assistant":
          return takeAssistant(message);
        case "user":
          return takeUser(message);
        case "system":
          return takeSystem(message);
        case "rate_limit_event": {
          const { status, resetsAt } = message.rate_limit_info;
          view.rejected =
            status === "rejected" ? { resetAt: resetsAt === undefined ? undefined : resetsAt * 1000 } : undefined;
          return [];
        }
        case "result": {
          const usages = Object.values(message.modelUsage);
          const sum = (pick: (usage: (typeof usages)[number]) => number): number =>
            usages.reduce((total, usage) => total + pick(usage), 0);
          view.totals = {
            usd: message.total_cost_usd,
            inputTokens: sum((usage) => usage.inputTokens),
            outputTokens: sum((usage) => usage.outputTokens),
            cacheReadTokens: sum((usage) => usage.cacheReadInputTokens),
            cacheWriteTokens: sum((usage) => usage.cacheCreationInputTokens),
            ...(usages.some(({ costBasis }) => costBasis === "unknown") ? { guessed: true } : {}),
          };
          view.result = message;
          if (message.subtype === "success") view.answer = message.structured_output;
          view.heard = true;
          return [];
        }
        default:
          takeLifecycle(message);
          return [];
      }
    },
    expect(id, directive) {
      if (ending) return false;
      said.set(id, { directive, taken: false });
      return true;
    },
    refuse() {
      ending = true;
    },
    undelivered: () => [...said.keys()],
  };
}

function blocksOf(content: unknown): Block[] {
  return Array.isArray(content) ? (content as Block[]) : [];
}

/** Text of a tool's result; pictures and the like are named only. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return blocksOf(content)
    .map((block) => (block.type === "text" ? (block.text ?? "") : `[${block.type}]`))
    .join("\n");
}
