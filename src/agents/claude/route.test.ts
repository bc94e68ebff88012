import { expect, it } from "vitest";
import { gatewayEnvironment, modelRoute } from "./route.ts";

const TOKEN = "0123456789abcdef";
const gateway = { url: `http://127.0.0.1:5/${TOKEN}`, token: TOKEN };

function headersFor(login: Record<string, string>, sent: Record<string, string>) {
  const route = modelRoute(login, "24.21.0");
  if (route.is === "direct") throw new Error("direct");
  return route.to.headers(sent, TOKEN);
}

it.for([
  ["a cloud", { CLAUDE_CODE_USE_BEDROCK: "1", ANTHROPIC_API_KEY: "k" }],
  ["a socket of the user's own", { ANTHROPIC_UNIX_SOCKET: "/m.sock", ANTHROPIC_API_KEY: "k" }],
  ["a client certificate", { CLAUDE_CODE_CLIENT_CERT: "/c.pem", ANTHROPIC_API_KEY: "k" }],
  ["an address that is none", { ANTHROPIC_BASE_URL: "nowhere", ANTHROPIC_API_KEY: "k" }],
] as [string, Record<string, string>][])("goes directly with %s", ([, login]) => {
  expect(modelRoute(login)).toEqual({ is: "direct" });
});

it("goes through a proxy where Node can, else directly", () => {
  const login = { HTTPS_PROXY: "http://proxy:3128", ANTHROPIC_API_KEY: "k" };
  const ways = ["22.18.0", "22.21.0", "23.9.0", "24.4.1", "24.5.0", "26.0.0"].map((node) => modelRoute(login, node).is);
  expect(ways).toEqual(["direct", "gateway", "direct", "direct", "gateway", "gateway"]);
  expect(modelRoute({ ANTHROPIC_API_KEY: "k" }, "22.18.0").is).toBe("gateway");
});

it("puts each key in place of the token in its own header, and adds the user's headers", () => {
  const login = {
    ANTHROPIC_API_KEY: "the-key",
    ANTHROPIC_AUTH_TOKEN: "the-bearer",
    ANTHROPIC_CUSTOM_HEADERS: "X-Team: blue\nbroken\n X-Pass : a:b ",
  };
  expect(headersFor(login, { "x-api-key": TOKEN, authorization: `Bearer ${TOKEN}`, "x-app": "cli" })).toEqual({
    "x-api-key": "the-key",
    authorization: "Bearer the-bearer",
    "x-app": "cli",
    "x-team": "blue",
    "x-pass": "a:b",
  });
});

it("passes a login that the program keeps itself as it is", () => {
  const sent = { authorization: "Bearer oauth", "x-app": "cli" };
  expect(headersFor({ CLAUDE_CODE_OAUTH_TOKEN: "oauth" }, sent)).toEqual(sent);
  expect(headersFor({}, sent)).toEqual(sent);
});

it("leaves no secret in the program's environment when there is a key", () => {
  const login = {
    ANTHROPIC_API_KEY: "secret-1",
    ANTHROPIC_AUTH_TOKEN: "secret-2",
    CLAUDE_CODE_OAUTH_TOKEN: "secret-3",
    ANTHROPIC_CUSTOM_HEADERS: "X-Pass: secret-4",
    ANTHROPIC_FOUNDRY_API_KEY: "secret-5",
    ANTHROPIC_MODEL: "m",
    ANTHROPIC_BASE_URL: "http://model.example/base",
  };
  expect(gatewayEnvironment(login, { gateway, socket: undefined })).toEqual({
    ANTHROPIC_API_KEY: TOKEN,
    ANTHROPIC_AUTH_TOKEN: TOKEN,
    ANTHROPIC_MODEL: "m",
    ANTHROPIC_BASE_URL: gateway.url,
  });
});

it("keeps a subscription's token, which the program must send itself", () => {
  const environment = gatewayEnvironment({ CLAUDE_CODE_OAUTH_TOKEN: "t" }, { gateway, socket: undefined });
  expect(environment).toEqual({
    CLAUDE_CODE_OAUTH_TOKEN: "t",
    ANTHROPIC_BASE_URL: gateway.url,
    _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1",
  });
});

it("keeps the user's proxy off the way to the gateway", () => {
  const login = { ANTHROPIC_API_KEY: "k", HTTPS_PROXY: "http://proxy:3128", NO_PROXY: "intern" };
  expect(gatewayEnvironment(login, { gateway, socket: undefined })).toMatchObject({
    HTTPS_PROXY: "http://proxy:3128",
    NO_PROXY: "intern,127.0.0.1",
    no_proxy: "intern,127.0.0.1",
  });
});
