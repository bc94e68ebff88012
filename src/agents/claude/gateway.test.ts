/** The real program behind the gateway: what it has, what it sends, and when its requests leave. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import {
  claudeWorld,
  promptFor,
  slowClock,
  startScriptedModel,
  type ClaudeWorld,
} from "../../../test/support/claude.ts";
import { shownOf, taggedProcesses } from "../../../test/support/processes.ts";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import { openGateway, type HeldRequest } from "../../platform/gateway.ts";
import type { OpenRequest } from "../../ports.ts";
import type { Step } from "../../standin/script.ts";
import { claude } from "../claude.ts";
import { configDirectory } from "./environment.ts";
import { needOf } from "./gate.ts";
import { subagentFile, transcriptOf } from "./transcript.ts";

const bash = (command: string): Step => ({ text: "On it.", tools: [{ name: "Bash", input: { command } }] });

/** A model whose requests can be looked at in the moment they arrive. */
async function watchedModel(onRequest: (request: HeldRequest) => void, apiKey?: string) {
  const model = await startScriptedModel(apiKey === undefined ? {} : { apiKey });
  const front = await openGateway({
    upstream: model.standin.url,
    paths: ["/v1/"],
    listen: { port: 0 },
    headers: (sent) => sent,
    beforeForward: async (request) => onRequest(request),
    onFailure: () => undefined,
    environment: {},
  });
  onTestFinished(async () => {
    await front.close();
    await model.standin.close();
  });
  return { ...model, url: front.url };
}

async function opened(world: ClaudeWorld) {
  const session = await world.agent.open(world.request());
  onTestFinished(() => session.close());
  return session;
}

describe("what the program has of the login", () => {
  const KEY = "sk-ant-api03-of-the-user";
  const stored = JSON.stringify({
    claudeAiOauth: {
      accessToken: KEY,
      refreshToken: "r",
      expiresAt: Date.now() + 3_600_000,
      scopes: ["user:inference"],
    },
  });
  it.for([
    ["ANTHROPIC_API_KEY", { ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_OAUTH_TOKEN: "other" }, "x-api-key", false],
    ["ANTHROPIC_AUTH_TOKEN", { ANTHROPIC_AUTH_TOKEN: KEY }, "authorization", false],
    [
      "ANTHROPIC_CUSTOM_HEADERS",
      { ANTHROPIC_API_KEY: "k", ANTHROPIC_CUSTOM_HEADERS: `X-Pass: ${KEY}` },
      "x-pass",
      false,
    ],
    ["CLAUDE_CODE_OAUTH_TOKEN", { CLAUDE_CODE_OAUTH_TOKEN: KEY }, "authorization", true],
    ["the stored login", { HOME: "" }, "authorization", false],
  ] as [string, Record<string, string>, string, boolean][])(
    "%s reaches the model with every request",
    async ([, login, header, inEnvironment]) => {
      const sent: (string | string[] | undefined)[] = [];
      const { url } = await watchedModel(({ headers }) => sent.push(headers[header]));
      const home = tempDir("login");
      writeFiles(home, { ".claude/.credentials.json": stored });
      const own = "HOME" in login ? { HOME: home } : { HOME: tempDir("nobody"), ...login };
      const world = claudeWorld({ url, login: own });
      const session = await opened(world);
      const { end } = await play(session, promptFor([bash("env > env.txt; sleep 0.1"), { text: "Done." }]));
      expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Done." });
      expect(sent).toHaveLength(2);
      expect(sent.filter((value) => !String(value).endsWith(KEY))).toEqual([]);
      // One that has ended meanwhile shows nothing.
      const environs = taggedProcesses("PAWL_RUN", world.run)
        .map(shownOf)
        .filter((shown) => shown.includes(world.run));
      const tool = readFileSync(join(world.workspace, "env.txt"), "utf8");
      expect(environs.length).toBeGreaterThan(0);
      expect([...environs, tool].map((text) => text.includes(KEY))).toEqual([
        ...environs.map(() => inEnvironment),
        inEnvironment && tool.includes(KEY),
      ]);
    },
  );
});

it("sends nothing before what it is built on is in the transcript, of subagents too (F1)", async () => {
  onTestFinished(slowClock());
  const early: string[] = [];
  let looked = 0;
  const { url, seen } = await watchedModel(({ headers, body }) => {
    const { home, session } = world.request();
    const agent = headers["x-claude-code-agent-id"];
    const own = transcriptOf(configDirectory(home), session.ref) ?? "";
    const file = typeof agent === "string" ? subagentFile(own, agent) : own;
    const need = needOf((JSON.parse(body.toString()) as { messages: [] }).messages);
    if (need.is !== "results") return;
    looked += 1;
    const written = readFileSync(file, "utf8");
    early.push(...need.ids.filter((id) => !written.includes(`"tool_use_id":"${id}"`)));
  });
  const world = claudeWorld({ url });
  const session = await opened(world);
  const sub = promptFor([bash("echo in"), bash("echo deeper"), { text: "Found." }]);
  const agent = { name: "Agent", input: { description: "look", prompt: sub, subagent_type: "general-purpose" } };
  const steps = [bash("echo 1"), { tools: [...(bash("echo 2").tools ?? []), ...(bash("echo 3").tools ?? [])] }];
  const { end, events } = await play(
    session,
    promptFor([...steps, { tools: [agent] }, bash("echo 4"), { text: "Main." }]),
  );
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Main." });
  await play(session, promptFor([bash("echo 5"), { text: "Again." }]));
  expect(early).toEqual([]);
  expect([looked, seen.length]).toEqual([7, 10]);
  expect(events.filter((event) => event.type === "notice")).toEqual([]);
});

it("works over a socket in its home, without a way to any port", async () => {
  const model = await startScriptedModel({ apiKey: "the-key" });
  onTestFinished(() => model.standin.close());
  const world = claudeWorld({ url: model.standin.url });
  const userEnvironment = { ANTHROPIC_BASE_URL: model.standin.url, ANTHROPIC_API_KEY: "the-key" };
  const folder = tempDir("sockets");
  const request = (): OpenRequest => ({ ...world.request(), sockets: { folder, at: folder } });
  const session = await opened({ ...world, request, agent: claude({ userEnvironment }) });
  const { end } = await play(session, promptFor([bash("env > env.txt"), { text: "Through." }]));
  expect(end).toMatchObject({ outcome: { is: "done" }, finalText: "Through." });
  const tool = readFileSync(join(world.workspace, "env.txt"), "utf8");
  expect(tool).not.toContain("the-key");
  expect(tool).not.toContain(model.standin.url);
});

it("leaves the user's proxy to the gateway", async () => {
  const model = await startScriptedModel();
  const asked: string[] = [];
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? "");
    const { pathname, search } = new URL(request.url ?? "");
    const { method, headers } = request;
    request.pipe(
      httpRequest(`${model.standin.url}${pathname}${search}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      }),
    );
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await model.standin.close();
  });
  const HTTP_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const login = { ANTHROPIC_API_KEY: "key", HTTP_PROXY, http_proxy: HTTP_PROXY };
  const session = await opened(claudeWorld({ url: "http://model.invalid", login }));
  expect((await play(session, promptFor([{ text: "By proxy." }]))).end.finalText).toBe("By proxy.");
  expect(asked).toEqual(["http://model.invalid/v1/messages?beta=true"]);
});

it("can all it could without the gateway when its own model is behind it", async () => {
  const betas = new Map<string, string>();
  const { url } = await watchedModel(({ headers, body }) => {
    const name = body.includes("As its own.") ? "own" : "other";
    betas.set(name, String(headers["anthropic-beta"]));
  });
  const asked = async (text: string, environment: Record<string, string>): Promise<void> => {
    const world = claudeWorld({ url });
    const request = world.request();
    const session = await world.agent.open({ ...request, environment: { ...request.environment, ...environment } });
    onTestFinished(() => session.close());
    expect((await play(session, promptFor([{ text }]))).end.outcome).toEqual({ is: "done" });
  };
  await Promise.all([
    asked("As another's.", {}),
    asked("As its own.", { _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" }),
  ]);
  const [own, other] = ["own", "other"].map((name) => betas.get(name)?.split(",") ?? []);
  expect(own?.length).toBeGreaterThan(other?.length ?? 0);
  expect(other?.filter((beta) => own?.includes(beta) !== true)).toEqual([]);
});

it("is cut off from the model when its session is closed", async () => {
  const { url } = await watchedModel(() => undefined);
  const world = claudeWorld({ url });
  const session = await opened(world);
  await play(session, promptFor([bash('printf %s "$ANTHROPIC_BASE_URL" > url.txt'), { text: "Done." }]));
  const base = readFileSync(join(world.workspace, "url.txt"), "utf8");
  expect((await fetch(`${base}/v1/messages/count_tokens`, { method: "POST", body: "{}" })).status).toBeLessThan(500);
  await session.close();
  await expect(fetch(`${base}/v1/models`)).rejects.toThrow("fetch failed");
});
