import { randomUUID } from "node:crypto";
import type { SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, it } from "vitest";
import { helloId, helloLine, isMessage, messageLine, openingOf } from "./opening.ts";

const message = (): SDKUserMessage => ({
  type: "user",
  message: { role: "user", content: `do it ${randomUUID()}` },
  parent_tool_use_id: null,
  uuid: randomUUID(),
});
/** As the SDK writes them. */
const hello = (append: string, more: object = {}): string =>
  `${JSON.stringify({ request_id: "abc123", type: "control_request", request: { subtype: "initialize", sdkMcpServers: ["pawl"], appendSystemPrompt: append, forwardSubagentText: true, ...more } })}\n`;
const line = (one: SDKUserMessage): string => `${JSON.stringify({ ...one, client_composed: true })}\n`;

describe("what the SDK says first", () => {
  it("is foretold to the letter for another conversation, prompt and message", () => {
    const first = message();
    const opening = openingOf(
      { hello: hello("be brief"), message: line(first) },
      { append: "be brief", message: first },
    );
    if (opening === undefined) expect.unreachable();
    const second = message();
    expect(helloLine(opening, { id: "abc123", append: 'say "x"' })).toBe(hello('say "x"'));
    expect(messageLine(opening, second)).toBe(line(second));
    expect(helloId(helloLine(opening, { id: "other", append: "" }))).toBe("other");
    expect(isMessage(line(second))).toBe(true);
    expect(isMessage(hello(""))).toBe(false);
  });

  it.each([
    ["a prompt that stands elsewhere", hello("something else"), line],
    ["another first request", `{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"}}\n`, line],
    ["no JSON", "hello\n", line],
    ["no JSON in the message", hello("be brief"), () => '{"type":"user"\n'],
    [
      "fields in another order",
      hello("be brief"),
      (one: SDKUserMessage) => `${JSON.stringify({ client: 1, ...one })}\n`,
    ],
    ["another content", hello("be brief"), () => line(message())],
  ])("is not foretold from %s", (_, said, form) => {
    const first = message();
    expect(openingOf({ hello: said, message: form(first) }, { append: "be brief", message: first })).toBeUndefined();
  });
});
