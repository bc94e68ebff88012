/** The real program against the stand-in model: login in place, isolation, faults of the provider, subagents. */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import { claudeWorld, ownPrompt, promptFor, startScriptedModel } from "../../../test/support/claude.ts";
import type { ClaudeWorld, ScriptedModel } from "../../../test/support/claude.ts";
import { signalAll, taggedProcesses } from "../../../test/support/processes.ts";
import { tempDir, waitFor, writeFiles } from "../../../test/support/temp.ts";
import type { AgentSession } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});
afterAll(() => model.standin.close());

type Setup = Partial<Parameters<typeof claudeWorld>[0]>;

/** One turn in a world of its own. */
async function once(steps: readonly Step[], setup: Setup = {}) {
  const world = claudeWorld({ url: model.standin.url, ...setup });
  const session = await world.agent.open(world.request());
  onTestFinished(() => session.close());
  const played = await play(session, promptFor(steps));
  return { ...played, world, session };
}

/** A conversation for those who need no world of their own. */
let shared: { world: ClaudeWorld; session: AgentSession };
beforeAll(async () => {
  const world = claudeWorld({ url: model.standin.url });
  shared = { world, session: await world.agent.open(world.request()) };
});
afterAll(() => shared.session.close());

describe("login", () => {
  const TOKEN = "sk-ant-oat01-only-in-this-file";

  it("uses a stored login where it is, and never copies it", async () => {
    const strict = await startScriptedModel({ apiKey: TOKEN });
    onTestFinished(() => strict.standin.close());
    const home = tempDir("login");
    const stored = {
      claudeAiOauth: {
        accessToken: TOKEN,
        refreshToken: "sk-ant-ort01-refresh",
        expiresAt: Date.now() + 3_600_000,
        scopes: ["user:inference", "user:profile"],
        subscriptionType: "max",
      },
    };
    writeFiles(home, { ".claude/.credentials.json": JSON.stringify(stored) });
    const { end, world } = await once([{ text: "Signed in." }], { url: strict.standin.url, login: { HOME: home } });
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Signed in." });
    expect(JSON.parse(readFileSync(join(home, ".claude/.credentials.json"), "utf8"))).toEqual(stored);
    expect(filesWith(world.request().home, TOKEN)).toEqual([]);
  });

  it("says login when there is none", async () => {
    const { end } = await once([{ text: "no" }], { login: { HOME: tempDir("nobody") } });
    expect(end.outcome).toMatchObject({ is: "failed", kind: "login" });
    expect(end.usage.usd).toBe(0);
  });
});

function filesWith(root: string, text: string): string[] {
  return unlessGone(() => readdirSync(root, { withFileTypes: true })).flatMap((entry) => {
    const path = join(root, entry.name);
    if (entry.isDirectory()) return filesWith(path, text);
    return entry.isFile() ? unlessGone(() => (readFileSync(path, "latin1").includes(text) ? [path] : [])) : [];
  });
}

/** The program still runs, and removes files of its own. */
function unlessGone<T>(look: () => T[]): T[] {
  try {
    return look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

describe("isolation", () => {
  it("takes instructions from pawl and nothing from the workspace's or user's settings (row 28)", async () => {
    const hook = (name: string) => ({
      hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: `touch ${name}` }] }] },
    });
    const world = claudeWorld({ url: model.standin.url, instructions: "The base says: mind the gap." });
    const { home, workspace } = world.request();
    writeFiles(workspace, {
      "CLAUDE.md": "workspace-memory",
      ".claude/settings.json": JSON.stringify(hook(join(workspace, "hooked"))),
      ".mcp.json": '{"mcpServers":{"evil":{"command":"touch","args":["mcp-started"]}}}',
      "note.txt": "expanded-file",
    });
    writeFiles(join(home, ".."), { ".claude/settings.json": JSON.stringify(hook(join(workspace, "hooked"))) });
    const before = model.standin.requests.length;
    const session = await world.agent.open(world.request());
    onTestFinished(() => session.close());
    const { end } = await play(session, `@note.txt\n${promptFor([{ text: "Clean." }])}`);
    expect(end.finalText).toBe("Clean.");
    const words = model.seen.at(-1)?.words ?? "";
    expect(words).toContain("@note.txt");
    expect(words).not.toMatch(/workspace-memory|expanded-file/);
    expect(readdirSync(workspace).toSorted()).toEqual([".claude", ".mcp.json", "CLAUDE.md", "note.txt"]);
    expect(model.standin.requests).toHaveLength(before + 1);
    expect(model.seen.at(-1)?.system).toContain("mind the gap");
  });

  it("has no tool that loops, waits, schedules or asks on its own", async () => {
    await play(shared.session, promptFor([{ text: "ok" }]));
    const { tools = [], words = "" } = model.seen.at(-1) ?? {};
    const forbidden = /\b(ProposeGoal|ScheduleWakeup|Workflow|Cron[A-Z]\w+|RemoteTrigger|Monitor|AskUserQuestion)\b/;
    expect(tools.join(" ")).toMatch(/\bBash\b/);
    expect(tools.join(" ")).not.toMatch(forbidden);
    expect(words).not.toMatch(forbidden);
  });

  it("offers only the tools that were asked for, and the one that says how the work stands", async () => {
    await once([{ text: "ok" }], { options: { tools: ["Read", "Write"] } });
    const offered = model.seen.at(-1)?.tools.filter((name) => name !== "DeferredToolPlaceholder");
    expect(offered?.toSorted()).toEqual(["Read", "Write", "mcp__pawl__done"]);
  });
});

describe("turns", () => {
  it("meters subagents too, and ends after them", async () => {
    const prompt = promptFor([{ text: "sub", usage: { input: 1_000_000, output: 10 } }]);
    const input = { description: "look", prompt, subagent_type: "general-purpose" };
    const steps = [{ tools: [{ name: "Agent", input }] }, { text: "Main." }];
    const { end, events } = await play(shared.session, promptFor(steps));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Main.", usage: { requests: 3, toolCalls: 1 } });
    expect(end.usage.inputTokens).toBeGreaterThanOrEqual(1_000_000);
    expect(end.usage.estimated).toBe(false);
    expect(events.filter((event) => event.type === "text")).toEqual([{ type: "text", text: "Main." }]);
  });

  it("takes what is said after the last request into one more, within the same turn", async () => {
    const { world, session } = shared;
    const uuid = randomUUID();
    let said: Promise<string> | undefined;
    const { end, events } = await play(session, promptFor([{ text: "First.", chunkMs: 150 }, { text: "Second." }]), {
      uuid,
      onEvent: (event) => {
        if (event.type === "request") said ??= session.say("d1", "one more thing");
      },
    });
    expect(await said).toBe("now");
    expect(events.filter((event) => event.type === "delivered")).toHaveLength(1);
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Second." });
    expect(model.seen.at(-1)?.words).toContain("one more thing");
    const found = await world.agent.inspect(world.request(), { uuid });
    expect(found).toMatchObject({ is: "ended", end: { finalText: "Second.", usage: { requests: 2 } } });
  });

  it("asks the model nothing when it is stopped while it starts, and takes the next turn", async () => {
    const world = claudeWorld({ url: model.standin.url });
    const session = await world.agent.open(world.request());
    onTestFinished(() => session.close());
    const before = model.standin.requests.length;
    const controller = new AbortController();
    const turn = play(session, promptFor([{ text: "no" }]), { signal: controller.signal });
    await waitFor(() => taggedProcesses("PAWL_RUN", world.run).length > 0, { what: "the process" });
    controller.abort("stop");
    expect((await turn).end).toMatchObject({ outcome: { is: "interrupted", by: "stop" }, usage: { requests: 0 } });
    expect(model.standin.requests).toHaveLength(before);
    expect((await play(session, promptFor([{ text: "now" }]))).end.finalText).toBe("now");
    // On a machine so busy that it could not start in the time for an interrupt it is a new one; never a second one.
    // It may have started something for a moment.
    await waitFor(() => taggedProcesses("PAWL_RUN", world.run).length === 1, { what: "one process alone" });
  });

  it("ends as max-turns when its own limit is reached, and takes the next turn", async () => {
    const bash = { tools: [{ name: "Bash", input: { command: "echo x" } }] };
    const { end, session } = await once([bash, bash, bash, { text: "far" }], { options: { maxTurns: 1 } });
    expect(end.outcome).toMatchObject({ is: "failed", kind: "max-turns" });
    expect((await play(session, promptFor([{ text: "next" }]))).end.finalText).toBe("next");
  });

  it("goes on from a session whose process died between two turns", async () => {
    const { session, world } = await once([{ text: "one" }]);
    signalAll(taggedProcesses("PAWL_RUN", world.run));
    await waitFor(() => taggedProcesses("PAWL_RUN", world.run).length === 0, { what: "the end of the process" });
    // Its end is an event of this process, which comes between timers and what is set for at once.
    for (let looked = 0; looked < 3; looked += 1)
      await new Promise((resolve) => setTimeout(() => setImmediate(resolve), 50));
    // On a busy machine its end may still be on its way: a turn that meets it is cut, and the next one goes on.
    const first = (await play(session, promptFor([{ text: "two" }]))).end;
    const end = first.outcome.is === "cut" ? (await play(session, promptFor([{ text: "two" }]))).end : first;
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "two" });
    expect(model.seen.at(-1)?.prompts[0]).toBe(promptFor([{ text: "one" }]));
  });

  it("rewinds to the same point again when a crash came in between", async () => {
    const { session, world, end } = await once([{ text: "one" }]);
    const kept = model.seen.at(-1)?.prompts ?? [];
    await session.close();
    const ref = randomUUID();
    const at = `${world.request().session.ref}:${end.messageId}`;
    for (const text of ["two", "three"]) {
      const rewound = await world.agent.open(world.request({ ref, mode: "rewind", at }));
      const prompt = promptFor([{ text }]);
      expect((await play(rewound, prompt)).end.finalText).toBe(text);
      expect(model.seen.at(-1)?.prompts).toEqual([...kept, prompt]);
      await rewound.close();
    }
    const onward = await world.agent.open(world.request({ ref, mode: "continue" }));
    await play(onward, promptFor([{ text: "four" }]));
    await onward.close();
    expect(model.seen.at(-1)?.prompts).toEqual([
      ...kept,
      promptFor([{ text: "three" }]),
      promptFor([{ text: "four" }]),
    ]);
  });

  it("tells a model that does not exist as such", async () => {
    const { end } = await play(shared.session, promptFor([{ status: 404 }]));
    expect(end.outcome).toMatchObject({ is: "failed", kind: "model" });
  });
});

describe.concurrent("faults of the provider", () => {
  const oauth = { CLAUDE_CODE_OAUTH_TOKEN: "token" };
  type Fault = [step: Step, outcome: object];
  const overloaded: Fault = [{ status: 529 }, { is: "limited", kind: "overloaded" }];
  const longWait: Fault = [
    { status: 429, retryAfterS: 1800 },
    { is: "limited", kind: "rate" },
  ];
  const someWait: Fault = [
    { status: 429, retryAfterS: 50 },
    { is: "limited", kind: "rate", resetAt: expect.any(Number) },
  ];
  const usedUp: Fault = [
    { status: 429, usageLimitText: "You've hit your limit", resetInS: 3600 },
    { is: "limited", kind: "usage", resetAt: expect.any(Number) },
  ];
  // In one conversation where the program does not wait between its own tries.
  const cases: [string, Fault[], Setup][] = [
    ["529 for ever", [overloaded], {}],
    ["dropped connections", [[{ cutSocket: "before" }, { is: "cut" }]], {}],
    ["a used-up plan", [usedUp], { login: oauth }],
    [
      "401, a long wait, and one that is pawl's to make",
      [[{ status: 401 }, { is: "failed", kind: "login" }], longWait, someWait],
      {},
    ],
  ];
  it.for(cases)("reads %s", async ([, faults, setup], { expect }) => {
    const world = claudeWorld({ url: model.standin.url, ...setup });
    const session = await world.agent.open(world.request());
    for (const [step, outcome] of faults) {
      const from = Date.now();
      const { end } = await play(session, ownPrompt([step]));
      expect(end.outcome).toMatchObject(outcome);
      expect(end.usage.outputTokens).toBe(0);
      if (end.outcome.is === "limited" && end.outcome.resetAt !== undefined) {
        expect(end.outcome.resetAt).toBeGreaterThan(from + 30_000);
      }
    }
    await session.close();
  });

  it("tells its retries and goes on after them", async ({ expect }) => {
    const steps = [{ status: 529, times: 1 }, { text: "Through." }];
    const { end, events } = await play(shared.session, promptFor(steps));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Through.", usage: { requests: 2 } });
    expect(events.filter((event) => event.type === "retry")).toMatchObject([{ attempt: 1, status: 529 }]);
  });
});
