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

/** Prints words; in its first conversation the wrong ones. */
function ownProgram(): string {
  const folder = tempDir("a program's folder");
  // Inside the fence it is another user's.
  chmodSync(folder, 0o755);
  const file = join(folder, "my 'own' agent");
  writeFileSync(
    file,
    `#!/bin/sh
prompt=$(cat)
case $prompt in *"Iteration 1 "*) echo wrong > work.txt ;; *) echo right > work.txt ;; esac
echo "$1 was done"; echo; echo "<promise>COMPLETE</promise>"
`,
  );
  chmodSync(file, 0o755);
  return file;
}

it("runs a program of one's own, by a table in pawl.yaml, as it was when the run started", async () => {
  const program = ownProgram();
  const table = (word: string): string =>
    `agent: mine\nagents:\n  mine:\n    command: ${JSON.stringify([program, word])}\n    output: { format: text }\n`;
  const place = await cliPlace({ files: { "pawl.yaml": table("all"), "readme.md": "hello\n" } });
  const result = await place.pawl("run", "write work.txt", ...CHECK, "--fence", "bwrap", "--json");
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
  const turns = result.of("turn-end");
  expect(turns.map(({ text, usage: { usd } }) => ({ text, usd }))).toEqual([
    { text: expect.stringContaining("all was done"), usd: null },
    { text: expect.stringContaining("all was done"), usd: null },
  ]);
  expect(result.of("run-start")[0]?.spec).toMatchObject({
    agent: { name: "mine" },
    commands: { mine: { command: [program, "all"] } },
  });
});

it("refuses what a command cannot do before anything is spent, and names the option", async () => {
  const place = await cliPlace({ script: byIteration({}) });
  const env = loginOf(place);
  const refusals: [string[], RegExp][] = [
    [["--plugin", "x"], /--plugin means nothing to the agent codex-exec/],
    [["--on-permission", "ask"], /--on-permission ask cannot be had with the agent codex-exec/],
    [["--agent-bin", "/no/such/codex"], /--agent-bin \/no\/such\/codex is not a program/],
    [["--agent", "cloude"], /--agent must be one of: claude, .*, not "cloude"/],
    [["--agent", "cursor", "--agent-bin", "/bin/true"], /the agent cursor has no login: CURSOR_API_KEY is not set/],
  ];
  for (const [words, says] of refusals) {
    const { code, stderr } = await place.start([...RUN, ...CHECK, ...words], { env }).done;
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
  }
  expect(place.standin?.requests).toEqual([]);
});
