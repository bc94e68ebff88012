/**
 * What every agent must hold, whatever program is behind it: run by the test of each implementation. What an agent
 * declares as a gap is skipped, and its reason stands in the name of the skipped test.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Usage } from "../../src/events.ts";
import type { AgentEvent, Gap } from "../../src/ports.ts";
import { taggedProcesses } from "../support/processes.ts";
import { askingContract } from "./agent-asking.ts";
import { closingContract, faultsContract, type FaultySubject } from "./agent-faults.ts";
import { LIMITS, play } from "./agent-play.ts";
import type { Needs } from "./agent-play.ts";
import { RUN_TAG, worlds, type Place } from "./agent-worlds.ts";

export interface AgentSubject extends FaultySubject, Place {
  /** Prompts that the model saw in the last request, in order; for what a session remembers. */
  remembered(): readonly string[];
  /** Everything that the model was told in the last request, results of tools included. */
  heard(): string;
  /** Model of the last request. */
  lastModel(): string | undefined;
  /** Requests to the model so far, if they can be counted. */
  requests(): number;
  /** What the agent calls the tool that writes a file; `Write` where nothing is said. */
  writeTool?: string;
}

const TOKEN_FIELDS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

interface ContractOptions {
  /** Titles of the part that is run, where another agent of the same adapter runs all. */
  only?: RegExp;
}

export function agentContract(
  name: string,
  gaps: readonly Gap[],
  subject: () => AgentSubject,
  { only = /(?:)/ }: ContractOptions = {},
): void {
  const it = (title: string, body: () => Promise<void>): void => {
    if (only.test(title)) test(title, body);
  };
  const needs: Needs = (cannot, title, body) => {
    const gap = gaps.find((one) => one.cannot === cannot);
    if (gap === undefined) it(title, body);
    else if (only.test(title)) test.skip(`${title} (cannot ${cannot}: ${gap.reason})`, body);
  };

  describe(`${name} keeps the contract of an agent`, () => {
    const { world, shared, last } = worlds(subject);

    /** A turn that writes, and one more in another session object: played once for all who look at it. */
    async function converse() {
      const { agent, prompt, workspace, open } = world();
      const path = join(workspace, "x.txt");
      const write = prompt({ is: "write", path, content: "x", text: "Found me." });
      const prompts = [write, prompt({ is: "answer", text: "Another." })] as const;
      const [ref, uuid] = [randomUUID(), randomUUID()];
      const { session, asked } = await open({ ref, mode: "new" });
      const one = await play(session, prompts[0], { uuid });
      const canResume = !gaps.some(({ cannot }) => cannot === "resume");
      if (canResume) await session.close();
      const second = canResume ? (await open({ ref, mode: "continue" })).session : session;
      const two = await play(second, prompts[1]);
      const remembered = subject().remembered();
      await second.close();
      return { agent, prompt, open, path, prompts, ref, uuid, asked, one, two, remembered };
    }
    let conversed: ReturnType<typeof converse> | undefined;
    const conversation = (): ReturnType<typeof converse> => (conversed ??= converse());

    it("streams a turn and ends it once, with its final text and its cost", async () => {
      const { prompt, workspace, session } = await shared();
      const content = `@upstash/ratelimit\nline 429 of is_error:false\n`;
      const path = join(workspace, "made.txt");
      const { events, end } = await play(session, prompt({ is: "write", path, content, text: "All done." }));
      expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "All done." });
      expect(end.messageId).not.toBeNull();
      expect(readFileSync(path, "utf8")).toBe(content);
      const types = events.map((event) => event.type);
      expect(types).toContain("session-opened");
      expect(types.indexOf("request")).toBeLessThan(types.indexOf("tool-start"));
      expect(types.indexOf("tool-start")).toBeLessThan(types.indexOf("tool-end"));
      expect(end.usage.toolCalls).toBe(1);
      expectCumulative(events, end.usage);
    });

    it("ends an aborted turn before it starts, without a request", async () => {
      const { prompt, open } = world();
      const before = subject().requests();
      const { session } = await open();
      const signal = AbortSignal.abort("stop");
      const { end, events } = await play(session, prompt({ is: "answer", text: "no" }), { signal });
      expect(end.outcome).toEqual({ is: "interrupted", by: "stop" });
      expect(events).toHaveLength(1);
      expect(subject().requests()).toBe(before);
    });

    it("ends a turn that is aborted in the middle, and takes the next one", async () => {
      const { prompt, session } = await shared();
      const controller = new AbortController();
      const turn = play(session, prompt({ is: "hang" }), {
        signal: controller.signal,
        onEvent: (event) => {
          if (event.type === "session-opened") setTimeout(() => controller.abort("budget:usd"), 100);
        },
      });
      expect((await turn).end.outcome).toEqual({ is: "interrupted", by: "budget:usd" });
      const next = await play(session, prompt({ is: "answer", text: "still here" }));
      expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "still here" });
    });

    it("ends a silent turn by the idle timeout and a long one by the turn timeout", async () => {
      const { prompt, session } = await shared();
      await play(session, prompt({ is: "answer", text: "warm" }));
      const idle = await play(session, prompt({ is: "hang" }), { limits: { ...LIMITS, idleTimeoutMs: 300 } });
      expect(idle.end.outcome).toEqual({ is: "timeout", which: "idle", afterMs: 300 });
      const long = await play(session, prompt({ is: "hang" }), { limits: { ...LIMITS, turnTimeoutMs: 300 } });
      expect(long.end.outcome).toEqual({ is: "timeout", which: "turn", afterMs: 300 });
    });

    it("ends a turn whose agent dies as cut, and goes on with the same session", async () => {
      const { agent, prompt, session, asked } = await shared();
      const uuid = randomUUID();
      const { end } = await play(session, prompt({ is: "crash" }), { uuid });
      expect(end.outcome.is).toBe("cut");
      if (!gaps.some((gap) => gap.cannot === "inspect")) {
        expect((await agent.inspect(asked, { uuid })).is).toBe("cut");
      }
      const next = await play(session, prompt({ is: "answer", text: "back again" }));
      expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "back again" });
    });

    it("says limited when the provider says no for now", async () => {
      const { prompt, session } = await shared();
      const { end } = await play(session, prompt({ is: "limit" }));
      expect(end.outcome.is).toBe("limited");
    });

    needs("resume", "goes on with a conversation in another session object", async () => {
      const { ref, prompts, two, remembered } = await conversation();
      expect(two.end).toMatchObject({ outcome: { is: "done" }, finalText: "Another." });
      expect(two.events.find((event) => event.type === "session-opened")).toMatchObject({ ref });
      expect(remembered).toEqual(prompts);
      expectCumulative(two.events, two.end.usage);
    });

    needs("resume", "starts the conversation when there is none to go on with", async () => {
      const { prompt, open } = world();
      const { session } = await open({ ref: randomUUID(), mode: "continue" });
      const { end } = await play(session, prompt({ is: "answer", text: "fresh" }));
      expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "fresh" });
    });

    needs("rewind", "rewinds a conversation to an earlier message, under a new name", async () => {
      const { ref: from, prompt, prompts, one, open } = await conversation();
      const ref = randomUUID();
      const rewound = await open({ ref, mode: "rewind", at: `${from}:${one.end.messageId}` });
      const three = prompt({ is: "answer", text: "three" });
      const { end, events } = await play(rewound.session, three);
      expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "three" });
      expect(events.find((event) => event.type === "session-opened")).toMatchObject({ ref });
      expect(subject().remembered()).toEqual([prompts[0], three]);
    });

    needs("say-now", "delivers what is said into a running turn, once", async () => {
      const { prompt, workspace, session } = await shared();
      expect(await session.say("early", "too early")).toBe("next-turn");
      const until = join(workspace, `${randomUUID()}.txt`);
      let said: Promise<string> | undefined;
      const { end, events } = await play(session, prompt({ is: "work", until, text: "heard" }), {
        onEvent: (event) => {
          if (event.type !== "tool-start") return;
          said ??= session.say("d1", "use the other file").finally(() => writeFileSync(until, ""));
        },
      });
      expect(await said).toBe("now");
      expect(end.outcome).toEqual({ is: "done" });
      const delivered = events.filter((event) => event.type === "delivered");
      expect(delivered).toEqual([{ type: "delivered", directive: "d1" }]);
      expect(await session.say("late", "too late")).toBe("next-turn");
    });

    needs("switch-model", "answers with another model after a switch", async () => {
      const { prompt, session } = await shared();
      const { models } = subject();
      await play(session, prompt({ is: "answer", text: "first" }));
      expect(subject().lastModel()).toBe(models.first);
      expect(await session.setModel(models.second)).toBe("now");
      await play(session, prompt({ is: "answer", text: "second" }));
      expect(subject().lastModel()).toBe(models.second);
      await session.setModel(models.first);
    });

    needs("inspect", "finds out what became of a turn, with the same cost as it was told", async () => {
      const { agent, asked, path, uuid, one } = await conversation();
      const { end } = one;
      const found = await agent.inspect({ ...asked, session: { ...asked.session, mode: "continue" } }, { uuid });
      expect(existsSync(path)).toBe(true);
      expect(found).toMatchObject({ is: "ended", tools: [[subject().writeTool ?? "Write", 1]] });
      if (found.is !== "ended") return;
      expect(found.end).toMatchObject({ outcome: { is: "done" }, finalText: "Found me.", messageId: end.messageId });
      for (const field of TOKEN_FIELDS) expect(found.end.usage[field]).toBe(end.usage[field]);
      expect(found.end.usage.requests).toBe(end.usage.requests);
      for (const about of [asked, (await world().open()).asked])
        expect(await agent.inspect(about, { uuid: randomUUID() })).toEqual({ is: "unknown" });
    });

    askingContract({ needs, shared, heard: () => subject().heard() });
    faultsContract({ shared, subject, only });

    it("leaves no process when nobody reads on", async () => {
      const { prompt, run, open } = world({}, { alone: true });
      const { session } = await open();
      for await (const event of session.turn(
        { uuid: randomUUID(), prompt: prompt({ is: "hang" }) },
        LIMITS,
        new AbortController().signal,
      )) {
        if (event.type === "session-opened") break;
      }
      await session.close();
      expect(taggedProcesses(RUN_TAG, run)).toEqual([]);
    });

    // Beyond it there is no shared session any more.
    closingContract({ last, subject, only });
  });
}

/** Usage only grows within a turn, and its end is what was told last: nothing is counted twice, nothing forgotten. */
function expectCumulative(events: readonly AgentEvent[], end: Usage): void {
  const told = events.filter((event) => event.type === "usage").map((event) => event.usage);
  expect(told.length).toBeGreaterThan(0);
  for (const [at, usage] of told.entries()) {
    const before = told[at - 1];
    if (before === undefined) continue;
    for (const field of [...TOKEN_FIELDS, "requests", "toolCalls"] as const) {
      expect(usage[field]).toBeGreaterThanOrEqual(before[field]);
    }
  }
  const last = told.at(-1) as Usage;
  for (const field of [...TOKEN_FIELDS, "requests", "toolCalls"] as const) expect(end[field]).toBe(last[field]);
}
