/** `pawl run --agent codex` through the built command line: the real program, in the fence, on the stand-in model. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CODEX_GAPS } from "../../src/agents/codex.ts";
import { CHECK, killedAndSteered, openaiLogin, refusesAll, RUN_LIMIT_MS } from "../support/agent-run.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { exec, patch, patientExec } from "../support/codex.ts";
import { directivesTable } from "../support/directives.ts";
import { below, family, LEVELS } from "../support/family.ts";
import { isRunning } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";

const FLAGS = ["--agent", "codex", "--model", "gpt-5.5"];

directivesTable({
  name: "codex",
  models: { first: "gpt-5.6-sol", second: "gpt-5.6-terra" },
  env: openaiLogin,
  shell: patientExec,
  gaps: CODEX_GAPS,
});

it(
  "goes from red to green, is killed in the middle with all it started (F11) and gone on with, and hears what is said",
  async () => {
    const { command, alive } = family();
    await killedAndSteered({
      flags: FLAGS,
      env: openaiLogin,
      shell: exec,
      first: [patch("work.txt", "wrong\n")],
      before: command,
      async kill({ child, done }) {
        await waitFor(() => alive().length === LEVELS, { what: "the agent's children" });
        const all = below(child.pid ?? 0);
        child.kill("SIGKILL");
        await done;
        await waitFor(() => alive().length === 0 && !all.some(isRunning), {
          what: "the end of all that the driver started",
        });
      },
    });
  },
  RUN_LIMIT_MS,
);

it("has no key of the user's anywhere inside the fence", async () => {
  const look =
    "(env; cat /proc/[0-9]*/environ; cat $CODEX_HOME/config.toml; find /home /root /tmp $HOME $CODEX_HOME -name auth.json -exec cat {} +) > seen.txt 2>&1";
  const place = await cliPlace({
    script: byIteration({ 1: [exec(`${look}; echo right > work.txt`), { text: CLAIM }] }),
  });
  const env = openaiLogin(place);
  const result = await place.start(["run", "write work.txt", ...FLAGS, ...CHECK], { env }).done;
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
  const seen = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
  expect(seen).toContain("CODEX_HOME=");
  expect(seen).toContain("model_provider");
  expect(seen).not.toContain(env["OPENAI_API_KEY"]);
});

it("goes on with its own goal inside a turn with --native-goal, and what it says of the goal is judged by pawl", async () => {
  const complete = { tools: [{ name: "update_goal", input: { status: "complete" } }] };
  const place = await cliPlace({
    script: byIteration({
      1: [{ text: "I have begun." }, patch("work.txt", "wrong\n"), complete, { text: CLAIM }],
      2: [{ text: "I have looked." }, exec("echo right > work.txt"), complete, { text: CLAIM }],
    }),
  });
  const line = ["run", "write work.txt", ...FLAGS, "--native-goal", ...CHECK];
  const result = await place.start(line, { env: openaiLogin(place) }).done;
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
  expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
  // In each, Codex itself has begun a second turn after its first answer.
  expect(result.of("turn-end").map(({ outcome, usage }) => [outcome.is, usage.requests])).toEqual([
    ["done", 4],
    ["done", 4],
  ]);
  expect(place.standin?.requests).toHaveLength(8);
});

it("refuses what it cannot do before anything is spent, and names the option", async () => {
  await refusesAll({
    flags: FLAGS,
    env: openaiLogin,
    refusals: [
      [["--tools", "Read"], "--tools"],
      [["--permissions", "read-only"], "--permissions read-only"],
      [["--effort", "huge"], "--effort"],
      [["--agent-bin", "/no/such/codex"], "--agent-bin /no/such/codex"],
      [["--", "--yolo"], "--yolo"],
      [["--native-goal", "--", "--exec"], "codex exec has no goal loop"],
      [["--", "--enable", "goals"], "use pawl's own --native-goal"],
    ],
    without: { env: { OPENAI_API_KEY: "" }, told: "Codex has no login" },
  });
});
