import { describe, expect, it } from "vitest";
import { wireSchema } from "./answer.ts";
import { piecesOf, textBlock, type Block, type Said } from "./blocks.ts";
import { conversationOf, sendable } from "./conversation.ts";
import { executionReader } from "./executions.ts";
import { messagesOptions } from "./options.ts";
import { marksIn } from "./params.ts";
import type { Entry } from "./transcript.ts";

const user = (...content: Block[]): Said => ({ role: "user", content });
const said = (...content: Block[]): Said => ({ role: "assistant", content });
const call = (id: string, type = "tool_use"): Block => ({ type, id, name: "Bash", input: {} });
const result = (id: string): Block => ({ type: "tool_result", tool_use_id: id, content: "ok" });

describe("the conversation", () => {
  it("has a result for every call when the user goes on, though nobody knows it", () => {
    const entries: Entry[] = [
      { is: "prompt", turn: "1", content: [textBlock("do")] },
      { is: "answer", turn: "1", id: "m1", model: "m", content: [call("a"), call("b")], stop: "tool_use", usage: {} },
      { is: "prompt", turn: "2", content: [textBlock("go on")] },
    ];
    const [, , lost, last] = conversationOf(entries);
    expect(lost?.content).toMatchObject([
      { tool_use_id: "a", is_error: true },
      { tool_use_id: "b", is_error: true },
    ]);
    expect(last).toEqual(user(textBlock("go on")));
  });

  it("is sent without calls of the provider's that wait, unless its turn is gone on with", () => {
    const paused = said(textBlock("Let me see."), call("s1", "server_tool_use"));
    expect(sendable([user(textBlock("do")), paused])).toEqual([user(textBlock("do")), paused]);
    const answered = said({ type: "bash_code_execution_tool_result", tool_use_id: "s1" });
    expect(sendable([paused, answered])).toEqual([paused, answered]);
    expect(sendable([paused, user(textBlock("stop"))])).toEqual([
      said(textBlock("Let me see.")),
      user(textBlock("stop")),
    ]);
    expect(sendable([said(call("s1", "server_tool_use")), user(textBlock("x"))])).toEqual([user(textBlock("x"))]);
  });

  it("leaves out what a refusal said, and takes a history as it is", () => {
    const history = [user(textBlock("old")), said(textBlock("yes"))];
    const entries: Entry[] = [
      { is: "history", from: "x:m0", messages: history },
      { is: "prompt", turn: "1", content: [textBlock("do")] },
      {
        is: "answer",
        turn: "1",
        id: "m1",
        model: "m",
        content: [textBlock("no")],
        stop: "refusal",
        usage: {},
        dropped: true,
      },
    ];
    expect(conversationOf(entries)).toEqual([...history, user(textBlock("do"))]);
  });
});

describe("marks for the cache", () => {
  it("stand on the last block, where the request before ended, and on what is stable; three at most", () => {
    const pieces = piecesOf("aabbccdd", [2, 4, 6, 6, 99]);
    expect(pieces.map((piece) => piece["text"])).toEqual(["aa", "bb", "cc", "dd"]);
    expect(marksIn([user(...pieces)])).toEqual([
      { message: 0, block: 3 },
      { message: 0, block: 2 },
      { message: 0, block: 1 },
    ]);
    const later = [user(...pieces), said(call("a")), user(result("a")), said(call("b")), user(result("b"))];
    expect(marksIn(later)).toEqual([
      { message: 4, block: 0 },
      { message: 2, block: 0 },
      { message: 0, block: 2 },
    ]);
    expect(marksIn([user(textBlock("x")), said({ type: "thinking" })])).toEqual([]);
  });
});

describe("a schema for the API", () => {
  it("keeps the form, closes every object and leaves out what the API does not know", () => {
    const schema = {
      type: "object",
      properties: {
        list: {
          type: "array",
          minItems: 2,
          items: { type: "object", properties: { n: { type: "number", minimum: 0 } } },
        },
        either: { oneOf: [{ type: "string", maxLength: 3 }, { type: "null" }] },
      },
      required: ["list"],
    };
    expect(wireSchema(schema)).toEqual({
      type: "object",
      properties: {
        list: {
          type: "array",
          items: { type: "object", properties: { n: { type: "number" } }, additionalProperties: false },
        },
        either: { anyOf: [{ type: "string" }, { type: "null" }] },
      },
      required: ["list"],
      additionalProperties: false,
    });
  });
});

describe("code that the model ran", () => {
  it("is what the file holds that a command runs, also over answers, else the command", () => {
    const reader = executionReader();
    const use = (id: string, name: string, input: object): Block => ({ type: "server_tool_use", id, name, input });
    const done = (id: string): Block => ({
      type: "bash_code_execution_tool_result",
      tool_use_id: id,
      content: {
        type: "bash_code_execution_result",
        stdout: "x".repeat(100_000),
        stderr: "",
        return_code: 0,
        content: [],
      },
    });
    const edit = "text_editor_code_execution";
    const first = [
      use("1", edit, { command: "create", path: "/tmp/a.py", file_text: "print(1)" }),
      use("2", edit, { command: "str_replace", path: "/tmp/a.py", old_str: "1", new_str: "2" }),
      use("3", "bash_code_execution", { command: "cd /tmp && python3 a.py" }),
    ];
    expect(reader.take({ blocks: first, doneAt: [0, 0, 100] })).toEqual([]);
    const [ran] = reader.take({ blocks: [done("3")], doneAt: [350] });
    expect(ran).toMatchObject({ language: "python", code: "print(2)", execution: { durationMs: 250 } });
    expect(ran?.execution.stdout.bytes).toBe(100_000);
    expect(ran?.execution.stdout.text.length).toBeLessThan(70_000);
    const other = [use("4", "bash_code_execution", { command: "python3 b.py | sort" }), done("4")];
    expect(reader.take({ blocks: other, doneAt: [0, 0] })).toMatchObject([
      { language: "shell", code: "python3 b.py | sort" },
    ]);
  });
});

describe("options", () => {
  it("are refused with the name of what is wrong", () => {
    expect(messagesOptions({ extra: [], plugins: [] })).toMatchObject({ maxTokens: 32_000, executor: undefined });
    expect(() => messagesOptions({ mcp: ["x.json"] })).toThrow("--mcp");
    expect(() => messagesOptions({ telepathy: true })).toThrow("no option telepathy");
    expect(() => messagesOptions({ executor: "local" })).toThrow("executor");
    expect(() => messagesOptions({ files: [{ path: "/a", sha256: "b", name: "c" }] })).toThrow("executor: claude");
    expect(() => messagesOptions({ executor: "claude", files: ["a.csv"] })).toThrow("list of");
    expect(() => messagesOptions({ maxTokens: 0 })).toThrow("maxTokens");
  });
});
