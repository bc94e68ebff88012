import { afterEach, describe, expect, it } from "vitest";
import { parseSse } from "../../test/support/sse.ts";
import { waitFor } from "../../test/support/temp.ts";
import type { Step } from "./script.ts";
import type { Standin } from "./server.ts";
import { startStandin } from "./server.ts";

const open: Standin[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((standin) => standin.close()));
});

async function start(...steps: Step[]): Promise<Standin> {
  const standin = await startStandin({ script: { steps } });
  open.push(standin);
  return standin;
}

const ask = (standin: Standin, options: { stream?: boolean; signal?: AbortSignal } = {}): Promise<Response> =>
  fetch(`${standin.url}/v1/messages`, {
    method: "POST",
    body: JSON.stringify({
      model: "claude-opus-5-5",
      messages: [{ role: "user", content: "go" }],
      stream: options.stream ?? true,
    }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });

const HOUR_MS = 3_600_000;
const long = { text: "many words ".repeat(100) };

describe("faults of the stand-in model", () => {
  it.each([
    [401, "authentication_error"],
    [403, "permission_error"],
    [404, "not_found_error"],
    [429, "rate_limit_error"],
    [500, "api_error"],
    [529, "overloaded_error"],
  ])("answers %i as %s and then goes on with the step it delayed", async (status, type) => {
    const standin = await start({ status, times: 1 }, { text: "fine" });
    const response = await ask(standin);
    expect([response.status, await response.json()]).toMatchObject([status, { type: "error", error: { type } }]);
    // No number by chance that an agent could take for a status.
    expect(response.headers.get("request-id")).toMatch(/^req_[a-z]{24}$/);
    expect((await ask(standin)).status).toBe(200);
    expect(standin.requests.map(({ answered, step }) => [answered, step])).toEqual([
      ["refused", 0],
      ["answer", 0],
    ]);
    expect(standin.requests[0]?.billing.inputEquivalents).toBe(0);
  });

  it("tells with 429 when to try again and when the limit ends", async () => {
    const standin = await start({ status: 429, retryAfterS: 7, resetAt: 4_000_000_000, headers: { "x-extra": "yes" } });
    const { headers } = await ask(standin);
    expect(headers.get("retry-after")).toBe("7");
    expect(headers.get("anthropic-ratelimit-requests-reset")).toBe("2096-10-02T07:06:40.000Z");
    expect(headers.get("anthropic-ratelimit-unified-reset")).toBe("4000000000");
    expect(headers.get("anthropic-ratelimit-unified-status")).toBeNull();
    expect(headers.get("x-extra")).toBe("yes");
  });

  it("tells the subscription's limit as a 429 with its headers, or as plain text of the model", async () => {
    const text = "You've hit your limit · resets 3pm";
    const standin = await start(
      { usageLimitText: text, resetInS: 60, times: 1 },
      { usageLimitText: text, status: 200 },
    );
    const limited = await ask(standin);
    expect(limited.status).toBe(429);
    expect(limited.headers.get("anthropic-ratelimit-unified-status")).toBe("rejected");
    expect(limited.headers.get("anthropic-ratelimit-unified-representative-claim")).toBe("five_hour");
    expect(await limited.text()).toContain(text);
    expect(await (await ask(standin, { stream: false })).json()).toMatchObject({ content: [{ type: "text", text }] });
  });

  it("never answers a hang, and lets go when the client leaves", async () => {
    const standin = await start({ hang: true });
    const leave = new AbortController();
    const asked = ask(standin, { signal: leave.signal });
    await waitFor(() => standin.requests.length === 1, { what: "the request" });
    leave.abort();
    await expect(asked).rejects.toThrow();
    expect(standin.requests[0]).toMatchObject({ answered: "hang", status: 0 });
  });

  it("cuts the connection before the response", async () => {
    const standin = await start({ cutSocket: "before", times: 1 }, { text: "fine" });
    await expect(ask(standin)).rejects.toThrow();
    expect((await ask(standin)).status).toBe(200);
  });

  it.each([true, false])("cuts the connection in the middle of the response (stream: %s)", async (stream) => {
    const standin = await start({ ...long, cutSocket: "mid" });
    const response = await ask(standin, { stream });
    expect(response.status).toBe(200);
    let got = "";
    const read = async (): Promise<void> => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        got += Buffer.from(chunk).toString();
    };
    await expect(read()).rejects.toThrow();
    expect(got).toContain("many words");
    expect(got).not.toContain(stream ? "message_stop" : "output_tokens");
  });

  it("stops in mid-stream and stays silent until the client leaves", async () => {
    const standin = await start({ ...long, stopMidStream: true });
    const leave = new AbortController();
    const response = await ask(standin, { signal: leave.signal });
    let got = "";
    const read = async (): Promise<void> => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        got += Buffer.from(chunk).toString();
    };
    const reading = read();
    await waitFor(() => got.includes("content_block_delta"), { what: "the first half" });
    leave.abort();
    await expect(reading).rejects.toThrow();
    const events = parseSse(got.slice(0, got.lastIndexOf("\n\n") + 2)).map(({ event }) => event);
    expect(events[0]).toBe("message_start");
    expect(events).not.toContain("message_delta");
    expect(standin.requests[0]).toMatchObject({ answered: "silent", status: 200 });
  });

  it("bills the input and a part of the output of an answer that was cut", async () => {
    const standin = await start({ ...long, cutSocket: "mid", times: 1 }, long);
    await (await ask(standin)).text().catch(() => "");
    await (await ask(standin)).text();
    const [cut, whole] = standin.requests.map(({ billing }) => billing);
    expect(cut?.inputTokens).toBe(whole?.inputTokens);
    expect(cut?.outputTokens).toBe(Math.ceil((whole?.outputTokens ?? 0) / 2));
  });

  it("is slow where the script says so, and still answers whole", async () => {
    const standin = await start({ ...long, delayMs: 20, chunkMs: 1 });
    expect(await (await ask(standin)).text()).toContain("message_stop");
  });

  it.each([{ delayMs: HOUR_MS }, { chunkMs: HOUR_MS }])("with %j has not answered when another has", async (slow) => {
    const [late, prompt] = [await start({ ...long, ...slow }), await start(long)];
    const leave = new AbortController();
    let isOver = false;
    const asked = ask(late, { signal: leave.signal })
      .then((response) => response.text())
      .then(() => (isOver = true));
    await waitFor(() => late.requests.length === 1, { what: "the request" });
    expect(await (await ask(prompt)).text()).toContain("message_stop");
    expect(isOver).toBe(false);
    leave.abort();
    await expect(asked).rejects.toThrow();
  });

  it.each([{ hang: true }, { ...long, stopMidStream: true }, { ...long, delayMs: HOUR_MS }])(
    "closes at once, also while it is hanging, silent or slow: %j",
    async (step) => {
      const standin = await start(step);
      const asked = ask(standin)
        .then((response) => response.text())
        .catch(() => "gone");
      await waitFor(() => standin.requests.length === 1, { what: "the request" });
      await standin.close();
      expect(await asked).toBe("gone");
    },
  );
});
