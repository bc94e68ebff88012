/** Programs that behave badly, or oddly, in the place of an agent: what becomes of their turns, and what is left of them. */
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { LIMITS, play } from "../../../test/contracts/agent-play.ts";
import { countOf, figure } from "../../../test/support/figure.ts";
import { taggedProcesses } from "../../../test/support/processes.ts";
import { plainAgent } from "../../../test/support/spec.ts";
import { tempDir, waitFor } from "../../../test/support/temp.ts";
import type { AgentSession, OpenRequest } from "../../ports.ts";
import { commandEntrySchema, type CommandGiven, type OutputRule } from "../../spec/command-agent.ts";
import { startStandin, type Standin } from "../../standin/server.ts";
import { command } from "../command.ts";

const RULES: OutputRule[] = [
  { when: { type: "start" }, session: "id" },
  { when: { type: "say" }, text: "text" },
  { when: { type: "end" }, ends: true, usage: { of: "turn", input: "in", output: "out", cost: "usd" } },
];
const JSONL = { format: "jsonl" as const, rules: RULES };
const TEXT = { format: "text" as const };

interface Place {
  session: AgentSession;
  asked: OpenRequest;
  workspace: string;
  run: string;
  inspect: (uuid: string) => Promise<unknown>;
  again(): Promise<AgentSession>;
}

interface Wanted {
  script: string;
  entry: Partial<CommandGiven>;
  words?: CommandGiven["command"];
  user?: Record<string, string>;
  options?: OpenRequest["agent"]["options"];
  instructions?: string;
}

/** A program of `sh` in a folder with blanks and quotes, and a session with it. */
async function placeWith({
  script,
  entry,
  words = [],
  user = {},
  options = {},
  instructions = "",
}: Wanted): Promise<Place> {
  const root = tempDir(`it's a "place"`);
  const workspace = join(root, "the work");
  mkdirSync(workspace);
  const program = join(root, "an agent");
  writeFileSync(program, `#!/bin/bash\n${script}\n`);
  chmodSync(program, 0o755);
  const parsed = commandEntrySchema.parse({ command: [program, ...words], output: TEXT, ...entry });
  const agent = command({ name: "odd", entry: parsed, userEnvironment: user });
  const run = `odd-${randomUUID()}`;
  const asked: OpenRequest = {
    run,
    lane: "main",
    workspace,
    home: join(root, "home"),
    session: { ref: randomUUID(), mode: "new" },
    agent: { ...plainAgent, name: "odd", ...LIMITS, options },
    model: undefined,
    instructions,
    environment: { PATH: process.env["PATH"] ?? "", HOME: root, PAWL_RUN: run },
  };
  const open = async (mode: "new" | "continue"): Promise<AgentSession> => {
    const session = await agent.open({ ...asked, session: { ...asked.session, mode } });
    onTestFinished(() => session.close());
    return session;
  };
  const session = await open("new");
  return {
    session,
    asked,
    workspace,
    run,
    inspect: (uuid) => agent.inspect(asked, { uuid }),
    again: () => open("continue"),
  };
}

const say = (value: object): string => `echo '${JSON.stringify(value)}'`;
const END = say({ type: "end", in: 5, out: 2, usd: 0.5 });
const textOf = (events: readonly { type: string }[]): string[] =>
  events.flatMap((event) => ("text" in event && event.type === "text" ? [String(event.text)] : []));

describe("a command", () => {
  it("gets its prompt on standard input and never on its command line", async () => {
    const { session } = await placeWith({ script: "cat; tr '\\0' ' ' < /proc/$$/cmdline", entry: {} });
    const { end } = await play(session, "a secret prompt");
    expect(end).toMatchObject({ outcome: { is: "done" }, usage: { usd: null, requests: 1 } });
    expect(end.finalText.match(/a secret prompt/g)).toHaveLength(1);
  });

  it("gets it by a file that only the user can read", async () => {
    const { session } = await placeWith({
      script: 'stat -c %a "$1"; cat "$1"',
      entry: { prompt: "file" },
      words: ["{prompt-file}"],
    });
    expect((await play(session, "the prompt")).end.finalText).toBe("600\nthe prompt");
  });

  it("gets it on its command line only where that was asked for, with a warning, and not beyond what a system takes", async () => {
    const { session } = await placeWith({
      script: 'echo "$2"',
      entry: { prompt: "argument" },
      words: ["-p", "{prompt}"],
    });
    const { end, events } = await play(session, "open to all");
    expect(end.finalText).toBe("open to all");
    expect(events).toContainEqual({ type: "notice", text: expect.stringContaining("every user of this machine") });
    const long = await play(session, "x".repeat(200_000));
    expect(long.end.outcome).toMatchObject({ is: "failed", kind: "agent" });
  });

  it("without a memory is told the first prompt again, with the repository's instructions once", async () => {
    const { session, again } = await placeWith({ script: "cat", entry: {}, instructions: "RULES" });
    expect((await play(session, "first")).end.finalText).toBe("RULES\n\nfirst");
    for (const next of [session, await again()]) {
      const { end } = await play(next, "second");
      expect(end.finalText).toMatch(/^RULES\n\nfirst\n[^]*told to you before[^]*\nsecond$/);
    }
  });

  it("with one is gone on with by its own name, and its cost is its own", async () => {
    const script = `${say({ type: "start", id: "its-own" })}; echo "$@" >> words.txt; ${say({ type: "say", text: "Hi." })}; ${END}`;
    const { session, again, workspace } = await placeWith({
      script,
      entry: { output: JSONL },
      words: [
        ["--id", "{new-session}"],
        ["--resume", "{session}"],
      ],
    });
    const { end } = await play(session, "one");
    expect(end).toMatchObject({
      outcome: { is: "done" },
      finalText: "Hi.",
      usage: { usd: 0.5, inputTokens: 5, estimated: false },
    });
    await play(session, "two");
    await play(await again(), "three");
    const words = readFileSync(join(workspace, "words.txt"), "utf8").trim().split("\n");
    expect(words).toEqual([expect.stringMatching(/^--id [\da-f-]{36}$/), "--resume its-own", "--resume its-own"]);
  });

  it("whose conversation is gone gets a new one after two tries", async () => {
    const ask = `${say({ type: "start", id: "gone" })}; ${say({ type: "say", text: "Hi." })}; ${END}`;
    const { session, workspace } = await placeWith({
      script: `echo "$#" >> words.txt; if [ $# = 2 ]; then echo no such session >&2; exit 1; fi; ${ask}`,
      entry: {
        output: JSONL,
        gateway: { url: "U", key: "K", upstream: "http://127.0.0.1:9", header: "x-api-key", requests: ["/"] },
      },
      words: [["--resume", "{session}"]],
    });
    const outcomes = [];
    for (const prompt of ["one", "two", "three", "four"]) outcomes.push((await play(session, prompt)).end.outcome.is);
    expect(outcomes).toEqual(["done", "cut", "cut", "done"]);
    expect(readFileSync(join(workspace, "words.txt"), "utf8")).toBe("0\n2\n2\n0\n");
  });

  it("that ends without its result, or is killed, is cut, and can be inspected", async () => {
    const { session, inspect } = await placeWith({
      script: say({ type: "say", text: "half" }),
      entry: { output: JSONL },
    });
    const uuid = randomUUID();
    expect((await play(session, "go", { uuid })).end.outcome).toMatchObject({ is: "cut" });
    expect(await inspect(uuid)).toMatchObject({ is: "cut", usage: { requests: 1 } });
    expect(await inspect(randomUUID())).toEqual({ is: "unknown" });
    const killed = await placeWith({ script: "kill -9 $$", entry: {} });
    expect((await play(killed.session, "go")).end.outcome).toMatchObject({ is: "cut" });
  });

  it("that answered but does not end, and what it leaves behind, is ended", async () => {
    const script = `${say({ type: "start", id: "s" })}; setsid sleep 60 & ${END}; trap '' TERM; sleep 60`;
    const { session, run } = await placeWith({ script, entry: { output: JSONL } });
    const { end, events } = await play(session, "go", { limits: { ...LIMITS, completionGraceMs: 50 } });
    expect(end.outcome).toEqual({ is: "done" });
    expect(events).toContainEqual({ type: "notice", text: expect.stringContaining("did not end") });
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("is interrupted by the signal of its entry first", async () => {
    const script = "trap 'echo ending > bye.txt; exit 0' INT; touch up.txt; sleep 30 & wait";
    const { session, workspace, run } = await placeWith({ script, entry: { interrupt: "SIGINT" } });
    const controller = new AbortController();
    const turn = play(session, "go", { signal: controller.signal });
    await waitFor(() => existsSync(join(workspace, "up.txt")), { what: "its trap" });
    controller.abort("stop");
    expect((await turn).end.outcome).toEqual({ is: "interrupted", by: "stop" });
    expect(existsSync(join(workspace, "bye.txt"))).toBe(true);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("that heeds no signal is ended by its deadline, and the next turn begins another (F2)", async () => {
    const script = `last=$(tail -n 1); [ "$last" = go ] || { trap '' INT TERM; kill -STOP $$; }; echo "heard $last"`;
    const { session, run } = await placeWith({ script, entry: { interrupt: "SIGINT" } });
    const { end } = await play(session, "stop", { limits: { ...LIMITS, idleTimeoutMs: 300 } });
    expect(end.outcome).toEqual({ is: "timeout", which: "idle", afterMs: 300 });
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
    expect((await play(session, "go")).end).toMatchObject({ outcome: { is: "done" }, finalText: "heard go" });
  });

  it("that cannot be started fails its turn with words", async () => {
    const { session } = await placeWith({ script: "", entry: {}, options: { bin: "/no/such/agent" } });
    expect((await play(session, "go")).end).toMatchObject({
      outcome: { is: "failed", message: "/no/such/agent is not a program here" },
      usage: { requests: 0, usd: 0 },
    });
  });

  const MB = countOf("PAWL_TEST_STREAM_MB", 16);
  it(`that prints ${MB} MB, a line without an end and bytes that are no text keeps its last words (F13)`, async () => {
    const flood = `head -c ${MB / 2}M /dev/zero | tr '\\0' x | fold -w 1000; head -c ${MB / 2}M /dev/zero | tr '\\0' y; printf '\\n\\xff\\xfe\\n'; echo the last words`;
    const { session } = await placeWith({ script: flood, entry: {} });
    const before = process.memoryUsage().rss;
    let most = 0;
    const onEvent = (): void => void (most = Math.max(most, process.memoryUsage().rss - before));
    const { end, events } = await play(session, "go", { onEvent });
    expect(end.outcome).toEqual({ is: "done" });
    expect(end.finalText.endsWith("the last words")).toBe(true);
    expect(textOf(events).every((text) => text.length <= 16_384)).toBe(true);
    expect(textOf(events).join("").length).toBeLessThan(8 * 2 ** 20);
    figure("F13, a command's output", { totalMb: MB, grownMb: Math.round(most / 2 ** 20) });
  });
});

describe("a command behind the gateway", () => {
  const ASK = `curl -s -o answer.txt -w '%{http_code}\\n' -X POST -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"model":"gpt-5.5","messages":[{"role":"user","content":"hi"}]}' "$URL/chat/completions"`;
  const gateway = (upstream: string) => ({
    url: "URL",
    key: "KEY",
    upstream,
    header: "authorization" as const,
    requests: ["/chat/completions"],
  });

  async function behind(
    script: string,
    step: Parameters<typeof startStandin>[0]["script"],
    options = {},
  ): Promise<Place & { standin: Standin }> {
    const standin = await startStandin({ script: step, apiKey: "the-real-key" });
    onTestFinished(() => standin.close());
    const place = await placeWith({
      script,
      entry: { gateway: gateway(`${standin.url}/v1`) },
      user: { KEY: "the-real-key" },
      options,
    });
    return { ...place, standin };
  }

  it("reaches its model without having its key", async () => {
    const { session } = await behind(`env; ${ASK}`, { steps: [{ text: "Hello." }] });
    const { end } = await play(session, "go");
    expect(end).toMatchObject({ outcome: { is: "done" }, usage: { requests: 1 } });
    expect(end.finalText).toMatch(/200$/);
    expect(end.finalText).not.toContain("the-real-key");
  });

  it.each([
    [401, { is: "failed", kind: "login" }],
    [404, { is: "failed", kind: "model" }],
    [429, { is: "limited", kind: "rate" }],
    [529, { is: "limited", kind: "overloaded" }],
    [500, { is: "cut" }],
  ])("whose model says %i ends so, though it exits 0", async (status, outcome) => {
    const { session } = await behind(ASK, { steps: [{ status }] });
    expect((await play(session, "go")).end.outcome).toMatchObject(outcome);
  });

  it("that waits an hour by itself, or tries for ever, is not waited for", async () => {
    const long = await behind(`${ASK}; sleep 60`, { steps: [{ status: 429, retryAfterS: 3_600 }] });
    const { end } = await play(long.session, "go");
    expect(end.outcome).toMatchObject({ is: "limited", kind: "rate", resetAt: expect.any(Number) });
    const stubborn = await behind(`while :; do ${ASK}; done`, { steps: [{ status: 529 }] });
    const tried = await play(stubborn.session, "go");
    expect(tried.end.outcome).toMatchObject({ is: "limited", kind: "overloaded" });
    expect(tried.end.usage.requests).toBeLessThan(8);
  });

  it("costs what its model said, though it tells nothing of that: interrupted, cut, or ended by itself", async () => {
    const { session, standin, inspect } = await behind(`${ASK}; [ "$(tail -n 1)" = go ] || sleep 60`, {
      steps: [{ text: "Hello.", repeat: true }],
    });
    const controller = new AbortController();
    const uuid = randomUUID();
    const { end } = await play(session, "wait", {
      uuid,
      signal: controller.signal,
      onEvent: (event) => event.type === "usage" && event.usage.outputTokens > 0 && controller.abort("stop"),
    });
    expect(end).toMatchObject({ outcome: { is: "interrupted", by: "stop" }, usage: { requests: 1, estimated: true } });
    const { inputTokens, outputTokens } = standin.billing;
    expect(end.usage).toMatchObject({ inputTokens, outputTokens });
    expect(end.usage.usd).toBeGreaterThan(0);
    expect(await inspect(uuid)).toMatchObject({ is: "cut", usage: end.usage });
    const whole = await play(session, "go");
    expect(whole.end.outcome).toEqual({ is: "done" });
    expect(end.usage.outputTokens + whole.end.usage.outputTokens).toBe(standin.billing.outputTokens);
  });

  it("makes no more requests than --agent-max-turns allows, and none is found where none left", async () => {
    const { session, inspect } = await behind(
      `${ASK}; ${ASK}; ${ASK}`,
      { steps: [{ text: "a", repeat: true }] },
      { maxTurns: 2 },
    );
    const uuid = randomUUID();
    const { end } = await play(session, "go", { uuid });
    expect(end).toMatchObject({ outcome: { is: "failed", kind: "max-turns" }, usage: { requests: 2 } });
    expect(await inspect(uuid)).toMatchObject({ is: "ended" });
  });
});
