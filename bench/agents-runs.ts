/**
 * Whole runs through the built command line: what an idle one holds in memory, and many at once on two cores, with the
 * share of their time that is their agents'.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { codexAvailable } from "../src/agents/codex/program.ts";
import { programAt } from "../src/platform/fence.ts";
import type { Step } from "../src/standin/script.ts";
import { startStandin } from "../src/standin/server.ts";
import { claudeAcp } from "./agent-hands.ts";
import { turnOf } from "./agent-script.ts";
import { CLI, makePlace, median, type Place } from "./support.ts";

const round = (n: number, digits = 1): number => Number(n.toFixed(digits));

/** A run is paused while its first turn takes this long; afterwards it is given the same time to come to rest. */
const REST_MS = 3_000;
const POLL_MS = 100;
const LIMIT_MS = 90_000;
/** What a model takes for each answer in the runs that are many. */
const MODEL_MS = 2_000;
const ITERATIONS = 3;
const CORES = 2;

export const AGENTS: Readonly<Record<string, () => string[]>> = {
  claude: () => ["--agent", "claude", "--model", "claude-sonnet-5"],
  codex: () => ["--agent", "codex", "--model", "gpt-5.5"],
  opencode: () => ["--agent", "opencode", "--model", "anthropic/claude-sonnet-4-5"],
  acp: () => ["--agent", `acp:'${claudeAcp()}'`, "--env", "ANTHROPIC_API_KEY", "--env", "ANTHROPIC_BASE_URL"],
  command: () => ["--agent", "codex-exec", "--agent-bin", codexAvailable({}, process.env), "--model", "gpt-5.5"],
  messages: () => ["--agent", "messages", "--model", "claude-sonnet-5"],
};

const environmentFor = (place: Place, url: string): Record<string, string> => ({
  ...place.env,
  PATH: `${dirname(process.execPath)}:${place.env["PATH"] ?? ""}`,
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: "key",
  OPENAI_BASE_URL: `${url}/v1`,
  OPENAI_API_KEY: "key",
});

const closed = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => void child.once("close", (code) => resolve(code)));

async function until(holds: () => boolean, what: string): Promise<void> {
  const limit = performance.now() + LIMIT_MS;
  while (!holds()) {
    if (performance.now() > limit) throw new Error(`${what} did not come`);
    await sleep(POLL_MS);
  }
}

export interface Idle {
  driverMb: number;
  agentMb: number;
  agentProcesses: number;
}

/** Of a run that is paused after its first iteration; proportional set sizes, so that shared pages count once. */
export async function idleMemory(name: string): Promise<Idle> {
  const standin = await startStandin({
    script: (request, step): Step => ({ ...turnOf(request, step), delayMs: REST_MS }),
  });
  const place = makePlace(20);
  const env = environmentFor(place, standin.url);
  const words = ["run", "x", "--check", "true", "--max-iterations", "3", "--json", ...(AGENTS[name]?.() ?? [])];
  const child = spawn(process.execPath, [CLI, ...words], { cwd: place.repo, env, stdio: ["ignore", "pipe", "ignore"] });
  let facts = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (facts += text));
  const ended = closed(child);
  try {
    await until(() => standin.requests.length > 0 || child.exitCode !== null, `${name}: the first request`);
    await closed(spawn(process.execPath, [CLI, "pause"], { cwd: place.repo, env, stdio: "ignore" }));
    await until(() => facts.includes('"type":"decision-made"') || child.exitCode !== null, `${name}: an iteration`);
    await sleep(REST_MS);
    if (child.exitCode !== null) throw new Error(`${name}: the run ended with ${child.exitCode}`);
    const pid = child.pid ?? 0;
    const below = descendants(pid);
    return {
      driverMb: round(pssMb(pid)),
      agentMb: round(below.reduce((sum, one) => sum + pssMb(one), 0)),
      agentProcesses: below.length,
    };
  } finally {
    await closed(spawn(process.execPath, [CLI, "stop", "--now"], { cwd: place.repo, env, stdio: "ignore" }));
    const late = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
    await ended;
    clearTimeout(late);
    await standin.close();
    place.remove();
  }
}

function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const parent = Number(/^PPid:\s*(\d+)$/m.exec(read(`/proc/${name}/status`))?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  const look = [pid];
  for (const one of look) {
    const next = children.get(one) ?? [];
    look.push(...next);
    found.push(...next);
  }
  return found;
}

const pssMb = (pid: number): number =>
  Number(/^Pss:\s*(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1_024;

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

interface Ran {
  wallMs: number;
  agentMs: number;
}

interface Fact {
  type: string;
  durationMs?: number;
}

async function oneRun(place: Place, url: string): Promise<Ran> {
  const words = ["run", "add a line each time", "--check", "true", "--max-iterations", String(ITERATIONS), "--json"];
  const run = [process.execPath, CLI, ...words, ...(AGENTS["claude"]?.() ?? [])];
  const taskset = availableParallelism() > CORES ? programAt("taskset") : undefined;
  const [command = "", ...args] = taskset === undefined ? run : [taskset, "-c", `0-${CORES - 1}`, ...run];
  const began = performance.now();
  const env = environmentFor(place, url);
  const child = spawn(command, args, { cwd: place.repo, env, stdio: ["ignore", "pipe", "ignore"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const code = await closed(child);
  const wallMs = performance.now() - began;
  if (code !== 3) throw new Error(`expected the run to use up its iterations (3), got ${String(code)}`);
  const facts = out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Fact]));
  const agentMs = facts.reduce((sum, fact) => sum + (fact.type === "turn-end" ? (fact.durationMs ?? 0) : 0), 0);
  return { wallMs, agentMs };
}

/** Each in a repository and a state of its own, all started at once. */
export async function manyRuns(count: number): Promise<object> {
  const standin = await startStandin({
    script: (request, step): Step => ({ ...turnOf(request, step), delayMs: MODEL_MS }),
  });
  const places = Array.from({ length: count }, () => makePlace(50));
  try {
    const single = makePlace(50);
    places.push(single);
    const alone = await oneRun(single, standin.url);
    const began = performance.now();
    const ran = await Promise.all(places.slice(0, count).map((place) => oneRun(place, standin.url)));
    const wallMs = performance.now() - began;
    return {
      runs: count,
      cores: CORES,
      modelMsPerRequest: MODEL_MS,
      iterations: ITERATIONS,
      wallS: round(wallMs / 1_000),
      aloneS: round(alone.wallMs / 1_000),
      wallOverAlone: round(wallMs / alone.wallMs, 2),
      overOneAfterTheOther: round(wallMs / (alone.wallMs * count), 3),
      agentShare: round(median(ran.map((one) => one.agentMs / one.wallMs)), 3),
      agentShareAlone: round(alone.agentMs / alone.wallMs, 3),
    };
  } finally {
    await standin.close();
    for (const place of places) place.remove();
  }
}
