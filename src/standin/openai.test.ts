import { afterEach, describe, expect, it } from "vitest";
import type { SseEvent } from "../../test/support/sse.ts";
import { readSse } from "../../test/support/sse.ts";
import { isObject, objectsOf, textOf } from "./protocol.ts";
import type { Script } from "./script.ts";
import type { Standin } from "./server.ts";
import { startStandin } from "./server.ts";

type Fields = Record<string, unknown>;
const open: Standin[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((standin) => standin.close()));
});

async function start(script: Script, apiKey?: string): Promise<Standin> {
  const standin = await startStandin({ script, apiKey });
  open.push(standin);
  return standin;
}
const post = (standin: Standin, path: string, body: Fields): Promise<Response> =>
  fetch(standin.url + path, { method: "POST", body: JSON.stringify({ model: "gpt-5", ...body }) });
const asked = async (standin: Standin, path: string, body: Fields): Promise<Fields> =>
  (await (await post(standin, path, body)).json()) as Fields;
const fields = (event: SseEvent | undefined): Fields =>
  event === undefined || event.data === "[DONE]" ? {} : event.data;

const script: Script = {
  steps: [
    {
      thinking: "hm",
      text: "writes 🎉".repeat(20),
      tools: [
        { name: "exec", input: { cmd: "ls" } },
        { name: "patch", input: { input: "*** Begin" } },
      ],
    },
    { text: "done" },
  ],
};

describe("OpenAI Responses", () => {
  const path = "/v1/responses";
  const tools = [
    { type: "function", name: "exec", parameters: {} },
    { type: "custom", name: "patch" },
  ];

  it("answers whole with reasoning, text, function and custom tool calls", async () => {
    const response = await asked(await start(script), path, { input: "go", tools });
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      output: [
        { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
        { type: "message", content: [{ type: "output_text", text: "writes 🎉".repeat(20) }] },
        { type: "function_call", name: "exec", arguments: '{"cmd":"ls"}' },
        { type: "custom_tool_call", name: "patch", input: "*** Begin" },
      ],
    });
  });

  it("calls tools of groups, and those that come as an item of the input", async () => {
    const call = (name: string) => ({ steps: [{ tools: [{ name, input: { input: "x" } }] }] });
    const group = (name: string, tool: Fields) => ({ type: "namespace", name, tools: [tool] });
    const plain = group("functions", { type: "custom", name: "exec" });
    const item = { type: "additional_tools", role: "developer", tools: [plain] };
    const input = [item, { role: "user", content: "go" }];
    expect((await asked(await start(call("exec")), path, { input }))["output"]).toMatchObject([
      { type: "custom_tool_call", name: "exec", input: "x" },
    ]);
    const grouped = [group("mcp__sums", { type: "function", name: "add" })];
    expect((await asked(await start(call("mcp__sums/add")), path, { input: "go", tools: grouped }))["output"]).toEqual([
      expect.objectContaining({ type: "function_call", namespace: "mcp__sums", name: "add" }),
    ]);
  });

  it("streams the same: numbered events whose parts add up to the finished items", async () => {
    const events = await readSse(await post(await start(script), path, { input: "go", tools, stream: true }));
    expect(events.map((event) => fields(event)["sequence_number"])).toEqual(events.map((_, at) => at));
    expect(events.every((event) => event.event === fields(event)["type"])).toBe(true);
    const deltas = (type: string): string =>
      events
        .filter(({ event }) => event === type)
        .map((event) => String(fields(event)["delta"]))
        .join("");
    expect(events.every((event) => textOf(fields(event)["delta"]).isWellFormed())).toBe(true);
    expect(deltas("response.reasoning_summary_text.delta")).toBe("hm");
    expect(deltas("response.output_text.delta")).toBe("writes 🎉".repeat(20));
    expect(deltas("response.function_call_arguments.delta")).toBe('{"cmd":"ls"}');
    expect(deltas("response.custom_tool_call_input.delta")).toBe("*** Begin");
    expect(events[0]?.event).toBe("response.created");
    const last = fields(events.at(-1));
    expect(last).toMatchObject({ type: "response.completed" });
    const done = events
      .filter(({ event }) => event === "response.output_item.done")
      .map((event) => fields(event)["item"]);
    expect(isObject(last["response"]) ? last["response"]["output"] : undefined).toEqual(done);
  });

  it("goes on with the next step after the results of the tools, and starts over at a new prompt", async () => {
    const standin = await start(script);
    const round = [
      { role: "developer", content: "rules" },
      { role: "user", content: [{ type: "input_text", text: "go" }] },
      { type: "reasoning", summary: [] },
      { type: "function_call", call_id: "1", name: "exec", arguments: "{}" },
      { type: "custom_tool_call", call_id: "2", name: "patch", input: "x" },
      { type: "function_call_output", call_id: "1", output: "a.txt" },
      { type: "custom_tool_call_output", call_id: "2", output: "ok" },
    ];
    await asked(standin, path, { input: round, tools });
    const more = [
      ...round,
      { role: "assistant", content: [{ type: "output_text", text: "done" }] },
      { role: "user", content: "next" },
    ];
    await asked(standin, path, { input: more, tools });
    expect(standin.requests.map(({ step, toolResults }) => [step, toolResults])).toEqual([
      [1, ["a.txt", "ok"]],
      [0, []],
    ]);
  });

  it("says incomplete when the output was cut", async () => {
    const standin = await start({ steps: [{ text: "long", stopReason: "max_tokens" }] });
    const events = await readSse(await post(standin, path, { input: "go", stream: true }));
    expect(fields(events.at(-1))).toMatchObject({
      type: "response.incomplete",
      response: { incomplete_details: { reason: "max_output_tokens" } },
    });
  });

  it("caches prefixes by itself", async () => {
    const standin = await start({ steps: [{ text: "ok", repeat: true }] });
    const first = { role: "user", content: "x".repeat(8000) };
    await asked(standin, path, { input: [first] });
    const second = await asked(standin, path, { input: [first, { role: "user", content: "more" }] });
    expect(second["usage"]).toMatchObject({
      input_tokens_details: { cached_tokens: standin.requests[1]?.billing.cacheReadTokens },
    });
    expect(standin.requests[1]?.billing.cacheReadTokens).toBeGreaterThan(2000);
  });

  it("tells the subscription's limit as Codex reads it", async () => {
    const standin = await start({
      steps: [{ usageLimitText: "You've hit your usage limit.", resetAt: 4_000_000_000 }],
    });
    const response = await post(standin, path, { input: "go" });
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ error: { type: "usage_limit_reached", resets_at: 4_000_000_000 } });
  });
});

describe("OpenAI Chat Completions", () => {
  const path = "/v1/chat/completions";
  const tools = [{ type: "function", function: { name: "exec", parameters: {} } }];

  it("answers whole with text and tool calls", async () => {
    const answer = await asked(await start(script), path, { messages: [{ role: "user", content: "go" }], tools });
    expect(answer["choices"]).toMatchObject([
      {
        finish_reason: "tool_calls",
        message: {
          content: "writes 🎉".repeat(20),
          reasoning_content: "hm",
          tool_calls: [{ function: { name: "exec", arguments: '{"cmd":"ls"}' } }, {}],
        },
      },
    ]);
  });

  it("streams the same, with usage when asked for and the closing mark", async () => {
    const standin = await start(script);
    const body = {
      messages: [{ role: "user", content: "go" }],
      tools,
      stream: true,
      stream_options: { include_usage: true },
    };
    const events = await readSse(await post(standin, path, body));
    expect(events.at(-1)?.data).toBe("[DONE]");
    expect(fields(events.at(-2))).toMatchObject({
      choices: [],
      usage: { completion_tokens: standin.requests[0]?.billing.outputTokens },
    });
    const deltas = events
      .flatMap((event) => objectsOf(fields(event)["choices"]))
      .map((choice) => choice["delta"])
      .filter(isObject);
    expect(deltas.map((delta) => textOf(delta["content"])).join("")).toBe("writes 🎉".repeat(20));
    expect(deltas.map((delta) => textOf(delta["reasoning_content"])).join("")).toBe("hm");
    const parts = deltas.flatMap((delta) => objectsOf(delta["tool_calls"])).filter(({ index }) => index === 0);
    expect(parts.map(({ function: call }) => textOf(isObject(call) ? call["arguments"] : "")).join("")).toBe(
      '{"cmd":"ls"}',
    );
    const unasked = await readSse(await post(standin, path, { ...body, stream_options: {} }));
    expect(unasked.filter((event) => fields(event)["usage"] !== undefined)).toEqual([]);
  });

  it("counts a round of tool messages as one turn", async () => {
    const standin = await start(script);
    const calls = ["1", "2"].map((id) => ({ id, type: "function", function: { name: "exec", arguments: "{}" } }));
    const messages = [
      { role: "system", content: "rules" },
      { role: "user", content: "go" },
      { role: "assistant", content: null, tool_calls: calls },
      { role: "tool", tool_call_id: "1", content: "one" },
      { role: "tool", tool_call_id: "2", content: "two" },
    ];
    const answer = await asked(standin, path, { messages, tools });
    expect(answer["choices"]).toMatchObject([{ finish_reason: "stop", message: { content: "done" } }]);
    expect(standin.requests[0]).toMatchObject({ step: 1, toolResults: ["one", "two"], messages: 3 });
  });
});

describe("errors of both OpenAI protocols", () => {
  it.each(["/v1/responses", "/v1/chat/completions"])("have the OpenAI shape on %s", async (path) => {
    const standin = await start({ steps: [{ status: 429, retryAfterS: 3, resetInS: 60 }] }, "secret");
    const send = (body: string, key = "secret"): Promise<Response> =>
      fetch(standin.url + path, { method: "POST", headers: { authorization: `Bearer ${key}` }, body });
    const good = JSON.stringify({ model: "gpt-5", input: "go", messages: [{ role: "user", content: "go" }] });
    const denied = await send(good, "wrong");
    expect([denied.status, await denied.json()]).toMatchObject([
      401,
      { error: { type: "invalid_request_error", code: "invalid_api_key" } },
    ]);
    for (const body of ["{", "{}"]) {
      const bad = await send(body);
      expect([bad.status, await bad.json()]).toMatchObject([400, { error: { type: "invalid_request_error" } }]);
    }
    const limited = await send(good);
    expect([limited.status, await limited.json()]).toMatchObject([429, { error: { code: "rate_limit_exceeded" } }]);
    expect(limited.headers.get("retry-after")).toBe("3");
    expect(limited.headers.get("x-ratelimit-reset-requests")).toMatch(/^(59|60)s$/);
  });
});
