/** The real opencode on the stand-in model, beyond the contract: what providers refuse, what tools do, other servers. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { play, type PlayOptions } from "../../../test/contracts/agent-play.ts";
import { promptFor, startScriptedModel, type ScriptedModel } from "../../../test/support/claude.ts";
import { bash, opencodeWorld, write, type OpencodeWorld } from "../../../test/support/opencode.ts";
import { armedWire } from "../../../test/support/faulty-wire.ts";
import { shownOf, taggedProcesses } from "../../../test/support/processes.ts";
import { waitFor } from "../../../test/support/temp.ts";
import type { Agent, AgentSession, OpenRequest } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";
import { opencode } from "../opencode.ts";

const MODEL = "anthropic/claude-sonnet-4-5";
const START_LIMIT_MS = 150_000;
let model: ScriptedModel;
let agent: Agent;
let world: OpencodeWorld;
let holder: AgentSession;

beforeAll(async () => {
  model = await startScriptedModel({ apiKey: "key" });
  agent = opencode({ userEnvironment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: model.standin.url } });
  world = opencodeWorld(`it's "a" work space`);
  holder = await agent.open(world.request({ model: MODEL }));
  // Under load a start takes longer than a test may.
  await turn(holder, [{ text: "warm" }]);
}, START_LIMIT_MS);
afterAll(async () => {
  await holder.close();
  await model.standin.close();
});

async function opened(over: Partial<OpenRequest> = {}, from = agent): Promise<AgentSession> {
  const session = await from.open(world.request({ model: MODEL, ...over }));
  onTestFinished(() => session.close());
  return session;
}
const turn = async (session: AgentSession, steps: Step[], options?: PlayOptions) =>
  await play(session, promptFor(steps), options);
const withOptions = (options: OpenRequest["agent"]["options"]): Partial<OpenRequest> => ({
  agent: { ...world.request().agent, options },
});

it("tells refusals apart, and takes the next turn", async () => {
  const session = await opened();
  const refusals: [Step, object][] = [
    [{ status: 401 }, { is: "failed", kind: "login" }],
    [{ status: 402 }, { is: "failed", kind: "billing" }],
    [{ status: 404 }, { is: "failed", kind: "model" }],
    [{ status: 400 }, { is: "failed", kind: "agent" }],
    [
      { status: 429, retryAfterS: 1800 },
      { is: "limited", kind: "rate", resetAt: expect.any(Number) },
    ],
  ];
  for (const [step, outcome] of refusals) {
    const before = model.standin.requests.length;
    const { end } = await turn(session, [step]);
    expect(end).toMatchObject({ outcome, usage: { requests: 1, outputTokens: 0 } });
    expect(model.standin.requests.length - before).toBe(1);
  }
  expect((await turn(session, [{ text: "well" }])).end).toMatchObject({ outcome: { is: "done" }, finalText: "well" });
});

it("takes another port when somebody else was given its own while it started", async () => {
  const { root, request } = opencodeWorld();
  const [wanted, taken, bin] = ["wanted", "taken", "late-opencode"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  const script = [
    `#!/bin/sh`,
    `if ! test -e '${taken}'; then for last; do :; done; echo "$last" > '${wanted}.part'; mv '${wanted}.part' '${wanted}'; fi`,
    `until test -e '${taken}'; do sleep 0.02; done`,
    `exec opencode "$@"`,
  ];
  writeFileSync(bin, script.join("\n"), { mode: 0o755 });
  const other = createServer();
  onTestFinished(() => void other.close());
  const taking = waitFor(() => existsSync(wanted), { what: "the port that it will be given" }).then(() => {
    other.listen(Number(readFileSync(wanted, "utf8")), "127.0.0.1", () => writeFileSync(taken, ""));
  });
  const session = await agent.open(request({ model: MODEL, agent: { ...request().agent, options: { bin } } }));
  onTestFinished(() => session.close());
  const { end } = await turn(session, [{ text: "elsewhere" }]);
  await taking;
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "elsewhere" });
});

it("answers with the last try of a request, whatever came of those that broke off", async () => {
  const wire = await armedWire(model.standin.url);
  onTestFinished(() => wire.close());
  const user = opencode({ userEnvironment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: wire.url } });
  const { request } = opencodeWorld();
  const asked = request({ model: MODEL });
  const session = await user.open(asked);
  onTestFinished(() => session.close());
  await turn(session, [{ text: "The title is asked for now." }]);
  const texts: string[] = [];
  for (let afterEvents = 2; afterEvents < 7; afterEvents += 1) {
    wire.arm({ at: 0, fault: { do: "cut", afterEvents, lingerMs: 300 } });
    const uuid = randomUUID();
    const { end, events } = await turn(session, [{ text: "Once.", repeat: true }], { uuid });
    texts.push(...events.flatMap((event) => (event.type === "text" ? [event.text] : [])));
    if (end.outcome.is !== "done") continue;
    const found = await user.inspect({ ...asked, session: { ...asked.session, mode: "continue" } }, { uuid });
    expect([afterEvents, end.finalText, found]).toMatchObject([afterEvents, "Once.", { end: { finalText: "Once." } }]);
  }
  expect(wire.made).toHaveLength(5);
  // Or none of them broke off behind the whole of its text.
  expect(texts.length).toBeGreaterThan(5);
});

it("counts each time that opencode asks, also where it takes a number in the words of a refusal for a status", async () => {
  const session = await opened();
  const before = model.standin.requests.length;
  const { end } = await turn(session, [{ status: 400, message: "no file 503.txt", times: 1 }, { text: "there" }]);
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "there", usage: { requests: 2 } });
  expect(model.standin.requests.length - before).toBe(2);
});

it("waits a moment by itself for an overloaded model, and then leaves the waiting to pawl", async () => {
  const session = await opened();
  const once = await turn(session, [{ status: 529, times: 1 }, { text: "there" }]);
  expect(once.end).toMatchObject({ outcome: { is: "done" }, finalText: "there", usage: { requests: 2 } });
  expect(once.events).toContainEqual(expect.objectContaining({ type: "retry", attempt: 1, status: 529 }));
  const { end } = await turn(session, [{ status: 529 }]);
  expect(end.outcome).toMatchObject({ is: "limited", kind: "overloaded" });
});

it("sums up a conversation that is too long for the model, and goes on", async () => {
  const session = await opened();
  const { end, events } = await turn(session, [{ status: 413 }]);
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "ok", usage: { requests: 3 } });
  expect(events).toContainEqual({ type: "notice", text: "the agent compacted its conversation" });
});

it("charges a turn that is ended while a tool runs for the answer that called it", async () => {
  const session = await opened();
  const before = model.standin.billing.outputTokens;
  const controller = new AbortController();
  const uuid = randomUUID();
  const request = world.request();
  const { end } = await turn(session, [bash("sleep 20"), { text: "never" }], {
    uuid,
    signal: controller.signal,
    onEvent: (event) => event.type === "tool-start" && controller.abort("stop"),
  });
  expect(end.outcome).toEqual({ is: "interrupted", by: "stop" });
  expect(end.usage.outputTokens).toBe(model.standin.billing.outputTokens - before);
  expect(end.usage.outputTokens).toBeGreaterThan(0);
  expect(existsSync(join(request.home, "opencode-spent.jsonl"))).toBe(true);
});

it("counts what subagents spend, and tells their tools", async () => {
  const session = await opened();
  const before = { ...model.standin.billing };
  const inner = promptFor([bash("echo inside"), { text: "Looked." }]);
  const task = { description: "look", prompt: inner, subagent_type: "general" };
  const { end, events } = await turn(session, [{ tools: [{ name: "task", input: task }] }, { text: "Both." }]);
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Both.", usage: { requests: 4, toolCalls: 2 } });
  expect(end.usage.outputTokens).toBe(model.standin.billing.outputTokens - before.outputTokens);
  const started = events.flatMap((event) => (event.type === "tool-start" ? [event.name] : []));
  expect(started).toEqual(["task", "bash"]);
});

it("keeps a flood of output out of its events and its conversation", async () => {
  const session = await opened();
  const { end, events } = await turn(session, [bash("head -c 10000000 /dev/zero | tr '\\0' x"), { text: "Flooded." }]);
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Flooded." });
  expect(JSON.stringify(events).length).toBeLessThan(200_000);
  expect(model.seen.at(-1)?.words.length).toBeLessThan(500_000);
});

it("answers in a form, without tools", async () => {
  const schema = { type: "object", properties: { score: { type: "number" } }, required: ["score"] };
  const session = await opened({ answer: schema });
  const { end } = await turn(session, [{ tools: [{ name: "StructuredOutput", input: { score: 0.5 } }] }]);
  expect(end).toMatchObject({ outcome: { is: "done" }, answer: { score: 0.5 } });
  expect(model.seen.at(-1)?.tools).toEqual(["StructuredOutput"]);
});

it("holds the request beyond --agent-max-turns", async () => {
  const session = await opened(withOptions({ maxTurns: 1 }));
  const before = model.standin.requests.length;
  const { end } = await turn(session, [bash("true"), { text: "never" }]);
  expect(end).toMatchObject({ outcome: { is: "failed", kind: "max-turns" }, usage: { requests: 1 } });
  expect(model.standin.requests.length).toBe(before + 1);
});

function runningServer(): { pid: number; url: string; password: string } {
  // Its tools have all that is in its environment.
  const [pid = 0] = taggedProcesses("PAWL_RUN", world.run).filter((one) => shownOf(one).includes("\0--port\0"));
  const shown = shownOf(pid);
  const port = /--port\0(\d+)/.exec(shown)?.[1];
  const password = /OPENCODE_SERVER_PASSWORD=(\w+)/.exec(shown)?.[1] ?? "";
  return { pid, url: `http://127.0.0.1:${port}`, password };
}

it("works on a server that runs already, and finds out there what became of a turn", async () => {
  const { url, password } = runningServer();
  const user = opencode({ userEnvironment: { OPENCODE_SERVER_PASSWORD: password } });
  const attached = { ...withOptions({ server: url }), home: join(world.root, "other") };
  const ref = world.request().session;
  const session = await opened({ ...attached, session: ref }, user);
  const path = join(world.workspace, "there.txt");
  const uuid = randomUUID();
  const { end } = await turn(session, [write(path, "x"), bash("ls"), { text: "Done there." }], { uuid });
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Done there.", usage: { requests: 3 } });
  expect(end.usage.usd).toBeGreaterThan(0);
  const found = await user.inspect({ ...world.request(attached), session: ref }, { uuid });
  expect(found).toMatchObject({ is: "ended", end: { finalText: "Done there.", usage: end.usage } });
  expect(existsSync(path)).toBe(true);
  const wrong = opencode({ userEnvironment: { OPENCODE_SERVER_PASSWORD: "wrong" } });
  const refused = await turn(await opened(attached, wrong), [{ text: "no" }]);
  expect(refused.end.outcome).toMatchObject({ is: "failed", message: expect.stringContaining("password") });
});

it("leaves a server that aborts what nobody asked it to, for another", async () => {
  const session = await opened();
  await turn(session, [{ text: "warm" }]);
  const { pid, url, password } = runningServer();
  const headers = { authorization: `Basic ${Buffer.from(`opencode:${password}`).toString("base64")}` };
  const directory = `directory=${encodeURIComponent(world.workspace)}`;
  const abortAll = async (): Promise<void> => {
    const sessions = (await (await fetch(`${url}/session?${directory}`, { headers })).json()) as { id: string }[];
    for (const { id } of sessions) await fetch(`${url}/session/${id}/abort?${directory}`, { method: "POST", headers });
  };
  const { end } = await turn(session, [bash("sleep 30"), { text: "too late" }], {
    onEvent: (event) => void (event.type === "tool-start" && abortAll().catch(() => undefined)),
  });
  expect(end.outcome).toEqual({ is: "cut", reason: "Aborted" });
  expect((await turn(session, [{ text: "back" }])).end).toMatchObject({ outcome: { is: "done" }, finalText: "back" });
  expect(taggedProcesses("PAWL_RUN", world.run)).not.toContain(pid);
});

// The last: with other tools it is another server, and whoever comes after it would have to start a third.
it("gives its instructions and no prompt to the outside, and has only what --tools names", async () => {
  const session = await opened({
    ...withOptions({ tools: ["read", "bash"] }),
    instructions: "Prefer tabs.",
    lane: "t",
  });
  const prompt = promptFor([bash("sleep 1; ls"), { text: "secret words" }]);
  let words: string[] = [];
  const { end } = await play(session, prompt, {
    onEvent(event) {
      if (event.type !== "tool-start") return;
      words = taggedProcesses("PAWL_RUN", world.run).map(shownOf);
    },
  });
  expect(end.outcome).toEqual({ is: "done" });
  expect(words.join("\n")).toContain("--port");
  expect(words.join("\n")).not.toContain("secret words");
  const { tools, system } = model.seen.at(-1) ?? { tools: [], system: "" };
  expect(new Set(tools)).toEqual(new Set(["bash", "pawl_done", "read"]));
  expect(system).toContain("Prefer tabs.");
});
