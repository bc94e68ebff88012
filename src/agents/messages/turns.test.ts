import { appendFileSync, existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { LIMITS, play } from "../../../test/contracts/agent-play.ts";
import { messagesWorld } from "../../../test/support/messages.ts";
import { tempDir } from "../../../test/support/temp.ts";
import type { AgentEvent } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";
import { checkMessages } from "./check.ts";
import { transcriptFile } from "./transcript.ts";

const SCHEMA = {
  type: "object",
  properties: { n: { type: "integer", minimum: 1 }, why: { type: "string" } },
  required: ["n"],
};
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const notices = (events: readonly AgentEvent[]): string =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : [])).join("\n");

describe("an answer in a form", () => {
  it("is read, with no tool offered and no word of pawl's own before it", async () => {
    const { open, sent } = await messagesWorld({ script: [{ answer: { n: 3 } }] });
    const { end } = await play(await open({ answer: SCHEMA, instructions: "Be brief." }), "how many?");
    expect(end).toMatchObject({ outcome: { is: "done" }, answer: { n: 3 }, finalText: '{"n":3}' });
    const [body] = sent();
    expect(body).not.toHaveProperty("tools");
    expect(body).toMatchObject({ system: [{ text: "Be brief." }], output_config: { format: { type: "json_schema" } } });
    expect(JSON.stringify(body?.["output_config"])).not.toContain("minimum");
  });

  it("is sent back where it does not fit, with the reason, and given up at last", async () => {
    const bad: Step[] = [{ answer: { n: 0 } }, { text: "three" }];
    const { open, sent, standin } = await messagesWorld({
      script: {
        rules: [
          { when: { promptIncludes: "once" }, steps: bad.slice(0, 1) },
          { when: { lastUserIncludes: "does not fit" }, steps: [{ answer: { n: 2 } }] },
        ],
        steps: [{ text: "never", repeat: true }],
      },
    });
    const good = await play(await open({ answer: SCHEMA }), "once");
    expect(good.end).toMatchObject({ outcome: { is: "done" }, answer: { n: 2 }, usage: { requests: 2 } });
    expect(JSON.stringify(sent()[1])).toContain("n is 0, must be at least 1");
    const before = standin.requests.length;
    const { open: openBad, standin: other } = await messagesWorld({ script: [{ text: "never", repeat: true }] });
    const failed = await play(await openBad({ answer: SCHEMA }), "for ever");
    expect(failed.end).toMatchObject({ outcome: { is: "failed", kind: "agent" } });
    expect(failed.end.answer).toBeUndefined();
    expect([before, other.requests.length]).toEqual([2, 3]);
  });
});

describe("why an answer stops", () => {
  it("goes on once with one that was too long, and joins its parts", async () => {
    const long: Step = { text: "first half, ", stopReason: "max_tokens" };
    const { open } = await messagesWorld({ script: [long, { text: "second half" }] });
    const { end } = await play(await open(), "write");
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "first half, second half" });
    const { open: again } = await messagesWorld({ script: [{ ...long, repeat: true }] });
    const failed = await play(await again(), "write");
    expect(failed.end.outcome).toMatchObject({ is: "failed", kind: "agent" });
    expect(failed.end.usage.requests).toBe(2);
  });

  it("sends a paused turn on, and tells a full window as such", async () => {
    const paused: Step = { text: "Looking.", stopReason: "pause_turn" };
    const { open } = await messagesWorld({ script: [paused, { text: "Found." }] });
    expect((await play(await open(), "look")).end).toMatchObject({ outcome: { is: "done" }, finalText: "Found." });
    const full: Step = { text: "…", stopReason: "model_context_window_exceeded" };
    const { open: wide } = await messagesWorld({ script: [full] });
    expect((await play(await wide(), "look")).end.outcome).toMatchObject({ is: "failed", kind: "context" });
    const { open: wider } = await messagesWorld({ script: [{ status: 400, message: "prompt is too long: 9 > 8" }] });
    expect((await play(await wider(), "look")).end.outcome).toMatchObject({ is: "failed", kind: "context" });
  });

  it("tells a refusal as such, keeps nothing of it, and asks the other model where there is one", async () => {
    const script = {
      rules: [{ when: { model: "claude-opus-5-5" }, steps: [{ text: "I can." }] }],
      steps: [{ text: "I will not.", stopReason: "refusal", repeat: true }],
    };
    const alone = await messagesWorld({ script });
    expect((await play(await alone.open(), "do it")).end.outcome).toMatchObject({ is: "failed", kind: "refused" });
    const { open, sent } = await messagesWorld({ script, fallbackModel: "claude-opus-5-5" });
    const { end, events } = await play(await open(), "do it");
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "I can.", usage: { requests: 2 } });
    expect(notices(events)).toContain("claude-opus-5-5");
    expect(JSON.stringify(sent()[1])).not.toContain("I will not");
  });

  it("asks the other model when the first is overloaded, and only then says limited", async () => {
    const overloaded = {
      rules: [{ when: { model: "claude-opus-5-5" }, steps: [{ text: "Here." }] }],
      steps: [{ status: 529 }],
    };
    const alone = await messagesWorld({ script: overloaded });
    expect((await play(await alone.open(), "go")).end.outcome).toMatchObject({ is: "limited", kind: "overloaded" });
    const { open } = await messagesWorld({ script: overloaded, fallbackModel: "claude-opus-5-5" });
    expect((await play(await open(), "go")).end).toMatchObject({ finalText: "Here.", usage: { requests: 2 } });
  });

  it("does not go on for ever with an answer that is paused again and again", async () => {
    const { open } = await messagesWorld({ script: [{ text: "…", stopReason: "pause_turn", repeat: true }] });
    const { end } = await play(await open(), "go");
    expect(end.outcome).toMatchObject({ is: "failed", message: expect.stringMatching(/paused 51 times/) });
    expect(end.usage.requests).toBe(51);
  });

  it("ends at its limit of requests, and tells when a limit of the provider's ends", async () => {
    const { open } = await messagesWorld({ script: [{ ...bash("true"), repeat: true }], options: { maxTurns: 2 } });
    const { end } = await play(await open(), "loop");
    expect(end).toMatchObject({ outcome: { is: "failed", kind: "max-turns" }, usage: { requests: 2, toolCalls: 2 } });
    const { open: limited } = await messagesWorld({ script: [{ status: 429, retryAfterS: 60 }] });
    const outcome = (await play(await limited(), "go")).end.outcome;
    expect(outcome).toMatchObject({ is: "limited", kind: "rate" });
    expect(outcome.is === "limited" && (outcome.resetAt ?? 0) > Date.now()).toBe(true);
  });
});

describe("the tools", () => {
  it("read, write, change, list and search in the workspace, and write nothing outside of it", async () => {
    const call = (name: string, input: Record<string, string | number | boolean>) => ({ name, input });
    const { open, workspace, sent } = await messagesWorld({
      script: [
        {
          tools: [
            call("Write", { file_path: "src/a.txt", content: "one\ntwo\ntwo\n" }),
            call("Edit", { file_path: "src/a.txt", old_string: "two", new_string: "2" }),
            call("Edit", { file_path: "src/a.txt", old_string: "two", new_string: "2", replace_all: true }),
            call("Read", { file_path: "src/a.txt", offset: 2, limit: 1 }),
            call("List", { glob: "*.txt" }),
            call("Search", { pattern: "^O", ignore_case: true }),
            call("Write", { file_path: "../outside.txt", content: "x" }),
            call("Bash", { command: "echo out; echo err >&2; exit 3" }),
            call("Bash", { command: "sleep 5", timeout_ms: 50 }),
            call("Nothing", {}),
          ],
        },
        { text: "done" },
      ],
    });
    const { end, events } = await play(await open(), "try everything");
    expect(end).toMatchObject({ outcome: { is: "done" }, usage: { toolCalls: 10 } });
    const results = events.flatMap((event) => (event.type === "tool-end" ? [[event.ok, event.output]] : []));
    expect(results).toEqual([
      [true, "wrote src/a.txt"],
      [false, expect.stringContaining("2 times")],
      [true, "changed src/a.txt"],
      [true, expect.stringMatching(/^2\t2\n…/)],
      [true, "src/a.txt"],
      [true, "src/a.txt:1:one"],
      [false, "../outside.txt is outside of the workspace"],
      [false, "out\nerr\nexit code 3"],
      [false, "ended after 50 ms, its time limit"],
      [false, "there is no tool Nothing"],
    ]);
    expect(readFileSync(join(workspace, "src/a.txt"), "utf8")).toBe("one\n2\n2\n");
    expect(existsSync(join(workspace, "../outside.txt"))).toBe(false);
    expect(JSON.stringify(sent()[1])).toContain('"is_error":true');
  });

  it("are only those that were asked for", async () => {
    const { open, sent } = await messagesWorld({ script: [{ text: "ok" }], options: { tools: ["Read", "List"] } });
    await play(await open(), "look");
    expect(sent()).toMatchObject([{ tools: [{ name: "Read" }, { name: "List" }, { name: "done" }] }]);
  });
});

describe("what is said while the model gives its last answer", () => {
  it("leads to another request, and is delivered in it", async () => {
    const { open, sent } = await messagesWorld({
      script: {
        rules: [{ when: { lastUserIncludes: "and blue" }, steps: [{ text: "Red and blue." }] }],
        steps: [{ text: "Red.", delayMs: 200 }],
      },
    });
    const session = await open();
    const { end, events } = await play(session, "paint", {
      onEvent: (event) => event.type === "session-opened" && void session.say("d1", "and blue"),
    });
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Red and blue." });
    expect(events.filter((event) => event.type === "delivered")).toEqual([{ type: "delivered", directive: "d1" }]);
    expect(sent()).toHaveLength(2);
  });
});

describe("the transcript", () => {
  it("tells of a driver that died: before the request, during it, and after the last answer", async () => {
    const { agent, open, request, home } = await messagesWorld({ script: [{ text: "Done.", answer: { n: 1 } }] });
    const asked = request();
    const uuid = randomUUID();
    const { end } = await play(await open(asked), "go", { uuid });
    const file = transcriptFile(home, asked.session.ref);
    const lines = readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
    const kinds = lines.map((line) => (JSON.parse(line) as { is: string }).is);
    expect(kinds).toEqual(["prompt", "request", "answer", "end"]);
    const after = async (count: number, torn = ""): Promise<unknown> => {
      writeFileSync(file, `${lines.slice(0, count).join("\n")}\n${torn}`);
      return await agent.inspect(asked, { uuid });
    };
    expect(await after(1)).toEqual({ is: "unknown" });
    expect(await after(2, '{"is":"answ')).toMatchObject({ is: "cut", usage: { requests: 1, outputTokens: 0 } });
    expect(await after(3)).toEqual({ is: "ended", end, tools: [] });
    await after(2, '{"is":"answ');
    const next = await play(await open({ session: { ...asked.session, mode: "continue" } }), "go on");
    expect(next.end).toMatchObject({ outcome: { is: "done" } });
    appendFileSync(file, "not JSON\n");
    expect(await agent.inspect(asked, { uuid })).toMatchObject({ is: "cut" });
  });
});

describe("a driver that dies anywhere", () => {
  it("leaves a conversation that the API takes, and a cost that only grows", async () => {
    const paused: Step = {
      text: "Computing.",
      execute: [{ language: "shell", code: "true" }],
      stopReason: "pause_turn",
    };
    const calls: Step = { text: "Looking.", tools: ["a", "b"].map((path) => ({ name: "List", input: { path } })) };
    const steps = [calls, paused, { text: "Too long", stopReason: "max_tokens" }, { text: "Done." }];
    const script = { rules: [{ when: { promptIncludes: "go on after" }, steps: [{ text: "ok" }] }], steps };
    const world = await messagesWorld({ script, options: { executor: "claude" } });
    const [asked, uuid] = [world.request(), randomUUID()];
    const { end } = await play(await world.open(asked), "go", { uuid });
    expect(end).toMatchObject({ outcome: { is: "done" }, usage: { requests: 4 } });
    const file = transcriptFile(world.home, asked.session.ref);
    const whole = readFileSync(file, "utf8");
    const lines = whole.split("\n").filter((line) => line !== "");
    const tokens: number[] = [];
    for (const at of lines.keys()) {
      const torn = lines[at]?.slice(0, 20) ?? "";
      writeFileSync(file, `${lines.slice(0, at).join("\n")}\n${torn}`);
      const found = await world.agent.inspect(asked, { uuid });
      tokens.push(found.is === "unknown" ? 0 : (found.is === "cut" ? found : found.end).usage.outputTokens);
      const session = await world.open({ session: { ...asked.session, mode: "continue" } });
      const next = await play(session, `go on after ${at}`, { limits: LIMITS });
      expect([at, next.end.outcome]).toEqual([at, { is: "done" }]);
    }
    expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
    expect(tokens.at(-1)).toBe(end.usage.outputTokens);
  });
});

describe("what a tool can write", () => {
  it("leads nothing of pawl's elsewhere: a link in place of the record ends the turn", async () => {
    const elsewhere = tempDir("elsewhere");
    const { open, home } = await messagesWorld({
      script: [bash(`mv ../home/messages ../kept && ln -s ${elsewhere} ../home/messages`), { text: "done" }],
    });
    const { end } = await play(await open(), "link it");
    expect(end.outcome).toMatchObject({ is: "cut", reason: expect.stringContaining("no folder any more") as string });
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(lstatSync(join(home, "messages")).isSymbolicLink()).toBe(true);
  });
});

describe("the cache", () => {
  const LONG = "A long text that is the same for ever. ".repeat(300);

  it("lets each request of a turn read the one before", async () => {
    const steps = [...Array.from({ length: 4 }, () => bash("true")), { text: "done" }];
    const { open, standin } = await messagesWorld({ script: steps });
    await play(await open({ instructions: LONG }), "work");
    const [first, ...others] = standin.requests.map(({ billing }) => billing);
    expect(first?.cacheReadTokens).toBe(0);
    for (const { cacheReadTokens, inputTokens } of others) expect(cacheReadTokens).toBeGreaterThan(10 * inputTokens);
  });

  it("lets another session read what the prompt calls stable, and never marks too much", async () => {
    const { open, standin, sent } = await messagesWorld({ script: [{ text: "ok", repeat: true }] });
    const turn = async (prompt: string, breaks: number[]): Promise<void> => {
      const events = (await open()).turn({ uuid: randomUUID(), prompt, breaks }, LIMITS, new AbortController().signal);
      for await (const _ of events);
    };
    await turn(`${LONG}first`, [20, 40, 60, LONG.length]);
    await turn(`${LONG}second`, [20, 40, 60, LONG.length]);
    const [, second] = standin.requests.map(({ billing }) => billing);
    expect(second?.cacheReadTokens).toBeGreaterThan(LONG.length / 5);
    const [, body] = sent() as { messages: { content: { text: string }[] }[] }[];
    const texts = body?.messages[0]?.content.map(({ text }) => text) ?? [];
    expect(texts.join("")).toBe(`${LONG}second`);
    expect(texts).toHaveLength(5);
  });
});

describe("a long conversation", () => {
  it("may be shortened by the provider, where that is wanted", async () => {
    const edit = { type: "clear_tool_uses_20250919", cleared_tool_uses: 3, cleared_input_tokens: 4_000 };
    const steps = [{ text: "ok", appliedEdits: [edit] }];
    const { open, sent } = await messagesWorld({ script: steps, options: { contextEditing: true } });
    const { end, events } = await play(await open(), "go");
    expect(end.outcome).toEqual({ is: "done" });
    expect(notices(events)).toContain("4000 tokens");
    expect(sent()[0]).toMatchObject({ context_management: { edits: [{ trigger: { value: 50_000 } }, {}] } });
  });
});

describe("without a key", () => {
  it("says so in one line, before anything is sent", async () => {
    const { open, request, standin } = await messagesWorld({ script: [{ text: "no" }], user: {} });
    const { end } = await play(await open(), "go");
    expect(end.outcome).toMatchObject({
      is: "failed",
      message: expect.stringContaining("ANTHROPIC_API_KEY") as string,
    });
    expect(() => checkMessages(request(), {})).toThrow("ANTHROPIC_API_KEY is not set");
    expect(() => checkMessages(request(), { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "no" })).toThrow("BASE_URL");
    expect(standin.requests).toEqual([]);
  });

  it("takes a token instead, and headers of the user's own", async () => {
    const seen: unknown[] = [];
    const { standin } = await messagesWorld({ script: [{ text: "ok" }] });
    const { createServer } = await import("node:http");
    const server = createServer((request, response) => {
      seen.push([request.headers.authorization, request.headers["x-api-key"], request.headers["x-team"]]);
      response.writeHead(529, { "content-type": "application/json" }).end("{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const user = {
      ANTHROPIC_AUTH_TOKEN: "t",
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      ANTHROPIC_CUSTOM_HEADERS: "X-Team: a",
    };
    const { open } = await messagesWorld({ script: [], user });
    const { end } = await play(await open(), "go");
    server.close();
    expect(end.outcome).toMatchObject({ is: "limited" });
    expect([seen, standin.requests]).toEqual([[["Bearer t", undefined, "a"]], []]);
  });
});
