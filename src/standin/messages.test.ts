import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import Anthropic from "@anthropic-ai/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readSse } from "../../test/support/sse.ts";
import type { Script } from "./script.ts";
import type { Standin, StandinOptions } from "./server.ts";
import { startStandin } from "./server.ts";

const MODEL = "claude-opus-5-5";
const TOOLS = [{ name: "Write", description: "writes", input_schema: { type: "object" as const } }];
const ask = (content: string) => [{ role: "user" as const, content }];

let dir: string;
const open: Standin[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "pawl-standin-"));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((standin) => standin.close()));
  rmSync(dir, { recursive: true });
});

async function start(script: Script, options: Partial<StandinOptions> = {}): Promise<Standin> {
  const standin = await startStandin({ script, ...options });
  open.push(standin);
  return standin;
}

const post = (standin: Standin, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${standin.url}/v1/messages?beta=true`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const client = (standin: Standin, apiKey = "k"): Anthropic =>
  new Anthropic({ baseURL: standin.url, apiKey, maxRetries: 0 });

const rich: Script = {
  steps: [
    {
      thinking: "let me think",
      text: ["first", "zweitens: äöü 🎉 ".repeat(40)],
      tools: [{ name: "Write", input: { file_path: "a 🎉.txt", content: "x".repeat(5000) } }, { name: "Write" }],
    },
    { text: "done", stopReason: "max_tokens" },
  ],
};

describe("Anthropic Messages", () => {
  it("answers whole and as a stream with the same content, as the official client reads it", async () => {
    const standin = await start(rich);
    const body = { model: MODEL, max_tokens: 100, messages: ask("go"), tools: TOOLS };
    const whole = await client(standin).messages.create(body);
    const streamed = await client(standin).messages.stream(body).finalMessage();
    const withoutIds = (message: Anthropic.Message) =>
      message.content.map((block) => (block.type === "tool_use" ? { ...block, id: "" } : block));
    expect(withoutIds(streamed)).toEqual(withoutIds(whole));
    expect(whole.content.map((block) => block.type)).toEqual(["thinking", "text", "text", "tool_use", "tool_use"]);
    expect(whole.stop_reason).toBe("tool_use");
    expect(streamed.usage.output_tokens).toBe(whole.usage.output_tokens);
  });

  it("sends the events in the order and form of the real stream", async () => {
    const standin = await start({ steps: [{ text: "hello" }] });
    const response = await post(standin, { model: MODEL, messages: ask("go"), stream: true });
    expect(response.headers.get("content-type")).toMatch("text/event-stream");
    const events = await readSse(response);
    expect(events.map(({ event }) => event)).toEqual([
      "message_start",
      "ping",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    expect(events.every(({ event, data }) => data !== "[DONE]" && data["type"] === event)).toBe(true);
  });

  it("reports cache reads and writes by breakpoints as they are billed, and adds them up", async () => {
    const standin = await start({ steps: [{ text: "ok", repeat: true }] });
    const system = [{ type: "text" as const, text: "s".repeat(8000), cache_control: { type: "ephemeral" as const } }];
    const usages = [];
    for (const text of ["one", "two"])
      usages.push(
        (await client(standin).messages.create({ model: MODEL, max_tokens: 9, system, messages: ask(text) })).usage,
      );
    expect(usages[0]).toMatchObject({ cache_read_input_tokens: 0 });
    expect(usages[0]?.cache_creation_input_tokens).toBeGreaterThan(2000);
    expect(usages[1]).toMatchObject({
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: usages[0]?.cache_creation_input_tokens,
    });
    expect(standin.billing).toMatchObject({ requests: 2, cacheReadTokens: usages[1]?.cache_read_input_tokens });
    expect(standin.billing.usd).toBeGreaterThan(0);
  });

  it("caches up to the last block when cache_control stands at the top", async () => {
    const standin = await start({ steps: [{ text: "ok" }] });
    const body = { model: MODEL, messages: ask("m".repeat(8000)), cache_control: { type: "ephemeral", ttl: "1h" } };
    const usage = ((await (await post(standin, body)).json()) as Anthropic.Message).usage;
    expect(usage.input_tokens).toBe(0);
    expect(usage.cache_creation?.ephemeral_1h_input_tokens).toBeGreaterThan(2000);
  });

  it("counts tokens without a step", async () => {
    const standin = await start(rich);
    const count = await client(standin).messages.countTokens({ model: MODEL, messages: ask("x".repeat(400)) });
    expect(count.input_tokens).toBeGreaterThan(100);
    expect(standin.requests[0]).toMatchObject({ answered: "count", step: null });
  });

  it("answers titles and probes without a step, and tool steps with text where no tool is offered", async () => {
    const standin = await start({ steps: [{ tools: [{ name: "Write" }] }, { text: "after" }] });
    const probe = await client(standin).messages.create({ model: MODEL, max_tokens: 1, messages: ask("Hi") });
    expect(probe.content[0]?.type).toBe("text");
    const bare = await client(standin).messages.create({ model: MODEL, max_tokens: 9, messages: ask("judge") });
    expect(bare).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: "ok" }] });
    expect(standin.requests.map(({ answered, step }) => [answered, step])).toEqual([
      ["side", null],
      ["answer", 0],
    ]);
  });

  it("reports the usage of the script instead of the counted one", async () => {
    const standin = await start({
      steps: [{ text: "x", usage: { input: 5, output: 7, cacheRead: 11, cacheWrite: 13 } }],
    });
    const { usage } = await client(standin).messages.create({ model: MODEL, max_tokens: 9, messages: ask("go") });
    expect(usage).toMatchObject({
      input_tokens: 5,
      output_tokens: 7,
      cache_read_input_tokens: 11,
      cache_creation_input_tokens: 13,
    });
  });

  it("refuses what the real API refuses, in its shape", async () => {
    const standin = await start({ steps: [], models: [MODEL] }, { apiKey: "secret" });
    const key = { "x-api-key": "secret" };
    const orphan = [
      ...ask("go"),
      { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "W", input: {} }] },
    ];
    const stray = [{ role: "user", content: [{ type: "tool_result", tool_use_id: "t2", content: "x" }] }];
    const unmet = [
      ...ask("go"),
      { role: "assistant", content: [{ type: "server_tool_use", id: "s1", name: "code_execution", input: {} }] },
      ...ask("on"),
    ];
    const marked = Array.from({ length: 5 }, () => ({ type: "text", text: "x", cache_control: { type: "ephemeral" } }));
    const cases: [unknown, Record<string, string>, number, string, RegExp][] = [
      [{ model: MODEL, messages: ask("go") }, { "x-api-key": "wrong" }, 401, "authentication_error", /x-api-key/],
      [{ model: MODEL, messages: ask("go") }, {}, 401, "authentication_error", /x-api-key/],
      ["{nope", key, 400, "invalid_request_error", /not valid JSON/],
      ["[]", key, 400, "invalid_request_error", /not a JSON object/],
      [{ messages: ask("go") }, key, 400, "invalid_request_error", /model/],
      [{ model: MODEL, messages: [] }, key, 400, "invalid_request_error", /at least one message/],
      [{ model: MODEL, messages: orphan }, key, 400, "invalid_request_error", /tool_use.*t1/],
      [{ model: MODEL, messages: stray }, key, 400, "invalid_request_error", /tool_result.*t2/],
      [{ model: MODEL, messages: unmet }, key, 400, "invalid_request_error", /server_tool_use.*s1/],
      [
        { model: MODEL, messages: [{ role: "user", content: marked }] },
        key,
        400,
        "invalid_request_error",
        /maximum of 4/,
      ],
      [{ model: "nope", messages: ask("go") }, key, 404, "not_found_error", /model: nope/],
      ["x".repeat(10), { ...key, "content-encoding": "odd" }, 400, "invalid_request_error", /content-encoding/],
    ];
    for (const [body, headers, status, type, message] of cases) {
      const response = await post(standin, body, headers);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({
        type: "error",
        error: { type, message: expect.stringMatching(message) },
      });
    }
    expect(
      (await post(standin, { model: MODEL, messages: ask("go") }, { authorization: "Bearer secret" })).status,
    ).toBe(200);
    expect(standin.requests).toHaveLength(cases.length + 1);
    expect(standin.billing.outputTokens).toBe(1);
  });

  it("refuses a body beyond the bound, also a compressed one", async () => {
    const standin = await start({ steps: [] });
    const huge = Buffer.alloc(65 * 1024 * 1024, "x");
    for (const [encoding, body] of [
      ["identity", huge],
      ["gzip", gzipSync(huge)],
    ] as const) {
      const response = await fetch(`${standin.url}/v1/messages`, {
        method: "POST",
        headers: { "content-encoding": encoding },
        body: new Uint8Array(body),
      });
      expect([response.status, await response.json()]).toMatchObject([413, { error: { type: "request_too_large" } }]);
    }
    const small = gzipSync(JSON.stringify({ model: MODEL, messages: ask("go") }));
    const fine = await fetch(`${standin.url}/v1/messages`, {
      method: "POST",
      headers: { "content-encoding": "gzip" },
      body: new Uint8Array(small),
    });
    expect(fine.status).toBe(200);
  });

  it("keeps many conversations at once apart", async () => {
    const script: Script = (request, step) => ({
      text: `${request.turns.length} ${step} ${request.turns[0]?.texts[0]}`,
    });
    const standin = await start(script);
    const talk = async (name: string): Promise<string[]> => {
      const messages: Anthropic.MessageParam[] = [...ask(name)];
      const said: string[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        const message = await client(standin)
          .messages.stream({ model: MODEL, max_tokens: 9, messages, tools: TOOLS })
          .finalMessage();
        said.push(message.content[0]?.type === "text" ? message.content[0].text : "");
        messages.push({ role: "assistant", content: message.content });
      }
      return said;
    };
    const names = Array.from({ length: 20 }, (_, at) => `c${at}`);
    const all = await Promise.all(names.map(talk));
    expect(all).toEqual(names.map((name) => [0, 1, 2, 3, 4].map((step) => `${step + 1} ${step} ${name}`)));
    expect(new Set(standin.requests.map(({ conversation }) => conversation)).size).toBe(20);
  });

  it("logs every request to memory, as JSON lines and, when asked, whole", async () => {
    const logFile = join(dir, "log.jsonl");
    const dumpDir = join(dir, "dump");
    const standin = await start({ steps: [{ tools: [{ name: "Write" }] }] }, { logFile, dumpDir });
    const long = `begin ${"x".repeat(10_000)} end`;
    await post(standin, { model: MODEL, messages: ask(long), tools: TOOLS });
    const [line] = readFileSync(logFile, "utf8").trimEnd().split("\n");
    expect(JSON.parse(line ?? "")).toEqual(standin.requests[0]);
    expect(standin.requests[0]).toMatchObject({
      n: 1,
      protocol: "messages",
      step: 0,
      status: 200,
      tools: ["Write"],
      toolsOffered: 1,
    });
    expect(standin.requests[0]?.lastUserText).toMatch(/^begin x+\n… \d+ characters …\nx+ end$/);
    expect(readdirSync(dumpDir)).toEqual(["000001.json"]);
    expect(readFileSync(join(dumpDir, "000001.json"), "utf8")).toContain(long);
  });

  it("tells the client and lives on when its log cannot be written", async () => {
    const dumpDir = join(dir, "dump");
    const standin = await start({ steps: [{ text: "fine" }] }, { dumpDir });
    rmSync(dumpDir, { recursive: true });
    expect((await post(standin, { model: MODEL, messages: ask("go") })).status).toBe(500);
    mkdirSync(dumpDir);
    expect((await post(standin, { model: MODEL, messages: ask("go") })).status).toBe(200);
  });

  it("also listens on a unix socket, over one that a killed server left behind, and lists models", async () => {
    const socketPath = join(dir, "m.sock");
    const dying = `require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))`;
    expect(spawnSync(process.execPath, ["-e", dying, socketPath]).signal).toBe("SIGKILL");
    expect(readdirSync(dir)).toEqual(["m.sock"]);
    const standin = await start({ steps: [] }, { socketPath });
    const models = await new Promise<string>((resolve, reject) => {
      httpRequest({ socketPath, path: "/v1/models", agent: false }, (response) => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text += chunk.toString()));
        response.on("end", () => resolve(text));
      })
        .on("error", reject)
        .end();
    });
    expect(JSON.parse(models)).toMatchObject({ object: "list", has_more: false });
    await standin.close();
    expect(readdirSync(dir)).toEqual([]);
    await expect(fetch(standin.url)).rejects.toThrow();
  });

  it("says what it does not know, and that a port is taken", async () => {
    const standin = await start({ steps: [] });
    expect((await fetch(`${standin.url}/`, { method: "HEAD" })).status).toBe(200);
    expect((await fetch(`${standin.url}/v1/nothing`, { method: "POST" })).status).toBe(404);
    await expect(startStandin({ script: { steps: [] }, port: standin.port })).rejects.toThrow(/cannot listen on port/);
  });

  it("answers 500 when a script function throws", async () => {
    const standin = await start(() => {
      throw new Error("oops");
    });
    const response = await post(standin, { model: MODEL, messages: ask("go") });
    expect(response.status).toBe(500);
    expect(await response.text()).toContain("the script failed: oops");
  });
});
