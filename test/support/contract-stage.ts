/** What the contract of an agent is played on: a model whose prompts carry their own steps, behind a wire that can be cut. */
import { afterAll, beforeAll } from "vitest";
import type { AgentSubject } from "../contracts/agent.ts";
import type { Behaviour } from "../contracts/agent-play.ts";
import type { Agent } from "../../src/ports.ts";
import type { Step } from "../../src/standin/script.ts";
import { ownPrompt, startScriptedModel, type ScriptedModel } from "./claude.ts";
import { armedWire, type ArmedWire } from "./faulty-wire.ts";
import { tempDir } from "./temp.ts";

/** What a model says in the same way to every agent. */
type Plain = "answer" | "hang" | "limit";

interface Played extends Partial<Pick<AgentSubject, "writeTool" | "noProgram">>, Pick<AgentSubject, "models"> {
  /** `url`: of the model. */
  agent: (url: string) => Agent;
  /** In the words of the agent's own tools. */
  steps: (behaviour: Exclude<Behaviour, { is: Plain }>) => Step[];
  /** A call of its shell. */
  bash: (command: string) => Step;
}

/** Opened and closed around the tests of the file that calls it. */
export function contractStage(
  { agent, steps, bash, ...more }: Played,
  model: { apiKey?: string } = {},
): () => AgentSubject {
  let scripted: ScriptedModel;
  let wire: ArmedWire;
  let environment: Record<string, string>;
  beforeAll(async () => {
    scripted = await startScriptedModel(model);
    wire = await armedWire(scripted.standin.url);
    environment = { PATH: process.env["PATH"] ?? "", HOME: tempDir("home") };
  });
  afterAll(async () => {
    await wire.close();
    await scripted.standin.close();
  });

  const stepsFor = (behaviour: Behaviour): Step[] => {
    switch (behaviour.is) {
      case "answer":
        return [{ text: behaviour.text }];
      case "hang":
        return [{ hang: true }];
      case "limit":
        return [{ status: 429, retryAfterS: 3600 }];
      default:
        return steps(behaviour);
    }
  };
  const last = (): ScriptedModel["seen"][number] | undefined => scripted.seen.at(-1);
  return () => ({
    ...more,
    agent: agent(wire.url),
    prompt: (behaviour) => ownPrompt(stepsFor(behaviour)),
    environment,
    remembered: () => last()?.prompts ?? [],
    heard: () => last()?.words ?? "",
    lastModel: () => last()?.model,
    requests: () => scripted.seen.length,
    shell: (command, text) => ownPrompt([bash(command), { text }]),
    wire,
  });
}
