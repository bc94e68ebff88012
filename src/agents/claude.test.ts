import { afterAll, beforeAll } from "vitest";
import { agentContract } from "../../test/contracts/agent.ts";
import type { Behaviour } from "../../test/contracts/agent.ts";
import { promptFor, startScriptedModel } from "../../test/support/claude.ts";
import type { ScriptedModel } from "../../test/support/claude.ts";
import { tempDir } from "../../test/support/temp.ts";
import type { Step } from "../standin/script.ts";
import { claude } from "./claude.ts";

let model: ScriptedModel;
let environment: Record<string, string>;

beforeAll(async () => {
  model = await startScriptedModel();
  environment = { PATH: process.env["PATH"] ?? "", HOME: tempDir("home") };
});
afterAll(() => model.standin.close());

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
      return [bash(`node -e "setTimeout(() => {}, ${behaviour.ms})"`), { text: behaviour.text }];
    case "hang":
      return [{ hang: true }];
    case "crash":
      return [bash("kill -9 $PPID"), { text: "survived" }];
    case "limit":
      return [{ status: 429, retryAfterS: 3600 }];
  }
}

agentContract("claude", [], () => ({
  agent: claude({ userEnvironment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.standin.url } }),
  prompt: (behaviour) => promptFor(stepsFor(behaviour)),
  environment,
  remembered: () => model.seen.at(-1)?.prompts ?? [],
  lastModel: () => model.seen.at(-1)?.model,
  models: { first: "claude-sonnet-5-5", second: "claude-opus-5-5" },
  requests: () => model.seen.length,
}));
