import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { play } from "../../../test/contracts/agent-play.ts";
import { claudeWorld, promptFor, startScriptedModel } from "../../../test/support/claude.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { UsageError } from "../../errors.ts";
import { acpOptions } from "../acp/options.ts";
import { codexOptions } from "../codex/options.ts";
import { opencodeOptions } from "../opencode/options.ts";
import { readUserSettings } from "./user-settings.ts";

/** A home with settings of a person who uses Claude Code. */
function userHome(settings: object, known: object = {}): string {
  const home = tempDir("user");
  mkdirSync(join(home, ".claude"));
  writeFileSync(join(home, ".claude/settings.json"), JSON.stringify(settings));
  writeFileSync(join(home, ".claude.json"), JSON.stringify(known));
  return home;
}

it("takes hooks, rules, variables and servers, and nothing of how to sign in, where the model is or what pawl decides", () => {
  const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "true" }] }] };
  const home = userHome(
    {
      hooks,
      model: "opus",
      apiKeyHelper: "get-key",
      cleanupPeriodDays: 1,
      env: { EDITOR: "vi", ANTHROPIC_BASE_URL: "http://x", https_proxy: "http://y" },
      permissions: { deny: ["WebFetch"], defaultMode: "plan" },
    },
    {
      oauthAccount: { secret: 1 },
      mcpServers: { a: { command: "a" } },
      projects: { "/p": { mcpServers: { b: { command: "b" } } } },
    },
  );
  expect(readUserSettings({ HOME: home }, { project: "/p" })).toEqual({
    settings: { hooks, model: "opus", env: { EDITOR: "vi" }, permissions: { deny: ["WebFetch"] } },
    servers: { a: { command: "a" }, b: { command: "b" } },
  });
  expect(readUserSettings({ HOME: tempDir("empty") }, { project: "/p" })).toEqual({ settings: {}, servers: {} });
  writeFileSync(join(home, ".claude/settings.json"), "{");
  expect(() => readUserSettings({ HOME: home }, { project: "/p" })).toThrow(
    /^--user-settings: .*settings\.json cannot be read as Claude Code's settings$/,
  );
});

it("runs the user's hooks and sets their variables in the real program only where a run asks for it", async () => {
  const model = await startScriptedModel();
  onTestFinished(() => model.standin.close());
  const hook = { type: "command", command: "echo hooked >> hooks.txt" };
  const home = userHome({
    hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] },
    env: { COLOUR_OF_USER: "blue" },
  });
  const command = "echo colour: $COLOUR_OF_USER >> hooks.txt";
  const steps = promptFor([{ tools: [{ name: "Bash", input: { command } }] }, { text: "ok" }]);
  for (const [options, left] of [
    [{ userSettings: true }, "hooked\ncolour: blue\n"],
    [{}, "colour:\n"],
  ] as const) {
    const world = claudeWorld({
      url: model.standin.url,
      login: { ANTHROPIC_API_KEY: "key", HOME: home },
      options,
    });
    const session = await world.agent.open(world.request());
    onTestFinished(() => session.close());
    expect((await play(session, steps)).end.outcome).toEqual({ is: "done" });
    expect(readFileSync(join(world.workspace, "hooks.txt"), "utf8")).toBe(left);
    await session.close();
  }
});

it("is refused in one line by every other agent, which is named", () => {
  const options = { userSettings: true };
  expect(() => codexOptions(options, { fenced: true })).toThrow(/^--user-settings: codex [^\n]*$/);
  expect(() => opencodeOptions(options)).toThrow(/^--user-settings: opencode [^\n]*$/);
  expect(() => acpOptions({ name: "acp:x", options })).toThrow(/^--user-settings: [^\n]* acp agent [^\n]*$/);
  expect(() => acpOptions({ name: "acp:x", options })).toThrow(UsageError);
  expect(opencodeOptions({ ...options, server: "http://127.0.0.1:4096" }).server).toBe("http://127.0.0.1:4096/");
});
