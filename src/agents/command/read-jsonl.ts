/** A program that prints one JSON object a line: an entry's rules say what each line means. */
import type { AgentEvent } from "../../ports.ts";
import type { OutputRule } from "../../spec/command-agent.ts";
import type { Counted, Meter } from "./meter.ts";
import { at, countAt, holds, numberAt, textAt, timeAt, wordsAt } from "./paths.ts";
import { newView, MAX_FINAL_CHARS, shortened, tooLong, type OutputReader, type PrintedError } from "./view.ts";
import { lookUp } from "../../platform/look-up.ts";

const MAX_INPUT_CHARS = 64 * 1024;

interface Parts {
  rules: readonly OutputRule[];
  meter: Meter;
}

export function jsonlReader({ rules, meter }: Parts): OutputReader {
  const view = newView();
  let pieces = "";
  /** Whose words the final text is: those of another message replace it. */
  let speaker: string | undefined;
  /** The model has answered since the turn began or a tool ended; a call is an answer, too. */
  let answered = false;

  const flush = (): AgentEvent[] => {
    const text = pieces;
    pieces = "";
    return text === "" ? [] : say(text);
  };
  const say = (text: string): AgentEvent[] => {
    const before = speaker !== undefined && speaker === view.messageId ? view.finalText : "";
    view.finalText = (before + text).slice(-MAX_FINAL_CHARS);
    speaker = view.messageId;
    // It got over what went wrong before.
    view.error = undefined;
    return [{ type: "text", text: shortened(text) }];
  };

  function* apply(rule: OutputRule, value: unknown): Generator<AgentEvent> {
    view.session = textAt(value, rule.session) ?? view.session;
    view.model = textAt(value, rule.model) ?? view.model;
    const message = textAt(value, rule.message);
    const text = textAt(value, rule.text);
    if (text !== undefined && rule.piece === true) {
      pieces += text;
      return;
    }
    if (message !== undefined && message !== view.messageId) {
      yield* flush();
      view.messageId = message;
      answered = true;
      yield { type: "message", id: message };
    }
    if (text !== undefined) yield* flush().concat(say(text));
    const thinking = textAt(value, rule.thinking);
    if (thinking !== undefined) yield { type: "thinking", text: shortened(thinking) };
    yield* tools(rule, value);
    if (rule.usage !== undefined) count(rule.usage, value);
    yield* ending(rule, value);
  }

  function* tools({ tool, result }: OutputRule, value: unknown): Generator<AgentEvent> {
    const id = textAt(value, tool?.id);
    if (tool !== undefined && id !== undefined) {
      const name = textAt(value, tool.name) ?? "tool";
      if (meter.tool(id, name)) {
        yield* flush();
        if (!answered) yield { type: "message", id };
        answered = true;
        yield { type: "tool-start", id, name, input: bounded(tool.input === undefined ? null : at(value, tool.input)) };
      }
    }
    const of = textAt(value, result?.id);
    if (result === undefined || of === undefined) return;
    const failed = typeof result.failed === "string" ? at(value, result.failed) === true : result.failed === true;
    answered = false;
    yield { type: "tool-end", id: of, ok: !failed, output: shortened(wordsAt(value, result.output)) };
  }

  function count(usage: NonNullable<OutputRule["usage"]>, value: unknown): void {
    const counted = countedOf(usage, value);
    if (usage.of === "message") meter.message(textAt(value, usage.id) ?? view.messageId ?? "only", counted);
    else if (usage.of === "turn") meter.turn(counted);
    else meter.session(counted);
  }

  function* ending({ retry, error, final, ends }: OutputRule, value: unknown): Generator<AgentEvent> {
    if (retry !== undefined) {
      const delayMs = countAt(value, retry["delay-ms"]);
      view.retryUntil = performance.now() + delayMs;
      const status = numberAt(value, retry.status) ?? null;
      yield { type: "retry", attempt: countAt(value, retry.attempt), delayMs, status };
    }
    if (error !== undefined) view.error = errorOf(error, value);
    if (ends !== true && final === undefined) return;
    yield* flush();
    view.finalText = (textAt(value, final) ?? view.finalText).slice(-MAX_FINAL_CHARS);
    view.ended ||= ends === true;
  }

  return {
    view,
    take(line) {
      if (line.is === "too-long") return [tooLong(line.bytes)];
      const value = parsed(line.text);
      if (value === undefined) return [];
      return rules
        .filter(({ when }) => holds(when, value))
        .flatMap((rule) => {
          const list = rule.each === undefined ? [value] : at(value, rule.each);
          const meant = (Array.isArray(list) ? list : []).filter((one) => holds(rule.where, one));
          return meant.flatMap((one) => [...apply(rule, one)]);
        });
    },
    flush,
  };
}

/** undefined: noise between the lines. */
function parsed(line: string): unknown {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function bounded(input: unknown): unknown {
  const text = JSON.stringify(input) ?? "null";
  return text.length <= MAX_INPUT_CHARS ? input : { cut: shortened(text) };
}

function countedOf(usage: NonNullable<OutputRule["usage"]>, value: unknown): Counted {
  const input = countAt(value, usage.input);
  const cacheReadTokens = countAt(value, usage["cache-read"]);
  return {
    inputTokens: usage["input-with-cache"] === true ? Math.max(0, input - cacheReadTokens) : input,
    outputTokens: countAt(value, usage.output),
    cacheReadTokens,
    cacheWriteTokens: countAt(value, usage["cache-write"]),
    usd: numberAt(value, usage.cost),
  };
}

function errorOf(error: NonNullable<OutputRule["error"]>, value: unknown): PrintedError {
  return {
    kind: lookUp(error.kinds, textAt(value, error.kind) ?? ""),
    status: numberAt(value, error.status),
    text: wordsAt(value, error.text),
    resetAt: timeAt(value, error.reset),
  };
}
