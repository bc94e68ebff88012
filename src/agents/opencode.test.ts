import { afterAll, beforeAll } from "vitest";
import { agentContract } from "../../test/contracts/agent.ts";
import { play, untilThere, type Behaviour } from "../../test/contracts/agent-play.ts";
import { ownPrompt, promptFor, startScriptedModel } from "../../test/support/claude.ts";
import type { ScriptedModel } from "../../test/support/claude.ts";
import { armedWire, type ArmedWire } from "../../test/support/faulty-wire.ts";
import { bash, opencodeWorld, write } from "../../test/support/opencode.ts";
import type { OpencodeWorld } from "../../test/support/opencode.ts";
import type { Agent, AgentSession } from "../ports.ts";
import type { Step } from "../standin/script.ts";
import { opencode, OPENCODE_GAPS } from "./opencode.ts";

const MODELS = { first: "anthropic/claude-sonnet-4-5", second: "anthropic/claude-haiku-4-5" };
const START_LIMIT_MS = 300_000;
let model: ScriptedModel;
let wire: ArmedWire;
let agent: Agent;
let world: OpencodeWorld;
/** Holds the server that the tests share. */
let holder: AgentSession;

beforeAll(async () => {
  model = await startScriptedModel({ apiKey: "key" });
  wire = await armedWire(model.standin.url);
  agent = opencode({ userEnvironment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: wire.url } });
  world = opencodeWorld();
  holder = await agent.open(world.request({ model: MODELS.first }));
  // Under load a start takes longer than a test may.
  await play(holder, promptFor([{ text: "warm" }]));
}, START_LIMIT_MS);
afterAll(async () => {
  await holder.close();
  await wire.close();
  await model.standin.close();
});

function stepsFor(behaviour: Behaviour): Step[] {
  switch (behaviour.is) {
    case "answer":
      return [{ text: behaviour.text }];
    case "write":
      // An answer that broke off may stay in the conversation as a step: the model says its last words again.
      return [
        { text: "Writing.", ...write(behaviour.path, behaviour.content) },
        { text: behaviour.text, repeat: true },
      ];
    case "work":
      return [bash(untilThere(behaviour.until)), { text: behaviour.text }];
    case "hang":
      return [{ hang: true }];
    case "crash":
      return [bash("kill -9 $PPID"), { text: "survived" }];
    case "limit":
      return [{ status: 429, retryAfterS: 3600 }];
    case "call": {
      const input = { status: behaviour.call.is, summary: behaviour.call.text };
      return [{ tools: [{ name: "pawl_done", input }] }, { text: behaviour.text }];
    }
    case "need":
      return [bash(`node -e 'fs.writeFileSync("${behaviour.path}", "")'`), { text: behaviour.text }];
    case "question": {
      const options = behaviour.options.map((label) => ({ label, description: `take ${label}` }));
      const questions = [{ question: behaviour.question, header: "Choice", options }];
      return [{ tools: [{ name: "question", input: { questions } }] }, { text: behaviour.text }];
    }
  }
}

agentContract("opencode", OPENCODE_GAPS, () => ({
  agent,
  prompt: (behaviour) => ownPrompt(stepsFor(behaviour)),
  environment: world.environment,
  remembered: () => model.seen.at(-1)?.prompts ?? [],
  heard: () => model.seen.at(-1)?.words ?? "",
  lastModel: () => `anthropic/${model.seen.at(-1)?.model}`,
  models: MODELS,
  requests: () => model.seen.length,
  root: world.root,
  run: world.run,
  release: () => holder.close(),
  writeTool: "write",
  shell: (command, text) => ownPrompt([bash(command), { text }]),
  wire,
}));
