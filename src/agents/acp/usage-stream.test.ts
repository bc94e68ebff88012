import { describe, expect, it } from "vitest";
import type { Tokens } from "./meter.ts";
import type { Said } from "../refusal.ts";
import { usageStream } from "./usage-stream.ts";

interface Heard {
  usage: [string, Tokens][];
  refusals: Said[];
}

/** In pieces of a few bytes: nothing may depend on where a stream is cut. */
function heardIn(text: string, { isStream }: { isStream: boolean }): Heard {
  const heard: Heard = { usage: [], refusals: [] };
  const stream = usageStream(
    { headers: { "content-type": isStream ? "text/event-stream; charset=utf-8" : "application/json" } },
    {
      onUsage: (model, tokens) => heard.usage.push([model, tokens]),
      onRefusal: (said) => heard.refusals.push(said),
    },
  );
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 7) stream.take(bytes.subarray(at, at + 7));
  stream.end();
  return heard;
}

const sse = (...events: object[]): string =>
  events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join("");
const tokens = (inputTokens: number, outputTokens: number, cacheReadTokens = 0, cacheWriteTokens = 0): Tokens => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
});

describe("what a response cost, in the words of", () => {
  it("Anthropic's stream, where the end repeats part of the beginning", () => {
    const usage = { input_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 1 };
    const events = [
      { type: "message_start", message: { model: "claude-x", usage } },
      { type: "content_block_delta", delta: { type: "text_delta", text: "usage of words" } },
      { type: "message_delta", usage: { output_tokens: 9 } },
    ];
    expect(heardIn(sse(...events), { isStream: true }).usage.at(-1)).toEqual(["claude-x", tokens(5, 9, 100, 20)]);
  });

  it("OpenAI's responses, with the cache inside of the input", () => {
    const usage = { input_tokens: 50, input_tokens_details: { cached_tokens: 30 }, output_tokens: 4, total_tokens: 54 };
    const events = [{ type: "response.completed", response: { model: "gpt-x", usage } }];
    expect(heardIn(sse(...events), { isStream: true }).usage).toEqual([["gpt-x", tokens(20, 4, 30)]]);
  });

  it("OpenAI's chat, streamed and whole", () => {
    const usage = { prompt_tokens: 8, prompt_tokens_details: { cached_tokens: 2 }, completion_tokens: 3 };
    const body = { model: "gpt-y", choices: [], usage };
    const told = [["gpt-y", tokens(6, 3, 2)]];
    expect(heardIn(`${sse(body)}data: [DONE]\n\n`, { isStream: true }).usage).toEqual(told);
    expect(heardIn(JSON.stringify(body, undefined, 2), { isStream: false }).usage).toEqual(told);
  });

  it("Google's stream, with thoughts among the output", () => {
    const usageMetadata = {
      promptTokenCount: 12,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 2,
    };
    const events = [{ modelVersion: "gemini-x", usageMetadata }];
    expect(heardIn(sse(...events), { isStream: true }).usage).toEqual([["gemini-x", tokens(8, 7, 4)]]);
  });

  it("nobody: what is no usage counts for nothing", () => {
    const odd = [{ usage: "much" }, { usage: { input_tokens: -5, output_tokens: 1e300 } }, { usage: null }];
    const { usage } = heardIn(sse(...odd), { isStream: true });
    expect(usage.every(([, spent]) => Object.values(spent).every((one) => one === 0))).toBe(true);
  });
});

it("hears a refusal in the middle of a stream by its type, not by the words of an answer", () => {
  const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
  const { refusals } = heardIn(sse(overloaded), { isStream: true });
  expect(refusals).toEqual([{ kind: "overloaded", status: 200, resetAt: undefined }]);
  const over = { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 1 } };
  expect(heardIn(sse(over, overloaded), { isStream: true }).refusals).toEqual([]);
  const talk = { type: "content_block_delta", delta: { text: 'the error was "rate_limit_error"' } };
  expect(heardIn(sse(talk), { isStream: true }).refusals).toEqual([]);
});
