/** What no real agent can be made to do: an agent of the tests' own speaks the protocol as badly as it may. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { LIMITS, play } from "../../../test/contracts/agent-play.ts";
import { WITH_NODE } from "../../../test/support/acp.ts";
import { plainAgent } from "../../../test/support/spec.ts";
import { tempDir } from "../../../test/support/temp.ts";
import type { AgentEvent, AgentSession, OpenRequest } from "../../ports.ts";
import { acp } from "../acp.ts";
import type { Json } from "./json.ts";

const PROGRAM = fileURLToPath(new URL("../../../test/fixtures/acp-agent.mjs", import.meta.url));
/** More than a line may have. */
const FLOOD_BYTES = 40 * 1024 * 1024;

interface World {
  open(over?: Partial<OpenRequest>): Promise<AgentSession>;
}

function world(about: Json): World {
  const root = tempDir("acp quoted 'blank'");
  const workspace = join(root, "work space");
  mkdirSync(workspace);
  const quoted = JSON.stringify(about).replaceAll("'", `'"'"'`);
  const name = `acp:node '${PROGRAM}' '${quoted}'`;
  const request: OpenRequest = {
    run: "r",
    lane: "main",
    workspace,
    home: join(root, "home"),
    session: { ref: randomUUID(), mode: "new" },
    agent: { ...plainAgent, name, ...LIMITS },
    model: undefined,
    instructions: "",
    environment: { ...WITH_NODE, HOME: root, PAWL_RUN: "r" },
  };
  return {
    async open(over = {}) {
      const session = await acp({ name }).open({ ...request, ...over });
      onTestFinished(() => session.close());
      return session;
    },
  };
}

const prompt = (todo: Json): string => JSON.stringify(todo);
const chunk = (text: string): Json => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const noticesOf = (events: readonly AgentEvent[]): string =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : [])).join("\n");
const withOptions = (options: OpenRequest["agent"]["options"], about: Json): Partial<OpenRequest> => ({
  agent: { ...plainAgent, name: `acp:node '${PROGRAM}' '${JSON.stringify(about)}'`, ...LIMITS, options },
});

describe("an agent that can little", () => {
  it("that cannot go on with a conversation is told so to people, and begins a new one", async () => {
    const { open } = world({});
    const ref = randomUUID();
    const first = await open({ session: { ref, mode: "new" } });
    await play(first, prompt({ updates: [chunk("one")] }));
    await first.close();
    const second = await open({ session: { ref, mode: "continue" } });
    const { events, end } = await play(second, prompt({ updates: [chunk("two")] }));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "two" });
    expect(noticesOf(events)).toContain("cannot go on with a conversation");
  });

  it("that offers no models goes on with its own, and says so", async () => {
    const session = await world({}).open({ model: "big" });
    const { events, end } = await play(session, prompt({}));
    expect(end.outcome).toEqual({ is: "done" });
    expect(noticesOf(events)).toContain("offers no choice of models: big");
  });

  it("that has no place for instructions gets them before its first prompt, once", async () => {
    const session = await world({}).open({ instructions: "Be brief." });
    const first = await play(session, prompt({ tell: "seen" }));
    expect(first.end.finalText).toContain("Be brief.");
    const second = await play(session, prompt({ tell: "seen" }));
    expect(second.end.finalText.split("Be brief.")).toHaveLength(2);
  });

  it("that speaks another version is not spoken to", async () => {
    const { end } = await play(await world({ version: 9 }).open(), prompt({}));
    expect(end.outcome).toMatchObject({ is: "failed", message: expect.stringContaining("version 9") as string });
  });
});

describe("what an agent lets its client choose", () => {
  const models = { availableModels: [{ modelId: "small" }, { modelId: "big" }], currentModelId: "small" };

  it("is chosen in the old way, too", async () => {
    const session = await world({ opened: { models } }).open({ model: "big" });
    const { end } = await play(session, prompt({ tell: "seen" }));
    expect(end.finalText).toContain('"session/set_model"');
    expect(end.finalText).toContain('"modelId":"big"');
  });

  it("a model that it refuses fails the turn as one, with those it offers", async () => {
    const refuse = { "session/set_model": { code: -32_602, message: "no such model" } };
    const session = await world({ opened: { models }, refuse }).open({ model: "huge" });
    const { end } = await play(session, prompt({}));
    expect(end.outcome).toMatchObject({
      is: "failed",
      kind: "model",
      message: expect.stringContaining("small, big") as string,
    });
  });

  it.each(["permissions", "effort"])("--%s that it does not know fails with its own words for them", async (name) => {
    const opened = { modes: { currentModeId: "ask", availableModes: [{ id: "ask" }, { id: "yolo" }] } };
    const { open } = world({ opened });
    const { end } = await play(await open(withOptions({ [name]: "wild" }, { opened })), prompt({}));
    expect(end.outcome).toMatchObject({ is: "failed", message: expect.stringContaining(`--${name}`) as string });
  });
});

describe("what an agent says badly", () => {
  it("is bounded: a line of 40 MB, and what is no message", async () => {
    const session = await world({}).open();
    const lines = ["Debugger listening", "[]", "null", '{"id":77,"result":{}}', '{"method":"session/update"}'];
    const { events, end } = await play(session, prompt({ lines, flood: FLOOD_BYTES, updates: [chunk("before")] }));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "before" });
    expect(noticesOf(events)).toContain("too long");
  });

  it("tells a tool's output up to a limit", async () => {
    const call = { toolCallId: "t", kind: "execute", title: "make", rawInput: { command: "make" } };
    const updates = [
      { sessionUpdate: "tool_call", ...call, status: "in_progress" },
      { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed", rawOutput: "y".repeat(1024 * 1024) },
    ];
    const { events } = await play(await world({}).open(), prompt({ updates }));
    const ended = events.find((event) => event.type === "tool-end");
    expect(ended).toMatchObject({ id: "t", ok: false });
    expect(ended?.output.length).toBeLessThan(100_000);
    expect(events.find((event) => event.type === "tool-start")).toMatchObject({
      name: "execute",
      input: call.rawInput,
    });
  });

  it.each([
    [
      { code: -32_000, message: "log in" },
      { is: "failed", kind: "login" },
    ],
    [
      { code: 429, message: "too many" },
      { is: "limited", kind: "rate" },
    ],
    [
      { code: 529, message: "busy" },
      { is: "limited", kind: "overloaded" },
    ],
    [
      { code: -32_603, message: "oops", data: { errorKind: "model_not_found" } },
      { is: "failed", kind: "model" },
    ],
    [
      { code: -32_602, message: "what?" },
      { is: "failed", kind: "agent" },
    ],
    [{ code: -32_603, message: "oops" }, { is: "cut" }],
  ])("as error %j ends the turn with its own outcome", async (error, outcome) => {
    const session = await world({}).open();
    const { end } = await play(session, prompt({ error }));
    expect(end.outcome).toMatchObject(outcome);
    expect((await play(session, prompt({}))).end.outcome).toEqual({ is: "done" });
  });

  it("or not at all: a turn that is not ended when it is cancelled is ended with its process", async () => {
    const session = await world({}).open();
    const { end } = await play(session, prompt({ hang: true }), { limits: { ...LIMITS, idleTimeoutMs: 200 } });
    expect(end.outcome).toMatchObject({ is: "timeout", which: "idle" });
    expect((await play(session, prompt({}))).end.outcome).toEqual({ is: "done" });
  });
});

describe("a context that is full", () => {
  it("is known also where the agent's compaction is heard of after its model has answered for that", async () => {
    const statuses = [400, 200, 400];
    const model = createServer((request, response) => {
      request.resume();
      const error = { type: "error", error: { type: "invalid_request_error", message: "too long" } };
      response.writeHead(statuses.shift() ?? 500, { "content-type": "application/json" }).end(JSON.stringify(error));
    }).listen(0, "127.0.0.1");
    await once(model, "listening");
    onTestFinished(() => void model.close());
    const { port } = model.address() as AddressInfo;
    const session = await world({}).open({
      environment: {
        ...WITH_NODE,
        PAWL_RUN: "r",
        ANTHROPIC_API_KEY: "k",
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      },
    });
    const ask = JSON.stringify({ tools: [{ name: "a" }, { name: "b" }] });
    const update = { sessionUpdate: "tool_call", toolCallId: "c", _meta: { claudeCode: { toolName: "compact" } } };
    const steps = [{ ask }, { ask }, { update }, { ask }];
    const { end } = await play(session, prompt({ steps, error: { code: -32_603, message: "too long" } }));
    expect([statuses, end.outcome]).toEqual([[], expect.objectContaining({ is: "failed", kind: "context" })]);
  });
});

describe("what a turn costs where pawl does not see the requests", () => {
  const usage = { inputTokens: 10, outputTokens: 5, cachedReadTokens: 3, cachedWriteTokens: 2, totalTokens: 20 };
  const answer = { stopReason: "end_turn", usage };
  const cost = (amount: number): Json => ({
    sessionUpdate: "usage_update",
    used: 7,
    size: 9,
    cost: { amount, currency: "USD" },
  });

  it("is what the agent says of it, as the difference to what the session had cost", async () => {
    const session = await world({}).open();
    const first = await play(session, prompt({ updates: [chunk("a"), cost(0.5)], answer }));
    expect(first.end.usage).toMatchObject({
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 3,
      cacheWriteTokens: 2,
    });
    expect(first.end).toMatchObject({ usage: { usd: 0.5, estimated: false, requests: 1 }, contextTokens: 7 });
    const second = await play(session, prompt({ updates: [cost(0.75)], answer }));
    expect(second.end.usage.usd).toBeCloseTo(0.25);
  });

  it("is unknown, never nothing, where it says none", async () => {
    const { end } = await play(await world({}).open(), prompt({ updates: [chunk("a")] }));
    expect(end.usage).toMatchObject({ requests: 1, usd: null });
  });
});

describe("a session that only answers", () => {
  it("allows nothing, and its whole text is the answer", async () => {
    const session = await world({}).open({ answer: { type: "object" } });
    const permission = { toolCallId: "t", kind: "edit", title: "write" };
    const denied = await play(session, prompt({ permission }));
    expect(denied.end.finalText).toBe("no");
    const { end } = await play(session, prompt({ updates: [chunk('{"score":'), chunk("0.5}")] }));
    expect(end.answer).toEqual({ score: 0.5 });
  });
});
