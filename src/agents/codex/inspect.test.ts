/** Records of turns that nobody saw the end of, line by line as Codex writes them. */
import { expect, it } from "vitest";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import { inspectTurn } from "./inspect.ts";
import { keepThread } from "./threads.ts";

const UUID = "11111111-2222-4333-8444-555555555555";
const session = { ref: "ref", mode: "continue" } as const;

const turn = { turn_id: "t1" };
const item = (of: object): object => ({ type: "event_msg", payload: { type: "item_completed", ...turn, item: of } });
const PROMPT = [
  { type: "turn_context", payload: { ...turn, model: "gpt-5.5" } },
  item({ type: "UserMessage", id: "u", client_id: UUID, content: [] }),
];
const said = (text: string): object => item({ type: "AgentMessage", id: "m", content: [{ type: "Text", text }] });
const call = {
  type: "response_item",
  payload: {
    type: "function_call",
    name: "exec_command",
    call_id: "c",
    internal_chat_message_metadata_passthrough: turn,
  },
};
const result = {
  type: "response_item",
  payload: { type: "function_call_output", call_id: "c", internal_chat_message_metadata_passthrough: turn },
};
const cost = (id: string): object => ({
  type: "token_usage_record",
  payload: {
    ...turn,
    response_id: id,
    usage: { input_tokens: 10, cached_input_tokens: 4, output_tokens: 3, total_tokens: 13 },
  },
});
const event = (type: string): object => ({ type: "event_msg", payload: { type, ...turn } });

interface Left {
  lines: (object | string)[];
  /** pawl's own. */
  notes?: object[];
}

const foundIn = (...lines: Left["lines"]): Promise<unknown> => found({ lines });

async function found({ lines, notes = [] }: Left): Promise<unknown> {
  const home = tempDir("rollout");
  writeFiles(home, { "codex-spent.jsonl": notes.map((note) => `${JSON.stringify(note)}\n`).join("") });
  keepThread(home, session.ref, "thread-1");
  const text = lines.map((line) => (typeof line === "string" ? line : `${JSON.stringify(line)}\n`)).join("");
  writeFiles(home, { "codex/sessions/2026/11/16/rollout-2026-thread-1.jsonl": text });
  return await inspectTurn({ home, session }, { uuid: UUID });
}

it("tells a turn that ended from one that was cut, and counts every response once", async () => {
  const whole = [...PROMPT, said("One."), call, cost("r1"), cost("r1"), result, said("Two."), cost("r2")];
  const usage = { requests: 2, inputTokens: 12, cacheReadTokens: 8, outputTokens: 6 };
  expect(await foundIn(...whole, event("task_complete"))).toMatchObject({
    is: "ended",
    end: { finalText: "Two.", messageId: "t1", contextTokens: 13, usage },
  });
  // Killed after its final answer, before it noted the end; or ended because nobody listened any more.
  expect(await foundIn(...whole)).toMatchObject({ is: "ended", end: { finalText: "Two.", usage } });
  expect(await foundIn(...whole, event("turn_aborted"))).toMatchObject({ is: "ended", end: { finalText: "Two." } });
  // Something was said to it after that.
  expect(
    await foundIn(...whole, item({ type: "UserMessage", id: "s", client_id: "other", content: [] })),
  ).toMatchObject({
    is: "cut",
  });
  expect(await foundIn(...whole, event("error"), event("task_complete"))).toMatchObject({ is: "cut", usage });
  const refused = { type: "event_msg", payload: { type: "task_complete", ...turn, error: { message: "no" } } };
  expect(await foundIn(...whole, refused)).toMatchObject({ is: "cut", usage });
});

it("takes turns that Codex began with its own goal for the same turn, and those after another prompt for none", async () => {
  const of = (id: string, line: object): object =>
    JSON.parse(JSON.stringify(line).replaceAll('"t1"', `"${id}"`)) as object;
  const begun = (id: string, trigger: string | null): object =>
    of(id, {
      type: "event_msg",
      payload: { type: "task_started", ...turn, turn_attribution: { turn_trigger: trigger } },
    });
  const first = [begun("t1", null), ...PROMPT, said("One."), cost("r1"), event("task_complete")];
  const second = [begun("t2", "goal"), of("t2", said("Two.")), of("t2", cost("r2"))];
  expect(await foundIn(...first, begun("t2", "goal"))).toMatchObject({
    is: "cut",
    messageId: "t2",
    usage: { requests: 2 },
  });
  const both = { is: "ended", end: { finalText: "Two.", messageId: "t2", usage: { requests: 2 } } };
  expect(await foundIn(...first, ...second)).toMatchObject(both);
  const later = [begun("t3", null), begun("t4", "goal"), of("t4", said("Four.")), of("t4", cost("r4"))];
  expect(await foundIn(...first, ...second, ...later)).toMatchObject(both);
});

it("counts a request that may be out, and a tool that was running", async () => {
  expect(await foundIn(...PROMPT)).toMatchObject({ is: "cut", usage: { requests: 1, outputTokens: 0 } });
  expect(await foundIn(...PROMPT, call, cost("r1"))).toMatchObject({
    is: "cut",
    usage: { requests: 1, toolCalls: 1, outputTokens: 3 },
    tools: [["exec_command", 1]],
    messageId: "t1",
  });
  expect(await foundIn(...PROMPT, call, cost("r1"), result)).toMatchObject({ is: "cut", usage: { requests: 2 } });
});

it("passes over torn and strange lines, and knows nothing of a prompt that is not there", async () => {
  expect(
    await foundIn("[]\n", "nonsense\n", '{"type": 1}\n', ...PROMPT, said("Hi."), cost("r1"), '{"type":"eve'),
  ).toMatchObject({
    is: "ended",
    end: { finalText: "Hi." },
  });
  expect(await foundIn(said("Hi."), cost("r1"))).toEqual({ is: "unknown" });
});

it("knows from pawl's own notes what an answer cost that Codex had not written down yet", async () => {
  const noted = (turnUuid: string, ...ids: string[]): object[] =>
    ids.flatMap((response) => [
      { turn: turnUuid, is: "left" },
      {
        turn: turnUuid,
        is: "answered",
        response,
        model: "gpt-5.5",
        spent: { input: 10, cached: 4, cacheWrite: 0, output: 3 },
      },
    ]);
  const notes = [...noted("another", "r0"), ...noted(UUID, "r1", "r2")];
  const both = { requests: 2, inputTokens: 12, cacheReadTokens: 8, outputTokens: 6 };
  // The tool of the second answer runs; the record is behind.
  const first = [...PROMPT, said("One."), cost("r1")];
  expect(await found({ lines: first, notes })).toMatchObject({ is: "cut", usage: both, messageId: "t1" });
  expect(await found({ lines: [], notes })).toMatchObject({ is: "cut", usage: both, messageId: null });
  // It has caught up: nothing counts twice.
  const whole = [...first, said("Two."), cost("r2")];
  expect(await found({ lines: whole, notes })).toMatchObject({ is: "ended", end: { finalText: "Two.", usage: both } });
  // A third has left; whether it was answered nobody knows.
  const third = [...notes, { turn: UUID, is: "left" }];
  expect(await found({ lines: [...first, call, cost("r2"), result], notes: third })).toMatchObject({
    is: "cut",
    usage: { ...both, requests: 3 },
  });
});
