import { afterAll, beforeAll } from "vitest";
import { agentContract } from "../../test/contracts/agent.ts";
import type { Behaviour } from "../../test/contracts/agent-play.ts";
import { ownPrompt, startScriptedModel, type ScriptedModel } from "../../test/support/claude.ts";
import { armedWire, type ArmedWire } from "../../test/support/faulty-wire.ts";
import { tempDir } from "../../test/support/temp.ts";
import type { Step } from "../standin/script.ts";
import { messages } from "./messages.ts";

let model: ScriptedModel;
let wire: ArmedWire;
let environment: Record<string, string>;

beforeAll(async () => {
  model = await startScriptedModel();
  wire = await armedWire(model.standin.url);
  environment = { PATH: process.env["PATH"] ?? "", HOME: tempDir("home") };
});
afterAll(async () => {
  await wire.close();
  await model.standin.close();
});

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

function stepsFor(behaviour: Behaviour): Step[] {
  switch (behaviour.is) {
    case "answer":
      return [{ text: behaviour.text }];
    case "write": {
      const input = { file_path: behaviour.path, content: behaviour.content };
      return [{ text: "Writing.", tools: [{ name: "Write", input }] }, { text: behaviour.text }];
    }
    case "work":
      return [bash(`sleep ${behaviour.ms / 1000}`), { text: behaviour.text }];
    case "hang":
      return [{ hang: true }];
    case "crash":
      // It is no program that could die: the model does.
      return [bash("true"), { cutSocket: "mid", times: 1 }, { text: "survived" }];
    case "limit":
      return [{ status: 429, retryAfterS: 3600 }];
    case "call": {
      const input = { status: behaviour.call.is, summary: behaviour.call.text };
      return [{ tools: [{ name: "done", input }] }, { text: behaviour.text }];
    }
    case "need":
      return [bash(`touch ${behaviour.path}`), { text: behaviour.text }];
    case "question": {
      const { question, options } = behaviour;
      return [{ tools: [{ name: "AskUser", input: { question, options } }] }, { text: behaviour.text }];
    }
  }
}

agentContract("messages", [], () => ({
  agent: messages({ userEnvironment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: wire.url } }),
  prompt: (behaviour) => ownPrompt(stepsFor(behaviour)),
  environment,
  remembered: () => model.seen.at(-1)?.prompts ?? [],
  heard: () => model.seen.at(-1)?.words ?? "",
  lastModel: () => model.seen.at(-1)?.model,
  models: { first: "claude-sonnet-5-5", second: "claude-opus-5-5" },
  requests: () => model.seen.length,
  shell: (command, text) => ownPrompt([bash(command), { text }]),
  wire,
}));
