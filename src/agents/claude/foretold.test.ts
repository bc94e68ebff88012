import { randomInt, randomUUID } from "node:crypto";
import { enableCompileCache } from "node:module";
import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { beforeAll, describe, expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { channel } from "../channel.ts";
import { foretold, isSame, type Asked, type Foretold } from "./foretold.ts";
import { claudeProcess } from "./process.ts";
import { claudeProgram, loadSdk } from "./sdk.ts";

/** What was kept by an earlier run of the tests is for another. */
const MODEL = `model-${randomInt(2 ** 40)}`;
const program = claudeProgram({}) ?? "";
const options = (more: Partial<Options> = {}): Options => ({
  cwd: tempDir("workspace"),
  env: { PATH: "/usr/bin", WHERE: randomUUID() },
  sessionId: randomUUID(),
  model: MODEL,
  includePartialMessages: true,
  ...more,
});
/** A process that ends by itself, soon enough. */
const sleeper = (seconds: number): Asked => ({ command: "sleep", args: [String(seconds)], cwd: "/", env: process.env });
const never: Pick<Foretold, "learn"> = { learn: () => expect.unreachable() };

/** What the real SDK asks for; nothing is started. */
async function askedBy(given: Options): Promise<Asked> {
  const { query } = await loadSdk();
  let asked: Asked | undefined;
  const spawnClaudeCodeProcess: Options["spawnClaudeCodeProcess"] = ({ command, args, cwd, env }) => {
    asked = { command, args, cwd, env };
    throw new Error("enough");
  };
  expect(() => query({ prompt: channel<never>(), options: { ...given, spawnClaudeCodeProcess } })).toThrow("enough");
  return asked ?? expect.unreachable();
}

beforeAll(() => {
  enableCompileCache(tempDir("compiled"));
});

describe("what the SDK asks for", () => {
  it("is foretold from the last time, for another conversation, place and environment", async () => {
    const first = options();
    expect(foretold(first, { program }).asked).toBeUndefined();
    foretold(first, { program }).learn(await askedBy(first));
    const second = options();
    const { asked } = foretold(second, { program });
    expect(asked).toBeDefined();
    expect(isSame(asked as Asked, await askedBy(second))).toBe(true);
  });

  it("is not foretold for other options, another program or a fork", async () => {
    const first = options({ effort: "low" });
    foretold(first, { program }).learn(await askedBy(first));
    expect(foretold(options({ effort: "low" }), { program }).asked).toBeDefined();
    expect(foretold(options({ effort: "high" }), { program }).asked).toBeUndefined();
    expect(foretold(options({ effort: "low" }), { program: "/bin/true" }).asked).toBeUndefined();
    expect(foretold(options({ effort: "low", resume: randomUUID() }), { program }).asked).toBeUndefined();
  });

  it("never names another program than the one that is wanted, whatever was kept", () => {
    const first = options({ maxTurns: 7 });
    foretold(first, { program }).learn({ command: "/bin/evil", args: [], cwd: "/", env: {} });
    expect(foretold(first, { program }).asked).toBeUndefined();
  });
});

describe("a process started ahead", () => {
  it("is the one that the SDK gets when it asks for it", async () => {
    const process = claudeProcess({ foretold: { asked: sleeper(30), ...never } });
    process.ahead();
    const child = process.spawn({ ...sleeper(30), signal: new AbortController().signal } as never);
    expect(child.killed).toBe(false);
    await process.end();
    expect(await process.exited).toBe("SIGTERM");
  });

  it("is ended when the SDK asks for another, and that one is remembered", async () => {
    const learned: Asked[] = [];
    const process = claudeProcess({ foretold: { asked: sleeper(31), learn: (asked) => void learned.push(asked) } });
    process.ahead();
    const exit = Promise.withResolvers<number | null>();
    const asked = { command: "sh", args: ["-c", "exit 7"], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
    process.spawn({ ...asked, signal: new AbortController().signal }).on("exit", (code) => exit.resolve(code));
    expect(await exit.promise).toBe(7);
    expect(await process.exited).toBe("exit code 7");
    expect(learned).toEqual([asked]);
    await process.end();
  });
});
