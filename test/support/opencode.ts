/** The real opencode against the stand-in model: its folders, and what its tools are called with. */
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OpenRequest } from "../../src/ports.ts";
import type { Step } from "../../src/standin/script.ts";
import { plainAgent } from "./spec.ts";
import { tempDir } from "./temp.ts";

export const bash = (command: string): Step => ({
  tools: [{ name: "bash", input: { command, description: "runs a command" } }],
});

export const write = (filePath: string, content: string): Step => ({
  tools: [{ name: "write", input: { filePath, content } }],
});

export interface OpencodeWorld {
  root: string;
  workspace: string;
  run: string;
  environment: Record<string, string>;
  /** As the kernel would ask; of a new session. */
  request(over?: Partial<OpenRequest>): OpenRequest;
}

/** A workspace and a home for conversations that share a server. */
export function opencodeWorld(name = "workspace"): OpencodeWorld {
  const root = tempDir("opencode");
  const workspace = join(root, name);
  mkdirSync(workspace);
  const run = `opencode-${randomUUID()}`;
  const timeouts = { idleTimeoutMs: 20_000, turnTimeoutMs: 40_000, completionGraceMs: 5_000 };
  const environment = { PATH: process.env["PATH"] ?? "", HOME: root, ...shortList(join(root, "models.json")) };
  return {
    root,
    workspace,
    run,
    environment,
    request: (over = {}) => ({
      run,
      lane: "main",
      workspace,
      home: join(root, "home"),
      session: { ref: randomUUID(), mode: "new" },
      agent: { ...plainAgent, name: "opencode", ...timeouts },
      model: undefined,
      instructions: "",
      environment: { ...environment, PAWL_RUN: run },
      ...over,
    }),
  };
}

/** In that file, for the environment: opencode's own list takes two seconds to load. */
export function shortList(file: string): { OPENCODE_MODELS_PATH: string } {
  writeFileSync(file, JSON.stringify(MODELS));
  return { OPENCODE_MODELS_PATH: file };
}

const model = (id: string, cost: object): object => ({
  id,
  name: id,
  release_date: "2025-09-29",
  attachment: false,
  reasoning: true,
  temperature: true,
  tool_call: true,
  limit: { context: 200_000, output: 64_000 },
  cost,
});
const MODELS = {
  anthropic: {
    id: "anthropic",
    name: "Anthropic",
    env: ["ANTHROPIC_API_KEY"],
    npm: "@ai-sdk/anthropic",
    models: {
      "claude-sonnet-4-5": model("claude-sonnet-4-5", { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }),
      "claude-haiku-4-5": model("claude-haiku-4-5", { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 }),
    },
  },
};
