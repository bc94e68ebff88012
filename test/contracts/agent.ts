/**
 * What every agent must hold, whatever program is behind it: run by the test of each implementation. What an agent
 * declares as a gap is skipped, and its reason stands in the name of the skipped test.
 */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Usage } from "../../src/events.ts";
import type { Agent, AgentEvent, Gap, OpenRequest } from "../../src/ports.ts";
import { taggedProcesses } from "../support/processes.ts";
import { tempDir, waitFor } from "../support/temp.ts";
import { plainAgent } from "../support/spec.ts";
import { askingContract } from "./agent-asking.ts";
import { faultsContract, type FaultySubject } from "./agent-faults.ts";
import { LIMITS, play } from "./agent-play.ts";
import type { AgentWorld, Behaviour, Needs } from "./agent-play.ts";

export interface AgentSubject extends FaultySubject {
  agent: Agent;
  /** Prompt that leads to the behaviour. */
  prompt(behaviour: Behaviour): string;
  environment: Record<string, string>;
  /** Of the agent, as in a spec. */
  options?: OpenRequest["agent"]["options"];
  /** Prompts that the model saw in the last request, in order; for what a session remembers. */
  remembered(): readonly string[];
  /** Everything that the model was told in the last request, results of tools included. */
  heard(): string;
  /** Model of the last request. */
  lastModel(): string | undefined;
  models: { first: string; second: string };
  /** Requests to the model so far, if they can be counted. */
  requests(): number;
  /** The tests share this folder, and with it a program that takes long to start, where they do not end it. */
  root?: string;
  /** What the agent calls the tool that writes a file; `Write` where nothing is said. */
  writeTool?: string;
}

const RUN_TAG = "PAWL_RUN";
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

  function world(
    ask: Partial<OpenRequest["agent"]["ask"]> = {},
    { alone = false, other }: { alone?: boolean; other?: Agent } = {},
  ): AgentWorld {
    const { prompt, environment, models, options = {}, root: shared, ...rest } = subject();
    const agent = other ?? rest.agent;
    const root = alone || shared === undefined ? tempDir("agent") : shared;
    const workspace = join(root, "workspace");
    mkdirSync(workspace, { recursive: true });
    const run = `contract-${randomUUID()}`;
    const request = (session: OpenRequest["session"]): OpenRequest => ({
      run,
      lane: "main",
      workspace,
      home: join(root, "home"),
      session,
      agent: { ...plainAgent, name: agent.name, ...LIMITS, options, ask: { ...plainAgent.ask, ...ask } },
      model: models.first,
      instructions: "",
      environment: { ...environment, [RUN_TAG]: run },
    });
    const open: AgentWorld["open"] = async (session = { ref: randomUUID(), mode: "new" }) => {
      const asked = request(session);
      const opened = await agent.open(asked);
      onTestFinished(() => opened.close());
      return { session: opened, asked };
    };
    return { agent, prompt, workspace, run, open };
  }

  describe(`${name} keeps the contract of an agent`, () => {
    it("streams a turn and ends it once, with its final text and its cost", async () => {
      const { prompt, workspace, open } = world();
      const { session } = await open();
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
      const { prompt, open } = world();
      const { session } = await open();
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
      const { prompt, open } = world();
      const { session } = await open();
      await play(session, prompt({ is: "answer", text: "warm" }));
      const idle = await play(session, prompt({ is: "hang" }), { limits: { ...LIMITS, idleTimeoutMs: 300 } });
      expect(idle.end.outcome).toEqual({ is: "timeout", which: "idle", afterMs: 300 });
      const long = await play(session, prompt({ is: "hang" }), { limits: { ...LIMITS, turnTimeoutMs: 300 } });
      expect(long.end.outcome).toEqual({ is: "timeout", which: "turn", afterMs: 300 });
    });

    it("ends a turn whose agent dies as cut, and goes on with the same session", async () => {
      const { agent, prompt, open } = world();
      const { session, asked } = await open();
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
      const { prompt, open } = world();
      const { session } = await open();
      const { end } = await play(session, prompt({ is: "limit" }));
      expect(end.outcome.is).toBe("limited");
    });

    it("leaves no process after close, also in the middle of a turn", async () => {
      const { prompt, run, open } = world({}, { alone: true });
      const { session } = await open();
      const ends: AgentEvent[] = [];
      const turn = play(session, prompt({ is: "work", ms: 30_000, text: "never" }), {
        onEvent: (event) => ends.push(event),
      });
      await waitFor(() => ends.some((event) => event.type === "tool-start"), {
        what: "the tool",
        limitMs: LIMITS.turnTimeoutMs,
      });
      await session.close();
      expect(taggedProcesses(RUN_TAG, run)).toEqual([]);
      expect((await turn).end.outcome.is).not.toBe("done");
      await session.close();
      const late = await play(session, prompt({ is: "answer", text: "no" }));
      expect(late.end.outcome.is).not.toBe("done");
    });

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

    needs("resume", "goes on with a conversation in another session object", async () => {
      const { prompt, open } = world();
      const ref = randomUUID();
      const first = await open({ ref, mode: "new" });
      const said = prompt({ is: "answer", text: "one" });
      await play(first.session, said);
      await first.session.close();
      const second = await open({ ref, mode: "continue" });
      const asked = prompt({ is: "answer", text: "two" });
      const { end, events } = await play(second.session, asked);
      expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "two" });
      expect(events.find((event) => event.type === "session-opened")).toMatchObject({ ref });
      expect(subject().remembered()).toEqual([said, asked]);
      expectCumulative(events, end.usage);
    });

    needs("resume", "starts the conversation when there is none to go on with", async () => {
      const { prompt, open } = world();
      const { session } = await open({ ref: randomUUID(), mode: "continue" });
      const { end } = await play(session, prompt({ is: "answer", text: "fresh" }));
      expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "fresh" });
    });

    needs("rewind", "rewinds a conversation to an earlier message, under a new name", async () => {
      const { prompt, open } = world();
      const first = await open();
      const one = prompt({ is: "answer", text: "one" });
      const kept = await play(first.session, one);
      await play(first.session, prompt({ is: "answer", text: "two" }));
      await first.session.close();
      const at = `${first.asked.session.ref}:${kept.end.messageId}`;
      const ref = randomUUID();
      const rewound = await open({ ref, mode: "rewind", at });
      const three = prompt({ is: "answer", text: "three" });
      const { end, events } = await play(rewound.session, three);
      expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "three" });
      expect(events.find((event) => event.type === "session-opened")).toMatchObject({ ref });
      expect(subject().remembered()).toEqual([one, three]);
    });

    needs("say-now", "delivers what is said into a running turn, once", async () => {
      const { prompt, open } = world();
      const { session } = await open();
      expect(await session.say("early", "too early")).toBe("next-turn");
      let said: Promise<string> | undefined;
      const { end, events } = await play(session, prompt({ is: "work", ms: 400, text: "heard" }), {
        onEvent: (event) => {
          if (event.type === "tool-start") said ??= session.say("d1", "use the other file");
        },
      });
      expect(await said).toBe("now");
      expect(end.outcome).toEqual({ is: "done" });
      const delivered = events.filter((event) => event.type === "delivered");
      expect(delivered).toEqual([{ type: "delivered", directive: "d1" }]);
      expect(await session.say("late", "too late")).toBe("next-turn");
    });

    needs("switch-model", "answers with another model after a switch", async () => {
      const { prompt, open } = world();
      const { models } = subject();
      const { session } = await open();
      await play(session, prompt({ is: "answer", text: "first" }));
      expect(subject().lastModel()).toBe(models.first);
      expect(await session.setModel(models.second)).toBe("now");
      await play(session, prompt({ is: "answer", text: "second" }));
      expect(subject().lastModel()).toBe(models.second);
    });

    needs("inspect", "finds out what became of a turn, with the same cost as it was told", async () => {
      const { agent, prompt, workspace, open } = world();
      const { session, asked } = await open();
      expect(await agent.inspect(asked, { uuid: randomUUID() })).toEqual({ is: "unknown" });
      const uuid = randomUUID();
      const path = join(workspace, "x.txt");
      const { end } = await play(session, prompt({ is: "write", path, content: "x", text: "Found me." }), { uuid });
      await play(session, prompt({ is: "answer", text: "Another." }));
      await session.close();
      const found = await agent.inspect({ ...asked, session: { ...asked.session, mode: "continue" } }, { uuid });
      expect(existsSync(path)).toBe(true);
      expect(found).toMatchObject({ is: "ended", tools: [[subject().writeTool ?? "Write", 1]] });
      if (found.is !== "ended") return;
      expect(found.end).toMatchObject({ outcome: { is: "done" }, finalText: "Found me.", messageId: end.messageId });
      for (const field of TOKEN_FIELDS) expect(found.end.usage[field]).toBe(end.usage[field]);
      expect(found.end.usage.requests).toBe(end.usage.requests);
      expect(await agent.inspect(asked, { uuid: randomUUID() })).toEqual({ is: "unknown" });
    });

    faultsContract({ world, subject, runTag: RUN_TAG, only });
    askingContract({ needs, world, heard: () => subject().heard() });
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
