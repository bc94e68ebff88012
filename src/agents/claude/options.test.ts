import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { UsageError } from "../../errors.ts";
import { claudeOptions, readMcpServers } from "./options.ts";

it("bypasses permissions unless told otherwise, and passes the rest on", () => {
  expect(claudeOptions({})).toEqual({
    tools: undefined,
    maxTurns: undefined,
    permissions: "bypassPermissions",
    plugins: [],
    mcp: [],
    effort: undefined,
    bin: undefined,
    extra: {},
    userSettings: false,
  });
  const given = { tools: "Bash, Read", maxTurns: 3, permissions: "acceptEdits", effort: "high", bin: "/opt/claude" };
  expect(claudeOptions(given)).toMatchObject({ ...given, tools: ["Bash", "Read"] });
});

it("reads everything after -- as options of the program", () => {
  expect(claudeOptions({ extra: ["--betas", "a,b", "--verbose", "--add-dir=/x y", "--flag"] }).extra).toEqual({
    betas: "a,b",
    verbose: null,
    "add-dir": "/x y",
    flag: null,
  });
});

it.each([
  ["an unknown option", { colour: "red" }, "it knows: tools"],
  ["an unknown permission mode", { permissions: "yolo" }, "one of: bypassPermissions"],
  ["an unknown effort", { effort: 3 }, "one of: low"],
  ["a limit that is no number", { maxTurns: "many" }, "whole number"],
  ["a limit of nothing", { maxTurns: 0 }, "whole number"],
  ["a program that is no path", { bin: "" }, undefined],
  ["a word that is no option", { extra: ["hello"] }, "--name value"],
  ["a flag that pawl needs itself", { extra: ["--resume", "x"] }, undefined],
  ["a budget that would block the session", { extra: ["--max-budget-usd", "1"] }, undefined],
  ["MCP servers past pawl's own option", { extra: ["--mcp-config", "x"] }, undefined],
  ["another who answers for permissions", { extra: ["--permission-prompts", "none"] }, undefined],
  ["a flag given twice", { extra: ["--a", "--a"] }, "commas"],
])("refuses %s", (_, options, hint) => {
  let thrown: unknown;
  try {
    claudeOptions(options);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(UsageError);
  if (hint !== undefined) expect((thrown as UsageError).hint).toContain(hint);
});

it("asks for everything but edits when somebody or a policy is to answer, unless another mode is given", () => {
  expect(claudeOptions({}, { permissions: "ask", questions: "deny" }).permissions).toBe("acceptEdits");
  expect(claudeOptions({}, { permissions: "deny", questions: "ask" }).permissions).toBe("acceptEdits");
  expect(claudeOptions({}, { permissions: "allow", questions: "ask" }).permissions).toBe("bypassPermissions");
  const given = { permissions: "default" };
  expect(claudeOptions(given, { permissions: "ask", questions: "ask" }).permissions).toBe("default");
});

it.each([
  ["bypassPermissions", { permissions: "ask", questions: "deny" }],
  ["bypassPermissions", { permissions: "deny", questions: "deny" }],
  ["dontAsk", { permissions: "ask", questions: "deny" }],
  ["dontAsk", { permissions: "allow", questions: "ask" }],
] as const)("refuses mode %s with the policy %j: nobody would ever be asked", (permissions, ask) => {
  expect(() => claudeOptions({ permissions }, ask)).toThrow(`contradicts --permissions ${permissions}`);
});

it("refuses a user's MCP server with the name of pawl's own", () => {
  const root = tempDir("mcp");
  writeFileSync(join(root, "a.json"), '{"mcpServers":{"pawl":{"command":"x"}}}');
  expect(() => readMcpServers(["a.json"], root)).toThrow("a.json has a server named pawl");
});

it("joins the servers of MCP files and names the file that is wrong", () => {
  const root = tempDir("mcp");
  writeFileSync(join(root, "a.json"), '{"mcpServers":{"one":{"command":"x"}}}');
  writeFileSync(join(root, "b.json"), "[]");
  expect(readMcpServers(["a.json"], root)).toEqual({ one: { command: "x" } });
  expect(() => readMcpServers(["a.json", "b.json"], root)).toThrow("b.json has no mcpServers");
  expect(() => readMcpServers(["missing.json"], root)).toThrow("missing.json cannot be read");
});
