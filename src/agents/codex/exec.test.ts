/** `-- --exec`: one real `codex exec` per turn; what it cannot do is told, the rest is as with the app-server. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { LIMITS, play } from "../../../test/contracts/agent-play.ts";
import { promptFor, startScriptedModel, type ScriptedModel } from "../../../test/support/claude.ts";
import { crash, exec, patch } from "../../../test/support/codex.ts";
import { taggedProcesses } from "../../../test/support/processes.ts";
import { plainAgent } from "../../../test/support/spec.ts";
import { tempDir } from "../../../test/support/temp.ts";
import type { OpenRequest } from "../../ports.ts";
import { codex } from "../codex.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ apiKey: "key" });
});
afterAll(() => model.standin.close());

it("takes turns, is interrupted, limited and killed, goes on each time, and finds out what became of a turn", async () => {
  const root = tempDir("codex-exec");
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  const run = `codex-${randomUUID()}`;
  const request: OpenRequest = {
    run,
    lane: "main",
    workspace,
    home: join(root, "home"),
    session: { ref: randomUUID(), mode: "new" },
    agent: { ...plainAgent, name: "codex", ...LIMITS, options: { extra: ["--exec"] } },
    model: "gpt-5.5",
    instructions: "Mind the wombat.",
    environment: { PATH: process.env["PATH"] ?? "", HOME: root, PAWL_RUN: run },
  };
  const agent = codex({ userEnvironment: { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${model.standin.url}/v1` } });
  const session = await agent.open(request);
  onTestFinished(() => session.close());

  const uuid = randomUUID();
  const first = promptFor([patch("made.txt", "made\n"), { text: "All done." }]);
  const { end, events } = await play(session, first, {
    uuid,
    onEvent: (event) => event.type === "tool-start" && void session.say("d1", "too late for this"),
  });
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "All done.", usage: { requests: 2, toolCalls: 1 } });
  expect(end.usage.outputTokens).toBe(model.standin.billing.outputTokens);
  expect(events.some((event) => event.type === "delivered")).toBe(false);
  expect(model.seen.at(-1)?.system).toContain("Mind the wombat.");
  expect(readFileSync(join(workspace, "made.txt"), "utf8")).toBe("made\n");

  expect((await play(session, promptFor([{ status: 429, retryAfterS: 60 }]))).end.outcome.is).toBe("limited");
  const controller = new AbortController();
  const cut = await play(session, promptFor([exec("sleep 30")]), {
    signal: controller.signal,
    onEvent: (event) => event.type === "tool-start" && controller.abort("stop"),
  });
  expect(cut.end.outcome).toEqual({ is: "interrupted", by: "stop" });
  const died = randomUUID();
  const killed = await play(session, promptFor([crash()]), { uuid: died });
  expect(killed.end.outcome.is).toBe("cut");
  expect((await agent.inspect(request, { uuid: died })).is).toBe("cut");

  const last = promptFor([{ text: "still here" }]);
  expect((await play(session, last)).end).toMatchObject({ outcome: { is: "done" }, finalText: "still here" });
  expect(model.seen.at(-1)?.prompts[0]).toBe(first);
  const found = await agent.inspect(request, { uuid });
  expect(found).toMatchObject({ is: "ended", tools: [["apply_patch", 1]], end: { finalText: "All done." } });
  expect(found.is === "ended" && found.end.usage.outputTokens).toBe(end.usage.outputTokens);
  expect(await agent.inspect(request, { uuid: randomUUID() })).toEqual({ is: "unknown" });
  await session.close();
  expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
});
