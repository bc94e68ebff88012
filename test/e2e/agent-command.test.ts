/** `pawl run --agent` with programs that are only configured: a preset's real program in the fence, and one of pawl.yaml. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { COMMAND_GAPS } from "../../src/agents/command/gaps.ts";
import { CHECK, openaiLogin, openGate, refusesAll, untilOpen } from "../support/agent-run.ts";
import { byIteration, CLAIM, cliPlace, GATE } from "../support/cli.ts";
import { exec, patientExec } from "../support/codex.ts";
import { directivesTable } from "../support/directives.ts";
import { liveRun } from "../support/live-run.ts";
import { tempDir } from "../support/temp.ts";

const CODEX = join(
  dirname(createRequire(import.meta.url).resolve(`@openai/codex-${process.platform}-${process.arch}/package.json`)),
  "vendor/x86_64-unknown-linux-musl/bin/codex",
);
const PRESET = ["--agent-bin", CODEX];
const FLAGS = ["--agent", "codex-exec", ...PRESET, "--model", "gpt-5.5"];

directivesTable({
  name: "a command (codex exec)",
  entry: "codex-exec",
  models: { first: "gpt-5.6-sol", second: "gpt-5.6-terra" },
  flags: PRESET,
  env: openaiLogin,
  shell: patientExec,
  gaps: COMMAND_GAPS,
});

it("goes from red to green, is killed in the middle and gone on with, hears what is said, and holds no key", async () => {
  const seen = "(env; cat /proc/[0-9]*/environ) > seen.txt 2>&1";
  const place = await cliPlace({
    script: byIteration({
      1: [exec(`echo wrong > work.txt; ${seen}`), { text: CLAIM }],
      2: [exec(untilOpen("kill")), exec(untilOpen("say")), { text: "Not yet." }],
      3: [exec("echo right > work.txt"), { text: CLAIM }],
    }),
  });
  const env = openaiLogin(place);
  const first = place.start(["run", "write work.txt", ...FLAGS, ...CHECK], { env });
  const live = await liveRun(place);
  await live.calls(`${GATE}kill`);
  first.child.kill("SIGKILL");
  expect((await first.done).signal).toBe("SIGKILL");
  openGate(place, "kill");

  const second = place.start(["resume", live.run, "--json"], { env });
  await live.calls(`${GATE}say`);
  const steer = place.start(["steer", "prefer the quokka approach", "--wait=120", "--json"]);
  await live.nth("directive-received");
  openGate(place, "say");
  expect(JSON.parse((await steer.done).stdout)).toMatchObject({ receipt: "acknowledged" });
  const result = await second.done;
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);

  const facts = await live.facts();
  expect(facts.at(-1)).toMatchObject({ type: "run-end", outcome: { is: "verified" } });
  const delivered = facts.filter((fact) => fact.type === "directive-delivered");
  expect(delivered).toMatchObject([{ how: expect.stringMatching(/^in the prompt of turn/) }]);
  expect(place.sent().some((body) => body.includes("quokka"))).toBe(true);
  expect(readFileSync(join(place.repository.path, "work.txt"), "utf8")).toBe("right\n");
  const inside = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
  expect(inside).toContain("CODEX_HOME=");
  expect(inside).not.toContain(env["OPENAI_API_KEY"]);
  const turns = facts.filter((fact) => fact.type === "turn-end");
  const spent = turns.map(({ usage }) => usage);
  expect(spent.reduce((sum, { requests }) => sum + requests, 0)).toBe(place.standin?.requests.length);
  // It tells what it used at the end of a turn: of the one that was killed, the model's answers tell.
  expect(turns.map(({ outcome, usage: { usd } }) => [outcome.is, usd === null ? null : usd > 0])).toEqual([
    ["done", true],
    ["cut", true],
    ["done", true],
    ["done", true],
  ]);
});

/** Does the wrong thing until it hears of a second iteration; `more`: lines of its own before that. */
function ownProgram(more = ""): string {
  const folder = tempDir("a program's folder");
  // Inside the fence it is another user's.
  chmodSync(folder, 0o755);
  const file = join(folder, "my 'own' agent");
  writeFileSync(
    file,
    `#!/bin/sh
prompt=$(cat)
${more}
case $prompt in *"Iteration 2 "*) echo right > work.txt ;; *) echo wrong > work.txt ;; esac
echo "$1 was done"; echo; echo "<promise>COMPLETE</promise>"
`,
  );
  chmodSync(file, 0o755);
  return file;
}

it("stands in for Claude Code as pawl.yaml said at the start, and nothing that was meant for the one reaches the other", async () => {
  const program = ownProgram(
    `printf '%s\\n' "$@" >> words.txt; sed -i s/plain/changed/ pawl.yaml; (env; cat /proc/[0-9]*/environ) > seen.txt 2>&1`,
  );
  const mine = {
    command: [program, "plain", ["--effort", "{effort}"], ["--tools", "{tools}"], ["--model", "{model}"]],
    environment: { MINE_HOME: "{home}" },
    output: { format: "text" },
  };
  const place = await cliPlace({
    login: "subscription",
    files: { "pawl.yaml": JSON.stringify({ agents: { mine } }), "readme.md": "hello\n" },
    script: { steps: [{ status: 429, usageLimitText: "You've hit your limit", resetInS: 3_600 }] },
  });
  const options = ["--model", "claude-opus-5-5", "--effort", "high", "--tools", "Bash,Write", "--agent-max-turns", "9"];
  const line = ["run", "write work.txt", "--agent", "claude", "--fallback", "mine", ...options, ...CHECK];
  const result = await place.pawl(...line);
  expect([result.code, result.stderr]).toEqual([0, expect.stringContaining("usage limit")]);
  expect(result.of("turn-start").map(({ seat }) => seat)).toEqual(["claude:claude-opus-5-5", "mine", "mine"]);
  const [start] = result.of("run-start");
  expect(result.of("turn-end").map(({ usage: { usd } }) => usd)).toEqual([expect.any(Number), null, null]);
  expect(start?.spec).toMatchObject({ agent: { options: { effort: "high" } }, commands: { mine: mine } });
  const read = (name: string): string => readFileSync(join(place.repository.path, name), "latin1");
  expect(read("words.txt")).toBe("plain\nplain\n");
  const seen = read("seen.txt");
  expect(seen).toContain("MINE_HOME=");
  expect(seen).not.toContain(place.env["CLAUDE_CODE_OAUTH_TOKEN"]);
  expect(seen).not.toMatch(/CLAUDE_|ANTHROPIC_/);
  const asked = JSON.parse(place.sent()[0] ?? "{}") as { tools: { name: string }[] };
  expect(asked.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["Bash", "Write"]));
  expect(JSON.stringify(asked)).not.toContain("MINE_HOME");
});

it("refuses what a command cannot do before anything is spent, and names the option", async () => {
  await refusesAll({
    flags: FLAGS,
    env: openaiLogin,
    refusals: [
      [
        ["--agent-server", "http://127.0.0.1:1"],
        "--agent-server means nothing to the agent codex-exec: it is a command",
      ],
      [["--agent", "cloude"], "--agent must be one of: claude"],
    ],
  });
});
