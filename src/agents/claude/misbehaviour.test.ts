/** Programs that do not keep to the protocol as Claude Code does: pawl must end the turn all the same. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import type { PlayOptions } from "../../../test/contracts/agent-play.ts";
import { claudeWorld } from "../../../test/support/claude.ts";
import { taggedProcesses } from "../../../test/support/processes.ts";
import { tempDir } from "../../../test/support/temp.ts";
import type { AgentEvent, AgentSession } from "../../ports.ts";

const LIMITS = { idleTimeoutMs: 20_000, turnTimeoutMs: 40_000, completionGraceMs: 200 };

/** Speaks just enough of the stream protocol; `onPrompt` is the body of a function of (message, n). */
function program(onPrompt: string): string {
  const path = join(tempDir("program"), "claude.mjs");
  writeFileSync(
    path,
    `import { createInterface } from "node:readline";
     const say = (message) => {
       const line = JSON.stringify({ session_id: "s", uuid: crypto.randomUUID(), parent_tool_use_id: null, ...message });
       process.stdout.write(line + "\\n");
     };
     const state = (state) => say({ type: "system", subtype: "session_state_changed", state });
     const requesting = (...user_message_uuids) => say({ type: "system", subtype: "status", status: "requesting", user_message_uuids });
     const start = (id) => say({ type: "stream_event", event: { type: "message_start", message: { id, model: "m", usage: {} } } });
     const result = () => say({ type: "result", subtype: "success", is_error: false, result: "ok", total_cost_usd: 0, usage: {}, modelUsage: {}, permission_denials: [] });
     const onPrompt = async (message, n) => { ${onPrompt} };
     let n = 0;
     for await (const line of createInterface({ input: process.stdin })) {
       const message = JSON.parse(line);
       if (message.type === "control_request") {
         say({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response: {} } });
       }
       if (message.type === "user") await onPrompt(message, (n += 1));
     }`,
  );
  return path;
}

/** Says something at the first request. */
function sayOnce() {
  let said = false;
  return (event: AgentEvent, session: AgentSession): void => {
    if (event.type !== "request" || said) return;
    said = true;
    void session.say("d1", "wait");
  };
}

describe.concurrent("a program that misbehaves", () => {
  /** One turn of it; afterwards nothing of it runs unless it came to rest. */
  async function turnOf(
    onPrompt: string,
    react?: (event: AgentEvent, session: AgentSession) => void,
    more: PlayOptions = {},
  ) {
    const world = claudeWorld({ url: "http://127.0.0.1:9", options: { bin: program(onPrompt) } });
    const session = await world.agent.open(world.request());
    const onEvent = (event: AgentEvent): void => react?.(event, session);
    const { events, end } = await play(session, "go", { limits: LIMITS, onEvent, ...more });
    const left = taggedProcesses("PAWL_RUN", world.run);
    await session.close();
    return { events, end, left };
  }

  it("is ended after the grace when it answers but never comes to rest (row 22)", async ({ expect }) => {
    const { events, left } = await turnOf("result();");
    expect(events.map((event) => event.type)).toEqual(["notice", "turn-end"]);
    expect(events.at(-1)).toMatchObject({ outcome: { is: "done" } });
    expect(left).toEqual([]);
  });

  it("is cut when it exits while a child of it holds its output open (row 22)", async ({ expect }) => {
    const { end, left } = await turnOf(
      `const { spawn } = await import("node:child_process");
       spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "inherit", detached: true });
       process.exit(3);`,
    );
    expect(end.outcome).toMatchObject({ is: "cut", reason: expect.stringContaining("3") });
    expect(left).toEqual([]);
  });

  it("is heard on after a line that is no JSON", async ({ expect }) => {
    const { end } = await turnOf(
      `state("running"); requesting(message.uuid); start("a");
       process.stdout.write("{nonsense\\n");
       result(); state("idle");`,
    );
    expect(end.outcome).toEqual({ is: "done" });
  });

  it("is ended by the idle timeout, not thrown, when it says nothing but what is no JSON", async ({ expect }) => {
    const limits = { ...LIMITS, idleTimeoutMs: 2_000 };
    const { end, left } = await turnOf(`process.stdout.write("{nonsense\\n");`, undefined, { limits });
    expect(end.outcome).toEqual({ is: "timeout", which: "idle", afterMs: 2_000 });
    expect(left).toEqual([]);
  });

  it("is killed when it does not heed an interrupt", async ({ expect }) => {
    const controller = new AbortController();
    const { end, left } = await turnOf(
      `say({ type: "system", subtype: "init", model: "m" }); state("running");`,
      () => controller.abort("stop"),
      { signal: controller.signal },
    );
    expect(end.outcome).toEqual({ is: "interrupted", by: "stop" });
    expect(left).toEqual([]);
  });

  it("gets time to take up what was said in the moment it came to rest", async ({ expect }) => {
    const { events, end } = await turnOf(
      `if (n === 1) { state("running"); requesting(message.uuid); start("a"); return; }
       result(); state("idle");
       state("running"); requesting(message.uuid); start("b"); result(); state("idle");`,
      sayOnce(),
      // Between its answer and its rest it may have to wait for a processor.
      { limits: { ...LIMITS, completionGraceMs: 20_000 } },
    );
    expect(end.outcome).toEqual({ is: "done" });
    expect(events.filter((event) => event.type === "delivered")).toEqual([{ type: "delivered", directive: "d1" }]);
  });

  it("does not hold up the turn for ever when it never takes up what was said", async ({ expect }) => {
    const { events, end, left } = await turnOf(
      `if (n === 1) { state("running"); requesting(message.uuid); start("a"); return; }
       result(); state("idle");`,
      sayOnce(),
    );
    expect(end.outcome).toEqual({ is: "done" });
    expect(events.some((event) => event.type === "delivered")).toBe(false);
    expect(left).toEqual([]);
  });

  it("is told as a failure when there is no such program", async ({ expect }) => {
    const world = claudeWorld({ url: "http://127.0.0.1:9", options: { bin: "/no/such/claude" } });
    const session = await world.agent.open(world.request());
    const { end } = await play(session, "go");
    expect(end.outcome.is).not.toBe("done");
    expect(end.usage.requests).toBe(0);
    await session.close();
  });
});
