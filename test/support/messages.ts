/** The messages agent on a stand-in model of its own: sessions in one workspace and home, and what was sent. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { messages } from "../../src/agents/messages.ts";
import type { Agent, AgentSession, OpenRequest } from "../../src/ports.ts";
import type { Script, Step } from "../../src/standin/script.ts";
import { startStandin, type Standin } from "../../src/standin/server.ts";
import { plainAgent } from "./spec.ts";
import { tempDir } from "./temp.ts";

type Json = Readonly<Record<string, unknown>>;

export interface MessagesWorld {
  agent: Agent;
  standin: Standin;
  workspace: string;
  home: string;
  /** Whole bodies of the requests for an answer, oldest first. */
  sent(): Json[];
  request(more?: Partial<OpenRequest>): OpenRequest;
  open(more?: Partial<OpenRequest>): Promise<AgentSession>;
}

interface Wanted {
  script: Script | Step[];
  options?: OpenRequest["agent"]["options"];
  fallbackModel?: string;
  ask?: Partial<OpenRequest["agent"]["ask"]>;
  user?: Readonly<Record<string, string>>;
  /** By which the model counts. */
  tokensIn?: (text: string) => number;
}

/** For one test. */
export async function messagesWorld({
  script,
  options = {},
  fallbackModel,
  ask,
  user,
  tokensIn,
}: Wanted): Promise<MessagesWorld> {
  const root = tempDir("messages");
  const [workspace, home, dumpDir] = [join(root, "workspace"), join(root, "home"), join(root, "sent")];
  mkdirSync(workspace);
  const steps = Array.isArray(script) ? { steps: script } : script;
  const standin = await startStandin({ script: steps, dumpDir, runCode: true, tokensIn });
  onTestFinished(() => standin.close());
  const userEnvironment = user ?? { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: standin.url };
  const agent = messages({ userEnvironment });
  const request: MessagesWorld["request"] = (more = {}) => ({
    run: "messages",
    lane: "main",
    workspace,
    home,
    session: { ref: randomUUID(), mode: "new" },
    agent: {
      ...plainAgent,
      name: "messages",
      options,
      ask: { ...plainAgent.ask, ...ask },
      ...(fallbackModel === undefined ? {} : { fallbackModel }),
    },
    model: "claude-sonnet-5-5",
    instructions: "",
    environment: { PATH: process.env["PATH"] ?? "", HOME: root },
    ...more,
  });
  return {
    agent,
    standin,
    workspace,
    home,
    sent: () =>
      readdirSync(dumpDir)
        .toSorted((a, b) => (a < b ? -1 : 1))
        .map((name) => JSON.parse(readFileSync(join(dumpDir, name), "utf8")) as Json),
    request,
    async open(more) {
      const session = await agent.open(request(more));
      onTestFinished(() => session.close());
      return session;
    },
  };
}
