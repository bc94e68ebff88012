import { expect, it } from "vitest";
import { meter } from "./meter.ts";
import type { Json } from "./protocol.ts";
import { turnReader, USAGE_TOLD } from "./reader.ts";

function reading() {
  const seen = new Set<number>();
  const costs = meter(() => null);
  const reader = turnReader({
    uuid: "u2",
    ref: "ref",
    thread: "t",
    model: () => "m",
    meter: costs,
    requests: () => 1,
    isNews: (tokens) => !seen.has(tokens) && seen.add(tokens).size > 0,
    told: new Set(),
  });
  const types = (method: string, params: Json): string[] =>
    reader.take(method, { threadId: "t", ...params }).map(({ type }) => type);
  return { reader, types, costs };
}

const ended = (turnId: string): Json => ({
  turnId,
  item: { type: "commandExecution", id: `c-${turnId}`, command: "x", cwd: "/", status: "failed", exitCode: 1 },
});

it("what ends late is of the turn that it was begun in, also before the next one has a name", () => {
  const { reader, types, costs } = reading();
  expect(types("item/completed", ended("one"))).toEqual([]);
  expect(types("turn/completed", { turn: { id: "one", status: "interrupted" } })).toEqual([]);
  expect(reader.view).toMatchObject({ turn: undefined, status: undefined });
  expect(types("turn/started", { turn: { id: "two" } })).toEqual(["session-opened"]);
  expect(types("item/completed", ended("one"))).toEqual([]);
  expect(costs.tools()).toEqual([]);
  expect(types("item/completed", { turnId: "two", item: { type: "userMessage", id: "u", clientId: "u2" } })).toEqual(
    [],
  );
  expect(types("item/completed", ended("two"))).toContain("tool-end");
  expect(types("turn/completed", { turn: { id: "two", status: "completed" } })).toEqual([]);
  expect(reader.view.status).toBe("completed");
});

it("tokens that are told late for the turn before are not counted to this one when they are told again", () => {
  const { types, costs } = reading();
  const tokens = { totalTokens: 10, inputTokens: 8, cachedInputTokens: 0, outputTokens: 2 };
  const tokenUsage = { total: tokens, last: tokens } as unknown as Json;
  types("turn/started", { turn: { id: "two" } });
  types("item/completed", { turnId: "two", item: { type: "userMessage", id: "u", clientId: "u2" } });
  types(USAGE_TOLD, { turnId: "one", tokenUsage });
  types(USAGE_TOLD, { turnId: "two", tokenUsage });
  expect(costs.responses()).toBe(0);
});
