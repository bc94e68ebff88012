/** A session that only answers, with the real Claude Code: no tools, and an answer of the form that is asked for. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claudeWorld, promptFor, startScriptedModel, type ScriptedModel } from "../../../test/support/claude.ts";
import type { TurnEnd } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";

const LIMITS = { idleTimeoutMs: 60_000, turnTimeoutMs: 90_000, completionGraceMs: 5_000 };
const ANSWER = {
  type: "object",
  properties: { score: { type: "number" } },
  required: ["score"],
  additionalProperties: false,
};
const structured = (input: Record<string, number | string>): Step => ({ tools: [{ name: "StructuredOutput", input }] });

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});
afterAll(() => model.standin.close());

async function ask(steps: readonly Step[]): Promise<TurnEnd> {
  const { agent, request } = claudeWorld({
    url: model.standin.url,
    instructions: "You judge.",
    options: { tools: ["Bash"], permissions: "plan" },
  });
  const session = await agent.open({ ...request(), answer: ANSWER });
  try {
    const signal = new AbortController().signal;
    for await (const event of session.turn({ uuid: randomUUID(), prompt: promptFor(steps) }, LIMITS, signal))
      if (event.type === "turn-end") return event;
  } finally {
    await session.close();
  }
  throw new Error("no end");
}

describe("a session that only answers", () => {
  it("gives the answer, offers no tool that could do anything, and has pawl's words as its system prompt", async () => {
    const end = await ask([structured({ score: 0.8 })]);
    expect(end).toMatchObject({ outcome: { is: "done" }, answer: { score: 0.8 } });
    expect(end.usage.requests).toBeGreaterThan(0);
    const request = model.seen.at(0);
    // The placeholder does nothing: it stands for tools that are loaded later, of which there are none.
    expect(request?.tools.filter((name) => name !== "DeferredToolPlaceholder")).toEqual(["StructuredOutput"]);
    expect(request?.system).toContain("You judge.");
  });

  it("has no answer where the model only talks", async () => {
    const end = await ask([{ text: "I give it a nine.", repeat: true }]);
    expect(end.answer).toBeUndefined();
  });
});
