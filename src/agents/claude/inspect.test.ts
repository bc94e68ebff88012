import { randomUUID } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { configDirectory } from "./environment.ts";
import { inspectTurn } from "./inspect.ts";
import { findStart, savedTotals } from "./start.ts";
import { openTail } from "./tail.ts";

const usage = { input_tokens: 10, output_tokens: 2, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

const prompt = (uuid: string, second = 0) => ({
  type: "user",
  uuid,
  timestamp: at(second),
  message: { role: "user", content: "do it" },
});
const answer = (id: string, stop: string | null, content: unknown[], second = 1) => ({
  type: "assistant",
  uuid: randomUUID(),
  timestamp: at(second),
  message: { id, model: "claude-opus-5-5", role: "assistant", stop_reason: stop, usage, content },
});
const text = (words: string) => ({ type: "text", text: words });
const call = (id: string) => ({ type: "tool_use", id, name: "Bash", input: {} });
const result = (id: string) => ({
  type: "user",
  uuid: randomUUID(),
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "out" }] },
});

function recorded(lines: readonly unknown[], { session = randomUUID(), home = tempDir("inspect"), tail = "" } = {}) {
  const project = join(configDirectory(home), "projects", "-w");
  mkdirSync(project, { recursive: true });
  const body = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  writeFileSync(join(project, `${session}.jsonl`), `${body}\n${tail}`);
  return { home, project, session: { ref: session, mode: "new" as const } };
}

it("takes the final text from all blocks of the last message, and counts the message once", async () => {
  const uuid = randomUUID();
  const lines = [
    prompt(randomUUID()),
    answer("m0", "end_turn", [text("earlier")]),
    prompt(uuid),
    answer("m1", "tool_use", [text("looking")]),
    answer("m1", "tool_use", [call("t1")]),
    result("t1"),
    answer("m2", "end_turn", [text("All ")]),
    answer("m2", "end_turn", [text("done.")]),
  ];
  const found = await inspectTurn(recorded(lines), { uuid });
  expect(found).toMatchObject({
    is: "ended",
    tools: [["Bash", 1]],
    end: { finalText: "All done.", contextTokens: 12, usage: { requests: 2, inputTokens: 20, outputTokens: 4 } },
  });
});

it.each([
  ["a call without a result", [answer("m1", "tool_use", [call("t1")])]],
  ["a result without an answer", [answer("m1", "tool_use", [call("t1")]), result("t1")]],
  ["no answer at all", []],
  ["an answer without a reason to stop", [answer("m1", null, [text("half")])]],
  ["an answer that was too long", [answer("m1", "max_tokens", [text("half")])]],
  ["an API error", [{ ...answer("e", "stop_sequence", [text("API Error")]), isApiErrorMessage: true }]],
  [
    "an interrupt",
    [
      answer("m1", "end_turn", [text("x")]),
      {
        type: "user",
        uuid: randomUUID(),
        message: { role: "user", content: [text("[Request interrupted by user]")] },
      },
    ],
  ],
])("calls a turn cut that stops at %s", async (_, lines) => {
  const uuid = randomUUID();
  expect((await inspectTurn(recorded([prompt(uuid), ...lines]), { uuid })).is).toBe("cut");
});

it("finds the last good call of the main conversation that says how the work stands", async () => {
  const uuid = randomUUID();
  const said = (id: string, status: string) => ({
    type: "tool_use",
    id,
    name: "mcp__pawl__done",
    input: { status, summary: id },
  });
  const failed = { type: "tool_result", tool_use_id: "t2", is_error: true, content: "Not noted" };
  const lines = [
    prompt(uuid),
    answer("m1", "tool_use", [said("t1", "task")]),
    result("t1"),
    answer("m2", "tool_use", [said("t2", "done")]),
    { type: "user", uuid: randomUUID(), message: { role: "user", content: [failed] } },
    { ...answer("s1", "tool_use", [said("t3", "abort")]), isSidechain: true },
    { ...result("t3"), isSidechain: true },
    answer("m3", "end_turn", [text("Next.")]),
  ];
  const found = await inspectTurn(recorded(lines), { uuid });
  expect(found).toMatchObject({ is: "ended", end: { call: { is: "task", text: "t1" } } });
});

it("skips torn, strange and huge lines", async () => {
  const uuid = randomUUID();
  const huge = JSON.stringify({ type: "user", uuid: "u", message: { content: "x".repeat(17 * 1024 * 1024) } });
  const lines = ["null", "{broken", "42", huge, prompt(uuid), answer("m", "end_turn", [text("ok")])];
  const torn = '{"type":"assistant","uuid":"';
  expect(await inspectTurn(recorded(lines, { tail: torn }), { uuid })).toMatchObject({ is: "ended" });
  const unfinished = JSON.stringify(prompt(uuid)).slice(0, -1);
  expect(await inspectTurn(recorded([], { tail: unfinished }), { uuid })).toEqual({ is: "unknown" });
});

it("charges subagents to the turn that started them", async () => {
  const [first, second] = [randomUUID(), randomUUID()];
  const record = recorded([
    prompt(first, 0),
    answer("m1", "end_turn", [text("one")], 2),
    prompt(second, 3),
    answer("m2", "end_turn", [text("two")], 5),
  ]);
  const subagents = join(record.project, record.session.ref, "subagents");
  mkdirSync(subagents, { recursive: true });
  writeFileSync(join(subagents, "agent-a.jsonl"), `${JSON.stringify(answer("s1", "end_turn", [], 1))}\n`);
  writeFileSync(join(subagents, "agent-b.jsonl"), `${JSON.stringify(answer("s2", "end_turn", [], 4))}\n`);
  for (const uuid of [first, second]) {
    expect(await inspectTurn(record, { uuid })).toMatchObject({ end: { usage: { requests: 2, inputTokens: 20 } } });
  }
});

it("starts, resumes, forks and truncates by what is on disk", async () => {
  const kept = answer("m1", "end_turn", [text("one")]);
  const { home, session } = recorded([prompt(randomUUID()), kept]);
  const config = configDirectory(home);
  const { ref } = session;
  const fresh = randomUUID();
  const start = async (request: Parameters<typeof findStart>[1]) => (await findStart(config, request)).start;
  expect(await start({ ref, mode: "new" })).toEqual({ is: "resume", ref });
  expect(await start({ ref, mode: "continue" })).toEqual({ is: "resume", ref });
  expect(await start({ ref: fresh, mode: "new" })).toEqual({ is: "new", ref: fresh });
  expect(await start({ ref: fresh, mode: "continue" })).toEqual({ is: "new", ref: fresh });
  const { uuid } = kept;
  expect(await start({ ref: fresh, mode: "rewind", at: uuid })).toEqual({
    is: "fork",
    ref: fresh,
    from: ref,
    at: uuid,
  });
  expect(await start({ ref: fresh, mode: "rewind", at: `${ref}:${uuid}` })).toMatchObject({ is: "fork", from: ref });
  expect(await start({ ref, mode: "rewind", at: uuid })).toEqual({ is: "truncate", ref, at: uuid });
  const lost = await findStart(config, { ref: fresh, mode: "rewind", at: randomUUID() });
  expect(lost.start).toEqual({ is: "new", ref: fresh });
  expect(lost.notice).toContain("cannot be rewound");
});

it("reads the totals that an orderly end saved, the last of them", async () => {
  const cost = (totalCostUSD: number) => ({
    type: "cost-state",
    totalCostUSD,
    modelUsage: { a: { inputTokens: 1, outputTokens: 2 }, b: { inputTokens: 3, cacheReadInputTokens: 4 } },
  });
  const { home, session } = recorded([cost(1), cost(2)]);
  expect(await savedTotals(configDirectory(home), { is: "resume", ref: session.ref })).toEqual({
    usd: 2,
    inputTokens: 4,
    outputTokens: 2,
    cacheReadTokens: 4,
    cacheWriteTokens: 0,
  });
});

it("reads no transcript through a link, from a pipe, or without end", async () => {
  const uuid = randomUUID();
  const elsewhere = recorded([prompt(uuid), answer("m1", "end_turn", [text("from elsewhere")])]);
  const { home, project } = recorded([prompt(randomUUID())]);
  const planted = { ref: randomUUID(), mode: "new" as const };
  symlinkSync(join(elsewhere.project, `${elsewhere.session.ref}.jsonl`), join(project, `${planted.ref}.jsonl`));
  expect(await inspectTurn({ home, session: planted }, { uuid })).toEqual({ is: "unknown" });
  const fifo = { ref: randomUUID(), mode: "new" as const };
  execFileSync("mkfifo", [join(project, `${fifo.ref}.jsonl`)]);
  expect(await inspectTurn({ home, session: fifo }, { uuid })).toEqual({ is: "unknown" });
  expect(() => openTail(join(project, `${planted.ref}.jsonl`))).toThrow();
  const { start } = await findStart(configDirectory(home), { ...planted, mode: "continue" });
  expect(start.is).toBe("new");
});
