import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { opencodeWorld } from "../../../test/support/opencode.ts";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import { sessionRules } from "./config.ts";
import { opencodeLogins, subscriptions } from "./login.ts";
import { readMcpServers } from "./mcp.ts";
import { modelNamed } from "./model.ts";
import { opencodeOptions } from "./options.ts";

it("reads its options, and takes the names of all editors for the one permission they are", () => {
  const tools = ["write", "edit", "bash", "github_create_issue"];
  expect(opencodeOptions({ tools, maxTurns: 3, permissions: "plan", effort: "high" })).toMatchObject({
    tools: ["edit", "bash", "github_create_issue"],
    maxTurns: 3,
    agent: "plan",
    effort: "high",
  });
});

it.each([
  [{ tools: ["Telepathy"] }, "--tools Telepathy"],
  [{ maxTurns: 0 }, "--agent-max-turns"],
  [{ permissions: "bypassPermissions" }, "--permissions"],
  [{ plugins: ["x"] }, "--plugin"],
  [{ extra: ["--print-logs"] }, "--: opencode"],
  [{ server: "localhost:4096" }, "--agent-server"],
  [{ server: "http://127.0.0.1:4096", tools: ["bash"] }, "--tools cannot be had with --agent-server"],
  [{ wings: true }, "wings"],
])("refuses %j and names it", (options, words) => {
  expect(() => opencodeOptions(options)).toThrow(words);
});

it("denies what --tools does not name, and questions when nobody is asked; the last rule counts", () => {
  const request = opencodeWorld().request();
  const last = (options: Parameters<typeof opencodeOptions>[0], permission: string): string | undefined =>
    sessionRules(request, opencodeOptions(options)).findLast((rule) => [permission, "*"].includes(rule.permission))
      ?.action;
  expect(last({}, "bash")).toBe("allow");
  expect(last({}, "question")).toBe("deny");
  expect(last({ tools: ["read"] }, "bash")).toBe("deny");
  expect(last({ tools: ["read"] }, "pawl_done")).toBe("allow");
  expect(last({ permissions: "plan" }, "edit")).toBe("deny");
});

it("finds keys in the environment and in opencode's own store, and keeps to what a key can sign", () => {
  const home = tempDir("login");
  const stored = { openai: { type: "api", key: "stored" }, anthropic: { type: "oauth", access: "x" } };
  writeFiles(home, { ".local/share/opencode/auth.json": JSON.stringify(stored) });
  const user = { HOME: home, GROQ_API_KEY: "g", OPENAI_BASE_URL: "http://127.0.0.1:1/v1/" };
  const logins = opencodeLogins(user);
  expect(logins.map(({ provider }) => provider)).toEqual(["openai", "groq"]);
  expect(logins[0]).toMatchObject({ upstream: "http://127.0.0.1:1/v1" });
  expect(logins[0]?.key()).toBe("stored");
  const renewed = { openai: { type: "api", key: "renewed" } };
  writeFileSync(join(home, ".local/share/opencode/auth.json"), JSON.stringify(renewed));
  expect(logins[0]?.key()).toBe("renewed");
  writeFileSync(join(home, ".local/share/opencode/auth.json"), JSON.stringify(stored));
  expect(subscriptions(user)).toEqual(["anthropic"]);
  expect(opencodeLogins({ HOME: "/nowhere", ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "http://h" })[0]).toMatchObject(
    {
      upstream: "http://h/v1",
    },
  );
});

it("finds the provider of a model, also of one that is named without", () => {
  const logins = opencodeLogins({ HOME: "/nowhere", ANTHROPIC_API_KEY: "a", OPENROUTER_API_KEY: "r" });
  expect(modelNamed("openrouter/qwen/qwen3:free", { logins })).toEqual({
    providerID: "openrouter",
    modelID: "qwen/qwen3:free",
  });
  expect(modelNamed("claude-opus-5-5", { logins })).toEqual({ providerID: "anthropic", modelID: "claude-opus-5-5" });
  expect(() => modelNamed("openai/gpt-5", { logins })).toThrow("no login for openai");
  expect(() => modelNamed("nobody/x", { logins })).toThrow("nobody/x");
  expect(modelNamed("nobody/x", { logins: [], any: true })).toEqual({ providerID: "nobody", modelID: "x" });
});

it("turns the usual MCP files into its own words", () => {
  const folder = tempDir("mcp");
  const mcpServers = {
    files: { command: "files-mcp", args: ["--root", "."], env: { A: "1" } },
    web: { type: "http", url: "http://127.0.0.1:1/mcp", headers: { h: "v" } },
  };
  writeFiles(folder, { "mcp.json": JSON.stringify({ mcpServers }), "bad.json": "{}", "own.json": OWN });
  expect(readMcpServers(["mcp.json"], folder)).toEqual({
    files: { type: "local", command: ["files-mcp", "--root", "."], environment: { A: "1" } },
    web: { type: "remote", url: "http://127.0.0.1:1/mcp", headers: { h: "v" }, oauth: false },
  });
  expect(() => readMcpServers(["bad.json"], folder)).toThrow("no mcpServers");
  expect(() => readMcpServers(["own.json"], folder)).toThrow("pawl's own");
  expect(() => readMcpServers(["none.json"], folder)).toThrow("cannot be read");
});

const OWN = JSON.stringify({ mcpServers: { pawl: { command: "x" } } });
