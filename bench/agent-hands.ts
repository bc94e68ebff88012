/**
 * The programs behind pawl's agents, driven by hand: the least that speaks each one's protocol. No gateway, no metering,
 * no record, no reading of what is not needed to know that a turn has ended. The measure for what an adapter costs.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import Anthropic from "@anthropic-ai/sdk";
import { acpEnvironment } from "../src/agents/acp/environment.ts";
import { claudeProgram } from "../src/agents/claude/program.ts";
import { configToml } from "../src/agents/codex/config.ts";
import { presetEntry } from "../src/agents/command/preset-entry.ts";
import { codexAvailable } from "../src/agents/codex/program.ts";
import { opencodeAvailable } from "../src/agents/opencode/program.ts";
import { freePort } from "../src/agents/opencode/reach.ts";
import { commandEntrySchema, type CommandEntry } from "../src/spec/command-agent.ts";

type Json = Record<string, unknown>;

export interface Hand {
  /** One prompt, to the end of its turn. */
  turn(prompt: string): Promise<void>;
  end(): Promise<void>;
}

export interface Place {
  /** A folder of its own. */
  root: string;
  workspace: string;
  /** Of the stand-in. */
  url: string;
}

const GRACE_MS = 1_000;

const require = createRequire(import.meta.url);

/** The ACP agent's, run by this Node. */
export function claudeAcp(): string {
  const file = require.resolve("@agentclientprotocol/claude-agent-acp/package.json");
  const { bin } = JSON.parse(readFileSync(file, "utf8")) as { bin: Record<string, string> };
  return join(dirname(file), Object.values(bin)[0] ?? "");
}

const environment = ({ root }: Place): Record<string, string> => ({
  PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
  HOME: root,
  // Codex lays out its helpers nowhere below this.
  TMPDIR: join(root, "tmp"),
  IS_SANDBOX: "1",
  // As the adapters have it: what a program does beside the turn is not what is compared.
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  CLAUDE_CODE_DISABLE_CRON: "1",
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1",
  CLAUDE_CONFIG_DIR: join(root, "claude"),
  CODEX_HOME: join(root, "codex"),
});

interface Lines {
  send(message: Json): void;
  /** Every line that is JSON, until it has ended. */
  onLine(take: (line: Json) => void): void;
  end(): Promise<void>;
}

/** One that does not heed the request is killed. */
async function ends(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill("SIGTERM");
  const late = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
  await ended;
  clearTimeout(late);
}

function lines(command: string, args: readonly string[], at: Place & { env: Record<string, string> }): Lines {
  const env = at.env;
  const child = spawn(command, args, { cwd: at.workspace, env, stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  child.stdin.on("error", () => undefined);
  return {
    send: (message) => void child.stdin.write(`${JSON.stringify(message)}\n`),
    onLine(take) {
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.startsWith("{")) take(JSON.parse(line) as Json);
      });
    },
    async end() {
      child.stdin.end();
      await ends(child, ended);
    },
  };
}

function claude(at: Place): Promise<Hand> {
  const args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
  const more = ["--model", "claude-sonnet-5", "--permission-mode", "bypassPermissions", "--setting-sources", ""];
  const env = { ...environment(at), ANTHROPIC_BASE_URL: at.url, ANTHROPIC_API_KEY: "key" };
  const program = lines(claudeProgram({}, process.env) ?? "claude", [...args, ...more], { ...at, env });
  let over = (): void => undefined;
  program.onLine(({ type }) => {
    if (type === "result") over();
  });
  return Promise.resolve({
    async turn(prompt) {
      await new Promise<void>((resolve) => {
        over = resolve;
        program.send({ type: "user", message: { role: "user", content: prompt }, parent_tool_use_id: null });
      });
    },
    end: () => program.end(),
  });
}

/** JSON-RPC over lines. Requests of the other side get what `answer` gives. */
function rpc(program: Lines, { answer, note }: { answer: (params: Json) => Json; note: (method: string) => void }) {
  const waiting = new Map<unknown, (result: Json) => void>();
  let sent = 0;
  program.onLine(({ id, method, params, result, error }) => {
    if (typeof method === "string") {
      if (id === undefined) note(method);
      else program.send({ jsonrpc: "2.0", id, result: answer((params ?? {}) as Json) });
      return;
    }
    if (error !== undefined) throw new Error(JSON.stringify(error));
    waiting.get(id)?.((result ?? {}) as Json);
    waiting.delete(id);
  });
  return (method: string, params: Json): Promise<Json> =>
    new Promise((resolve) => {
      sent += 1;
      waiting.set(sent, resolve);
      program.send({ jsonrpc: "2.0", id: sent, method, params });
    });
}

async function codex(at: Place): Promise<Hand> {
  const home = join(at.root, "codex");
  mkdirSync(home, { recursive: true });
  // Settings as in a run: what the program leaves undone is no saving of the adapter's.
  const config = configToml({
    baseUrl: `${at.url}/v1`,
    idleTimeoutMs: 60_000,
    questions: false,
    tools: true,
    goals: false,
    servers: {},
    variables: {},
    writable: [],
    instructions: undefined,
  });
  writeFileSync(join(home, "config.toml"), config);
  const program = lines(codexAvailable({}, process.env), ["app-server"], { ...at, env: environment(at) });
  let over = (): void => undefined;
  const ask = rpc(program, {
    answer: () => ({ decision: "accept" }),
    note: (method) => {
      if (method === "turn/completed") over();
    },
  });
  await ask("initialize", { clientInfo: { name: "hand", title: "hand", version: "1" } });
  program.send({ jsonrpc: "2.0", method: "initialized" });
  const settings = { cwd: at.workspace, model: "gpt-5.5", approvalPolicy: "never", sandbox: "danger-full-access" };
  const { thread } = (await ask("thread/start", settings)) as { thread: { id: string } };
  return {
    async turn(text) {
      await new Promise<void>((resolve) => {
        over = resolve;
        void ask("turn/start", { threadId: thread.id, input: [{ type: "text", text, text_elements: [] }] });
      });
    },
    end: () => program.end(),
  };
}

/** The command agent that is measured: `codex exec`, as its preset has it. */
export function codexExec(): CommandEntry {
  const preset = presetEntry("codex-exec");
  const [, ...words] = preset.command;
  return commandEntrySchema.parse({ ...preset, command: [codexAvailable({}, process.env), ...words] });
}

/** A process for each turn, as it is meant to be used. */
function command(at: Place): Promise<Hand> {
  const home = join(at.root, "codex");
  mkdirSync(home, { recursive: true });
  for (const [name, text] of Object.entries(codexExec().files ?? {}))
    writeFileSync(join(home, name), text.replaceAll("{url}", `${at.url}/v1`));
  const env = { ...environment(at), OPENAI_API_KEY: "key", RUST_LOG: "error" };
  const words = ["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-m", "gpt-5.5"];
  let thread: string | undefined;
  return Promise.resolve({
    async turn(prompt) {
      const args = [...words, ...(thread === undefined ? [] : ["resume", thread]), "-"];
      const child = spawn(codexAvailable({}, process.env), args, {
        cwd: at.workspace,
        env,
        stdio: ["pipe", "pipe", "ignore"],
      });
      const closed = new Promise<void>((resolve) => void child.once("close", () => resolve()));
      let isDone = false;
      createInterface({ input: child.stdout }).on("line", (line) => {
        const { type, thread_id: id } = JSON.parse(line) as { type: string; thread_id?: string };
        thread ??= id;
        isDone ||= type === "turn.completed";
      });
      child.stdin.end(prompt);
      await closed;
      if (!isDone) throw new Error("codex exec did not complete its turn");
    },
    end: () => Promise.resolve(),
  });
}

/** No program: the API by its own library, and a shell for the one tool. */
function messages(at: Place): Promise<Hand> {
  const client = new Anthropic({ baseURL: at.url, apiKey: "key" });
  const conversation: Anthropic.MessageParam[] = [];
  const properties = { command: { type: "string" } };
  const tool = { name: "Bash", description: "Runs a command.", input_schema: { type: "object" as const, properties } };
  const shell = (line: string): Promise<string> =>
    new Promise((resolve) => {
      const child = spawn("/bin/sh", ["-c", line], { cwd: at.workspace, stdio: ["ignore", "pipe", "ignore"] });
      let out = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
      child.once("close", () => resolve(out));
    });
  return Promise.resolve({
    async turn(prompt) {
      conversation.push({ role: "user", content: prompt });
      for (;;) {
        const asked = { model: "claude-sonnet-5", max_tokens: 8_192, messages: conversation, tools: [tool] };
        const { content } = await client.messages.stream(asked).finalMessage();
        conversation.push({ role: "assistant", content });
        const calls = content.filter((block) => block.type === "tool_use");
        if (calls.length === 0) return;
        const results = calls.map(async ({ id, input }) => {
          const output = await shell((input as { command: string }).command);
          return { type: "tool_result" as const, tool_use_id: id, content: output };
        });
        conversation.push({ role: "user", content: await Promise.all(results) });
      }
    },
    end: () => Promise.resolve(),
  });
}

async function acp(at: Place): Promise<Hand> {
  const own = { ANTHROPIC_BASE_URL: at.url, ANTHROPIC_API_KEY: "key" };
  const { PATH = "", HOME = "" } = environment(at);
  const env = acpEnvironment({ home: at.root, environment: { PATH, HOME } }, own);
  const program = lines(process.execPath, [claudeAcp()], { ...at, env });
  const allowed = (params: Json): Json => {
    const options = (params["options"] ?? []) as { optionId: string; kind: string }[];
    const once = options.find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId: once?.optionId } };
  };
  const ask = rpc(program, { answer: allowed, note: () => undefined });
  const auth = { _meta: { gateway: true } };
  const about = await ask("initialize", { protocolVersion: 1, clientCapabilities: { auth } });
  // The same way to the model as in a run: with a key in its environment the program does more.
  const methods = (about["authMethods"] ?? []) as { id: string; _meta?: { gateway?: { protocol?: string } } }[];
  const method = methods.find(({ _meta }) => _meta?.gateway?.protocol === "anthropic");
  const gateway = { baseUrl: at.url, headers: { "x-api-key": "key" }, providerName: "hand" };
  if (method !== undefined) await ask("authenticate", { methodId: method.id, _meta: { gateway } });
  const { sessionId } = await ask("session/new", { cwd: at.workspace, mcpServers: [] });
  return {
    async turn(text) {
      await ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    },
    end: () => program.end(),
  };
}

async function opencode(at: Place): Promise<Hand> {
  const port = await freePort();
  const config = {
    provider: { anthropic: { options: { baseURL: `${at.url}/v1`, apiKey: "key" } } },
    enabled_providers: ["anthropic"],
    permission: { "*": "allow" },
    autoupdate: false,
    share: "disabled",
    snapshot: false,
    lsp: false,
  };
  const xdg = ["CONFIG", "DATA", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, join(at.root, name)]);
  const env = {
    ...environment(at),
    ...(Object.fromEntries(xdg) as Record<string, string>),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  };
  const args = ["serve", "--hostname", "127.0.0.1", "--port", String(port)];
  const child = spawn(opencodeAvailable({}, process.env), args, {
    cwd: at.workspace,
    env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<void>((resolve) => void child.once("close", () => resolve()));
  await new Promise<void>((resolve) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("listening on")) resolve();
    });
  });
  const ask = async (path: string, body: Json): Promise<Json> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Json;
  };
  const { id } = await ask("/session", { title: "hand" });
  const model = { providerID: "anthropic", modelID: "claude-sonnet-4-5" };
  return {
    async turn(text) {
      await ask(`/session/${String(id)}/message`, { model, parts: [{ type: "text", text }] });
    },
    async end() {
      await ends(child, ended);
    },
  };
}

export const HANDS: Readonly<Record<string, (at: Place) => Promise<Hand>>> = {
  claude,
  codex,
  opencode,
  acp,
  command,
  messages,
};
