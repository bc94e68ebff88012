/** pawl speaks to Claude Code as the Agent SDK does: the real SDK, given the same wishes, says what is right. */
import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { query, USAGE_LIMIT_ERROR_PREFIXES, type Options } from "@anthropic-ai/claude-agent-sdk";
import { expect, it } from "vitest";
import { claudeWorld } from "../../../test/support/claude.ts";
import type { OpenRequest } from "../../ports.ts";
import { commandLine, commandOf, type Start } from "./command-line.ts";
import { answerOptions, claudeOptions } from "./options.ts";
import { USAGE_LIMITS } from "./outcome.ts";

/** What the SDK would start and say first; nothing is started. */
async function bySdk(options: Options): Promise<{ args: string[]; initialize: unknown }> {
  const stdin = new PassThrough();
  let args: string[] = [];
  const asked = query({
    prompt: (async function* () {})(),
    options: {
      env: {},
      ...options,
      spawnClaudeCodeProcess(wanted) {
        args = wanted.args;
        const streams = { stdin, stdout: new PassThrough(), killed: false, exitCode: null, kill: () => true };
        return Object.assign(new EventEmitter(), streams);
      },
    },
  });
  asked.next().catch(() => undefined);
  await new Promise((resolve) => stdin.once("readable", resolve));
  stdin.end();
  const [hello = ""] = (await text(stdin)).split("\n");
  asked.close();
  return { args, initialize: (JSON.parse(hello) as { request: unknown }).request };
}

/** One word for each, in any order. */
function words(args: readonly string[]): string[] {
  const joined = args.flatMap((word, at) => {
    if (!word.startsWith("--")) return [];
    const next = args[at + 1];
    return next === undefined || next.startsWith("--") || word.includes("=") ? [word] : [`${word}=${next}`];
  });
  return joined.toSorted();
}

const OWN = {
  pawl: { type: "sdk" as const, name: "pawl", instance: { connect: async () => {}, close: async () => {} } },
};
const DISALLOWED = /^--disallowedTools=/;
const always = (args: readonly string[]): Options => ({
  settingSources: [],
  strictMcpConfig: true,
  includePartialMessages: true,
  forwardSubagentText: true,
  verbatimPrompts: true,
  // Which they are is pawl's own to decide.
  disallowedTools: (args.find((word) => DISALLOWED.test(word)) ?? "").replace(DISALLOWED, "").split(","),
});

interface Case {
  start: Start;
  wishes?: Record<string, unknown>;
  request?: Partial<OpenRequest>;
  ask?: Partial<OpenRequest["agent"]["ask"]>;
  model?: string;
  sdk: Options;
}

const REF = "11111111-1111-4111-8111-111111111111";
const MODE = { "permission-mode": "bypassPermissions", allowedTools: "mcp__pawl__done", "replay-user-messages": null };
const CASES: Record<string, Case> = {
  "a new conversation": {
    start: { is: "new", ref: REF },
    model: "some-model",
    wishes: { maxTurns: 3, effort: "high", tools: ["Bash", "Read"], plugins: ["/p"], extra: ["--betas", "a,b", "--x"] },
    request: { instructions: "Be brief." },
    sdk: {
      sessionId: REF,
      model: "some-model",
      maxTurns: 3,
      effort: "high",
      tools: ["Bash", "Read"],
      plugins: [{ type: "local", path: "/p" }],
      systemPrompt: { type: "preset", preset: "claude_code", append: "Be brief." },
      allowDangerouslySkipPermissions: true,
      permissionPrompts: "none",
      extraArgs: { betas: "a,b", x: null, ...MODE },
    },
  },
  "one that goes on, with people who are asked and a prompt of their own": {
    start: { is: "resume", ref: REF },
    wishes: { extra: ["--system-prompt", "Mine.", "--allowed-tools", "Bash"] },
    request: { instructions: "Be brief." },
    ask: { permissions: "ask", questions: "ask" },
    sdk: {
      resume: REF,
      systemPrompt: "Mine.\n\nBe brief.",
      canUseTool: () => Promise.resolve({ behavior: "allow" }),
      extraArgs: { ...MODE, "permission-mode": "acceptEdits", allowedTools: "mcp__pawl__done,Bash" },
    },
  },
  "one that is taken back": {
    start: { is: "truncate", ref: REF, at: "m1" },
    sdk: {
      resume: REF,
      resumeSessionAt: "m1",
      systemPrompt: { type: "preset", preset: "claude_code", append: "" },
      allowDangerouslySkipPermissions: true,
      permissionPrompts: "none",
      extraArgs: MODE,
    },
  },
  "one that is forked": {
    start: { is: "fork", ref: REF, from: "other", at: "m1" },
    sdk: {
      resume: "other",
      resumeSessionAt: "m1",
      forkSession: true,
      sessionId: REF,
      systemPrompt: { type: "preset", preset: "claude_code", append: "" },
      allowDangerouslySkipPermissions: true,
      permissionPrompts: "none",
      extraArgs: MODE,
    },
  },
};

it.each(Object.entries(CASES))("starts and opens %s as the Agent SDK does", async (_, one) => {
  const { request } = claudeWorld({ url: "http://127.0.0.1:9" });
  const plain = { ...request(), ...one.request };
  const ask = { ...plain.agent.ask, ...one.ask };
  const asked = { ...plain, agent: { ...plain.agent, ask } };
  const options = claudeOptions((one.wishes ?? {}) as OpenRequest["agent"]["options"], ask);
  const own = commandLine(asked, { start: one.start, options, model: one.model, user: undefined });
  const theirs = await bySdk({ ...always(own.args), mcpServers: OWN as never, ...one.sdk });
  expect(words(own.args)).toEqual(words(theirs.args));
  expect(own.initialize).toEqual(theirs.initialize);
});

it("starts and opens a session that only answers, with the user's settings, as the Agent SDK does", async () => {
  const { request } = claudeWorld({ url: "http://127.0.0.1:9" });
  const answer = { type: "object" };
  const asked = { ...request(), answer, instructions: "You judge." };
  const user = { file: "/home/settings.json", servers: {} };
  const parts = { start: { is: "new", ref: REF } as const, options: answerOptions({}), model: undefined, user };
  const own = commandLine(asked, parts);
  const theirs = await bySdk({
    ...always(own.args),
    sessionId: REF,
    tools: [],
    outputFormat: { type: "json_schema", schema: answer },
    systemPrompt: "You judge.",
    settings: user.file,
    allowDangerouslySkipPermissions: true,
    permissionPrompts: "none",
    extraArgs: MODE,
  });
  expect(words(own.args)).toEqual(words(theirs.args));
  expect(own.initialize).toEqual(theirs.initialize);
});

it("tells the servers of others by an argument, which the Agent SDK's form of it is", async () => {
  const { request } = claudeWorld({ url: "http://127.0.0.1:9" });
  const servers = { mine: { type: "stdio" as const, command: "serve" } };
  const parts = { start: { is: "new", ref: REF } as const, options: claudeOptions({}), model: undefined };
  const own = commandLine(request(), { ...parts, user: { file: "/s.json", servers } });
  const theirs = await bySdk({ ...always(own.args), sessionId: REF, mcpServers: { ...servers, ...OWN } as never });
  const told = (args: readonly string[]): string | undefined => args[args.indexOf("--mcp-config") + 1];
  expect(told(own.args)).toBe(told(theirs.args));
});

it("starts a script by Node and everything else as it is", () => {
  expect(commandOf("/opt/claude")).toEqual(["/opt/claude"]);
  expect(commandOf("/opt/claude.mjs")).toEqual(["node", "/opt/claude.mjs"]);
});

it("knows the program's words for a used-up plan, as the Agent SDK lists them", () => {
  expect(USAGE_LIMITS).toEqual(USAGE_LIMIT_ERROR_PREFIXES);
});
