import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { agentContract } from "../../test/contracts/agent.ts";
import { play } from "../../test/contracts/agent-play.ts";
import type { Behaviour } from "../../test/contracts/agent-play.ts";
import { tempDir } from "../../test/support/temp.ts";
import type { OpenRequest } from "../ports.ts";
import { scripted } from "./scripted.ts";
import type { ScriptedFunction } from "./scripted.ts";
import { plainAgent } from "../../test/support/spec.ts";

const WORK_POLL_MS = 20;

/** Plays the behaviour that its prompt holds as JSON, and keeps what its conversations remember. */
function player() {
  const sessions = new Map<string, string[]>();
  const messages = new Map<string, string[]>();
  const last = { prompts: [] as string[], model: undefined as string | undefined, requests: 0, heard: "" };
  const script: ScriptedFunction = async ({ prompt, session, model }, tell) => {
    const behaviour = JSON.parse(prompt) as Behaviour;
    const prompts = [...(sessions.get(session.ref) ?? messages.get(session.at?.split(":").at(-1) ?? "") ?? []), prompt];
    const messageId = randomUUID();
    sessions.set(session.ref, prompts);
    messages.set(messageId, prompts);
    Object.assign(last, { prompts, model, requests: last.requests + 1 });
    switch (behaviour.is) {
      case "answer":
        return { text: behaviour.text, messageId, usage: { inputTokens: 5, outputTokens: 1, usd: 0.01 } };
      case "write":
        writeFileSync(behaviour.path, behaviour.content);
        tell.tool("Write", { file_path: behaviour.path });
        return { text: behaviour.text, messageId, usage: { inputTokens: 7 } };
      case "work":
        tell.tool("Bash", {});
        while (!existsSync(behaviour.until) && !tell.signal.aborted) await tell.sleep(WORK_POLL_MS);
        return { text: behaviour.text, messageId };
      case "hang":
        return new Promise(() => {});
      case "crash":
        throw new Error("gone");
      case "limit":
        return { outcome: { is: "limited", kind: "rate", message: "too many requests" } };
      case "call":
        return { text: behaviour.text, messageId, call: behaviour.call };
      case "need": {
        const reply = await tell.ask(`Write: ${behaviour.path}`, { kind: "permission" });
        last.heard = JSON.stringify(reply);
        if (reply.is === "allow") writeFileSync(behaviour.path, "");
        return { text: behaviour.text, messageId };
      }
      case "question":
        last.heard = JSON.stringify(await tell.ask(behaviour.question, { options: behaviour.options }));
        return { text: behaviour.text, messageId };
    }
  };
  return { script, last };
}

const { script, last } = player();
agentContract("scripted", [], () => ({
  agent: scripted(script),
  prompt: (behaviour) => JSON.stringify(behaviour),
  environment: {},
  noProgram: "it is a function of the test, no program",
  remembered: () => last.prompts,
  heard: () => last.heard,
  lastModel: () => last.model,
  models: { first: "small", second: "large" },
  requests: () => last.requests,
}));

function request(overrides: Partial<OpenRequest> = {}): OpenRequest {
  const root = tempDir("scripted");
  return {
    run: "r",
    lane: "main",
    workspace: root,
    home: join(root, "home"),
    session: { ref: randomUUID(), mode: "new" },
    agent: { ...plainAgent, idleTimeoutMs: 1000, turnTimeoutMs: 1000, completionGraceMs: 1000 },
    model: undefined,
    instructions: "",
    environment: {},
    ...overrides,
  };
}

it("plays a list in order, repeats the last step, and counts on in a new session of the same home", async () => {
  const agent = scripted([{ text: "one", files: { "src/a.txt": "1" } }, { text: "two" }]);
  const asked = request();
  const first = await agent.open(asked);
  expect((await play(first, "go")).end.finalText).toBe("one");
  expect(readFileSync(join(asked.workspace, "src/a.txt"), "utf8")).toBe("1");
  const second = await agent.open({ ...asked, session: { ref: randomUUID(), mode: "new" } });
  expect((await play(second, "go")).end.finalText).toBe("two");
  expect((await play(second, "go")).end.finalText).toBe("two");
});

it("tells an unknown cost as unknown", async () => {
  const agent = scripted([{ text: "a", usage: { usd: null, estimated: true } }]);
  const session = await agent.open(request());
  expect((await play(session, "go")).end.usage).toMatchObject({ usd: null, estimated: true, requests: 1 });
});

const withAsk = (ask: Partial<OpenRequest["agent"]["ask"]>): OpenRequest =>
  request({ agent: { ...plainAgent, ask: { ...plainAgent.ask, ...ask } } });

it("answers by policy itself when nobody is to be asked", async () => {
  const agent = scripted(async (_, tell) => ({
    text: `${(await tell.ask("Bash: rm", { kind: "permission" })).is} ${(await tell.ask("Which?")).is}`,
  }));
  const allowing = await agent.open(withAsk({ permissions: "allow" }));
  expect((await play(allowing, "go")).end.finalText).toBe("allow deny");
  const denying = await agent.open(withAsk({ permissions: "deny" }));
  const { end, events } = await play(denying, "go");
  expect(end.finalText).toBe("deny deny");
  expect(events.some((event) => event.type === "asked")).toBe(false);
});
