import { describe, expect, it } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import { messagesWorld } from "../../../test/support/messages.ts";
import type { AgentEvent } from "../../ports.ts";
import type { StandinRequest } from "../../standin/request.ts";
import type { Step } from "../../standin/script.ts";

const SCHEMA = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
const INVALID: Step = { status: 400, message: "this combination is not supported" };
const notices = (events: readonly AgentEvent[]): string =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : [])).join("\n");
const hasForm = ({ body }: Pick<StandinRequest, "body">): boolean =>
  JSON.stringify(body["output_config"] ?? {}).includes("json_schema");

describe("what a provider refuses though it only helps", () => {
  it("is the form of an answer beside code execution: it is told in words, and not tried again", async () => {
    const script = (request: StandinRequest): Step =>
      hasForm(request) ? INVALID : { text: '```json\n{"n": 6}\n```', execute: [{ language: "python", code: "6" }] };
    const { open, sent } = await messagesWorld({ script, options: { executor: "claude" } });
    const { end, events } = await play(await open({ answer: SCHEMA }), "how many?");
    expect(end).toMatchObject({ outcome: { is: "done" }, answer: { n: 6 }, usage: { requests: 2 } });
    expect(notices(events)).toContain("told in words");
    const [first, second] = sent().map((body) => JSON.stringify(body["system"]));
    expect(first).not.toContain("JSON Schema");
    expect(second).toContain(JSON.stringify(JSON.stringify(SCHEMA)).slice(1, -1));
    const again = await play(await open({ answer: SCHEMA }), "and now?");
    expect(again.end).toMatchObject({ outcome: { is: "done" }, usage: { requests: 1 } });
  });

  it("is context editing: pawl prunes by itself then", async () => {
    const script = ({ body }: StandinRequest): Step =>
      body["context_management"] === undefined ? { answer: { n: 1 } } : INVALID;
    const { open, sent } = await messagesWorld({ script, options: { contextEditing: true } });
    const { end } = await play(await open({ answer: SCHEMA }), "how many?");
    expect(end).toMatchObject({ outcome: { is: "done" }, answer: { n: 1 } });
    // The form was not at fault, and stays.
    expect(sent().map((body) => hasForm({ body }))).toEqual([true, true]);
  });

  it("is told as it is where the request is wrong without it, too; then nothing is left out the next time", async () => {
    const { open, sent } = await messagesWorld({
      script: { steps: [{ ...INVALID, message: "max_tokens is too large" }] },
      options: { contextEditing: true },
    });
    const failed = await play(await open({ answer: SCHEMA }), "how many?");
    expect(failed.end.outcome).toMatchObject({
      is: "failed",
      kind: "agent",
      message: expect.stringContaining("max_tokens") as string,
    });
    expect(sent()).toHaveLength(3);
    await play(await open({ answer: SCHEMA }), "again");
    expect(sent().at(3)).toHaveProperty("context_management");
  });
});

describe("a conversation that the provider sums up", () => {
  it("is asked for by the fields of the API, and goes on with the summary as it came; what that cost is charged", async () => {
    const summed: Step = { text: "One.", compaction: { summary: "They count.", input: 700, output: 70 } };
    const { open, sent } = await messagesWorld({
      script: { rules: [{ when: { promptIncludes: "first" }, steps: [summed] }], steps: [{ text: "Two." }] },
      options: { contextEditing: true },
    });
    const session = await open();
    const { end } = await play(session, "first");
    await play(session, "second");
    const [asked, next] = sent();
    expect(asked).toMatchObject({
      context_management: {
        edits: [
          {
            type: "clear_tool_uses_20250919",
            trigger: { type: "input_tokens" },
            clear_at_least: { type: "input_tokens" },
          },
          { type: "compact_20260112", trigger: { type: "input_tokens", value: expect.any(Number) as number } },
        ],
      },
    });
    expect(JSON.stringify(next)).toContain(
      '{"type":"compaction","content":"They count.","encrypted_content":"sealed by the stand-in"}',
    );
    expect(end.usage.outputTokens).toBeGreaterThan(70);
    expect(end.usage.inputTokens + end.usage.cacheWriteTokens).toBeGreaterThan(700);
    // What the model sees by now is not what summing up took.
    expect(end.contextTokens).toBeLessThan(
      end.usage.inputTokens + end.usage.cacheWriteTokens + end.usage.outputTokens - 769,
    );
  });

  it("is sent back as it is where that could not be done", async () => {
    const failed: Step = { text: "One.", compaction: { summary: null, input: 7, output: 0 } };
    const { open, sent } = await messagesWorld({
      script: { rules: [{ when: { promptIncludes: "first" }, steps: [failed] }], steps: [{ text: "Two." }] },
      options: { contextEditing: true },
    });
    const session = await open();
    await play(session, "first");
    expect((await play(session, "second")).end.outcome).toEqual({ is: "done" });
    expect(JSON.stringify(sent()[1])).toContain('{"type":"compaction","content":null');
  });
});
