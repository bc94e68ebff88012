/**
 * Real runs that are killed: the built CLI, the real Claude Code, the stand-in model. A run is started, killed with
 * SIGKILL at a random moment (the whole process tree, or only the driver), gone on with, killed again, and at last left
 * alone; then it is compared with a run that nobody disturbed.
 */
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openState, type State } from "../../src/compose.ts";
import type { Fact, FactOf } from "../../src/events.ts";
import { startStandin, type Standin } from "../../src/standin/server.ts";
import { commitAll, initRepository } from "./init-repository.ts";
import { signalAll, taggedProcesses } from "./processes.ts";
import { waitFor as waitUntil } from "./temp.ts";

const CLI = join(import.meta.dirname, "../../dist/views/cli/main.js");
const END_TIMEOUT_MS = 240_000;
const POLL_MS = 2;
const KERNEL_LIMIT_MS = 60_000;

/** In plain shell: what is killed and repeated here is pawl, and a check of Node's would cost ten times as much. */
const CHECK = '[ "$(sh add.sh 2 3)" = 5 ]\n';
const WRONG = "echo 'echo $(($1 - $2))' > add.sh";
const NOTE = "echo 'tried minus' > notes.txt";
const RIGHT = "echo 'echo $(($1 + $2))' > add.sh";
const SLOW = "sleep 0.3";
const bash = (command: string): { tools: { name: string; input: { command: string } }[] } => ({
  tools: [{ name: "Bash", input: { command } }],
});

/** Step numbers count from the first prompt of an iteration, so a run that goes on finds its place again. */
const SCRIPT = {
  marker: "^Iteration \\d+",
  rules: [
    { when: { promptIncludes: "Iteration 1 of" }, steps: [bash(WRONG), { text: "A first attempt." }] },
    {
      when: { promptIncludes: "Iteration 2 of" },
      steps: [bash(NOTE), { text: "Done.\n\n<promise>COMPLETE</promise>" }],
    },
    {
      when: { promptIncludes: "Iteration 3 of" },
      steps: [bash(RIGHT), bash(SLOW), { text: "Fixed.\n\n<promise>COMPLETE</promise>" }],
    },
  ],
};

/** What a run came to, apart from times and ids. */
export interface Ending {
  outcome: string;
  tree: string;
  verdicts: string[];
  iterations: number;
  requests: number;
}

/** Where a run stood when it was killed: its iteration, and the last fact it had told. */
export type Stage = `${number} ${Fact["type"]}`;

export interface KillReport {
  ending: Ending;
  /** Behind a fact that the kill before it had not seen: a driver that is killed again while it starts shows little. */
  kills: number;
  driverOnly: number;
  /** Of each of them. */
  stages: Stage[];
  /** Those behind no new fact. */
  idle: number;
  /** Model requests beyond those of the undisturbed run; at most one a kill. */
  extraRequests: number;
  /** What was wrong, in words; empty when all is well. */
  wrongs: string[];
}

class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-kill-")));
  readonly repo = join(this.root, "repo");
  readonly env: Record<string, string>;
  readonly standin: Standin;
  readonly base: string;
  readonly state: State;

  constructor(standin: Standin) {
    this.standin = standin;
    for (const dir of ["repo", "home", "state"]) mkdirSync(join(this.root, dir));
    this.env = {
      PATH: process.env["PATH"] ?? "",
      HOME: join(this.root, "home"),
      TMPDIR: tmpdir(),
      PAWL_HOME: join(this.root, "state"),
      XDG_CACHE_HOME: join(import.meta.dirname, "../../.cache"),
      ANTHROPIC_BASE_URL: standin.url,
      ANTHROPIC_API_KEY: "stand-in-key",
      GIT_CONFIG_NOSYSTEM: "1",
    };
    writeFileSync(join(this.repo, "check.sh"), CHECK);
    writeFileSync(join(this.repo, ".gitignore"), "private.txt\n");
    initRepository(this.repo, { branch: "trunk", user: { name: "User", email: "user@example.invalid" } });
    this.base = commitAll("base", { cwd: this.repo, env: this.env });
    writeFileSync(join(this.repo, "private.txt"), "the user's own\n");
    this.state = openState(this.env);
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.repo, env: this.env, encoding: "utf8" }).trim();
  }

  start(args: readonly string[]): { child: ChildProcess; ended: Promise<number | null>; stderr: () => string } {
    const child = spawn(process.execPath, [CLI, ...args], {
      cwd: this.repo,
      env: this.env,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)));
    const ended = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
    return { child, ended, stderr: () => stderr };
  }

  async facts(): Promise<Fact[]> {
    const row = await this.#row();
    return row === undefined ? [] : await this.state.journal.read(row.run);
  }

  /** -1: there is no fact yet. */
  async head(): Promise<number> {
    return (await this.#row())?.lastSeq ?? -1;
  }

  async #row() {
    return existsSync(join(this.root, "state", "journal.db")) ? (await this.state.journal.runs())[0] : undefined;
  }

  close(): void {
    this.state.close();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

const RUN = ["run", "make add work", "--check", "sh check.sh", "--max-iterations", "6"];

async function endingOf(place: Place, facts: readonly Fact[]): Promise<Ending> {
  const end = facts.findLast((f): f is FactOf<"run-end"> => f.type === "run-end");
  const accepted = facts.findLast((f): f is FactOf<"change-accepted"> => f.type === "change-accepted");
  const checks = facts.filter((f): f is FactOf<"check-end"> => f.type === "check-end");
  const branch = accepted?.branch ?? "trunk";
  return {
    outcome: end === undefined ? "none" : `${end.outcome.is} ${end.outcome.rule}`,
    tree: place.git("rev-parse", `${branch}^{tree}`),
    verdicts: [...new Set(checks.map((f) => `${f.iteration} ${f.check} ${f.tree} ${f.verdict.is}`))],
    iterations: facts.filter((f) => f.type === "iteration-start").length,
    requests: askedOf(place.standin),
  };
}

export interface Calm {
  ending: Ending;
  ms: number;
  /** How many it tells. */
  facts: number;
}

/** The measure for all the others. */
export async function undisturbed(): Promise<Calm> {
  const standin = await startStandin({ script: SCRIPT });
  const place = new Place(standin);
  try {
    const began = performance.now();
    const run = place.start(RUN);
    const code = await run.ended;
    if (code !== 0) throw new Error(`the undisturbed run ended with ${code}: ${run.stderr()}`);
    const facts = await place.facts();
    return { ending: await endingOf(place, facts), ms: performance.now() - began, facts: worked(facts) };
  } finally {
    place.close();
    await standin.close();
  }
}

/** Every process below a pid, and whatever carries the run's tag: what a power cut would take. */
function killTree(pid: number, run: string | undefined): void {
  const children = (parent: number): number[] => {
    try {
      const list = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim();
      return list === ""
        ? []
        : list
            .split(" ")
            .map(Number)
            .flatMap((child) => [child, ...children(child)]);
    } catch {
      return [];
    }
  };
  signalAll([pid, ...children(pid), ...(run === undefined ? [] : taggedProcesses("PAWL_RUN", run))]);
}

interface Moment {
  driverOnly: boolean;
  /**
   * So many facts after those of the kill before, both as shares of what an undisturbed run tells and takes: a clock alone
   * would hit the start again and again where the machine is slower now. Or the moment the model gets its n-th request.
   */
  at: { facts: number; thenTime: number } | { request: number };
}

export interface KillPlan {
  /** One per kill. */
  moments: readonly Moment[];
}

/** Facts of the work itself: each driver adds some of its own. */
const worked = (facts: readonly Fact[]): number => facts.filter(({ type }) => type !== "lease-changed").length;

interface Waited {
  ended: Promise<unknown>;
  place: Place;
  before: readonly Fact[];
  calm: Calm;
}

/** True when the run was over before the moment came. */
async function waitFor({ at }: Moment, { ended, place, before, calm }: Waited): Promise<boolean> {
  const over = ended.then(() => true);
  const overWithin = (ms: number): Promise<boolean> => Promise.race([over, sleep(ms).then(() => false)]);
  if ("request" in at) {
    while (askedOf(place.standin) < at.request) if (await overWithin(POLL_MS)) return true;
    return false;
  }
  const until = worked(before) + at.facts * calm.facts;
  let head = before.length - 1;
  for (let count = worked(before); count < until;) {
    if (await overWithin(POLL_MS)) return true;
    const now = await place.head();
    if (now === head) continue;
    head = now;
    count = worked(await place.facts());
  }
  return await overWithin(at.thenTime * calm.ms);
}

const askedOf = ({ requests }: Standin): number => requests.filter((request) => request.toolsOffered > 0).length;

export async function killedRun(plan: KillPlan, calm: Calm): Promise<KillReport> {
  const standin = await startStandin({ script: SCRIPT });
  const place = new Place(standin);
  const wrongs: string[] = [];
  const stages: Stage[] = [];
  let driverOnly = 0;
  let idle = 0;
  try {
    let before: Fact[] = [];
    for (const moment of plan.moments) {
      const { child, ended } = place.start(before.length === 0 ? RUN : ["resume", before[0]?.run ?? ""]);
      if (await waitFor(moment, { ended, place, before, calm })) break;
      const run = (await place.facts())[0]?.run;
      if (moment.driverOnly) child.kill("SIGKILL");
      else if (child.pid !== undefined) killTree(child.pid, run);
      await ended;
      const after = await place.facts();
      if (worked(after) === worked(before)) idle += 1;
      else {
        stages.push(stageOf(after));
        driverOnly += moment.driverOnly ? 1 : 0;
      }
      if (!startsWith(after, before)) wrongs.push(`facts were lost at kill ${stages.length + idle}`);
      before = after;
    }
    const run = (await place.facts())[0]?.run;
    const last = place.start(run === undefined ? RUN : ["resume", run]);
    const code = await Promise.race([last.ended, sleep(END_TIMEOUT_MS).then(() => "timeout")]);
    if (code === "timeout" && last.child.pid !== undefined) killTree(last.child.pid, run);
    const facts = await place.facts();
    // A run that was over before it could be killed again has nothing to go on with: that is a usage error.
    const wasOver = before.some((f) => f.type === "run-end") || (code === 2 && facts.at(-1)?.type === "run-end");
    if (code !== 0 && !wasOver) wrongs.push(`driven again it ended with ${code}: ${last.stderr()}`);
    if (!startsWith(facts, before)) wrongs.push("facts were lost");
    const ending = await endingOf(place, facts);
    // Nobody sweeps after a run that is over: the end of what a killed driver held is the kernel's, a moment later.
    if (wasOver && run !== undefined)
      await waitUntil(() => taggedProcesses("PAWL_RUN", run).length === 0, { limitMs: KERNEL_LIMIT_MS }).catch(
        () => undefined,
      );
    wrongs.push(...compare(ending, calm.ending), ...leftovers(place, facts));
    const extraRequests = ending.requests - calm.ending.requests;
    return { ending, kills: stages.length, driverOnly, stages, idle, extraRequests, wrongs };
  } finally {
    place.close();
    await standin.close();
  }
}

function stageOf(facts: readonly Fact[]): Stage {
  const iterations = facts.filter(({ type }) => type === "iteration-start").length;
  return `${iterations} ${facts.findLast(({ type }) => type !== "lease-changed")?.type ?? "run-start"}`;
}

function compare(ending: Ending, calm: Ending): string[] {
  const wrongs: string[] = [];
  for (const key of ["outcome", "tree", "iterations"] as const) {
    if (ending[key] !== calm[key]) wrongs.push(`${key} is ${ending[key]}, not ${calm[key]}`);
  }
  if (ending.verdicts.join("\n") !== calm.verdicts.join("\n")) {
    wrongs.push(`verdicts are ${ending.verdicts.join(", ")}, not ${calm.verdicts.join(", ")}`);
  }
  return wrongs;
}

function leftovers(place: Place, facts: readonly Fact[]): string[] {
  const wrongs: string[] = [];
  const run = facts[0]?.run;
  const done = new Map<number, number>();
  const startOf = new Map(facts.flatMap((f) => (f.type === "turn-start" ? [[f.turn, f.iteration] as const] : [])));
  for (const fact of facts) {
    if (fact.type !== "turn-end" || fact.outcome.is !== "done") continue;
    const iteration = startOf.get(fact.turn) ?? 0;
    done.set(iteration, (done.get(iteration) ?? 0) + 1);
  }
  for (const [iteration, times] of done)
    if (times > 1) wrongs.push(`iteration ${iteration} was finished ${times} times`);
  if (run !== undefined && taggedProcesses("PAWL_RUN", run).length > 0)
    wrongs.push("a process of the run is still alive");
  if (place.git("rev-parse", "trunk") !== place.base) wrongs.push("the user's branch was moved");
  if (readFileSync(join(place.repo, "private.txt"), "utf8") !== "the user's own\n")
    wrongs.push("the user's file was changed");
  if (existsSync(join(place.repo, ".git", "index.lock"))) wrongs.push("index.lock was left behind");
  const status = place.git("status", "--porcelain");
  if (status !== "") wrongs.push(`git status says: ${status}`);
  const fsck = place.git("fsck", "--no-dangling");
  if (fsck !== "") wrongs.push(`git fsck says: ${fsck}`);
  return wrongs;
}

const startsWith = (facts: readonly Fact[], before: readonly Fact[]): boolean =>
  before.every((fact, i) => JSON.stringify(facts[i]) === JSON.stringify(fact));

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
