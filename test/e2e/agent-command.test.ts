/** `pawl run --agent` with programs that are only configured: a preset's real program in the fence, and one of pawl.yaml. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openState, type State } from "../../src/compose.ts";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, GATE, type CliPlace } from "../support/cli.ts";
import { tempDir, waitFor } from "../support/temp.ts";

const CODEX = join(
  dirname(createRequire(import.meta.url).resolve(`@openai/codex-${process.platform}-${process.arch}/package.json`)),
  "vendor/x86_64-unknown-linux-musl/bin/codex",
);
const PRESET = ["--agent", "codex-exec", "--agent-bin", CODEX, "--model", "gpt-5.5"];
const RUN = ["run", "write work.txt", ...PRESET, "--fence", "bwrap", "--json"];
const CHECK = ["--check", "grep -q right work.txt"];

const bash = (cmd: string): Step => ({ tools: [{ name: "exec_command", input: { cmd } }] });
/** The login of Codex instead of Claude Code's. */
function loginOf({ standin, env }: CliPlace): Record<string, string> {
  const key = env["ANTHROPIC_API_KEY"] ?? "";
  return { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: key, OPENAI_BASE_URL: `${standin?.url}/v1` };
}

/** Ends when the test opens the gate: a file that git ignores, in the one place that both see. */
const heldBy = (gate: string): Step => bash(`until [ -e ${GATE}${gate} ]; do sleep 0.02; done`);
const open = ({ repository }: CliPlace, gate: string): void =>
  writeFileSync(join(repository.path, `${GATE}${gate}`), "");

async function stateOf(place: CliPlace): Promise<{ state: State; run: string }> {
  const state = await waitFor(() => existsSync(join(place.state, "journal.db")) && openState(place.env), {
    what: "a journal",
  });
  onTestFinished(() => state.close());
  const { run } = await waitFor(async () => (await state.journal.runs())[0], { what: "the run" });
  return { state, run };
}

it("goes from red to green, is killed in the middle and gone on with, hears what is said, and holds no key", async () => {
  const seen = "(env; cat /proc/[0-9]*/environ) > seen.txt 2>&1";
  const place = await cliPlace({
    script: byIteration({
      1: [bash(`echo wrong > work.txt; ${seen}`), { text: CLAIM }],
      2: [heldBy("kill"), heldBy("say"), { text: "Not yet." }],
      3: [bash("echo right > work.txt"), { text: CLAIM }],
    }),
  });
  const env = loginOf(place);
  const first = place.start([...RUN, ...CHECK], { env });
  const { state, run } = await stateOf(place);
  const calls = async (): Promise<string[]> => {
    const lines = (await state.trace.read(run)).map(({ line }) => line);
    return lines.flatMap(({ kind, data }) => (kind === "tool-start" ? [JSON.stringify(data)] : []));
  };
  await waitFor(async () => (await calls()).some((call) => call.includes("gate-kill")), { what: "the second turn" });
  first.child.kill("SIGKILL");
  await first.done;
  open(place, "kill");

  const second = place.start(["resume", run, "--json"], { env });
  await waitFor(async () => (await calls()).some((call) => call.includes("gate-say")), { what: "the third call" });
  const steer = place.start(["steer", "prefer the quokka approach", "--wait", "--json"]);
  await waitFor(async () => (await state.journal.read(run)).some(({ type }) => type === "directive-received"), {
    what: "the directive",
  });
  open(place, "say");
  expect(JSON.parse((await steer.done).stdout)).toMatchObject({ receipt: "acknowledged" });
  const result = await second.done;
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);

  const facts = await state.journal.read(run);
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
  // It tells what it used at the end of a turn: of the one that was killed nobody knows.
  expect(turns.map(({ outcome, usage: { usd } }) => [outcome.is, usd === null ? null : usd > 0])).toEqual([
    ["done", true],
    ["cut", null],
    ["done", true],
    ["done", true],
  ]);
}, 60_000);

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
  const result = await place.pawl(...line, "--fence", "bwrap", "--json");
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
}, 60_000);

it("refuses what a command cannot do before anything is spent, and names the option", async () => {
  const place = await cliPlace({ script: byIteration({}) });
  const env = loginOf(place);
  const refusals: [string[], RegExp][] = [
    [["--agent-server", "http://127.0.0.1:1"], /--agent-server means nothing to the agent codex-exec: it is a command/],
    [["--agent", "cloude"], /--agent must be one of: claude, .*, not "cloude"/],
  ];
  for (const [words, says] of refusals) {
    const { code, stderr } = await place.start([...RUN, ...CHECK, ...words], { env }).done;
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
  }
  expect(place.standin?.requests).toEqual([]);
});
