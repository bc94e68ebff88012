import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import { messagesWorld } from "../../../test/support/messages.ts";

const BUDGET = 2_000;
const options = { requestTokens: BUDGET, tools: [] };
const eachByte = (text: string): number => Buffer.byteLength(text);
const TOO_LONG = { is: "failed", kind: "context" };

/** Says the same to everything; how often it was asked for what. */
async function provider(
  status: number,
  headers: Record<string, string> = {},
): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ type: "error", error: { type: "some_error", message: "no" } }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

describe("the budget of a request", () => {
  it("is not counted where it cannot be exceeded: no text has more tokens than bytes", async () => {
    const { open, standin } = await messagesWorld({ script: [{ text: "ok" }], options, tokensIn: eachByte });
    expect((await play(await open(), "short")).end.outcome).toEqual({ is: "done" });
    expect(standin.requests.map(({ answered }) => answered)).toEqual(["answer"]);
  });

  it("is held by the provider's own count: what has more tokens is not sent, and costs nothing (S2)", async () => {
    const long = "語".repeat(BUDGET);
    const sparse = await messagesWorld({ script: [{ text: "ok" }], options, tokensIn: () => 100 });
    expect((await play(await sparse.open(), long)).end.outcome).toEqual({ is: "done" });
    expect(sparse.standin.requests.map(({ answered }) => answered)).toEqual(["count", "answer"]);
    const dense = await messagesWorld({ script: [{ text: "ok" }], options, tokensIn: eachByte });
    const { end } = await play(await dense.open(), long);
    expect(end).toMatchObject({ outcome: TOO_LONG, usage: { requests: 0, inputTokens: 0 } });
    expect(dense.standin.requests.map(({ answered }) => answered)).toEqual(["count"]);
  });

  it("is held by bytes where the provider has no count, and waits where it only cannot now", async () => {
    const without = await provider(404);
    const of = (url: string) => ({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url });
    const bare = await messagesWorld({ script: [], options, user: of(without.url) });
    expect((await play(await bare.open(), "x".repeat(3 * BUDGET))).end.outcome).toMatchObject(TOO_LONG);
    expect(without.asked).toEqual(["/v1/messages/count_tokens"]);
    const busy = await provider(429, { "retry-after": "60" });
    const later = await messagesWorld({ script: [], options, user: of(busy.url) });
    expect((await play(await later.open(), "x".repeat(3 * BUDGET))).end.outcome).toMatchObject({ is: "limited" });
    expect(busy.asked).toHaveLength(1);
  });
});
