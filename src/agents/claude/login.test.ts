import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { claudeLogin, loginEnvironment } from "./login.ts";

function homeWithLogin(): string {
  const home = tempDir("home");
  mkdirSync(join(home, ".claude"));
  writeFileSync(join(home, ".claude", ".credentials.json"), '{"claudeAiOauth":{"accessToken":"t"}}');
  return home;
}

it("finds a login in the order in which Claude Code uses it", () => {
  const HOME = homeWithLogin();
  const key = { HOME, ANTHROPIC_API_KEY: "secret-key" };
  expect(claudeLogin({ ...key, CLAUDE_CODE_USE_BEDROCK: "1" }, "linux")).toMatchObject({ kind: "cloud" });
  expect(claudeLogin({ ...key, CLAUDE_CODE_USE_BEDROCK: "0" }, "linux")).toMatchObject({ kind: "api-key" });
  expect(claudeLogin({ HOME, CLAUDE_CODE_OAUTH_TOKEN: "x" }, "linux")).toMatchObject({ kind: "oauth-token" });
  expect(claudeLogin({ HOME, ANTHROPIC_AUTH_TOKEN: "x" }, "linux")).toMatchObject({ kind: "auth-token" });
  expect(claudeLogin({ HOME }, "linux")).toMatchObject({ kind: "credentials-file" });
  expect(claudeLogin({ HOME: tempDir("home") }, "linux")).toBeUndefined();
  expect(claudeLogin({ HOME: tempDir("home") }, "darwin")).toMatchObject({ kind: "keychain" });
});

it("describes a login without its secret", () => {
  const login = claudeLogin({ HOME: "/nowhere", ANTHROPIC_API_KEY: "secret-key" });
  expect(JSON.stringify(login)).not.toContain("secret-key");
});

it("does not take a broken or empty credentials file for a login", () => {
  const home = homeWithLogin();
  writeFileSync(join(home, ".claude", ".credentials.json"), "{}");
  expect(claudeLogin({ HOME: home }, "linux")).toBeUndefined();
  writeFileSync(join(home, ".claude", ".credentials.json"), "{");
  expect(claudeLogin({ HOME: home }, "linux")).toBeUndefined();
});

it("carries login, endpoint and proxies, and nothing else of the user's environment", () => {
  const environment = loginEnvironment(
    {
      HOME: "/users/u",
      ANTHROPIC_API_KEY: "k",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
      ANTHROPIC_UNIX_SOCKET: "/m.sock",
      HTTPS_PROXY: "http://proxy",
      no_proxy: "localhost",
      AWS_SECRET_ACCESS_KEY: "aws",
      GITHUB_TOKEN: "gh",
      CLAUDE_CODE_EXTRA_BODY: "{}",
      NODE_OPTIONS: "--require evil",
    },
    "linux",
  );
  expect(environment).toEqual({
    ANTHROPIC_API_KEY: "k",
    ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
    ANTHROPIC_UNIX_SOCKET: "/m.sock",
    HTTPS_PROXY: "http://proxy",
    no_proxy: "localhost",
    CLAUDE_SECURESTORAGE_CONFIG_DIR: "/users/u/.claude",
  });
});

it("carries a cloud's own login only when that cloud is used", () => {
  const user = { HOME: "/h", AWS_PROFILE: "dev", GOOGLE_APPLICATION_CREDENTIALS: "/g", CLAUDE_CODE_USE_BEDROCK: "1" };
  const environment = loginEnvironment(user, "linux");
  expect(environment).toMatchObject({ AWS_PROFILE: "dev", CLAUDE_CODE_USE_BEDROCK: "1" });
  expect(environment).not.toHaveProperty("GOOGLE_APPLICATION_CREDENTIALS");
});

it("names the store of the user's login as macOS and a moved config directory need it", () => {
  const store = (user: Record<string, string>, platform: NodeJS.Platform) =>
    loginEnvironment(user, platform)["CLAUDE_SECURESTORAGE_CONFIG_DIR"];
  expect(store({ HOME: "/h" }, "darwin")).toBe("");
  expect(store({ HOME: "/h", CLAUDE_CONFIG_DIR: "/c" }, "darwin")).toBe("/c");
  expect(store({ HOME: "/h", CLAUDE_CONFIG_DIR: "/c" }, "linux")).toBe("/c");
});
