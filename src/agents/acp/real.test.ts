/** A real ACP agent behind the gateway: refusals by their fields, cost to the token, limits, the death of its server. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { LIMITS, play } from "../../../test/contracts/agent-play.ts";
import { CLAUDE_ACP, CODEX_ACP, codexDialect, WITH_NODE } from "../../../test/support/acp.ts";
import { promptFor, startScriptedModel, type ScriptedModel } from "../../../test/support/claude.ts";
import { plainAgent } from "../../../test/support/spec.ts";
import { tempDir } from "../../../test/support/temp.ts";
import type { AgentSession, OpenRequest } from "../../ports.ts";
import { acp } from "../acp.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ apiKey: "key" });
});
afterAll(() => model.standin.close());

const { shell } = codexDialect;

const CODEX = { program: CODEX_ACP, model: "gpt-5.5" };
const CLAUDE = { program: CLAUDE_ACP, model: "claude-sonnet-5-5" };

async function opened(
  options: OpenRequest["agent"]["options"] = {},
  { program, model: wanted }: typeof CODEX = CODEX,
): Promise<{ session: AgentSession; run: string }> {
  const root = tempDir("acp");
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  const run = `acp-${randomUUID()}`;
  const name = `acp:'${program}'`;
  const session = await acp({ name }).open({
    run,
    lane: "main",
    workspace,
    home: join(root, "home"),
    session: { ref: randomUUID(), mode: "new" },
    agent: { ...plainAgent, name, ...LIMITS, options },
    model: wanted,
    instructions: "",
    environment: {
      ...WITH_NODE,
      HOME: root,
      PAWL_RUN: run,
      OPENAI_API_KEY: "key",
      OPENAI_BASE_URL: `${model.standin.url}/v1`,
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: model.standin.url,
    },
  });
  onTestFinished(() => session.close());
  return { session, run };
}

it("says what the model said no with, by its status and its fields, and takes the next turn", async () => {
  const { session } = await opened();
  const outcomes: Record<string, unknown> = {
    401: { is: "failed", kind: "login" },
    404: { is: "failed", kind: "model" },
    429: { is: "limited", kind: "rate" },
    503: { is: "limited", kind: "overloaded" },
  };
  for (const [status, outcome] of Object.entries(outcomes)) {
    const { end } = await play(session, promptFor([{ status: Number(status) }]));
    expect([status, end.outcome]).toEqual([status, expect.objectContaining(outcome as object)]);
  }
  const code = "context_length_exceeded";
  const { end } = await play(session, promptFor([{ status: 400, code }]));
  expect(end.outcome).toMatchObject({ is: "failed", kind: "context" });
  expect(JSON.stringify(end)).not.toMatch(/127\.0\.0\.1:\d+\/[0-9a-f]{48}/);
  const next = await play(session, promptFor([{ text: "well again" }]));
  expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "well again" });
});

it("tells a full context from other wrong requests, which Anthropic calls the same, by the agent's own compaction", async () => {
  const { session } = await opened({}, CLAUDE);
  // One exchange alone is not compacted.
  for (const text of ["one", "two"]) await play(session, promptFor([{ text }]));
  const wrong = await play(session, promptFor([{ status: 400, message: "messages.1: wrong" }]));
  expect(wrong.end.outcome).toMatchObject({ is: "failed", kind: "agent" });
  const full = await play(session, promptFor([{ status: 400, message: "prompt is too long: 9 tokens > 8 maximum" }]));
  expect(full.end.outcome).toMatchObject({ is: "failed", kind: "context" });
});

it("counts every request once, titles too, to the token", async () => {
  const { session } = await opened();
  const before = { ...model.standin.billing };
  const first = await play(session, promptFor([shell("true"), { text: "one" }]));
  const second = await play(session, promptFor([{ text: "two" }]));
  await session.close();
  const { requests, inputTokens, outputTokens, cacheReadTokens } = model.standin.billing;
  const sum = (field: "requests" | "inputTokens" | "outputTokens" | "cacheReadTokens"): number =>
    first.end.usage[field] + second.end.usage[field];
  expect(sum("requests")).toBe(requests - before.requests);
  expect(sum("inputTokens")).toBe(inputTokens - before.inputTokens);
  expect(sum("outputTokens")).toBe(outputTokens - before.outputTokens);
  expect(sum("cacheReadTokens")).toBe(cacheReadTokens - before.cacheReadTokens);
  expect(first.end.usage.usd).toBeGreaterThan(0);
});

it("holds the request beyond --agent-max-turns, and ends the turn", async () => {
  const { session } = await opened({ maxTurns: 2 });
  const { end } = await play(session, promptFor([shell("true"), shell("true"), shell("true"), { text: "never" }]));
  expect(end).toMatchObject({ outcome: { is: "failed", kind: "max-turns" }, usage: { requests: 2 } });
});

it("goes on after the server behind the agent was killed", async () => {
  const { session, run } = await opened();
  await play(session, promptFor([{ text: "warm" }]));
  const turn = play(session, promptFor([{ hang: true, times: 1 }, { text: "again" }]), {
    onEvent: (event) => event.type === "session-opened" && setTimeout(() => killServer(run), 300),
  });
  expect((await turn).end.outcome.is).not.toBe("done");
  const { end } = await play(session, promptFor([{ text: "back again" }]));
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "back again" });
});

/** Codex itself, which the ACP agent started. */
function killServer(run: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const isOurs = readFileSync(`/proc/${pid}/environ`, "utf8").includes(run);
      if (isOurs && readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("codex")) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has gone meanwhile.
    }
  }
}
