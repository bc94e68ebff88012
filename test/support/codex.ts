/** The real Codex against the stand-in model: what its tools are called with. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { codex } from "../../src/agents/codex.ts";
import type { Agent, AgentSession, OpenRequest } from "../../src/ports.ts";
import type { Step } from "../../src/standin/script.ts";
import { LIMITS } from "../contracts/agent-play.ts";
import { signalAll } from "./processes.ts";
import { plainAgent } from "./spec.ts";
import { tempDir } from "./temp.ts";

/** Codex lets a command go on behind the model's back after a while; the longest that it takes here. */
const YIELD_MS = 30_000;
const SCRIPT_MS = 600_000;

export const exec = (cmd: string): Step => ({
  tools: [{ name: "exec_command", input: { cmd, yield_time_ms: YIELD_MS } }],
});

/** The same for models that call all their tools from a script of theirs: every one that is newer than gpt-5.5. */
export const script = (code: string): Step => ({ tools: [{ name: "exec", input: { input: code } }] });
export const scriptedExec = (cmd: string): Step =>
  script(`text(await tools.exec_command(${JSON.stringify({ cmd, yield_time_ms: YIELD_MS })}));`);
/** However long the command takes: the script goes on waiting for it, and is itself waited for. */
export const patientExec = (cmd: string): Step =>
  script(
    [
      `// @exec: ${JSON.stringify({ yield_time_ms: SCRIPT_MS })}`,
      `let ran = await tools.exec_command(${JSON.stringify({ cmd, yield_time_ms: YIELD_MS })});`,
      "while (ran.session_id !== undefined)",
      `  ran = await tools.write_stdin({ session_id: ran.session_id, chars: "", yield_time_ms: ${YIELD_MS} });`,
      "text(ran);",
    ].join("\n"),
  );

/** That makes one file. */
function patchOf(path: string, content: string): string {
  const added = content
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `+${line}`);
  return ["*** Begin Patch", `*** Add File: ${path}`, ...added, "*** End Patch", ""].join("\n");
}

/** With the tool of the models that have one for it. */
export const patch = (path: string, content: string): Step => ({
  tools: [{ name: "apply_patch", input: { input: patchOf(path, content) } }],
});

export const scriptedPatch = (path: string, content: string): Step =>
  script(`text(await tools.apply_patch(${JSON.stringify(patchOf(path, content))}));`);

/** A workspace, a home and a session in them; its path is one that nobody should take apart. */
export interface CodexPlace {
  agent: Agent;
  request: OpenRequest;
  session: AgentSession;
  /** Another session object in the same place. */
  again(session: OpenRequest["session"]): Promise<AgentSession>;
}

interface PlaceOptions extends Partial<OpenRequest> {
  user?: Readonly<Record<string, string>>;
}

export async function codexPlace(url: string, { user = {}, ...over }: PlaceOptions = {}): Promise<CodexPlace> {
  const root = tempDir("codex");
  const workspace = join(root, `a "work" o' all $HOME`);
  mkdirSync(workspace);
  const agent = codex({
    userEnvironment: { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1`, HOME: root, ...user },
  });
  const run = `codex-${randomUUID()}`;
  const request: OpenRequest = {
    run,
    lane: "main",
    workspace,
    home: join(root, "home"),
    session: { ref: randomUUID(), mode: "new" },
    agent: { ...plainAgent, name: "codex", ...LIMITS },
    model: "gpt-5.5",
    instructions: "",
    environment: { PATH: process.env["PATH"] ?? "", HOME: root, PAWL_RUN: run },
    ...over,
  };
  const open = async (asked: OpenRequest): Promise<AgentSession> => {
    const session = await agent.open(asked);
    onTestFinished(() => session.close());
    return session;
  };
  return { agent, request, session: await open(request), again: (session) => open({ ...request, session }) };
}

const POLL_MS = 20;
/** Of the command; it is found long before. */
const COMMAND_MS = 20_000;
/** Until it is there: a program that is started for the turn takes long on a busy machine. */
const LOOK_LIMIT_MS = 120_000;

/**
 * A command that runs until the Codex that started it has been killed: its own sandbox keeps a command from killing it
 * by itself, so a child of this process, which is what Codex is here, is found above the command and ended.
 */
export function crash(run: (cmd: string) => Step = exec): Step {
  const mark = `crash-${randomUUID()}`;
  const until = performance.now() + LOOK_LIMIT_MS;
  const timer = setInterval(() => {
    const victim = childAbove(mark);
    if (victim !== undefined) signalAll([victim]);
    if (victim !== undefined || performance.now() > until) clearInterval(timer);
  }, POLL_MS);
  timer.unref();
  return run(`node -e 'setTimeout(() => {}, ${COMMAND_MS})' ${mark}`);
}

function childAbove(mark: string): number | undefined {
  const marked = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && hasWord(name, mark));
  for (const name of marked) {
    let pid = Number(name);
    for (let parent = parentOf(pid); parent !== undefined && parent > 1; parent = parentOf(pid)) {
      if (parent === process.pid) return pid;
      pid = parent;
    }
  }
  return undefined;
}

function hasWord(name: string, word: string): boolean {
  try {
    return readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(word);
  } catch {
    return false;
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
