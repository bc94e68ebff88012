import { randomInt, randomUUID } from "node:crypto";
import { enableCompileCache } from "node:module";
import { createInterface } from "node:readline";
import type { Options, SDKUserMessage, SpawnedProcess } from "@anthropic-ai/claude-agent-sdk";
import { beforeAll, describe, expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { channel } from "../channel.ts";
import { foretold, isSame, type Asked, type Foretold } from "./foretold.ts";
import { helloLine, messageLine, type Opening } from "./opening.ts";
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
const never: Omit<Foretold, "asked"> = { opening: undefined, append: "", learn: () => expect.unreachable() };

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

/** Says again what it hears, each line as the answer to a request. */
const parrot: Asked = {
  command: process.execPath,
  args: [
    "-e",
    `require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
       const { request_id, uuid } = JSON.parse(line);
       console.log(JSON.stringify({ type: "control_response", response: { request_id, uuid } }));
     })`,
  ],
  cwd: "/",
  env: { PATH: process.env["PATH"] },
};
const OPENING = { request: { subtype: "initialize", appendSystemPrompt: "" }, extra: { client_composed: true } };
const first = (): SDKUserMessage => ({
  type: "user",
  message: { role: "user", content: "do it" },
  parent_tool_use_id: null,
  uuid: randomUUID(),
});
const signal = new AbortController().signal;
const lines = (child: SpawnedProcess): AsyncIterator<string> =>
  createInterface({ input: child.stdout })[Symbol.asyncIterator]();

describe("what is said ahead of the SDK", () => {
  const learned: { asked: Asked; opening: Opening | undefined }[] = [];
  const known = (opening: Opening | undefined): Foretold => ({
    asked: parrot,
    opening,
    append: "be brief",
    learn: (asked, said) => void learned.push({ asked, opening: said }),
  });
  const sdkHello = (append = "be brief"): string => helloLine(OPENING, { id: "theirs", append });

  it("is said once, and its answer is that to the SDK's own request", async () => {
    const child = claudeProcess({ foretold: known(OPENING) });
    expect(child.ahead()).toBe("spoken-to");
    const message = first();
    child.say(message);
    const given = child.spawn({ ...parrot, signal } as never);
    given.stdin.write(sdkHello());
    given.stdin.write('{"request_id":"another"}\n');
    given.stdin.write(messageLine(OPENING, message));
    given.stdin.write('{"uuid":"later"}\n');
    const heard = lines(given);
    const said = [];
    for (let i = 0; i < 4; i += 1) said.push(JSON.parse((await heard.next()).value as string) as { response: object });
    expect(said.map(({ response }) => response)).toEqual([
      { request_id: "theirs" },
      { uuid: message.uuid },
      { request_id: "another" },
      { uuid: "later" },
    ]);
    await child.end();
  });

  it("is learned from what the SDK says, for the next time", async () => {
    learned.length = 0;
    const child = claudeProcess({ foretold: { ...known(undefined), asked: undefined } });
    expect(child.ahead()).toBe("nothing");
    await child.needsSdk;
    const message = first();
    child.say(message);
    const given = child.spawn({ ...parrot, signal } as never);
    given.stdin.write(sdkHello());
    given.stdin.write(messageLine(OPENING, message));
    expect(learned.map(({ opening }) => opening && helloLine(opening, { id: "i", append: "" }))).toEqual([
      undefined,
      helloLine(OPENING, { id: "i", append: "" }),
    ]);
    await child.end();
  });

  it("ends the process when the SDK says something else, which is then not foretold any more", async () => {
    learned.length = 0;
    const child = claudeProcess({ foretold: known(OPENING) });
    child.ahead();
    const given = child.spawn({ ...parrot, signal } as never);
    given.stdin.write(sdkHello("be long"));
    expect(await child.exited).toBe("SIGTERM");
    expect(learned.map(({ opening }) => opening)).toEqual([undefined]);
    await child.end();
  });

  it("lets no other process be started for what may have been answered already", async () => {
    const child = claudeProcess({ foretold: known(OPENING) });
    child.ahead();
    child.say(first());
    expect(() => child.spawn({ ...sleeper(32), signal } as never)).toThrow("another start");
    await child.end();
  });

  it("calls for the SDK when the program ends", async () => {
    const child = claudeProcess({ foretold: { ...known(OPENING), asked: { ...parrot, args: ["-e", "0"] } } });
    child.ahead();
    await child.needsSdk;
    await child.end();
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
    const process = claudeProcess({
      foretold: { ...never, asked: sleeper(31), learn: (asked) => void learned.push(asked) },
    });
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
