/** A conversation in a home and a workspace of its own, taken along into others, with the real programs. */
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { play } from "../../test/contracts/agent-play.ts";
import { codexPlace } from "../../test/support/codex.ts";
import { messagesWorld } from "../../test/support/messages.ts";
import { opencodeWorld } from "../../test/support/opencode.ts";
import { tempDir } from "../../test/support/temp.ts";
import { rolloutOf } from "../agents/codex/rollout.ts";
import { threadOf } from "../agents/codex/threads.ts";
import { opencode } from "../agents/opencode.ts";
import type { Agent, OpenRequest } from "../ports.ts";
import { startStandin, type Standin } from "../standin/server.ts";
import { takeConversation } from "./fork-conversation.ts";

const REAL_LIMIT_MS = 240_000;

async function model(): Promise<{ standin: Standin; asked: string[] }> {
  const asked: string[] = [];
  const standin = await startStandin({
    apiKey: "key",
    script: (request) => {
      asked.push(JSON.stringify(request.body));
      return { text: `answer ${asked.length}` };
    },
  });
  onTestFinished(() => standin.close());
  return { standin, asked };
}

/** Two turns, then a third in the other place that goes on after the first. */
async function forkedAfterOne(agent: Agent, request: OpenRequest): Promise<{ why: string | undefined; end: unknown }> {
  const first = await agent.open(request);
  const { end: kept } = await play(first, "say one");
  await play(first, "say two");
  await first.close();
  const root = tempDir("forked");
  const to = { home: join(root, "home"), workspace: join(root, "workspace") };
  mkdirSync(to.workspace);
  const { ref } = request.session;
  const why = await takeConversation({
    ref,
    from: request.home,
    to: to.home,
    workspace: to.workspace,
    agent: request.agent,
  });
  const session = { ref: randomUUID(), mode: "rewind" as const, at: `${ref}:${kept.messageId}` };
  const forked = await agent.open({ ...request, ...to, session });
  const { end, events } = await play(forked, "say three");
  await forked.close();
  expect(events.filter(({ type }) => type === "notice")).toEqual([]);
  return { why, end };
}

describe("the conversation of another run", () => {
  it("is gone back in over the bare API, in another home and workspace", async () => {
    const { agent, request, sent } = await messagesWorld({ script: [{ text: "answer", repeat: true }] });
    const { why, end } = await forkedAfterOne(agent, request());
    expect([why, end]).toMatchObject([undefined, { outcome: { is: "done" } }]);
    const asked = JSON.stringify(sent().at(-1));
    expect([asked.includes("say one"), asked.includes("say two"), asked.includes("say three")]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it(
    "is gone back in by Codex, in another home and workspace",
    async () => {
      const { standin, asked } = await model();
      const { agent, request, session } = await codexPlace(standin.url);
      await session.close();
      expect(await forkedAfterOne(agent, request)).toMatchObject({ why: undefined, end: { outcome: { is: "done" } } });
      expect(asked.at(-1)).toContain("answer 1");
      expect(asked.at(-1)).not.toContain("say two");

      // What the agent put in place of its record leads to nothing of the user's.
      const { home } = request;
      const { ref } = request.session;
      const rollout = rolloutOf(home, threadOf(home, ref) ?? "") ?? "";
      const secret = join(dirname(home), "secret");
      writeFileSync(secret, "secret");
      rmSync(rollout);
      symlinkSync(secret, rollout);
      const to = tempDir("none");
      const why = await takeConversation({ ref, from: home, to, workspace: to, agent: request.agent });
      expect([why, readdirSync(to)]).toEqual(["its record is not there any more", []]);
    },
    REAL_LIMIT_MS,
  );

  it(
    "is gone back in by opencode, in another home and workspace",
    async () => {
      const { standin, asked } = await model();
      const agent = opencode({ userEnvironment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: standin.url } });
      const request = opencodeWorld().request({ model: "anthropic/claude-sonnet-4-5" });
      expect(await forkedAfterOne(agent, request)).toMatchObject({ why: undefined, end: { outcome: { is: "done" } } });
      expect(asked.at(-1)).toContain("answer 1");
      expect(asked.at(-1)).not.toContain("say two");
    },
    REAL_LIMIT_MS,
  );

  it("is told why not, where the agent cannot or there is none", async () => {
    const to = tempDir("none");
    const why = (name: string, options = {}): Promise<string | undefined> =>
      takeConversation({ ref: randomUUID(), from: to, to, workspace: to, agent: { name, options } });
    expect(await why("acp:agent --acp")).toBe("the protocol goes on with a conversation only at its end");
    expect(await why("opencode", { server: "http://127.0.0.1:1" })).toContain("in the other run's folder");
    expect(await why("codex", { extra: ["--exec"] })).toBe("codex exec cannot go back in one");
    for (const name of ["claude", "codex", "opencode"])
      expect(await why(name)).toBe("its record is not there any more");
  });
});
