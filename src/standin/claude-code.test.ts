/** The proof of the pudding: the real Claude Code program, with the stand-in as its model. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import type { Script } from "./script.ts";
import type { Standin } from "./server.ts";
import { startStandin } from "./server.ts";

/** Longer than a cold start of the program on a busy machine. */
const PROGRAM_LIMIT_MS = 150_000;
const PROGRAM = findProgram();
type Message = Record<string, unknown>;

function findProgram(): string | undefined {
  const sdk = createRequire(import.meta.url).resolve("@anthropic-ai/claude-agent-sdk");
  try {
    return createRequire(sdk).resolve(`@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/claude`);
  } catch {
    return undefined;
  }
}

const open: Standin[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((standin) => standin.close()));
});

async function claude(
  script: Script,
  { login = {}, socket = false }: { login?: Record<string, string>; socket?: boolean } = {},
) {
  const home = tempDir("claude");
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  const socketPath = socket ? join(home, "m.sock") : undefined;
  const standin = await startStandin({ script, socketPath, apiKey: Object.values(login)[0] ?? "key" });
  open.push(standin);
  const child = spawn(
    PROGRAM ?? "claude",
    ["-p", "Iteration 1: write it", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"],
    {
      cwd: workspace,
      stdio: ["ignore", "pipe", "ignore"],
      timeout: PROGRAM_LIMIT_MS,
      env: {
        PATH: process.env["PATH"],
        HOME: home,
        CLAUDE_CONFIG_DIR: join(home, ".claude"),
        CLAUDE_CODE_TMPDIR: home,
        // With the socket nothing may go to the port: this one answers nobody.
        ANTHROPIC_BASE_URL: socket ? "http://127.0.0.1:9" : standin.url,
        ...(Object.keys(login).length === 0 ? { ANTHROPIC_API_KEY: "key" } : login),
        ...(socketPath === undefined ? {} : { ANTHROPIC_UNIX_SOCKET: socketPath }),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        CLAUDE_CODE_MAX_RETRIES: "2",
        IS_SANDBOX: "1",
      },
    },
  );
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await new Promise((resolve) => child.once("close", resolve));
  const messages = output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Message);
  return { standin, workspace, messages, result: messages.findLast((message) => message["type"] === "result") };
}

const writes: Script = {
  steps: [
    {
      thinking: "a file",
      text: "writing",
      tools: [{ name: "Bash", input: { command: "printf 'grüße 🎉' > a.txt", description: "write" } }],
    },
    { text: "<promise>COMPLETE</promise>" },
  ],
};

describe.skipIf(PROGRAM === undefined)("Claude Code on the stand-in model", () => {
  it.each([false, true])("runs the tools of the script and agrees on the bill (unix socket: %s)", async (socket) => {
    const { standin, workspace, result } = await claude(writes, { socket });
    expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("grüße 🎉");
    expect(result).toMatchObject({ subtype: "success", is_error: false, result: "<promise>COMPLETE</promise>" });
    expect(standin.requests.map(({ step, tools }) => [step, ...tools])).toEqual([[0, "Bash"], [1]]);
    expect(standin.requests[1]?.billing.cacheReadTokens).toBeGreaterThan(5000);
    expect(result?.["total_cost_usd"]).toBeCloseTo(standin.billing.usd ?? Number.NaN, 6);
  });

  it("retries an overloaded model and a cut stream, and finishes", async () => {
    const { standin, messages, result } = await claude({
      steps: [{ status: 529, times: 1 }, { text: "never heard", cutSocket: "mid", times: 1 }, { text: "done" }],
    });
    expect(messages.find((message) => message["subtype"] === "api_retry")).toMatchObject({ error_status: 529 });
    expect(result).toMatchObject({ is_error: false, result: "done" });
    expect(standin.requests).toHaveLength(3);
  });

  it("meets the subscription's limit as a subscriber does", async () => {
    const { messages, result } = await claude(
      { steps: [{ usageLimitText: "limit", resetAt: 4_000_000_000 }] },
      { login: { CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-none" } },
    );
    expect(messages.find((message) => message["type"] === "rate_limit_event")).toMatchObject({
      rate_limit_info: { status: "rejected", resetsAt: 4_000_000_000 },
    });
    expect(result).toMatchObject({
      is_error: true,
      api_error_status: 429,
      result: expect.stringMatching(/^You've hit your/),
    });
  });
});
