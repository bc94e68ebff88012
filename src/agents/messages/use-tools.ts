/** Does what the model calls for: by the hands inside the fence, by a person, or by taking note of it. */
import type { AgentEvent } from "../../ports.ts";
import type { AskSpec } from "../../spec.ts";
import { DECIDE, permissionLine, questionWords, whyNot, wordsOf } from "../ask-words.ts";
import type { Meter } from "../api-meter.ts";
import { callOf, NOTED, TOOL as DONE, WRONG, type Call } from "../done-call.ts";
import type { Waiting } from "../waiting.ts";
import { fieldText, type Block } from "./blocks.ts";
import { resultBlock } from "./conversation.ts";
import type { Done, Hands } from "./hands.ts";
import { handInput, QUESTION, SHELL } from "./tools.ts";

export interface Using {
  hands: Hands;
  waiting: Waiting;
  policy: AskSpec;
  /** Names of the tools that the hands have. */
  offered: readonly string[];
  meter: Meter;
  tell: (event: AgentEvent) => void;
  onCall: (call: Call) => void;
  signal: AbortSignal;
}

const MAX_OUTPUT_CHARS = 16_384;

/** One after the other, in the order of the calls; a result for each. */
export async function useTools(calls: readonly Block[], using: Using): Promise<Block[]> {
  const results: Block[] = [];
  for (const call of calls) {
    const id = fieldText(call, "id");
    using.meter.tool(id, fieldText(call, "name"));
    const { ok, output } = await use(call, using);
    using.tell({ type: "tool-end", id, ok, output: output.slice(0, MAX_OUTPUT_CHARS) });
    results.push(resultBlock(call, output, ok));
  }
  using.tell({ type: "usage", usage: using.meter.usage() });
  return results;
}

async function use(call: Block, using: Using): Promise<Done> {
  const { hands, waiting, policy, offered, signal } = using;
  const name = fieldText(call, "name");
  if (name === DONE) return noted(call["input"], using);
  if (name === QUESTION) return await asked(call["input"], using);
  if (!offered.includes(name)) return { ok: false, output: `there is no tool ${name}` };
  const input = handInput(name, call["input"]);
  if (name === SHELL) {
    const wish = permissionLine(`${name}: ${String(input["command"])}`);
    const reply = await waiting.permission(wish, policy.permissions, signal);
    if (reply.is !== "allow") return { ok: false, output: whyNot(reply) };
  }
  return await hands.call(name, input, signal);
}

function noted(input: unknown, { onCall }: Using): Done {
  const call = callOf(input);
  if (call === undefined) return { ok: false, output: WRONG };
  onCall(call);
  return { ok: true, output: NOTED };
}

async function asked(input: unknown, { waiting, policy, signal }: Using): Promise<Done> {
  const { question, options } = (input ?? {}) as { question?: unknown; options?: unknown };
  if (policy.questions !== "ask") return { ok: false, output: DECIDE };
  const labels = Array.isArray(options) ? options.filter((option) => typeof option === "string") : [];
  const offered = labels.map((label) => ({ label, description: "" }));
  const reply = await waiting.wait({ kind: "question", ...questionWords(String(question), { offered }) }, signal);
  return { ok: true, output: wordsOf(reply) };
}
