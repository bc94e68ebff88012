/** What the real program leaves on disk when it is killed at different moments, and what going on then costs. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { play } from "../../../test/contracts/agent.ts";
import { claudeWorld, promptFor, startScriptedModel } from "../../../test/support/claude.ts";
import type { ClaudeWorld, ScriptedModel } from "../../../test/support/claude.ts";
import { isRunning, taggedProcesses } from "../../../test/support/processes.ts";
import { tempDir, waitFor } from "../../../test/support/temp.ts";
import { sweep } from "../../platform/sweep.ts";
import type { AgentEvent } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";
import { configDirectory } from "./environment.ts";
import { transcriptOf } from "./transcript.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});
afterAll(() => model.standin.close());

const bash = (command: string): Step => ({ text: "On it.", tools: [{ name: "Bash", input: { command } }] });
const LONG_TOOL = bash('node -e "setTimeout(() => {}, 30000)"');

function killAll(run: string): void {
  for (const pid of taggedProcesses("PAWL_RUN", run)) process.kill(pid, "SIGKILL");
}

/** Plays a turn, kills the whole tree at the moment, and tells what can be found out afterwards. */
async function killedAt(steps: Step[], moment: (event: AgentEvent) => number | undefined) {
  const world = claudeWorld({ url: model.standin.url });
  const uuid = randomUUID();
  const before = model.seen.length;
  const session = await world.agent.open(world.request());
  let armed = false;
  const { end } = await play(session, promptFor(steps), {
    uuid,
    onEvent: (event) => {
      const afterMs = armed ? undefined : moment(event);
      if (afterMs === undefined) return;
      armed = true;
      setTimeout(() => killAll(world.run), afterMs);
    },
  });
  await session.close();
  const found = await world.agent.inspect(world.request(), { uuid });
  return { world, end, found, requests: model.seen.length - before };
}

/** The next turn goes on with the conversation: one request, accepted by the model. */
async function goesOn({ agent, request, run }: ClaudeWorld): Promise<string> {
  const before = model.standin.requests.length;
  const session = await agent.open(request({ mode: "continue" }));
  const { end } = await play(session, promptFor([{ text: "Going on." }]));
  await session.close();
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Going on." });
  expect(model.standin.requests.slice(before).map(({ status }) => status)).toEqual([200]);
  expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  return model.seen.at(-1)?.words ?? "";
}

describe("Claude Code killed with SIGKILL", () => {
  it("before it answered: the prompt is on disk, the turn is cut, its request is counted", async () => {
    const { world, end, found } = await killedAt([{ delayMs: 20_000, text: "late" }], (event) =>
      event.type === "session-opened" ? 500 : undefined,
    );
    expect(end.outcome.is).toBe("cut");
    expect(found).toMatchObject({ is: "cut", usage: { requests: 1, outputTokens: 0, estimated: true } });
    await goesOn(world);
  });

  it("in the middle of a stream: the turn is cut", async () => {
    const { world, end, found } = await killedAt([{ text: "a b c d", stopMidStream: true }], (event) =>
      event.type === "request" ? 100 : undefined,
    );
    expect(end.outcome.is).toBe("cut");
    expect(end.usage.requests).toBe(1);
    expect(found).toMatchObject({ is: "cut", usage: { requests: 1 } });
    await goesOn(world);
  });

  it("in a tool: the cost of the request is in the transcript, and the model is told that the call was lost", async () => {
    const { world, end, found } = await killedAt([LONG_TOOL, { text: "never" }], (event) =>
      event.type === "tool-start" ? 400 : undefined,
    );
    expect(end.outcome.is).toBe("cut");
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = end.usage;
    const tokens = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
    expect(found).toMatchObject({ is: "cut", usage: { requests: 1, toolCalls: 1, ...tokens }, tools: [["Bash", 1]] });
    expect(await goesOn(world)).toContain("[Tool call interrupted");
  });

  it("after a tool: its result is kept and the second request is counted", async () => {
    const steps = [bash("echo tool-output"), { delayMs: 20_000, text: "late" }];
    const { world, found } = await killedAt(steps, (event) => (event.type === "tool-end" ? 400 : undefined));
    expect(found).toMatchObject({ is: "cut", usage: { requests: 2, toolCalls: 1 } });
    expect(await goesOn(world)).toContain("tool-output");
  });

  it("right after the end: the turn is found finished and is not bought again", async () => {
    const { world, end, found, requests } = await killedAt([bash("echo x"), { text: "Done." }], (event) =>
      event.type === "turn-end" ? 0 : undefined,
    );
    expect(requests).toBe(2);
    expect(found).toMatchObject({
      is: "ended",
      end: { finalText: "Done.", messageId: end.messageId, usage: { requests: 2 } },
    });
    await goesOn(world);
  });

  it("with a torn last line: the rest of the transcript still counts", async () => {
    const { world, found } = await killedAt([{ text: "Done." }], (event) =>
      event.type === "turn-end" ? 0 : undefined,
    );
    const path = transcriptOf(configDirectory(world.request().home), world.request().session.ref) as string;
    appendFileSync(path, '{"type":"user","uuid":"torn');
    expect(found.is).toBe("ended");
    await goesOn(world);
  });
});

describe("a driver killed with SIGKILL", () => {
  it("leaves the agent behind; the sweep ends it with its tool, and the session goes on", async () => {
    const world = claudeWorld({ url: model.standin.url });
    const uuid = randomUUID();
    const script = join(tempDir("driver"), "driver.mjs");
    writeFileSync(script, driverSource(world, { uuid, prompt: promptFor([LONG_TOOL, { text: "never" }]) }));
    const driver = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
    let told = "";
    driver.stdout.on("data", (chunk: Buffer) => {
      told += chunk.toString();
    });
    await waitFor(() => told.includes("tool-start"), { what: "the tool" });
    // The answer is written down a moment after it was streamed.
    const path = () => transcriptOf(configDirectory(world.request().home), world.request().session.ref);
    await waitFor(() => readFileSync(path() ?? "/dev/null", "utf8").includes('"tool_use"'), { what: "the transcript" });
    driver.kill("SIGKILL");
    await waitFor(() => !isRunning(driver.pid as number));
    expect(taggedProcesses("PAWL_RUN", world.run).length).toBeGreaterThan(0);
    expect(await sweep(world.run)).toBeGreaterThan(0);
    expect(taggedProcesses("PAWL_RUN", world.run)).toEqual([]);
    expect(await world.agent.inspect(world.request(), { uuid })).toMatchObject({ is: "cut", tools: [["Bash", 1]] });
    await goesOn(world);
  });
});

function driverSource({ request }: ClaudeWorld, turn: { uuid: string; prompt: string }): string {
  const adapter = new URL("../claude.ts", import.meta.url).href;
  const user = { ANTHROPIC_BASE_URL: model.standin.url, ANTHROPIC_API_KEY: "key" };
  const limits = { idleTimeoutMs: 60_000, turnTimeoutMs: 60_000, completionGraceMs: 1_000 };
  return `
    import { claude } from ${JSON.stringify(adapter)};
    const agent = claude({ userEnvironment: ${JSON.stringify(user)} });
    const session = await agent.open(${JSON.stringify(request())});
    const turn = session.turn(${JSON.stringify(turn)}, ${JSON.stringify(limits)}, new AbortController().signal);
    for await (const event of turn) console.log(event.type);
  `;
}
