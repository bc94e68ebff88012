/** The real Claude Code against the stand-in model: prompts carry their own steps, and every request is kept. */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import { claude } from "../../src/agents/claude.ts";
import type { Agent, OpenRequest } from "../../src/ports.ts";
import { tempDir } from "./temp.ts";
import { startStandin } from "../../src/standin/server.ts";
import type { Standin } from "../../src/standin/server.ts";
import { answersSince, promptOf, wordsOf } from "../../src/standin/request.ts";
import type { StandinRequest, Turn } from "../../src/standin/request.ts";
import { isFault } from "../../src/standin/script.ts";
import type { Step } from "../../src/standin/script.ts";
import { plainAgent } from "./spec.ts";

const MARK = "Follow these steps";
/** How codex-acp asks for a title, with the prompt in it and tools beside it. */
const TITLE_WORDS = "Your task is to generate";

interface SeenRequest {
  model: string;
  /** Prompts made by `promptFor`, in the order of the conversation. */
  prompts: string[];
  /** Everything that users and tools said, for searching. */
  words: string;
  system: string;
  /** Names of the tools offered. */
  tools: string[];
  step: number;
}

export interface ScriptedModel {
  readonly standin: Standin;
  /** Requests that took a step, oldest first. */
  readonly seen: readonly SeenRequest[];
}

export function promptFor(steps: readonly Step[]): string {
  return `${MARK}: ${JSON.stringify(steps)}`;
}

/** Unlike every other, so that it can stand in one conversation with others of the same steps. */
export function ownPrompt(steps: readonly Step[]): string {
  return `${MARK} (${randomUUID()}): ${JSON.stringify(steps)}`;
}

export async function startScriptedModel(options: { apiKey?: string } = {}): Promise<ScriptedModel> {
  const seen: SeenRequest[] = [];
  const served = new Map<string, number>();
  const script = (request: StandinRequest): Step => {
    if (promptOf(request).startsWith(TITLE_WORDS)) return { text: "A title" };
    const prompts = promptsIn(request);
    const prompt = prompts.at(-1) ?? "";
    const steps = stepsOf(prompt);
    const step = prompt === "" ? 0 : stepsTaken(request, { prompt, steps }) + deniedSteps(request, prompt);
    const words = request.turns.flatMap((turn) => [...turn.texts, ...turn.toolResults]).join("\n");
    const { model, system, tools } = request;
    seen.push({ model, prompts, words, system, tools: [...tools.keys()], step });
    return pick(steps, { step, prompt, served });
  };
  return { standin: await startStandin({ script, ...options }), seen };
}

/** A turn that was interrupted before its answer stands in the same message as the next prompt. */
function promptsIn(request: StandinRequest): string[] {
  return request.turns
    .filter((turn) => turn.role === "user")
    .flatMap((turn) => wordsOf(turn).split("\n"))
    .filter((line) => line.startsWith(MARK));
}

/** An answer that broke off before its call is none. */
function stepsTaken(request: StandinRequest, { prompt, steps }: { prompt: string; steps: readonly Step[] }): number {
  const calls = steps.flatMap((step) => (isFault(step) ? [] : [(step.tools ?? []).length > 0]));
  const answers = answersSince(request, (words) => words.includes(prompt));
  const isBroken = (answer: Turn): boolean => answer.toolCalls === 0 && wordsOf(answer) !== "";
  return answers.reduce((taken, answer) => (calls[taken] === true && isBroken(answer) ? taken : taken + 1), 0);
}

/** A call that was denied is a step, though some agent programs call it aborted and wait for words. */
function deniedSteps(request: StandinRequest, prompt: string): number {
  const turns = request.turns.slice(request.turns.findIndex((turn) => wordsOf(turn).includes(prompt)));
  const isAborted = turns.some(({ toolResults }) => toolResults.some((result) => result.includes("aborted by user")));
  return isAborted ? turns.filter((turn) => wordsOf(turn).includes("Not allowed")).length : 0;
}

function stepsOf(prompt: string): Step[] {
  return prompt === "" ? [] : (JSON.parse(prompt.slice(prompt.indexOf(":") + 1)) as Step[]);
}

/** Faults stand before the step they delay and are served `times` times, or for ever. */
function pick(
  steps: readonly Step[],
  { step, prompt, served }: { step: number; prompt: string; served: Map<string, number> },
): Step {
  let answers = 0;
  for (const [at, one] of steps.entries()) {
    if (!isFault(one)) {
      if (answers === step || (one.repeat === true && answers < step)) return one;
      answers += 1;
      continue;
    }
    if (answers < step) continue;
    const key = `${prompt}\0${at}`;
    const count = served.get(key) ?? 0;
    served.set(key, count + 1);
    // The server counts `times` on its own; here it has been counted already.
    const { times = Infinity, ...fresh } = one;
    if (count < times) return fresh;
  }
  return { text: "ok" };
}

/** As much slower as a machine can be when it is busy. */
const SLOWNESS = 10;

/**
 * Until the returned function is called this process has more time: a request is held for a moment only, and let go with
 * a notice, when the program takes longer than usual to write down what it is built on.
 */
export function slowClock(): () => void {
  const now = performance.now.bind(performance);
  const from = now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => from + (now() - from) / SLOWNESS);
  return () => clock.mockRestore();
}

export interface ClaudeWorld {
  agent: Agent;
  run: string;
  workspace: string;
  /** As the kernel would ask; the same session unless another is given. */
  request(session?: Partial<OpenRequest["session"]>): OpenRequest;
}

interface WorldOptions {
  url: string;
  /** Instead of an API key. */
  login?: Record<string, string>;
  /** Of the agent, as in a spec. */
  options?: OpenRequest["agent"]["options"];
  instructions?: string;
  model?: string;
}

/** A workspace and a home of its own for one conversation. */
export function claudeWorld({ url, login, options = {}, instructions = "", model }: WorldOptions): ClaudeWorld {
  const root = tempDir("claude");
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  const run = `claude-${randomUUID()}`;
  const ref = randomUUID();
  const timeouts = { idleTimeoutMs: 20_000, turnTimeoutMs: 40_000, completionGraceMs: 5_000 };
  return {
    agent: claude({ userEnvironment: { ANTHROPIC_BASE_URL: url, ...(login ?? { ANTHROPIC_API_KEY: "key" }) } }),
    run,
    workspace,
    request: (session = {}) => ({
      run,
      lane: "main",
      workspace,
      home: join(root, "home"),
      session: { ref, mode: "new", ...session },
      agent: { ...plainAgent, name: "claude", ...timeouts, options },
      model,
      instructions,
      environment: { PATH: process.env["PATH"] ?? "", HOME: root, PAWL_RUN: run },
    }),
  };
}
