/** `pawl run --agent acp:…` through the built command line: two real ACP agents, in the fence, on the stand-in model. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openState, type State } from "../../src/compose.ts";
import type { Step } from "../../src/standin/script.ts";
import { CLAUDE_ACP, claudeDialect, CODEX_ACP, codexDialect } from "../support/acp.ts";
import { byIteration, CLAIM, cliPlace, GATE, type CliPlace } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

const CHECK = ["--check", "grep -q right work.txt", "--fence", "bwrap", "--json"];
const CLAUDE = ["--agent", `acp:'${CLAUDE_ACP}'`, "--env", "ANTHROPIC_API_KEY", "--env", "ANTHROPIC_BASE_URL"];
// Codex's own sandbox cannot be made inside the fence.
const CODEX = ["--agent", `acp:'${CODEX_ACP}'`, "--env", "OPENAI_API_KEY", "--env", "OPENAI_BASE_URL"].concat(
  ["--model", "gpt-5.5"],
  ["--permissions", "agent-full-access"],
);

const { shell } = codexDialect;
/** Two starts of a program that takes long, beside other tests. */
const PATIENCE_MS = 40_000;
/** Ends when the test opens the gate: a file that git ignores, in the one place that both see. */
const heldBy = (gate: string): Step => shell(`until [ -e ${GATE}${gate} ]; do node -e 0; done`);
const open = ({ repository }: CliPlace, gate: string): void =>
  writeFileSync(join(repository.path, `${GATE}${gate}`), "");

/** Codex's instead of Claude Code's. */
function codexLogin({ standin, env }: CliPlace): Record<string, string> {
  const key = env["ANTHROPIC_API_KEY"] ?? "";
  return { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: key, OPENAI_BASE_URL: `${standin?.url}/v1` };
}

async function stateOf(place: CliPlace): Promise<{ state: State; run: string }> {
  const state = await waitFor(() => existsSync(join(place.state, "journal.db")) && openState(place.env), {
    what: "a journal",
  });
  onTestFinished(() => state.close());
  const { run } = await waitFor(async () => (await state.journal.runs())[0], { what: "the run" });
  return { state, run };
}

it("goes from red to green, is killed in the middle and gone on with, and hears what is said", async () => {
  const place = await cliPlace({
    script: byIteration({
      1: [shell("echo wrong > work.txt"), { text: CLAIM }],
      2: [heldBy("kill"), heldBy("say"), shell("echo right > work.txt"), { text: CLAIM }],
    }),
  });
  const env = codexLogin(place);
  const first = place.start(["run", "write work.txt", ...CODEX, ...CHECK], { env });
  const { state, run } = await stateOf(place);
  const calls = async (): Promise<string[]> => {
    const lines = (await state.trace.read(run)).map(({ line }) => line);
    return lines.flatMap(({ kind, data }) => (kind === "tool-start" ? [JSON.stringify(data)] : []));
  };
  await waitFor(async () => (await calls()).some((call) => call.includes("gate-kill")), {
    what: "the second turn",
    limitMs: PATIENCE_MS,
  });
  first.child.kill("SIGKILL");
  await first.done;
  open(place, "kill");

  const second = place.start(["resume", run, "--json"], { env });
  await waitFor(async () => (await calls()).some((call) => call.includes("gate-say")), {
    what: "the third call",
    limitMs: PATIENCE_MS,
  });
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
  expect(facts.filter(({ type }) => type === "directive-delivered")).toHaveLength(1);
  expect(place.sent().filter((body) => body.includes("quokka")).length).toBeGreaterThan(0);
  expect(readFileSync(join(place.repository.path, "work.txt"), "utf8")).toBe("right\n");
  const turns = facts.filter((fact) => fact.type === "turn-end");
  const counted = turns.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
  expect(counted).toBe(place.standin?.billing.outputTokens);
  expect(turns.every(({ usage }) => usage.usd !== null && usage.usd > 0)).toBe(true);
}, 120_000);

it("drives another agent the same way, with no key of the user's anywhere inside the fence", async () => {
  const look = "(env; cat /proc/[0-9]*/environ; find / -name '.credentials.json' -exec cat {} +) > seen.txt 2>&1";
  const place = await cliPlace({
    script: byIteration({ 1: [claudeDialect.shell(`${look}; echo right > work.txt`), { text: CLAIM }] }),
  });
  const result = await place.start(["run", "write work.txt", ...CLAUDE, ...CHECK]).done;
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
  const seen = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
  expect(seen).toContain("ANTHROPIC_BASE_URL=");
  expect(seen).not.toContain(place.env["ANTHROPIC_API_KEY"]);
}, 60_000);

it("refuses what it cannot do before anything is spent, and names the option", async () => {
  const place = await cliPlace({ script: byIteration({}) });
  const refusals: [string[], string][] = [
    [[...CLAUDE, "--tools", "Read"], "--tools"],
    [[...CLAUDE, "--plugin", "p"], "--plugin"],
    [[...CLAUDE, "--agent-bin", "/no/such/agent"], "/no/such/agent"],
    [[...CLAUDE, "--mcp", "missing.json"], "missing.json"],
    [["--agent", "acp:no-such-agent --acp"], "no-such-agent"],
    [["--agent", "acp:'unended"], "quote"],
    [["--agent", "acp:"], "acp:COMMAND"],
    [["--agent", `acp:'${CLAUDE_ACP}'`], "no key was given to it"],
  ];
  for (const [words, told] of refusals) {
    const { code, stderr } = await place.start(["run", "write work.txt", ...words, ...CHECK]).done;
    expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
  }
  expect(place.standin?.requests).toEqual([]);
}, 60_000);
