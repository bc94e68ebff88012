/** `pawl run --agent codex` through the built command line: the real program, in the fence, on the stand-in model. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openState, type State } from "../../src/compose.ts";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, GATE, type CliPlace } from "../support/cli.ts";
import { exec, patch, scriptedExec } from "../support/codex.ts";
import { directivesTable } from "../support/directives.ts";
import { below, family, LEVELS } from "../support/family.ts";
import { isRunning } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";

const RUN = ["run", "write work.txt", "--agent", "codex", "--model", "gpt-5.5", "--fence", "bwrap", "--json"];
const CHECK = ["--check", "grep -q right work.txt"];

/** Ends when the test opens the gate: a file that git ignores, in the one place that both see. */
const heldBy = (gate: string, after = "true"): Step =>
  exec(`${after}; until [ -e ${GATE}${gate} ]; do sleep 0.02; done`);
const open = ({ repository }: CliPlace, gate: string): void =>
  writeFileSync(join(repository.path, `${GATE}${gate}`), "");

/** The login of Codex instead of Claude Code's. */
function loginOf({ standin, env }: CliPlace): Record<string, string> {
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

directivesTable({
  name: "codex",
  models: { first: "gpt-5.6-sol", second: "gpt-5.6-terra" },
  flags: ["--fence", "bwrap"],
  env: loginOf,
  shell: scriptedExec,
  says: "running turn",
  switches: "running turn",
});

it("goes from red to green, is killed in the middle with all it started (F11) and gone on with, and hears what is said", async () => {
  const { command, alive } = family();
  const place = await cliPlace({
    script: byIteration({
      1: [patch("work.txt", "wrong\n"), { text: CLAIM }],
      2: [heldBy("kill", command), heldBy("say"), exec("echo right > work.txt"), { text: CLAIM }],
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
  await waitFor(() => alive().length === LEVELS, { what: "the agent's children" });
  const all = below(first.child.pid ?? 0);
  first.child.kill("SIGKILL");
  await first.done;
  await waitFor(() => alive().length === 0 && !all.some(isRunning), { what: "the end of all that the driver started" });
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
  expect(facts.filter(({ type }) => type === "directive-delivered")).toHaveLength(1);
  expect(place.sent().filter((body) => body.includes("quokka")).length).toBeGreaterThan(0);
  expect(readFileSync(join(place.repository.path, "work.txt"), "utf8")).toBe("right\n");
  const turns = facts.filter((fact) => fact.type === "turn-end");
  const counted = turns.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
  expect(counted).toBe(place.standin?.billing.outputTokens);
  expect(turns.every(({ usage }) => usage.usd !== null && usage.usd > 0)).toBe(true);
}, 60_000);

it("has no key of the user's anywhere inside the fence", async () => {
  const place = await cliPlace({
    script: byIteration({
      1: [
        exec(
          "(env; cat /proc/[0-9]*/environ; cat $CODEX_HOME/config.toml; find /home /root /tmp $HOME $CODEX_HOME -name auth.json -exec cat {} +) > seen.txt 2>&1; echo right > work.txt",
        ),
        { text: CLAIM },
      ],
    }),
  });
  const env = loginOf(place);
  const result = await place.start([...RUN, ...CHECK], { env }).done;
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
  const seen = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
  expect(seen).toContain("CODEX_HOME=");
  expect(seen).toContain("model_provider");
  expect(seen).not.toContain(env["OPENAI_API_KEY"]);
});

it("refuses what it cannot do before anything is spent, and names the option", async () => {
  const place = await cliPlace({ script: byIteration({}) });
  const env = loginOf(place);
  const refusals: [string[], string][] = [
    [["--tools", "Read"], "--tools"],
    [["--permissions", "read-only"], "--permissions read-only"],
    [["--effort", "huge"], "--effort"],
    [["--agent-bin", "/no/such/codex"], "--agent-bin /no/such/codex"],
    [["--", "--yolo"], "--yolo"],
  ];
  for (const [words, told] of refusals) {
    const { code, stderr } = await place.start([...RUN, ...CHECK, ...words], { env }).done;
    expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
  }
  const without = await place.start([...RUN, ...CHECK], { env: { ...env, OPENAI_API_KEY: "" } }).done;
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("Codex has no login")]);
  expect(place.standin?.requests).toEqual([]);
});
