/** What the real program leaves on disk when it is killed at different moments, and what going on then costs. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import { claudeWorld, promptFor, startScriptedModel } from "../../../test/support/claude.ts";
import type { ClaudeWorld, ScriptedModel } from "../../../test/support/claude.ts";
import { isRunning, signalAll, taggedProcesses } from "../../../test/support/processes.ts";
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

/** Plays a turn, kills the whole tree as soon as `moment` holds, and tells what can be found out afterwards. */
async function killedWhen(steps: Step[], moment: (seen: Moment) => boolean) {
  const world = claudeWorld({ url: model.standin.url });
  const uuid = randomUUID();
  const before = model.seen.length;
  const session = await world.agent.open(world.request());
  const events: AgentEvent["type"][] = [];
  const turn = play(session, promptFor(steps), { uuid, onEvent: (event) => events.push(event.type) });
  const look = (): Moment => ({ events, requests: model.seen.length - before, onDisk: transcriptText(world) });
  await waitFor(() => moment(look()), { what: "the moment to kill" });
  signalAll(taggedProcesses("PAWL_RUN", world.run));
  const { end } = await turn;
  await session.close();
  const found = await world.agent.inspect(world.request(), { uuid });
  return { world, end, found, requests: model.seen.length - before };
}

interface Moment {
  events: readonly AgentEvent["type"][];
  requests: number;
  onDisk: string;
}

function transcriptText({ request }: ClaudeWorld): string {
  const { home, session } = request();
  const path = transcriptOf(configDirectory(home), session.ref);
  return path === undefined ? "" : readFileSync(path, "utf8");
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
    const slow = [{ delayMs: 20_000, text: "late" }];
    const { world, end, found } = await killedWhen(slow, ({ requests }) => requests === 1);
    expect(end.outcome.is).toBe("cut");
    expect(found).toMatchObject({ is: "cut", usage: { requests: 1, outputTokens: 0, estimated: true } });
    await goesOn(world);
  });

  it("in the middle of a stream: the turn is cut", async () => {
    const half = [{ text: "a b c d", stopMidStream: true }];
    const { world, end, found } = await killedWhen(half, ({ events }) => events.includes("request"));
    expect(end.outcome.is).toBe("cut");
    expect(end.usage.requests).toBe(1);
    expect(found).toMatchObject({ is: "cut", usage: { requests: 1 } });
    await goesOn(world);
  });

  it("in a tool: the cost of the request is in the transcript, and the model is told that the call was lost", async () => {
    const steps = [LONG_TOOL, { text: "never" }];
    const { world, end, found } = await killedWhen(steps, ({ onDisk }) => onDisk.includes('"tool_use"'));
    expect(end.outcome.is).toBe("cut");
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = end.usage;
    const tokens = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
    expect(found).toMatchObject({ is: "cut", usage: { requests: 1, toolCalls: 1, ...tokens }, tools: [["Bash", 1]] });
    expect(await goesOn(world)).toContain("[Tool call interrupted");
  });

  it("after a tool: its result is kept and the second request is counted", async () => {
    const steps = [bash("echo tool-output"), { delayMs: 20_000, text: "late" }];
    const { world, found } = await killedWhen(steps, ({ requests, onDisk }) => {
      return requests === 2 && onDisk.includes('"tool_result"');
    });
    expect(found).toMatchObject({ is: "cut", usage: { requests: 2, toolCalls: 1 } });
    expect(await goesOn(world)).toContain("tool-output");
  });

  it("right after the end: the turn is found finished and is not bought again, also with a torn last line", async () => {
    const steps = [bash("echo x"), { text: "Done." }];
    const { world, end, requests } = await killedWhen(steps, ({ events }) => events.includes("turn-end"));
    expect(requests).toBe(2);
    const { home, session } = world.request();
    const path = transcriptOf(configDirectory(home), session.ref) as string;
    const uuid = (JSON.parse(promptLine(path)) as { uuid: string }).uuid;
    appendFileSync(path, '{"type":"user","uuid":"torn');
    expect(await world.agent.inspect(world.request(), { uuid })).toMatchObject({
      is: "ended",
      end: { finalText: "Done.", messageId: end.messageId, usage: { requests: 2 } },
    });
    await goesOn(world);
  });
});

/** The line of the prompt in a transcript. */
function promptLine(path: string): string {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.find((line) => line.includes('"type":"user"') && line.includes("Follow these steps")) as string;
}

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
    await waitFor(() => transcriptText(world).includes('"tool_use"'), { what: "the transcript" });
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
