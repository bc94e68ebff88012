import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import type { HeldRequest } from "../../platform/gateway.ts";
import { needOf, transcriptGate } from "./gate.ts";

const SESSION = "5b0c7a9e-1111-4222-8333-444455556666";
const call = (id: string) => ({
  role: "assistant",
  content: [
    { type: "text", text: "On it." },
    { type: "tool_use", id },
  ],
});
const result = (...ids: string[]) => ({
  role: "user",
  content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "out" })),
});
const said = (text: string) => ({ role: "user", content: [{ type: "text", text }] });
const answer = (text: string) => ({ role: "assistant", content: [{ type: "text", text }] });

it.for([
  ["the first prompt on nothing", [said("go")], { is: "nothing" }],
  ["a tool's result on itself", [said("go"), call("t1"), result("t1")], { is: "results", ids: ["t1"] }],
  ["all results of one answer", [said("go"), call("t1"), result("t1", "t2")], { is: "results", ids: ["t1", "t2"] }],
  [
    "results before a note of the program",
    [said("go"), call("t1"), result("t1"), { role: "system", content: "note" }],
    { is: "results", ids: ["t1"] },
  ],
  ["the next prompt on the last answer", [said("go"), answer("Done."), said("more")], { is: "text", text: "Done." }],
  ["text that is a string", [said("go"), { role: "assistant", content: "Done." }], { is: "text", text: "Done." }],
  ["a call without a result on the call", [said("go"), call("t1"), said("stop")], { is: "call", id: "t1" }],
  ["thoughts alone on nothing", [{ role: "assistant", content: [{ type: "thinking" }] }], { is: "nothing" }],
] as const)("builds %s", ([, messages, need]) => {
  expect(needOf(messages)).toEqual(need);
});

/** The time for which a request is held does not pass: a busy machine can take longer than that over a few lines. */
function stoppedWorld() {
  const clock = vi.spyOn(performance, "now").mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  return world();
}

function world() {
  const config = tempDir("gate");
  const directory = join(config, "projects", "-workspace");
  const file = join(directory, `${SESSION}.jsonl`);
  writeFiles(directory, {
    [`${SESSION}.jsonl`]: "",
    [`${SESSION}/subagents/agent-a1.meta.json`]: '{"toolUseId":"t0"}',
  });
  const gate = transcriptGate(config);
  onTestFinished(() => gate.close());
  const write = (message: { role: string }, path = file): void =>
    appendFileSync(path, `${JSON.stringify({ type: message.role, uuid: "u", message })}\n`);
  /** Whether it has left, and when it has. */
  const ask = (messages: readonly object[], more: Partial<HeldRequest> = {}) => {
    const state = { left: false, done: Promise.resolve() };
    const headers = { "x-claude-code-session-id": SESSION, ...more.headers };
    const body = Buffer.from(JSON.stringify({ messages }));
    const signal = new AbortController().signal;
    const request = { method: "POST", path: "/v1/messages", body, signal, ...more, headers };
    state.done = gate.beforeForward(request).then(() => {
      state.left = true;
      return undefined;
    });
    return state;
  };
  return { directory, file, gate, write, ask };
}

const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 60));

it("holds a request until every result that it repeats is written, whole", async () => {
  const { file, gate, write, ask } = stoppedWorld();
  write(call("t1"));
  const request = ask([said("go"), call("t1"), result("t1", "t2")]);
  write(result("t1"));
  await aWhile();
  expect(request.left).toBe(false);
  const line = `${JSON.stringify({ type: "user", uuid: "u", message: result("t2") })}\n`;
  appendFileSync(file, line.slice(0, 40));
  await aWhile();
  expect(request.left).toBe(false);
  appendFileSync(file, line.slice(40));
  await request.done;
  // Again, as a retry would: it is known.
  await ask([said("go"), call("t1"), result("t1", "t2")]).done;
  expect(gate.takeOverdue()).toBe(0);
});

it("does not take a call, a quote or another session's line for the result", async () => {
  const { write, ask } = stoppedWorld();
  const request = ask([said("go"), call("t1"), result("t1")]);
  write(call("t1"));
  write(said('{"type":"tool_result","tool_use_id":"t1"}'));
  await aWhile();
  expect(request.left).toBe(false);
  write(result("t1"));
  await request.done;
});

it("holds an answer that the program goes on from by itself", async () => {
  const { write, ask } = stoppedWorld();
  write(answer("One."));
  const request = ask([said("go"), answer("One."), said("on"), answer("Two."), said("on")]);
  await aWhile();
  expect(request.left).toBe(false);
  write(answer("Two."));
  await request.done;
});

it("finds what a long conversation goes on from at its end", async () => {
  const { file, gate, write, ask } = stoppedWorld();
  writeFileSync(file, `${JSON.stringify({ type: "user", message: said("x".repeat(6 * 1024 * 1024)) })}\n`);
  write(result("t1"));
  await ask([call("t1"), result("t1")]).done;
  expect(gate.takeOverdue()).toBe(0);
});

it("looks into a subagent's own file, and for its first request at the call that started it", async () => {
  const { directory, write, ask } = stoppedWorld();
  const headers = { "x-claude-code-agent-id": "a1" };
  const first = ask([said("look")], { headers });
  await aWhile();
  expect(first.left).toBe(false);
  write(call("t0"));
  await first.done;
  const second = ask([said("look"), call("s1"), result("s1")], { headers });
  write(result("s1"));
  await aWhile();
  expect(second.left).toBe(false);
  write(result("s1"), join(directory, SESSION, "subagents", "agent-a1.jsonl"));
  await second.done;
});

it("lets a request go after the limit, and counts it", async () => {
  const { gate, ask } = world();
  await ask([call("t1"), result("t1")]).done;
  expect([gate.takeOverdue(), gate.takeOverdue()]).toEqual([1, 0]);
});

it("ends with the request that is given up", async () => {
  const { gate, ask } = stoppedWorld();
  const controller = new AbortController();
  const request = ask([call("t1"), result("t1")], { signal: controller.signal });
  controller.abort();
  await request.done;
  expect(gate.takeOverdue()).toBe(0);
});

it("holds nothing that belongs to no session", async () => {
  const { gate, ask } = stoppedWorld();
  const messages = [call("t1"), result("t1")];
  await ask(messages, { path: "/v1/messages/count_tokens" }).done;
  await ask(messages, { method: "GET" }).done;
  await ask(messages, { headers: { "x-claude-code-session-id": "../../etc" } }).done;
  await ask(messages, { headers: { "x-claude-code-session-id": [] } }).done;
  expect(gate.takeOverdue()).toBe(0);
});
