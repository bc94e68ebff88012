/** `pawl run --agent opencode` through the built command line: the real program, in the fence, on the stand-in model. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openState, type State } from "../../src/compose.ts";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, GATE, type CliPlace } from "../support/cli.ts";
import { bash, write } from "../support/opencode.ts";
import { waitFor } from "../support/temp.ts";

const MODEL = "anthropic/claude-sonnet-4-5";
const RUN = ["run", "write work.txt", "--agent", "opencode", "--model", MODEL, "--fence", "bwrap", "--json"];
const CHECK = ["--check", "grep -q right work.txt"];
/** Its server takes seconds to start, more on a busy machine. */
const START_LIMIT_MS = 60_000;
const TEST_LIMIT_MS = 150_000;

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

it(
  "goes from red to green, is killed in the middle and gone on with, and hears what is said, with no key inside",
  async () => {
    const look = "(env; cat /proc/[0-9]*/environ; find / -name auth.json -exec cat {} +) > seen.txt 2>&1";
    const place = await cliPlace({
      script: byIteration({
        1: [write("work.txt", "wrong\n"), bash(look), { text: CLAIM }],
        2: [heldBy("kill"), heldBy("say"), bash("echo right > work.txt"), { text: CLAIM }],
      }),
    });
    const first = place.start([...RUN, ...CHECK], { limitMs: TEST_LIMIT_MS });
    const { state, run } = await stateOf(place);
    const called = async (word: string): Promise<boolean> => {
      const lines = (await state.trace.read(run)).map(({ line }) => line);
      return lines.some(({ kind, data }) => kind === "tool-start" && JSON.stringify(data).includes(word));
    };
    await waitFor(() => called("gate-kill"), { what: "the second turn", limitMs: START_LIMIT_MS });
    first.child.kill("SIGKILL");
    await first.done;
    open(place, "kill");

    const second = place.start(["resume", run, "--json"], { limitMs: TEST_LIMIT_MS });
    await waitFor(() => called("gate-say"), { what: "the third call", limitMs: START_LIMIT_MS });
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
    const seen = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
    expect(seen).toContain("OPENCODE_CONFIG_CONTENT=");
    expect(seen).not.toContain(place.env["ANTHROPIC_API_KEY"]);
  },
  TEST_LIMIT_MS,
);

it("refuses what it cannot do before anything is spent, and names the option", async () => {
  const place = await cliPlace({ script: byIteration({}) });
  const refusals: [string[], string][] = [
    [["--tools", "Telepathy"], "--tools Telepathy"],
    [["--permissions", "yolo"], "--permissions"],
    [["--agent-bin", "/no/such/opencode"], "--agent-bin /no/such/opencode"],
    [["--model", "openai/gpt-5"], "no login for openai"],
    [["--agent-server", "http://127.0.0.1:1"], "--agent-server"],
    [["--", "--yolo"], "--: opencode"],
  ];
  const told = await Promise.all(
    refusals.map(async ([words, text]) => ({ text, ...(await place.start([...RUN, ...CHECK, ...words]).done) })),
  );
  for (const { code, stderr, text } of told) expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
  const without = await place.start([...RUN, ...CHECK], { env: { ANTHROPIC_API_KEY: "" } }).done;
  expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("opencode has no login")]);
  expect(place.standin?.requests).toEqual([]);
});
