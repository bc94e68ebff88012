import { describe, expect, it } from "vitest";
import type { OutputRule } from "../../spec/command-agent.ts";
import { meter } from "./meter.ts";
import { at, brokenPath, holds } from "./paths.ts";
import { presetEntry } from "./preset-entry.ts";
import { PRESETS } from "./presets.ts";
import { jsonlReader } from "./read-jsonl.ts";
import type { Line } from "./view.ts";

const line = (value: unknown): Line => ({
  is: "line",
  text: typeof value === "string" ? value : JSON.stringify(value),
});

function read(preset: string, values: readonly unknown[]) {
  const { output } = presetEntry(preset);
  const spent = meter({});
  const reader = jsonlReader({ rules: output.format === "jsonl" ? output.rules : [], meter: spent });
  const events = [...values.flatMap((value) => reader.take(line(value))), ...reader.flush()];
  const usage = spent.usage({ requests: 1, model: "m", price: () => null });
  return { events, view: reader.view, usage };
}

describe("lines of JSON", () => {
  it("of Cursor tell a tool by the key it stands under", () => {
    const call = {
      type: "tool_call",
      call_id: "1",
      tool_call: { writeToolCall: { args: { path: "a" }, result: "ok" } },
    };
    const { events, view } = read("cursor", [
      { type: "system", subtype: "init", session_id: "s", model: "m" },
      { ...call, subtype: "started" },
      { ...call, subtype: "completed" },
      { type: "result", is_error: false, result: "Done.", usage: { inputTokens: 5, outputTokens: 2 } },
    ]);
    expect(events).toMatchObject([
      { type: "message", id: "1" },
      { type: "tool-start", name: "writeToolCall", input: { path: "a" } },
      { type: "tool-end", ok: true, output: "ok" },
    ]);
    expect(view).toMatchObject({ session: "s", model: "m", finalText: "Done.", ended: true });
  });

  it("of Gemini join what comes in pieces before a secret in it could be cut in two", () => {
    const { events, view, usage } = read("gemini", [
      { type: "init", session_id: "g", model: "gemini-2.5-pro" },
      { type: "message", role: "assistant", content: "sk-", delta: true },
      { type: "message", role: "assistant", content: "123", delta: true },
      { type: "tool_use", tool_name: "write_file", tool_id: "t", parameters: {} },
      { type: "tool_result", tool_id: "t", status: "error", error: { message: "no" } },
      { type: "message", role: "assistant", content: "Done.", delta: true },
      { type: "result", status: "success", stats: { input_tokens: 10, output_tokens: 4, cached: 3 } },
    ]);
    expect(events.filter(({ type }) => type === "text")).toEqual([
      { type: "text", text: "sk-123" },
      { type: "text", text: "Done." },
    ]);
    expect(events).toContainEqual({ type: "tool-end", id: "t", ok: false, output: "no" });
    expect(view).toMatchObject({ finalText: "Done.", ended: true });
    expect(usage).toMatchObject({ inputTokens: 7, cacheReadTokens: 3, outputTokens: 4 });
  });

  it("of Pi tell the cost of every message", () => {
    const message = { role: "assistant", model: "m", usage: { input: 5, output: 1, cost: { total: 0.25 } } };
    const { usage, events } = read("pi", [
      { type: "session", id: "p" },
      { type: "message_end", message: { ...message, responseId: "1", content: [{ type: "text", text: "Hi." }] } },
      { type: "message_end", message: { ...message, responseId: "2", content: [{ type: "text", text: "Done." }] } },
      { type: "agent_end", messages: [] },
    ]);
    expect(events.filter(({ type }) => type === "message")).toHaveLength(2);
    expect(usage).toMatchObject({ inputTokens: 10, usd: 0.5, estimated: false });
  });

  it("that are none, or not what they should be, change nothing", () => {
    const odd = [
      "noise",
      "{broken",
      "[1]",
      { type: "assistant", message: 5 },
      { type: "assistant", message: { content: [null, 3] } },
    ];
    expect(read("claude-p", odd).events).toEqual([]);
  });
});

describe("a rule's paths", () => {
  it("find what is there and nothing that an object inherits", () => {
    expect(at({ a: [{ b: 1 }] }, "a[0].b")).toBe(1);
    expect(at({ a: 1 }, "constructor")).toBeUndefined();
    expect(at({ x: { first: 1 } }, "x.~")).toBe("first");
    expect(holds({ a: [1, 2], b: null }, { a: 2 })).toBe(true);
    expect(holds({ a: "2" }, { a: 2 })).toBe(false);
  });

  it("are all paths in the presets, which are all whole", () => {
    for (const name of Object.keys(PRESETS)) {
      const { output } = presetEntry(name);
      const rules: readonly OutputRule[] = output.format === "jsonl" ? output.rules : [];
      expect([name, rules.map(brokenPath).filter(Boolean)]).toEqual([name, []]);
    }
    expect(brokenPath({ text: "a..b" })).toBe("a..b");
  });
});
