import { expect, it } from "vitest";
import { answerOfServer, DONE_TOOL, doneCalls } from "./done.ts";

interface Answer {
  id: unknown;
  result?: { tools?: { name: string }[]; isError?: boolean; content?: { text: string }[] };
  error?: { code: number };
}

const ask = (message: object): Answer => answerOfServer("pawl", { jsonrpc: "2.0", ...message }) as Answer;

it("is a server with one tool, and answers what it does not know with an error", () => {
  expect(ask({ method: "notifications/initialized" })).toMatchObject({ result: {} });
  expect(ask({ id: 1, method: "tools/list" }).result?.tools?.map(({ name }) => name)).toEqual(["done"]);
  expect(ask({ id: "p", method: "ping" })).toMatchObject({ id: "p", result: {} });
  expect(ask({ id: 2, method: "resources/list" })).toMatchObject({ id: 2, error: { code: -32_601 } });
  expect(() => answerOfServer("another", {})).toThrow("another");
});

it.each([
  [{ status: "done", summary: "all" }, false],
  [{ status: "abort", summary: "" }, false],
  [{ status: "maybe", summary: "all" }, true],
  [{ status: "done" }, true],
  [undefined, true],
])("takes %j for a claim or says what is wrong", (input, isError) => {
  const answer = ask({ id: 1, method: "tools/call", params: { name: "done", arguments: input } });
  expect(answer.result?.isError).toBe(isError);
  expect(answer.result?.content?.[0]?.text).toContain(isError ? "Not noted" : "pawl checks it");
});

it("counts the last call by the order of the calls, whichever result comes first", () => {
  const calls = doneCalls();
  calls.start("1", DONE_TOOL, { status: "done", summary: "one" });
  calls.start("2", DONE_TOOL, { status: "task", summary: "two" });
  calls.end("2", true);
  calls.end("1", true);
  expect(calls.last()).toEqual({ is: "task", text: "two" });
});

it("counts no call that failed, has no result, is malformed or is of another tool", () => {
  const calls = doneCalls();
  calls.start("1", DONE_TOOL, { status: "done", summary: "failed" });
  calls.end("1", false);
  calls.start("2", DONE_TOOL, { status: "done", summary: "without a result" });
  calls.start("3", DONE_TOOL, { status: "finished", summary: "malformed" });
  for (const name of ["done", "mcp__other__done", "mcp__pawl__done_", "mcp__Pawl__done"]) {
    calls.start(name, name, { status: "done", summary: name });
  }
  for (const id of ["3", "done", "mcp__other__done", "mcp__pawl__done_", "mcp__Pawl__done"]) calls.end(id, true);
  expect(calls.last()).toBeNull();
});
