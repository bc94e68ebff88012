/**
 * One agent, in a process of its own: turns through pawl's adapter and turns of its program driven by hand, in turn; then
 * turns through the adapter with a process for each. Prints milliseconds as JSON.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { acp } from "../src/agents/acp.ts";
import { claude } from "../src/agents/claude.ts";
import { codex } from "../src/agents/codex.ts";
import { command } from "../src/agents/command.ts";
import { messages } from "../src/agents/messages.ts";
import { opencode } from "../src/agents/opencode.ts";
import type { Agent, AgentSession, OpenRequest } from "../src/ports.ts";
import { startStandin } from "../src/standin/server.ts";
import { plainAgent } from "../test/support/spec.ts";
import { claudeAcp, codexExec, HANDS, type Place } from "./agent-hands.ts";
import { turnOf } from "./agent-script.ts";

export interface AgentsChild {
  adapter: number[];
  hand: number[];
  perTurn: number[];
}

/** Not measured: what is loaded at the first. */
const WARM_TURNS = 2;
const LIMITS = { idleTimeoutMs: 60_000, turnTimeoutMs: 60_000, completionGraceMs: 5_000 };

const [name = "", turns = "10", processes = "4"] = process.argv.slice(2);
const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-bench-agent-")));
const standin = await startStandin({ script: turnOf });

function placeOf(folder: string): Place {
  const workspace = join(root, folder, "workspace");
  for (const made of [workspace, join(root, folder, "tmp")]) mkdirSync(made, { recursive: true });
  return { root: join(root, folder), workspace, url: standin.url };
}

const user = { ANTHROPIC_API_KEY: "key", OPENAI_API_KEY: "key", HOME: root };
const urls = { ANTHROPIC_BASE_URL: standin.url, OPENAI_BASE_URL: `${standin.url}/v1` };
const acpName = `acp:'${claudeAcp()}'`;
const SUBJECTS: Readonly<
  Record<
    string,
    { agent: () => Agent; called?: string; options?: OpenRequest["agent"]["options"]; model: string | undefined }
  >
> = {
  claude: { agent: () => claude({ userEnvironment: { ...user, ...urls } }), model: "claude-sonnet-5" },
  codex: {
    agent: () => codex({ userEnvironment: { ...user, ...urls } }),
    // As inside the fence: its own sandbox is no part of what is compared.
    options: { permissions: "danger-full-access" },
    model: "gpt-5.5",
  },
  // Two logins would leave open which one it is.
  opencode: {
    agent: () =>
      opencode({ userEnvironment: { ANTHROPIC_API_KEY: "key", HOME: root, ANTHROPIC_BASE_URL: standin.url } }),
    model: "anthropic/claude-sonnet-4-5",
  },
  acp: { agent: () => acp({ name: acpName }), called: acpName, model: undefined },
  command: {
    agent: () => command({ name: "codex-exec", entry: codexExec(), userEnvironment: { ...user, ...urls } }),
    called: "codex-exec",
    model: "gpt-5.5",
  },
  messages: { agent: () => messages({ userEnvironment: { ...user, ...urls } }), model: "claude-sonnet-5" },
};

interface Turn {
  ms: number;
  requests: number;
}

async function took(work: () => Promise<void>): Promise<Turn> {
  const before = standin.requests.length;
  const began = performance.now();
  await work();
  return { ms: performance.now() - began, requests: standin.requests.length - before };
}

async function play(session: AgentSession, prompt: string): Promise<void> {
  const signal = new AbortController().signal;
  for await (const event of session.turn({ uuid: randomUUID(), prompt }, LIMITS, signal)) {
    if (event.type === "turn-end" && event.outcome.is !== "done") throw new Error(JSON.stringify(event));
  }
}

const subject = SUBJECTS[name];
const byHand = HANDS[name];
if (subject === undefined || byHand === undefined) throw new Error(`no agent called ${name}`);
const agent = subject.agent();
const place = placeOf("adapter");
const request: OpenRequest = {
  run: "bench",
  lane: "main",
  workspace: place.workspace,
  home: join(place.root, "home"),
  session: { ref: randomUUID(), mode: "new" },
  agent: { ...plainAgent, name: subject.called ?? name, ...LIMITS, options: subject.options ?? {} },
  model: subject.model,
  instructions: "",
  environment: {
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    HOME: place.root,
    PAWL_RUN: "bench",
    ...(name === "acp" ? { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: standin.url } : {}),
  },
};

const out: AgentsChild = { adapter: [], hand: [], perTurn: [] };
const session = await agent.open(request);
const hand = await byHand(placeOf("hand"));
for (let i = 0; i < Number(turns) + WARM_TURNS; i += 1) {
  const prompt = `Turn ${i}: go on.`;
  const adapter = (): Promise<Turn> => took(() => play(session, prompt));
  const own = (): Promise<Turn> => took(() => hand.turn(prompt));
  // Who comes second finds the machine warm.
  const first = i % 2 === 0 ? await adapter() : await own();
  const second = i % 2 === 0 ? await own() : await adapter();
  if (i < WARM_TURNS) continue;
  const [ofAdapter, ofHand] = i % 2 === 0 ? [first, second] : [second, first];
  if (ofAdapter.requests !== ofHand.requests)
    throw new Error(`not the same work: ${ofAdapter.requests} and ${ofHand.requests} requests`);
  out.adapter.push(ofAdapter.ms);
  out.hand.push(ofHand.ms);
}
await Promise.all([session.close(), hand.end()]);
for (let i = 0; i < Number(processes); i += 1) {
  const { ms } = await took(async () => {
    const again = await agent.open({ ...request, session: { ...request.session, mode: "continue" } });
    await play(again, `Again ${i}: go on.`);
    await again.close();
  });
  out.perTurn.push(ms);
}
await standin.close();
rmSync(root, { recursive: true, force: true, maxRetries: 5 });
console.log(JSON.stringify(out));
process.exit(0);
