/**
 * What a request cost, read from the model's answer as it passes the gateway. opencode tells of it only after the tools
 * that the answer calls have run; when it is ended before, nowhere. So each is also noted in the home.
 */
import { join } from "node:path";
import { noteLine, notedLines } from "../notes.ts";
import { isObject, numberAt, objectAt, parsed, textAt, type Json } from "./json.ts";

export interface Tokens {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}
export const NO_TOKENS: Tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const FIELDS = Object.keys(NO_TOKENS) as (keyof Tokens)[];

export function combine(a: Tokens, b: Tokens, by: (x: number, y: number) => number): Tokens {
  const out = { ...NO_TOKENS };
  for (const field of FIELDS) out[field] = by(a[field], b[field]);
  return out;
}

/** Of one request, as far as it is known. */
export interface Spent {
  /** The same for the same request. */
  request: string;
  /** opencode's name of the session or subagent. */
  session: string;
  model: string;
  tokens: Tokens;
}

/** Of one line of a stream; a longer one holds no usage. */
const MAX_LINE_CHARS = 1024 * 1024;
const USAGE = /"(usage|usageMetadata)"/;
const MARK = /"(usage|usageMetadata|error)"/;

interface Heard {
  /** Whenever more is known. */
  onSpent: (model: string, tokens: Tokens) => void;
  /** The model broke off with an error of its own, long after it had begun to answer. */
  onError: (error: Json) => void;
}

/** Takes in an answer piece by piece. */
export function answerReader({ onSpent, onError }: Heard): (chunk: Buffer) => void {
  const decoder = new TextDecoder();
  let rest = "";
  let known = NO_TOKENS;
  let model = "";
  return (chunk) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    // An answer that is no stream is one line without an end.
    if (rest.endsWith("}") && !rest.startsWith("data:") && MARK.test(rest)) lines.push(rest);
    if (rest.length > MAX_LINE_CHARS) rest = "";
    for (const line of lines) {
      if (!MARK.test(line)) continue;
      const said = parsed(line.replace(/^data:\s*/, ""));
      if (!isObject(said)) continue;
      const error = errorIn(said);
      if (error !== undefined) onError(error);
      if (!USAGE.test(line)) continue;
      model = modelIn(said) || model;
      known = combine(known, tokensIn(said), Math.max);
      onSpent(model, known);
    }
  };
}

/** The message, or the response, that a part of a stream is about. */
const wholeOf = (said: Json): Json => ({ ...said, ...objectAt(said, "message"), ...objectAt(said, "response") });

/** In the words of Anthropic and OpenAI's two protocols. */
function errorIn(said: Json): Json | undefined {
  const error = objectAt(wholeOf(said), "error");
  if (Object.keys(error).length > 0) return error;
  return said["type"] === "error" ? said : undefined;
}

const modelIn = (said: Json): string => textAt(wholeOf(said), "model") || textAt(said, "modelVersion");

/** In the words of Anthropic, OpenAI's two protocols and Google. Input is without what the cache has. */
function tokensIn(said: Json): Tokens {
  const usage = objectAt(wholeOf(said), "usage");
  const google = objectAt(said, "usageMetadata");
  if ("promptTokenCount" in google) {
    const cached = numberAt(google, "cachedContentTokenCount");
    return {
      inputTokens: numberAt(google, "promptTokenCount") - cached,
      outputTokens: numberAt(google, "candidatesTokenCount") + numberAt(google, "thoughtsTokenCount"),
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
    };
  }
  const details = { ...objectAt(usage, "prompt_tokens_details"), ...objectAt(usage, "input_tokens_details") };
  const cached = numberAt(details, "cached_tokens");
  if ("prompt_tokens" in usage || "input_tokens_details" in usage) {
    return {
      inputTokens: numberAt(usage, "prompt_tokens") + numberAt(usage, "input_tokens") - cached,
      outputTokens: numberAt(usage, "completion_tokens") + numberAt(usage, "output_tokens"),
      cacheReadTokens: cached,
      cacheWriteTokens: 0,
    };
  }
  return {
    inputTokens: numberAt(usage, "input_tokens"),
    outputTokens: numberAt(usage, "output_tokens"),
    cacheReadTokens: numberAt(usage, "cache_read_input_tokens"),
    cacheWriteTokens: numberAt(usage, "cache_creation_input_tokens"),
  };
}

/** Directly in the home, whose parent the agent cannot write. */
const fileOf = (home: string): string => join(home, "opencode-spent.jsonl");
/** Never throws: the count goes on without. */
export function noteSpent(home: string, spent: Spent): void {
  noteLine(fileOf(home), { ...spent, at: Date.now() });
}

/** The last that is known of each request, oldest first; `at`: wall clock ms. */
export function notedSpent(home: string): (Spent & { at: number })[] {
  const found = new Map<string, Spent & { at: number }>();
  for (const line of notedLines(fileOf(home))) {
    const said = parsed(line);
    if (!isObject(said)) continue;
    const tokens = objectAt(said, "tokens");
    const counted = combine(NO_TOKENS, NO_TOKENS, () => 0);
    for (const field of FIELDS) counted[field] = numberAt(tokens, field);
    const [request, session, model] = [textAt(said, "request"), textAt(said, "session"), textAt(said, "model")];
    found.set(request, { request, session, model, tokens: counted, at: numberAt(said, "at") });
  }
  return [...found.values()];
}
