import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { heldOutput } from "./held-output.ts";

const ANSWER = '{"type":"control_response","response":{"subtype":"success","request_id":"ours"}}\n';
const START = `${ANSWER}{"type":"system","subtype":"init"}\n{"type":"system","subtype":"status","status":"requesting"}\n`;
const MORE = '{"type":"stream_event","event":"ours"}\n';

/** `said`: in these pieces, before anybody reads. */
async function heard(said: readonly string[], { after = [] as readonly string[] } = {}) {
  let calls = 0;
  let requests = 0;
  const { stream, release } = heldOutput({ onMore: () => (calls += 1), onRequest: () => (requests += 1) });
  for (const piece of said) stream.write(piece);
  await new Promise(setImmediate);
  const held = { more: calls > 0, request: requests > 0, readable: stream.readableLength };
  release({ from: "ours", to: "theirs" });
  for (const piece of after) stream.write(piece);
  stream.end();
  return { ...held, all: await text(stream) };
}

describe("what the program says before the SDK hears it", () => {
  it("is held, and hurries nobody while it is of a start", async () => {
    const { more, readable, all } = await heard([START]);
    expect({ more, readable }).toEqual({ more: false, readable: 0 });
    expect(all).toBe(START.replace("ours", "theirs"));
  });

  it("calls for the SDK as soon as it is anything else, in whatever pieces it comes", async () => {
    expect((await heard((START + MORE).split(""))).more).toBe(true);
    expect((await heard([START, '{"type":"control_request"'])).more).toBe(true);
    expect((await heard([START, '{"type":"system","subtype":"api_retry"}\n'])).more).toBe(true);
    expect((await heard(["x".repeat(3)])).more).toBe(true);
  });

  it("tells when the program asks its model", async () => {
    expect((await heard([ANSWER])).request).toBe(false);
    expect((await heard(START.split(""))).request).toBe(true);
  });

  it("keeps its order, and its answer alone gets the name of the SDK's request", async () => {
    const { all } = await heard((START + MORE).split(""));
    expect(all).toBe(START.replace("ours", "theirs") + MORE);
  });

  it("gets that name also when the answer comes later, in pieces", async () => {
    const { all } = await heard([], { after: (START + MORE).split("") });
    expect(all).toBe(START.replace("ours", "theirs") + MORE);
  });

  it("is whole without an answer and without a last line end", async () => {
    const { all } = await heard(['{"type":"system","subtype":"init"}\n{"type":"res'], { after: ["ult"] });
    expect(all).toBe('{"type":"system","subtype":"init"}\n{"type":"result');
  });

  it("waits in the pipe once there is too much of it, and is not lost", async () => {
    const long = `{"type":"system","subtype":"init","x":"${"y".repeat(600 * 1024)}"}\n`;
    const { more, all } = await heard([long, START]);
    expect(more).toBe(true);
    expect(all).toBe(long + START.replace("ours", "theirs"));
  });
});
