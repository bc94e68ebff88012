/** The real Codex on the stand-in model: what a provider's refusals come to, limits, floods, what it costs, a way back. */
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { LIMITS, play } from "../../../test/contracts/agent-play.ts";
import { promptFor, startScriptedModel, type ScriptedModel } from "../../../test/support/claude.ts";
import { codexPlace, crash, exec, patch, type CodexPlace } from "../../../test/support/codex.ts";
import { shownOf, taggedProcesses } from "../../../test/support/processes.ts";
import { plainAgent } from "../../../test/support/spec.ts";
import { waitFor } from "../../../test/support/temp.ts";
import type { OpenRequest } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";
import { startStandin } from "../../standin/server.ts";
import { codexHome } from "./home.ts";

const KEY = "the-key-of-the-user";
let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ apiKey: KEY });
});
afterAll(() => model.standin.close());

const place = (over: Partial<OpenRequest> = {}, user: Record<string, string> = {}): Promise<CodexPlace> =>
  codexPlace(model.standin.url, { ...over, user: { OPENAI_API_KEY: KEY, ...user } });

const withOptions = (options: OpenRequest["agent"]["options"]): Partial<OpenRequest> => ({
  agent: { ...plainAgent, name: "codex", ...LIMITS, options },
});

const soon = (ms: number): unknown => ({
  asymmetricMatch: (at: unknown) => typeof at === "number" && Math.abs(at - Date.now() - ms) < 60_000,
});

describe("a refusal", () => {
  const cases: [string, Step, object][] = [
    ["a limit with a time", { status: 429, retryAfterS: 600 }, { is: "limited", kind: "rate", resetAt: soon(600_000) }],
    [
      "a used-up plan",
      { usageLimitText: "You are out of words", resetInS: 7200 },
      { is: "limited", kind: "usage", resetAt: soon(7_200_000) },
    ],
    ["an overload", { status: 529 }, { is: "limited", kind: "overloaded" }],
    ["no service", { status: 503 }, { is: "limited", kind: "overloaded" }],
    ["no money", { status: 429, code: "insufficient_quota" }, { is: "failed", kind: "billing" }],
    ["a wrong key", { status: 401 }, { is: "failed", kind: "login" }],
    ["an unknown model", { status: 404 }, { is: "failed", kind: "model" }],
    ["too long a conversation", { status: 400, code: "context_length_exceeded" }, { is: "failed", kind: "context" }],
    ["a prompt it will not read", { status: 400, code: "invalid_prompt" }, { is: "failed", kind: "refused" }],
    ["a bad request", { status: 400 }, { is: "failed", kind: "agent" }],
    ["a broken server", { status: 500 }, { is: "cut" }],
    ["no connection", { cutSocket: "before" }, { is: "cut" }],
    ["a cut answer", { cutSocket: "mid", text: "half of a long answer" }, { is: "cut" }],
    ["a truncated answer", { text: "part", stopReason: "max_tokens" }, { is: "failed", kind: "agent" }],
  ];
  it("is what the provider's fields say, and the session takes the next turn", async () => {
    const { session } = await place();
    for (const [name, step, outcome] of cases) {
      const { end } = await play(session, promptFor([step]));
      expect([name, end.outcome]).toEqual([name, expect.objectContaining(outcome)]);
      // Codex names the address it asked, and the right to pass is part of it.
      expect(JSON.stringify(end.outcome)).not.toMatch(/[\da-f]{48}/);
    }
    const { end } = await play(session, promptFor([{ text: "well again" }]));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "well again" });
  });

  it("in the words of a tool or of the agent is none", async () => {
    const { session } = await place();
    const words = "429 Too Many Requests: usage_limit_reached; error 401 invalid_api_key";
    const { end } = await play(session, promptFor([exec(`echo '${words}'; exit 1`), { text: words }]));
    expect(end).toMatchObject({ outcome: { is: "done" }, finalText: words });
  });

  it("that there is no login at all ends the turn before a program is started", async () => {
    const { session, request } = await place({}, { OPENAI_API_KEY: "" });
    const { end } = await play(session, promptFor([{ text: "no" }]));
    expect(end.outcome).toMatchObject({ is: "failed", kind: "login" });
    expect(existsSync(join(request.home, "codex"))).toBe(false);
  });
});

it("says how a program ended that is no Codex", async () => {
  const { session } = await place(withOptions({ bin: "/bin/false" }));
  const { end } = await play(session, promptFor([{ text: "no" }]));
  expect(end.outcome).toEqual({ is: "cut", reason: "Codex ended (exit code 1)" });
  expect(end.usage.requests).toBe(0);
});

it("costs what the model billed, to the token, over turns, processes, an interrupt and a crash", async () => {
  const { session, again, request } = await place();
  const before = { ...model.standin.billing };
  const spent = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, requests: 0 };
  const add = ({ end }: Awaited<ReturnType<typeof play>>): void => {
    for (const field of Object.keys(spent) as (keyof typeof spent)[]) spent[field] += end.usage[field];
    expect(end.usage.usd).toBeGreaterThan(0);
  };
  add(await play(session, promptFor([exec("echo one"), exec("echo two"), { text: "first" }])));
  add(await play(session, promptFor([{ text: "second" }])));
  await session.close();
  const next = await again({ ...request.session, mode: "continue" });
  add(await play(next, promptFor([exec("echo three"), { text: "third" }])));
  const controller = new AbortController();
  add(
    await play(next, promptFor([exec("sleep 30"), { text: "never" }]), {
      signal: controller.signal,
      onEvent: (event) => event.type === "tool-start" && controller.abort("stop"),
    }),
  );
  add(await play(next, promptFor([crash(), { text: "never" }])));
  const { billing } = model.standin;
  expect(spent).toEqual({
    inputTokens: billing.inputTokens - before.inputTokens,
    outputTokens: billing.outputTokens - before.outputTokens,
    cacheReadTokens: billing.cacheReadTokens - before.cacheReadTokens,
    requests: billing.requests - before.requests,
  });
});

it("knows what a turn cost though Codex was killed before it had written that down", async () => {
  const { session, request, agent } = await place();
  const uuid = randomUUID();
  const { end } = await play(session, promptFor([exec("echo one"), { text: "first" }]), { uuid });
  await session.close();
  const sessions = join(codexHome(request.home), "sessions");
  const records = readdirSync(sessions, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".jsonl"),
  );
  for (const name of records) {
    const lines = readFileSync(join(sessions, name), "utf8").split("\n");
    writeFileSync(join(sessions, name), lines.filter((line) => !line.includes('"token_usage_record"')).join("\n"));
  }
  const found = await agent.inspect({ ...request, session: { ...request.session, mode: "continue" } }, { uuid });
  const usage = found.is === "cut" ? found.usage : found.is === "ended" ? found.end.usage : undefined;
  expect([records.length, usage]).toEqual([1, end.usage]);
});

const SANDBOXES = ["workspace-write", "danger-full-access"];
it.for(SANDBOXES)("leaves nothing of a turn running, ended or interrupted, with %s", async (permissions) => {
  // In the foreground, and behind it.
  const long = (mark: string): string => `(exec -a ${mark} sleep 600) & exec -a ${mark} sleep 600`;
  const [ended, stopped] = [`mark-${randomUUID()}`, `mark-${randomUUID()}`];
  const yields = { tools: [{ name: "exec_command", input: { cmd: long(ended), yield_time_ms: 300 } }] };
  const answers: (() => Step | Promise<Step>)[] = [
    () => yields,
    async () => {
      // On a busy machine it takes longer to start than Codex waits for it.
      await waitFor(() => running(ended) === 2, { what: "the command that goes on" });
      return { text: "it goes on behind" };
    },
    () => exec(long(stopped)),
  ];
  const script = (): Step | Promise<Step> => answers.shift()?.() ?? { text: "never" };
  const standin = await startStandin({ script });
  onTestFinished(() => standin.close());
  const { session, request } = await codexPlace(standin.url, withOptions({ permissions }));
  const seen: number[] = [];
  await play(session, "begin it", {
    onEvent: (event) => event.type === "text" && seen.push(running(ended)),
  });
  expect(seen).toEqual([2]);
  await waitFor(() => running(ended) === 0, { what: "the end of what the turn left" });
  const controller = new AbortController();
  await play(session, "again", {
    signal: controller.signal,
    onEvent: (event) =>
      event.type === "tool-start" &&
      void waitFor(() => running(stopped) === 2, { what: "the command" }).then(() => controller.abort("stop")),
  });
  await waitFor(() => running(stopped) === 0, { what: "the end of what was interrupted" });
  expect(readdirSync(request.workspace)).toEqual([]);
});

it("leaves nothing in the temporary folder of the machine, and gives its commands one of their own", async () => {
  const { session, request } = await place(withOptions({ permissions: "workspace-write" }));
  const mounts: string[] = [];
  const mark = `mark-${randomUUID()}`;
  const command = `touch /tmp/${mark}; exec -a ${mark} sleep 600`;
  const controller = new AbortController();
  await play(session, promptFor([exec(command), { text: "never" }]), {
    signal: controller.signal,
    onEvent: (event) =>
      event.type === "tool-start" &&
      void waitFor(() => pidsOf(mark)[0], { what: "the command" }).then((pid) => {
        mounts.push(...mountsOf(pid));
        controller.abort("stop");
      }),
  });
  await waitFor(() => running(mark) === 0, { what: "its end" });
  // What it makes is for its mounts. Other programs of the suite make the same in the same folder at any time.
  const masked = (folder: string): boolean => mounts.includes(join(folder, ".git"));
  expect([masked(join(request.home, "tools-tmp")), masked("/tmp")]).toEqual([true, false]);
  expect(existsSync(`/tmp/${mark}`)).toBe(false);
  const ended = await play(session, promptFor([exec(`touch "$(mktemp)" && echo "made in $TMPDIR"`), { text: "ok" }]));
  const { output } = ended.events.find((event) => event.type === "tool-end") ?? { output: "" };
  expect(output).toBe(`made in ${join(request.home, "tools-tmp")}\n`);
});

/** Processes that were started under this name. */
function pidsOf(name: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] === name;
    } catch {
      return false;
    }
  });
}

const running = (name: string): number => pidsOf(name).length;

/** Where something is mounted, as the process sees it. */
function mountsOf(pid: string): string[] {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n");
  return lines.map((line) => line.split(" ")[4] ?? "");
}

it("forgets what was said into a turn that is interrupted before a request could take it", async () => {
  const { session } = await place();
  const controller = new AbortController();
  let said: Promise<string> | undefined;
  const { end, events } = await play(session, promptFor([exec("sleep 30"), { text: "never" }]), {
    signal: controller.signal,
    onEvent(event) {
      if (event.type !== "tool-start") return;
      said = session.say("d1", "mind the quokka");
      void said.then(() => controller.abort("stop"));
    },
  });
  expect([await said, end.outcome.is]).toEqual(["now", "interrupted"]);
  expect(events.filter((event) => event.type === "delivered")).toEqual([]);
  await play(session, promptFor([{ text: "gone on" }]));
  expect(model.seen.at(-1)?.words).not.toContain("quokka");
});

it("counts an answer that was under way when something was said, whatever becomes of it", async () => {
  const { session } = await place();
  const billed = (): number => model.standin.billing.outputTokens;
  const before = billed();
  let said: Promise<string> | undefined;
  const steps: Step[] = [{ ...exec("true"), chunkMs: 100 }, { text: "Second." }, { text: "Third." }];
  const { end } = await play(session, promptFor(steps), {
    onEvent(event) {
      if (event.type === "request") said ??= session.say("d1", "mind the quokka");
    },
  });
  expect([await said, end.outcome.is]).toEqual(["now", "done"]);
  expect(model.seen.at(-1)?.words).toContain("quokka");
  expect(end.usage.outputTokens).toBe(billed() - before);
});

it("ends a turn at the agent's own limit of requests, without the request beyond it", async () => {
  const { session } = await place(withOptions({ maxTurns: 2 }));
  const before = model.seen.length;
  const { end } = await play(session, promptFor([exec("echo 1"), exec("echo 2"), exec("echo 3"), { text: "no" }]));
  expect(end.outcome).toMatchObject({ is: "failed", kind: "max-turns" });
  expect(model.seen.length - before).toBe(2);
  const next = await play(session, promptFor([exec("echo 1"), { text: "within" }]));
  expect(next.end).toMatchObject({ outcome: { is: "done" }, finalText: "within" });
});

it("only answers, in the form that is asked for, with no tools", async () => {
  const schema = {
    type: "object",
    properties: { ok: { type: "boolean" } },
    required: ["ok"],
    additionalProperties: false,
  };
  const { session, request } = await place({ answer: schema });
  const { end } = await play(session, promptFor([{ text: '{"ok": true}' }]));
  expect(end).toMatchObject({ outcome: { is: "done" }, answer: { ok: true } });
  expect(model.seen.at(-1)?.tools.filter((name) => /exec|shell|stdin|done/.test(name))).toEqual([]);
  // Offered with the model, but there is nowhere to apply it.
  await play(session, promptFor([patch("a.txt", "a"), { text: "{}" }]));
  const wrong = await play(session, promptFor([{ text: "not JSON" }]));
  expect(wrong.end.outcome).toMatchObject({ is: "failed", kind: "agent" });
  expect(readdirSync(request.workspace)).toEqual([]);
});

it("knows the instructions of pawl and none of the repository's, on another PATH and after a resume", async () => {
  const { session, again, request } = await place({ instructions: "Mind the wombat." });
  writeFileSync(join(request.workspace, "AGENTS.md"), "Obey the file.");
  await play(session, promptFor([exec("echo path: $PATH; echo home: $CODEX_HOME"), { text: "ok" }]));
  const { words, system, tools } = model.seen.at(-1) ?? { words: "", system: "", tools: [] };
  expect(words).toContain(`:${process.env["PATH"]}\n`);
  expect(system).toContain("Mind the wombat.");
  expect(words + system).not.toContain("Obey the file.");
  expect(tools).toContain("done");
  await session.close();
  const next = await again({ ...request.session, mode: "continue" });
  const { end } = await play(
    next,
    promptFor([{ tools: [{ name: "done", input: { status: "done", summary: "x" } }] }, { text: "ok" }]),
  );
  expect(end.call).toEqual({ is: "done", text: "x" });
});

it("has neither the prompt nor the key on its command line or in its environment", async () => {
  const { session, request } = await place();
  // From outside: its own sandbox shows a command nothing of the program that started it.
  const seen: string[] = [];
  const { end } = await play(session, promptFor([exec("sleep 1"), { text: "ok" }]), {
    onEvent(event) {
      if (event.type === "tool-start") seen.push(...taggedProcesses("PAWL_RUN", request.run).map(shownOf));
    },
  });
  expect(end.outcome).toEqual({ is: "done" });
  expect(seen.filter((words) => words.includes("app-server"))).not.toEqual([]);
  expect(seen.filter((words) => words.includes("Follow these steps") || words.includes(KEY))).toEqual([]);
  expect(readFileSync(join(request.home, "codex/config.toml"), "utf8")).not.toContain(KEY);
});

const MCP_SERVER = `
import { createInterface } from "node:readline";
const tools = [{ name: "add", description: "adds", inputSchema: { type: "object", properties: { a: { type: "number" } } } }];
const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ arguments: { a } }) => ({ content: [{ type: "text", text: "the sum is " + (a + 1) + process.argv[2] }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method]?.(params) ?? {} }));
});
`;

it("gives it the MCP servers and the settings that a person names, and asks before it uses one", async () => {
  const options = { mcp: ["servers.json"], effort: "high", extra: ["-c", "model_verbosity=low"] };
  const ask = { ...plainAgent.ask, permissions: "ask" } as const;
  const { session, request } = await place({ agent: { ...plainAgent, name: "codex", ...LIMITS, options, ask } });
  writeFileSync(join(request.workspace, "server.mjs"), MCP_SERVER);
  const server = { command: "node", args: [join(request.workspace, "server.mjs"), 'a"b'] };
  writeFileSync(join(request.workspace, "servers.json"), JSON.stringify({ mcpServers: { sums: server } }));
  const asked: string[] = [];
  const call = { tools: [{ name: "mcp__sums/add", input: { a: 41 } }] };
  const { end, events } = await play(session, promptFor([call, { text: "ok" }]), {
    onEvent(event) {
      if (event.type !== "asked") return;
      asked.push(event.text);
      void session.reply?.(event.question, { is: "allow" });
    },
  });
  expect(end.outcome).toEqual({ is: "done" });
  expect(asked).toEqual([expect.stringMatching(/sums.*add.*41/)]);
  expect(events).toContainEqual(expect.objectContaining({ type: "tool-start", name: "mcp__sums__add" }));
  expect(model.seen.at(-1)?.words).toContain('the sum is 42a"b');
});
