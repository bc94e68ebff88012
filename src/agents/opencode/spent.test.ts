import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { meter } from "./meter.ts";
import { answerReader, NO_TOKENS, noteSpent, notedSpent, type Tokens } from "./spent.ts";

/** In pieces of a few bytes, as a stream may come. */
function readWhole(text: string): { spent: { model: string; tokens: Tokens } | undefined; errors: object[] } {
  let spent: { model: string; tokens: Tokens } | undefined;
  const errors: object[] = [];
  const take = answerReader({
    onSpent: (model, tokens) => (spent = { model, tokens }),
    onError: (error) => errors.push(error),
  });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 7) take(bytes.subarray(at, at + 7));
  return { spent, errors };
}
const readAll = (text: string) => readWhole(text).spent;

it("reads the error with which a model breaks off, in the words of each protocol, and no talk of errors", () => {
  const errorsOf = (data: object) => readWhole(`event: x\ndata: ${JSON.stringify(data)}\n\n`).errors;
  const error = { type: "api_error", message: "oh" };
  expect(errorsOf({ type: "error", error })).toEqual([error]);
  expect(errorsOf({ type: "response.failed", response: { error: { code: "slow_down" } } })).toEqual([
    { code: "slow_down" },
  ]);
  expect(errorsOf({ type: "error", code: "slow_down" })).toMatchObject([{ code: "slow_down" }]);
  expect(errorsOf({ type: "response.completed", response: { error: null } })).toEqual([]);
  const words = JSON.stringify({ type: "error", error });
  expect(errorsOf({ type: "content_block_delta", delta: { type: "text_delta", text: words } })).toEqual([]);
  expect(errorsOf({ type: "content_block_delta", delta: { type: "text_delta", text: "error" } })).toEqual([]);
});
const data = (...events: object[]): string => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");

it.each([
  [
    "Anthropic",
    data(
      { type: "message_start", message: { model: "m", usage: { input_tokens: 5, cache_read_input_tokens: 7 } } },
      { type: "content_block_delta", delta: { text: 'the word "usage" in a text' } },
      { type: "message_delta", usage: { output_tokens: 3, cache_creation_input_tokens: 2 } },
    ),
    [5, 3, 7, 2],
  ],
  [
    "chat completions",
    data(
      { model: "m", choices: [], usage: null },
      {
        model: "m",
        usage: { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 6 } },
      },
    ),
    [4, 4, 6, 0],
  ],
  [
    "responses",
    data({
      type: "response.completed",
      response: {
        model: "m",
        usage: { input_tokens: 10, output_tokens: 4, input_tokens_details: { cached_tokens: 6 } },
      },
    }),
    [4, 4, 6, 0],
  ],
  [
    "Google",
    data({ modelVersion: "m", usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, thoughtsTokenCount: 1 } }),
    [9, 3, 0, 0],
  ],
  ["no stream", JSON.stringify({ model: "m", usage: { input_tokens: 5, output_tokens: 3 } }), [5, 3, 0, 0]],
])("reads what an answer cost, in the words of %s", (_, text, [inputTokens, outputTokens, read, write]) => {
  expect(readAll(text)).toEqual({
    model: "m",
    tokens: { inputTokens, outputTokens, cacheReadTokens: read, cacheWriteTokens: write },
  });
});

it("finds the last that was noted of each request, and writes through no link", () => {
  const home = tempDir("spent");
  const spent = { request: "r", session: "s", model: "m", tokens: { ...NO_TOKENS, inputTokens: 1 } };
  noteSpent(home, spent);
  noteSpent(home, { ...spent, tokens: { ...NO_TOKENS, inputTokens: 1, outputTokens: 2 } });
  noteSpent(home, { ...spent, request: "other" });
  expect(notedSpent(home)).toMatchObject([{ request: "r", tokens: { outputTokens: 2 } }, { request: "other" }]);
  const trap = tempDir("spent");
  const users = join(trap, "users.txt");
  writeFileSync(users, "");
  symlinkSync(users, join(trap, "opencode-spent.jsonl"));
  noteSpent(trap, spent);
  expect(notedSpent(trap)).toEqual([]);
});

const step = (id: string, input: number, cost = 0) => ({
  id,
  sessionID: "s",
  cost,
  tokens: { input, output: 1, reasoning: 2, cache: { read: 0, write: 0 } },
});
const seen = (request: string, inputTokens: number) => ({
  request,
  session: "s",
  model: "long-name",
  tokens: { ...NO_TOKENS, inputTokens, outputTokens: 3 },
});

it("counts a request once, whoever tells of it first, and one that was broken off by itself", () => {
  const spent = meter(() => 1);
  spent.spent(seen("broken", 4));
  spent.spent(seen("again", 5));
  spent.spent(seen("next", 9));
  spent.response("m", step("p1", 5, 0.25));
  spent.response("m", step("p1", 5, 0.25));
  spent.response("m", step("p2", 9, 0.25));
  expect(spent.usage()).toMatchObject({ requests: 3, inputTokens: 18, outputTokens: 9, usd: 1.5, estimated: true });
});

it("takes opencode's price, else the list's, and says so when nobody has one", () => {
  const listed = meter(() => 2);
  listed.response("m", step("p", 5, 0.5));
  expect(listed.usage()).toMatchObject({ usd: 0.5, estimated: false });
  const unknown = meter(() => null);
  unknown.response("m", step("p", 5));
  expect(unknown.usage().usd).toBeNull();
});
