/** The real Claude Code against the stand-in model: prompts carry their own steps, and every request is kept. */
import { startStandin } from "../../src/standin/server.ts";
import type { Standin } from "../../src/standin/server.ts";
import { stepsSince, wordsOf } from "../../src/standin/request.ts";
import type { StandinRequest } from "../../src/standin/request.ts";
import type { Step } from "../../src/standin/script.ts";

const MARK = "Follow these steps: ";

export interface SeenRequest {
  model: string;
  /** Prompts made by `promptFor`, in the order of the conversation. */
  prompts: string[];
  /** Everything that users and tools said, for searching. */
  words: string;
  step: number;
}

export interface ScriptedModel {
  readonly standin: Standin;
  /** Requests that took a step, oldest first. */
  readonly seen: readonly SeenRequest[];
}

export function promptFor(steps: readonly Step[]): string {
  return `${MARK}${JSON.stringify(steps)}`;
}

export async function startScriptedModel(options: { apiKey?: string } = {}): Promise<ScriptedModel> {
  const seen: SeenRequest[] = [];
  const served = new Map<string, number>();
  const script = (request: StandinRequest): Step => {
    const prompts = promptsIn(request);
    const prompt = prompts.at(-1) ?? "";
    const steps = stepsOf(prompt);
    const step = prompt === "" ? 0 : stepsSince(request, prompt);
    const words = request.turns.flatMap((turn) => [...turn.texts, ...turn.toolResults]).join("\n");
    seen.push({ model: request.model, prompts, words, step });
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

function stepsOf(prompt: string): Step[] {
  return prompt === "" ? [] : (JSON.parse(prompt.slice(MARK.length)) as Step[]);
}

/** Faults stand before the step they delay and are served `times` times, or for ever. */
function pick(
  steps: readonly Step[],
  { step, prompt, served }: { step: number; prompt: string; served: Map<string, number> },
): Step {
  let answers = 0;
  for (const [at, one] of steps.entries()) {
    const fault = one.status !== undefined || one.hang || one.cutSocket !== undefined || one.stopMidStream;
    if (fault === undefined || fault === false) {
      if (answers === step) return one;
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
