/** An agent's stream that is too much: huge lines, many of them, bytes that are no text. Nothing after it is lost (F13). */
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { claudeWorld } from "../../../test/support/claude.ts";
import { countOf, figure } from "../../../test/support/figure.ts";
import { tempDir } from "../../../test/support/temp.ts";
import type { AgentEvent } from "../../ports.ts";

const LINE_MB = countOf("PAWL_TEST_LINE_MB", 8);
const TOTAL_MB = countOf("PAWL_TEST_STREAM_MB", 48);
const KEPT_CHARS = 16_384;
const MAX_GROWN_BYTES = 96 * 2 ** 20;
const LIMITS = { idleTimeoutMs: 60_000, turnTimeoutMs: 300_000, completionGraceMs: 2_000 };

/** In the place of Claude Code: floods when prompted, then answers. */
function program(): string {
  const path = join(tempDir("flood"), "claude.mjs");
  writeFileSync(
    path,
    `import { createInterface } from "node:readline";
     import { writeSync } from "node:fs";
     const put = (bytes) => { for (let at = 0; at < bytes.length;) try { at += writeSync(1, bytes, at); } catch {} };
     const say = (message) => put(Buffer.from(JSON.stringify({ ...message, session_id: "s", uuid: crypto.randomUUID(), parent_tool_use_id: null }) + "\\n"));
     const result = (id, content) => say({ type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] } });
     for await (const line of createInterface({ input: process.stdin })) {
       const { type, request_id, uuid } = JSON.parse(line);
       if (type === "control_request") say({ type: "control_response", response: { subtype: "success", request_id, response: {} } });
       if (type !== "user") continue;
       say({ type: "system", subtype: "status", status: "requesting", user_message_uuids: [uuid] });
       result("one long line", "x".repeat(${LINE_MB} << 20));
       for (let mb = 0; mb < ${TOTAL_MB}; mb += 1) result("many lines", "y".repeat(1 << 20));
       put(Buffer.concat([Buffer.alloc(${LINE_MB} << 20, 0), Buffer.from([0xff, 0xfe, 0x0a])]));
       for (const byte of Buffer.from(JSON.stringify({ type: "user", session_id: "s", uuid: crypto.randomUUID(), parent_tool_use_id: null, message: { role: "user", content: [{ type: "tool_result", tool_use_id: "split", content: "€ in pieces" }] } }) + "\\n")) put(Buffer.from([byte]));
       say({ type: "assistant", message: { id: "m", model: "m", role: "assistant", usage: {}, content: [{ type: "text", text: "the last word" }] } });
       say({ type: "result", subtype: "success", is_error: false, result: "ok", total_cost_usd: 0, usage: {}, modelUsage: {}, permission_denials: [] });
       say({ type: "system", subtype: "session_state_changed", state: "idle" });
     }`,
  );
  return path;
}

describe("a flood from the agent", () => {
  it(`of ${TOTAL_MB} MB with lines of ${LINE_MB} MB, NULs and split characters loses no later event (F13)`, async () => {
    const world = claudeWorld({ url: "http://127.0.0.1:9", options: { bin: program() } });
    const session = await world.agent.open(world.request());
    let before: number | undefined;
    let most = 0;
    let outputs = 0;
    let last: AgentEvent | undefined;
    let end: AgentEvent | undefined;
    // As the driver does it: no event is kept.
    for await (const event of session.turn(
      { uuid: randomUUID(), prompt: "go" },
      LIMITS,
      new AbortController().signal,
    )) {
      const { rss } = process.memoryUsage();
      // The first tells that it has begun to read: what loading the SDK takes is not the flood's.
      before ??= rss;
      most = Math.max(most, rss - before);
      end = event;
      if (event.type !== "tool-end") continue;
      expect(event.output.length).toBeLessThanOrEqual(KEPT_CHARS);
      last = event;
      outputs += 1;
    }
    await session.close();
    expect(outputs).toBe(TOTAL_MB + 2);
    expect(last).toMatchObject({ id: "split", output: "€ in pieces" });
    expect(end).toMatchObject({ type: "turn-end", outcome: { is: "done" }, finalText: "the last word" });
    // The promise is 64 MB; a worker of the suite has garbage of its own.
    expect(most).toBeLessThan(MAX_GROWN_BYTES);
    figure("F13, the agent's stream", { lineMb: LINE_MB, totalMb: TOTAL_MB, grownMb: Math.round(most / 2 ** 20) });
  }, 300_000);
});
