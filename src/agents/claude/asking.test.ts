/** The real program: what it says of its work by a call, and what it asks of people. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import { claudeWorld, ownPrompt, promptFor, slowClock, startScriptedModel } from "../../../test/support/claude.ts";
import type { ScriptedModel } from "../../../test/support/claude.ts";
import { signalAll, taggedProcesses } from "../../../test/support/processes.ts";
import type { AgentEvent, AgentSession, OpenRequest, Reply } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
  return slowClock();
});
const sessions: AgentSession[] = [];
afterAll(async () => {
  await Promise.all(sessions.map((session) => session.close()));
  await model.standin.close();
});

type Ask = OpenRequest["agent"]["ask"];
interface Setup {
  ask?: Partial<Ask>;
  options?: OpenRequest["agent"]["options"];
}

async function opened({ ask = {}, options = {} }: Setup = {}) {
  const world = claudeWorld({ url: model.standin.url, options });
  const request = world.request();
  request.agent = { ...request.agent, ask: { ...request.agent.ask, ...ask } };
  const session = await world.agent.open(request);
  sessions.push(session);
  return { ...world, request, session };
}

const done = (status: string, summary: string): Step => ({
  tools: [{ name: "mcp__pawl__done", input: { status, summary } }],
});
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
/** No edit that the mode accepts by itself. */
const making = (name: string): string => `node -e 'fs.writeFileSync("${name}", "")'`;
const wordsOfRequest = (prompt: string): string =>
  model.seen.findLast(({ prompts }) => prompts.includes(prompt))?.words ?? "";

describe.concurrent("the call that says how the work stands", () => {
  it("counts once per turn: the last good one of the main conversation", async ({ expect }) => {
    const { session, request, agent } = await opened();
    const inner = promptFor([done("abort", "from the subagent"), { text: "sub" }]);
    const subagent = { description: "look", prompt: inner, subagent_type: "general-purpose" };
    const uuid = randomUUID();
    const steps = [
      done("task", "first"),
      done("done", "second"),
      done("perhaps", "malformed"),
      { tools: [{ name: "Agent", input: subagent }] },
      { text: "Main." },
    ];
    const { end, events } = await play(session, promptFor(steps), { uuid });
    expect(end.call).toEqual({ is: "done", text: "second" });
    const inputs = events.filter((event) => event.type === "tool-start").map(({ input }) => input);
    expect(inputs).toContainEqual({ status: "abort", summary: "from the subagent" });
    const results = events.filter((event) => event.type === "tool-end").map(({ ok, output }) => [ok, output]);
    expect(results[1]).toEqual([true, "Noted. It is a claim: pawl checks it."]);
    expect(results[2]).toMatchObject([false, expect.stringContaining("Not noted")]);
    const found = await agent.inspect(request, { uuid });
    expect(found).toMatchObject({ is: "ended", end: { call: { is: "done", text: "second" } } });
  });

  it.for<[string, Setup]>([
    [
      "a list of tools that lacks it, in a mode that denies what is not allowed",
      { options: { tools: ["Read"], permissions: "dontAsk" } },
    ],
    ["a mode that asks about everything", { options: { permissions: "default" } }],
    ["a policy that denies", { ask: { permissions: "deny" } }],
    [
      "tools that the user allows besides",
      { options: { permissions: "dontAsk", extra: ["--allowed-tools", "Bash(touch *)"] } },
    ],
  ])("works under %s", async ([, setup], { expect }) => {
    const { session } = await opened(setup);
    const { end, events } = await play(session, promptFor([done("done", "all"), { text: "Bye." }]));
    expect(end).toMatchObject({ outcome: { is: "done" }, call: { is: "done", text: "all" } });
    expect(events.filter((event) => event.type === "asked" || event.type === "notice")).toEqual([]);
  });
});

describe("a question", () => {
  let held: ReturnType<typeof opened>;
  beforeAll(() => {
    held = opened({ ask: { questions: "ask" }, options: { tools: ["Read"] } });
  });
  const two = {
    questions: ["Red or blue?", "Round or square?"].map((question) => ({
      question,
      header: "Choice",
      multiSelect: false,
      options: question.split(" or ").map((label) => ({ label, description: "so" })),
    })),
  };
  /** Prompts differ by the last words, by which their requests are told apart. */
  const asking = (last: string): string =>
    promptFor([{ tools: [{ name: "AskUserQuestion", input: two }] }, { text: last }]);

  it("of several in one call is asked by itself, and the model gets all answers together", async ({ expect }) => {
    const { session } = await held;
    const replies: Reply[] = [
      { is: "deny", reason: "nobody knows" },
      { is: "text", text: 'a "hexagon"' },
    ];
    const prompt = asking("Thanks.");
    const asked: string[] = [];
    const { end } = await play(session, prompt, {
      onEvent(event) {
        if (event.type !== "asked") return;
        asked.push(event.question);
        // In the other order.
        if (asked.length === 2) for (const at of [1, 0]) void session.reply?.(asked[at] ?? "", replies[at] as Reply);
      },
    });
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Thanks." });
    expect(new Set(asked).size).toBe(2);
    expect(wordsOfRequest(prompt)).toContain("nobody knows");
    expect(wordsOfRequest(prompt)).toContain('a "hexagon"');
  });

  it("that nobody answers leaves the decision to the agent", async ({ expect }) => {
    const { session } = await held;
    const prompt = asking("I decided.");
    const { end } = await play(session, prompt, {
      onEvent: (event) => {
        if (event.type === "asked") void session.reply?.(event.question, { is: "deny", reason: "no answer in time" });
      },
    });
    expect(end.outcome).toEqual({ is: "done" });
    expect(wordsOfRequest(prompt)).toContain("no answer in time");
    expect(wordsOfRequest(prompt)).toContain("Decide yourself");
  });
});

describe("a permission", () => {
  let held: ReturnType<typeof opened>;
  beforeAll(() => {
    held = opened({ ask: { permissions: "ask" } });
  });

  it("is asked for each of several calls at once, and each gets its own answer", async ({ expect }) => {
    const { session, workspace } = await held;
    const tools = ["one", "two"].map((name) => ({ name: "Bash", input: { command: making(`${name}.txt`) } }));
    const { end, events } = await play(session, promptFor([{ tools }, { text: "Bye." }]), {
      onEvent(event) {
        if (event.type !== "asked") return;
        const reply: Reply = event.text.includes("one") ? { is: "text", text: "not this one" } : { is: "allow" };
        setTimeout(() => void session.reply?.(event.question, reply), 50);
      },
    });
    expect(end.outcome).toEqual({ is: "done" });
    expect(events.filter((event) => event.type === "asked")).toHaveLength(2);
    expect(["one", "two"].map((name) => existsSync(join(workspace, `${name}.txt`)))).toEqual([false, true]);
  });

  it("that a killed agent waited for leaves a cut turn, and the conversation goes on", async ({ expect }) => {
    const { session, request, agent, run, workspace } = await held;
    const uuid = randomUUID();
    const asked: AgentEvent[] = [];
    const { end } = await play(session, ownPrompt([bash(making("never.txt")), { text: "no" }]), {
      uuid,
      onEvent(event) {
        if (event.type !== "asked") return;
        asked.push(event);
        signalAll(taggedProcesses("PAWL_RUN", run));
      },
    });
    expect(end.outcome.is).toBe("cut");
    const [one] = asked;
    expect(one?.type === "asked" && (await session.reply?.(one.question, { is: "allow" }))).toBe(false);
    expect((await agent.inspect(request, { uuid })).is).toBe("cut");
    const next = await play(session, promptFor([{ text: "Back." }]));
    expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "Back." });
    expect(existsSync(join(workspace, "never.txt"))).toBe(false);
  });

  it("that waits holds up no close", async ({ expect }) => {
    const { session, run } = await held;
    let closing: Promise<void> | undefined;
    const turn = play(session, ownPrompt([bash(making("never.txt")), { text: "no" }]), {
      onEvent: (event) => {
        if (event.type === "asked") closing ??= session.close();
      },
    });
    expect((await turn).end.outcome.is).not.toBe("done");
    await closing;
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });
});
