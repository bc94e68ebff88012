/** Runs of an agent's real program through the built command line, in the fence, held open where a test wants to act. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Fact } from "../../src/events.ts";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, GATE, type CliPlace, type RunningCli } from "./cli.ts";
import { liveRun } from "./live-run.ts";

export const CHECK = ["--check", "grep -q right work.txt", "--fence", "bwrap", "--json"];
/** Two starts of a program that takes long, beside other tests. */
export const RUN_LIMIT_MS = 300_000;
const WORDS = "prefer the quokka approach";

/** A command that ends when the test opens the gate: a file that git ignores, in the one place that both see. */
export const untilOpen = (gate: string): string =>
  `node -e "const t=setInterval(()=>{if(require('fs').existsSync('${GATE}${gate}'))clearInterval(t)},20)"`;
export const openGate = ({ repository }: CliPlace, gate: string): void =>
  writeFileSync(join(repository.path, `${GATE}${gate}`), "");

/** A login with OpenAI instead of Anthropic. */
export function openaiLogin({ standin, env }: CliPlace): Record<string, string> {
  const key = env["ANTHROPIC_API_KEY"] ?? "";
  return { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: key, OPENAI_BASE_URL: `${standin?.url}/v1` };
}

export interface KilledAgent {
  /** Of `pawl run`: the agent, its model, … */
  flags: readonly string[];
  /** Its login, where it is not what every place has. */
  env?: (place: CliPlace) => Readonly<Record<string, string>>;
  /** A step that runs a command with one of its tools. */
  shell(command: string): Step;
  /** Of the first iteration, which leaves a wrong file. */
  first: readonly Step[];
  /** A command that is run before the driver is killed. */
  before?: string;
  /** Before the driver is killed; what it asks its model in that moment nobody counts. */
  settled?(place: CliPlace): Promise<void>;
  /** Kills the driver; by default at once. */
  kill?(driver: RunningCli): Promise<void>;
}

/** From red to green: killed in the middle, gone on with, and told something while its turn runs. Nothing is lost or paid twice. */
export async function killedAndSteered(agent: KilledAgent): Promise<{ place: CliPlace; facts: Fact[] }> {
  const { flags, shell, first: steps, before = "true", kill } = agent;
  const place = await cliPlace({
    script: byIteration({
      1: [...steps, { text: CLAIM }],
      2: [
        shell(`${before}; ${untilOpen("kill")}`),
        shell(untilOpen("say")),
        shell("echo right > work.txt"),
        { text: CLAIM },
      ],
    }),
  });
  const env = agent.env?.(place) ?? {};
  const first = place.start(["run", "write work.txt", ...flags, ...CHECK], { env, limitMs: RUN_LIMIT_MS });
  const live = await liveRun(place);
  await live.calls(`${GATE}kill`);
  await agent.settled?.(place);
  if (kill === undefined) first.child.kill("SIGKILL");
  else await kill(first);
  expect((await first.done).signal).toBe("SIGKILL");
  openGate(place, "kill");

  const second = place.start(["resume", live.run, "--json"], { env, limitMs: RUN_LIMIT_MS });
  await live.calls(`${GATE}say`);
  const steer = place.start(["steer", WORDS, "--wait=120", "--json"]);
  await live.nth("directive-received");
  openGate(place, "say");
  expect(JSON.parse((await steer.done).stdout)).toMatchObject({ receipt: "acknowledged" });
  const result = await second.done;
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);

  const facts = await live.facts();
  expect(facts.at(-1)).toMatchObject({ type: "run-end", outcome: { is: "verified" } });
  expect(facts.filter(({ type }) => type === "directive-delivered")).toHaveLength(1);
  expect(place.sent().filter((body) => body.includes(WORDS)).length).toBeGreaterThan(0);
  expect(readFileSync(join(place.repository.path, "work.txt"), "utf8")).toBe("right\n");
  const turns = facts.filter((fact) => fact.type === "turn-end");
  const counted = turns.reduce((sum, { usage }) => sum + usage.outputTokens, 0);
  const seen = (place.standin?.requests ?? []).map(({ n, at, step, status, answered, billing: { outputTokens } }) => ({
    n,
    at,
    step,
    status,
    answered,
    outputTokens,
  }));
  const ended = turns.map(({ at, outcome, usage }) => ({ at: new Date(at), is: outcome.is, usage }));
  expect(counted, JSON.stringify({ ended, seen })).toBe(place.standin?.billing.outputTokens);
  expect(turns.every(({ usage }) => usage.usd !== null && usage.usd > 0)).toBe(true);
  return { place, facts };
}

interface Refused {
  /** Of `pawl run`: the agent and its model. */
  flags?: readonly string[];
  env?: (place: CliPlace) => Readonly<Record<string, string>>;
  /** Flags that it cannot take, and what names them. */
  refusals: readonly (readonly [flags: readonly string[], told: string])[];
  /** Without its login, and what is said then. */
  without?: { env: Readonly<Record<string, string>>; told: string };
}

/** Before anything is spent, with the name of what is wrong. */
export async function refusesAll({ flags = [], env, refusals, without }: Refused): Promise<void> {
  const place = await cliPlace({ script: byIteration({}) });
  const login = env?.(place) ?? {};
  const all = [
    ...refusals.map(([words, told]) => ({ words, told, more: {} })),
    ...(without === undefined ? [] : [{ words: [], told: without.told, more: without.env }]),
  ];
  const results = await Promise.all(
    all.map(async ({ words, told, more }) => {
      const running = place.start(["run", "write work.txt", ...flags, ...CHECK, ...words], {
        env: { ...login, ...more },
      });
      return { told, ...(await running.done) };
    }),
  );
  for (const { told, code, stderr } of results) expect([code, stderr]).toEqual([2, expect.stringContaining(told)]);
  expect(place.standin?.requests).toEqual([]);
}
