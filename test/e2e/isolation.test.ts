/** Between a run and the machine it runs on: nothing of the user's settings gets in, nothing of the run gets out. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, GATE } from "../support/cli.ts";
import { shownOf, signalAll, taggedProcesses } from "../support/processes.ts";
import { waitFor, writeFiles } from "../support/temp.ts";
import { treeHash } from "../support/tree-hash.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const EVENTS = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SubagentStop", "SessionEnd"];
const HOSTILE = "hostile-words-that-must-not-arrive";

/** Files that a Claude Code of the user's own would read, each leaving a mark when it is acted on, where the fence lets it. */
function hostile(workspace: string): Record<string, string> {
  const mark = (name: string): string => `touch ${join(workspace, GATE + name)}`;
  const hooks = Object.fromEntries(
    EVENTS.map((event) => [event, [{ matcher: "*", hooks: [{ type: "command", command: mark(event) }] }]]),
  );
  const settings = JSON.stringify({
    hooks,
    env: { HOSTILE_VARIABLE: HOSTILE },
    apiKeyHelper: mark("apiKeyHelper"),
    statusLine: { type: "command", command: mark("statusLine") },
    enableAllProjectMcpServers: true,
    permissions: { deny: ["Bash"] },
    outputStyle: HOSTILE,
  });
  const server = { command: "sh", args: ["-c", `${mark("mcp")}; exec sleep 30`] };
  const front = `---\nname: evil\ndescription: ${HOSTILE}\n---\n${HOSTILE}\n`;
  return {
    ".claude/settings.json": settings,
    ".claude/settings.local.json": settings,
    ".claude/CLAUDE.md": HOSTILE,
    ".claude/rules/evil.md": HOSTILE,
    ".claude/agents/evil.md": front,
    ".claude/commands/evil.md": HOSTILE,
    ".claude/skills/evil/SKILL.md": front,
    ".claude/output-styles/evil.md": front,
    ".mcp.json": JSON.stringify({ mcpServers: { evil: server } }),
    "CLAUDE.local.md": HOSTILE,
    "sub/CLAUDE.md": HOSTILE,
  };
}

describe.concurrent("the user's and the repository's settings for Claude Code", () => {
  it.for(["an API key", "the login that the user has stored"])(
    "run nothing and say nothing to the model, with %s (row 28)",
    async (login, { expect }) => {
      const place = await cliPlace({
        files: { "readme.md": "hello\n", "sub/other.txt": "other-content\n" },
        script: byIteration({
          1: [
            bash(
              `touch ${GATE}control; cat readme.md sub/CLAUDE.md >/dev/null; printf %s "$HOSTILE_VARIABLE" > made.txt`,
            ),
            { text: "Hm." },
          ],
          2: [{ tools: [{ name: "Read", input: { file_path: "sub/other.txt" } }] }, { text: CLAIM }],
        }),
      });
      const files = hostile(place.repository.path);
      place.repository.commit("settings", files);
      const { "sub/CLAUDE.md": _, ...users } = files;
      const mcpServers = (JSON.parse(users[".mcp.json"] ?? "{}") as { mcpServers: object }).mcpServers;
      const key = place.env["ANTHROPIC_API_KEY"] ?? "";
      const scopes = ["user:inference", "user:profile"];
      const claudeAiOauth = { accessToken: key, refreshToken: "r", expiresAt: Date.now() + 3_600_000, scopes };
      writeFiles(place.home, {
        ...users,
        "CLAUDE.md": HOSTILE,
        ".claude.json": JSON.stringify({ mcpServers, hasCompletedOnboarding: true }),
        ".claude/.credentials.json": JSON.stringify({ claudeAiOauth }),
      });
      const before = treeHash(place.home);
      const env = login === "an API key" ? {} : { ANTHROPIC_API_KEY: "" };
      const args = ["run", "make made.txt", "--check", "test -f made.txt", "--context", "fresh", "--json"];
      const result = await place.start(args, { env }).done;
      expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
      const marks = readdirSync(place.repository.path).filter((name) => name.startsWith(GATE));
      expect(marks).toEqual([`${GATE}control`]);
      const sent = place.sent();
      expect(sent.length).toBeGreaterThanOrEqual(4);
      expect(sent.join("\n")).toContain("other-content");
      expect(sent.filter((body) => body.includes(HOSTILE) || body.includes("mcp__evil"))).toEqual([]);
      expect(place.repository.git("show", "HEAD:made.txt")).toBe("");
      expect(treeHash(place.home)).toBe(before);
    },
  );
});

// Without a fence: what is left of an agent outlives its driver only there, and finds the gateway on loopback.
it("keeps the key out of the agent's process and tools, and an agent without a driver away from the model", async () => {
  const place = await cliPlace({
    env: { PAWL_FENCE: "none" },
    script: byIteration({
      1: [
        bash('env > env.txt; tr "\\0" "\\n" < /proc/$PPID/environ > environ.txt; touch here'),
        bash('node -e "setTimeout(() => {}, 30000)"'),
      ],
    }),
  });
  const { path } = place.repository;
  const run = place.start(["run", "look around", "--check", "false"]);
  await waitFor(() => (place.standin?.requests.length ?? 0) >= 2, { what: "the second request" });
  const texts = ["env.txt", "environ.txt"].map((name) => readFileSync(join(path, name), "utf8"));
  const base = /^ANTHROPIC_BASE_URL=(.*)$/m.exec(texts[0] ?? "")?.[1] ?? "";
  const tag = /^PAWL_RUN=(.*)$/m.exec(texts[0] ?? "")?.[1] ?? "";
  expect(texts.map((text) => text.includes("ANTHROPIC_BASE_URL="))).toEqual([true, true]);
  const left = taggedProcesses("PAWL_RUN", tag);
  const all = [...texts, ...left.map(shownOf)];
  const key = place.env["ANTHROPIC_API_KEY"] ?? "";
  expect(all.filter((text) => text.includes(key))).toEqual([]);
  // The stand-in answers 401 to any other key.
  expect(place.standin?.requests.map(({ status }) => status)).toEqual([200, 200]);
  expect((await fetch(`${base}/v1/models`)).status).toBeLessThan(500);
  run.child.kill("SIGKILL");
  await run.done;
  await expect(fetch(`${base}/v1/models`)).rejects.toThrow("fetch failed");
  signalAll(taggedProcesses("PAWL_RUN", tag));
});

// Who sets something globally where that is /dev/null puts a file in its place; nothing here aims at it otherwise.
it("leaves the machine as it was: home, temporary files, global settings and /dev/null (A20)", async () => {
  const greedy =
    "git config --global user.name pwned; echo pwned > ~/.bashrc; mkdir -p ~/.config/x; npm config set fund false; rm -f ~/.gitconfig.lock";
  // What it set is there, in a home of its own.
  const took = "git config --global user.name; cat ~/.bashrc; npm config get fund";
  const place = await cliPlace({
    script: byIteration({ 1: [bash(`${greedy}; (${took}) > made.txt`), { text: CLAIM }] }),
  });
  const root = dirname(place.home);
  const temporary = join(root, "tmp");
  mkdirSync(temporary);
  writeFileSync(join(place.home, ".gitconfig"), "[user]\n\tname = Own\n\temail = own@example.invalid\n");
  const before = treeHash(place.home);
  const beside = readdirSync(root).toSorted();
  const ofRepository = (): string[] =>
    readdirSync(dirname(place.repository.path)).filter((name) => name.startsWith(basename(place.repository.path)));
  const check = `${greedy}; (${took}) | cmp - made.txt`;
  const args = ["run", "make made.txt", "--fence", "bwrap", "--check", check, "--json"];
  const result = await place.start(args, { env: { TMPDIR: temporary, XDG_CACHE_HOME: join(root, "cache") } }).done;
  expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
  expect(place.repository.git("show", "HEAD:made.txt")).toBe("pwned\npwned\nfalse");
  expect(treeHash(place.home)).toBe(before);
  // npm, which the agent and the check start, keeps its own compiled code there.
  expect(readdirSync(temporary).filter((name) => name !== "node-compile-cache")).toEqual([]);
  // `cache`: compiled code, which starts the next pawl faster.
  expect(readdirSync(root).toSorted()).toEqual([...beside, "cache", "state"].toSorted());
  expect(ofRepository()).toEqual([basename(place.repository.path)]);
  const device = statSync("/dev/null");
  expect([device.isCharacterDevice(), device.rdev]).toEqual([true, 0x103]);
  expect(statSync(place.state).mode & 0o777).toBe(0o700);
  expect(place.repository.git("log", "-1", "--format=%an")).not.toBe("pwned");
});

it("ends though children of agent and check hold its output open, and leaves none of them (row 22)", async () => {
  const daemon = "(trap '' TERM HUP; sleep 120) & setsid sh -c 'sleep 120 & exec sleep 120' &";
  const { pawl, repository } = await cliPlace({
    script: byIteration({ 1: [bash(`${daemon} echo x > made.txt`), { text: CLAIM }] }),
  });
  const result = await pawl("run", "make made.txt", "--check", `${daemon} test -f made.txt`, "--json");
  expect(result.of("turn-end").map(({ outcome }) => outcome.is)).toEqual(["done"]);
  expect(result.of("check-end").map(({ verdict }) => verdict.is)).toEqual(["pass"]);
  expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
  expect(taggedProcesses("PAWL_RUN", result.facts()[0]?.run ?? "")).toEqual([]);
  expect(existsSync(join(repository.path, "made.txt"))).toBe(true);
});
