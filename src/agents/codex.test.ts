/** With the newer models, which call their tools from a script; what else is real here is tried with the older kind. */
import { afterAll, beforeAll } from "vitest";
import { agentContract } from "../../test/contracts/agent.ts";
import type { Behaviour } from "../../test/contracts/agent-play.ts";
import { ownPrompt, startScriptedModel } from "../../test/support/claude.ts";
import type { ScriptedModel } from "../../test/support/claude.ts";
import { armedWire, type ArmedWire } from "../../test/support/faulty-wire.ts";
import { crash, script, scriptedExec, scriptedPatch } from "../../test/support/codex.ts";
import { tempDir } from "../../test/support/temp.ts";
import type { Step } from "../standin/script.ts";
import { codex, CODEX_GAPS } from "./codex.ts";

let model: ScriptedModel;
let wire: ArmedWire;
let environment: Record<string, string>;

beforeAll(async () => {
  model = await startScriptedModel({ apiKey: "key" });
  wire = await armedWire(model.standin.url);
  environment = { PATH: process.env["PATH"] ?? "", HOME: tempDir("home") };
});
afterAll(async () => {
  await wire.close();
  await model.standin.close();
});

function stepsFor(behaviour: Behaviour): Step[] {
  switch (behaviour.is) {
    case "answer":
      return [{ text: behaviour.text }];
    case "write":
      return [{ text: "Writing.", ...scriptedPatch(behaviour.path, behaviour.content) }, { text: behaviour.text }];
    case "work":
      return [scriptedExec(`node -e "setTimeout(() => {}, ${behaviour.ms})"`), { text: behaviour.text }];
    case "hang":
      return [{ hang: true }];
    case "crash":
      return [crash(scriptedExec), { text: "survived" }];
    case "limit":
      return [{ status: 429, retryAfterS: 3600 }];
    case "call": {
      const input = { status: behaviour.call.is, summary: behaviour.call.text };
      return [script(`text(await tools.done(${JSON.stringify(input)}));`), { text: behaviour.text }];
    }
    case "need":
      return [scriptedExec(`node -e 'fs.writeFileSync("${behaviour.path}", "")'`), { text: behaviour.text }];
    case "question": {
      const options = behaviour.options.map((label) => ({ label, description: `take ${label}` }));
      const questions = [{ id: "way", question: behaviour.question, header: "Choice", options }];
      return [{ tools: [{ name: "request_user_input", input: { questions } }] }, { text: behaviour.text }];
    }
  }
}

agentContract("codex", CODEX_GAPS, () => ({
  agent: codex({ userEnvironment: { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${wire.url}/v1` } }),
  prompt: (behaviour) => ownPrompt(stepsFor(behaviour)),
  environment,
  remembered: () => model.seen.at(-1)?.prompts ?? [],
  heard: () => model.seen.at(-1)?.words ?? "",
  lastModel: () => model.seen.at(-1)?.model,
  models: { first: "gpt-5.6-sol", second: "gpt-5.6-terra" },
  requests: () => model.seen.length,
  writeTool: "apply_patch",
  shell: (command, text) => ownPrompt([scriptedExec(command), { text }]),
  wire,
}));
