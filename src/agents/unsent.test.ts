/** A request that never reached its model is none: whichever agent's way to the model counts it. */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { opencodeWorld } from "../../test/support/opencode.ts";
import type { OpenRequest } from "../ports.ts";
import { meter } from "./acp/meter.ts";
import { modelWay as acpWay } from "./acp/model-way.ts";
import { modelWay as codexWay } from "./codex/model-way.ts";
import { notedTurn } from "./codex/noted.ts";
import { modelWay as commandWay } from "./command/model-way.ts";
import { modelWay as opencodeWay } from "./opencode/model-way.ts";

const SESSION = "ses_1";
/** Nobody listens there, and unlike a port that was free a moment ago nobody can be given it. */
const nowhere = "http://127.0.0.1:9";
let request: OpenRequest;

beforeAll(() => {
  request = opencodeWorld().request();
  mkdirSync(request.home);
});

async function askInVain(url: string): Promise<void> {
  const asked = { method: "POST", headers: { "x-session-affinity": SESSION }, body: "{}" };
  await expect(fetch(url, asked)).rejects.toThrow("fetch failed");
}

it("on an ACP agent's", async () => {
  const way = acpWay({ ...request, environment: { OPENAI_BASE_URL: nowhere, OPENAI_API_KEY: "key" } });
  onTestFinished(() => way.close());
  const spent = meter({ isSeen: true });
  const told: unknown[] = [];
  const limit = { limit: 1, onLimit: () => told.push("limit") };
  way.begin({ meter: spent, ...limit, onLeave: () => told.push(spent.usage().requests), news: () => undefined });
  const { logins } = await way.reached();
  for (const _ of [1, 2]) await askInVain(`${logins[0]?.baseUrl}/responses`);
  // Counted as it leaves, in case nobody lives to see more; two of them do not reach a limit of one.
  expect([told, spent.usage()]).toEqual([[1, 1], expect.objectContaining({ requests: 0, usd: 0 })]);
});

it("on Codex's", async () => {
  const login = { upstream: nowhere, headers: () => ({}) } as unknown as Parameters<typeof codexWay>[1];
  const way = codexWay(request, login, {});
  onTestFinished(() => way.close());
  const uuid = randomUUID();
  way.begin({ uuid, limit: 1, onLimit: () => undefined, after: undefined });
  const { baseUrl } = await way.reached();
  for (const _ of [1, 2]) await askInVain(`${baseUrl}/responses`);
  expect([way.requests(), notedTurn(request.home, uuid)]).toEqual([0, { requests: 0, answers: [] }]);
});

it("on opencode's", async () => {
  const login = { provider: "anthropic", upstream: nowhere, key: () => "key" };
  const logins = [login] as unknown as Parameters<typeof opencodeWay>[1]["logins"];
  const way = opencodeWay(request, { logins, user: {} });
  onTestFinished(() => way.close());
  way.begin(SESSION, { limit: 1, onLimit: () => undefined, onSpent: () => undefined });
  const { urls } = await way.reached(["anthropic"]);
  for (const _ of [1, 2]) await askInVain(`${urls.get("anthropic")?.url}/messages`);
  expect(way.requests(SESSION)).toBe(0);
});

it("on a command's", async () => {
  const gateway = { url: "URL", key: "KEY", upstream: nowhere, header: "authorization", requests: ["/chat"] } as const;
  const way = commandWay(request, { gateway: { ...gateway, requests: ["/chat"] }, user: {} });
  onTestFinished(() => way.close());
  const noted: string[] = [];
  way.begin({
    limit: 1,
    onRequest: () => noted.push("request"),
    onUnsent: () => noted.push("unsent"),
    onSpent: () => undefined,
    wake: () => undefined,
  });
  const reached = await way.reached();
  for (const _ of [1, 2]) await askInVain(`${reached?.url}/chat/completions`);
  expect([way.requests(), noted]).toEqual([0, ["request", "unsent", "request", "unsent"]]);
});
