/**
 * What a response cost, read from the response itself as it passes: Anthropic's, OpenAI's (both protocols) and Google's
 * words for it, streamed and whole.
 */
import type { IncomingHttpHeaders } from "node:http";
import { lines } from "../lines.ts";
import { countAt, isObject, objectAt, parsed, textAt, type Json } from "./json.ts";
import { NO_TOKENS, type Tokens } from "./meter.ts";
import type { Said } from "../refusal.ts";
import { laterRefusal } from "./refusal.ts";

/** Of one event; the last one of a response may hold all of it. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** Events without these words say nothing of it, and most do not. */
const MARKS = /usage|error/;

export interface UsageStream {
  take(chunk: Buffer): void;
  end(): void;
  /** Its last word was heard: a connection that breaks now has taken nothing away. */
  isWhole(): boolean;
}

interface Heard {
  /** Of this response so far, cumulative; `response`: the model's own name for it, "" where it has none. */
  onUsage: (model: string, tokens: Tokens, response: string) => void;
  /** The model broke off an answer that had begun. */
  onRefusal: (said: Said) => void;
}

export function usageStream({ headers }: { headers: IncomingHttpHeaders }, { onUsage, onRefusal }: Heard): UsageStream {
  const isStream = headers["content-type"]?.includes("event-stream") === true;
  let model = "";
  let response = "";
  let so: Tokens = NO_TOKENS;
  let whole = false;

  function take(event: Json): void {
    const body = bodyOf(event);
    model = textAt(body, "model") || textAt(body, "modelVersion") || model;
    response = textAt(body, "id") || response;
    const tokens = tokensIn(body);
    if (tokens !== undefined) {
      so = larger(so, tokens);
      onUsage(model, so, response);
    }
    whole ||= isEnd(event);
    const said = isStream && !whole ? laterRefusal(event) : undefined;
    if (said !== undefined) onRefusal(said);
  }

  const reader = lines(
    (line) => {
      const data = isStream ? /^data:\s*(\{.*)$/.exec(line)?.[1] : line;
      if (data === undefined || !MARKS.test(data)) return;
      const event = parsed(data);
      if (event !== undefined) take(event);
    },
    { maxBytes: MAX_EVENT_BYTES },
  );
  const chunks: Buffer[] = [];
  let bytes = 0;

  return {
    take(chunk) {
      if (isStream) return reader.take(chunk);
      bytes += chunk.length;
      if (bytes <= MAX_EVENT_BYTES) chunks.push(chunk);
    },
    end() {
      if (isStream) return reader.take(Buffer.from("\n"));
      const body = bytes <= MAX_EVENT_BYTES ? parsed(Buffer.concat(chunks).toString("utf8")) : undefined;
      if (body !== undefined) take(body);
    },
    isWhole: () => whole,
  };
}

/** Anthropic's and OpenAI's; where others' streams break off, nobody knows what was lost. */
function isEnd(event: Json): boolean {
  const { type } = event;
  return (
    (type === "message_delta" && textAt(objectAt(event, "delta"), "stop_reason") !== "") ||
    type === "response.completed"
  );
}

/** The part of an event that has model and usage. */
function bodyOf(event: Json): Json {
  for (const name of ["message", "response"]) {
    const inner = event[name];
    if (isObject(inner)) return inner;
  }
  return event;
}

/** Events repeat what they said before, and later ones may leave parts out. */
function larger(a: Tokens, b: Tokens): Tokens {
  return {
    inputTokens: Math.max(a.inputTokens, b.inputTokens),
    outputTokens: Math.max(a.outputTokens, b.outputTokens),
    cacheReadTokens: Math.max(a.cacheReadTokens, b.cacheReadTokens),
    cacheWriteTokens: Math.max(a.cacheWriteTokens, b.cacheWriteTokens),
  };
}

function tokensIn(body: Json): Tokens | undefined {
  const google = body["usageMetadata"];
  if (isObject(google)) return googleTokens(google);
  const usage = body["usage"];
  if (!isObject(usage)) return undefined;
  if ("prompt_tokens" in usage) return openaiTokens(usage, { input: "prompt_tokens", output: "completion_tokens" });
  if ("input_tokens_details" in usage || "total_tokens" in usage)
    return openaiTokens(usage, { input: "input_tokens", output: "output_tokens" });
  return {
    inputTokens: countAt(usage, "input_tokens"),
    outputTokens: countAt(usage, "output_tokens"),
    cacheReadTokens: countAt(usage, "cache_read_input_tokens"),
    cacheWriteTokens: countAt(usage, "cache_creation_input_tokens"),
  };
}

function openaiTokens(usage: Json, names: { input: string; output: string }): Tokens {
  const details = objectAt(usage, `${names.input}_details`);
  const cacheReadTokens = countAt(details, "cached_tokens");
  const cacheWriteTokens = countAt(details, "cache_write_tokens");
  return {
    inputTokens: Math.max(0, countAt(usage, names.input) - cacheReadTokens - cacheWriteTokens),
    outputTokens: countAt(usage, names.output),
    cacheReadTokens,
    cacheWriteTokens,
  };
}

function googleTokens(usage: Json): Tokens {
  const cacheReadTokens = countAt(usage, "cachedContentTokenCount");
  const input = countAt(usage, "promptTokenCount") + countAt(usage, "toolUsePromptTokenCount");
  return {
    inputTokens: Math.max(0, input - cacheReadTokens),
    outputTokens: countAt(usage, "candidatesTokenCount") + countAt(usage, "thoughtsTokenCount"),
    cacheReadTokens,
    cacheWriteTokens: 0,
  };
}
