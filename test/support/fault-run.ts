/**
 * "Fail at every n": a run in a child process whose n-th append, spawn or rename fails or kills it; then it is driven
 * again without the fault and compared with an undisturbed one.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openState } from "../../src/compose.ts";
import type { Fact, FactOf } from "../../src/events.ts";
import type { FaultPoint } from "../../src/platform/faults.ts";
import type { RunSpec } from "../../src/spec.ts";
import { commitAll, initRepository } from "./init-repository.ts";
import { taggedProcesses } from "./processes.ts";
import { COMPILED } from "./temp.ts";
import { makeSpec } from "./world.ts";

const DRIVER = join(import.meta.dirname, "../../.cache/test/driver.js");
const DRIVE_TIMEOUT_MS = 150_000;
/** They mostly wait for programs. */
const DRIVES_AT_ONCE = 3;
/** Of the scripted run, where nothing else is said: red, red, green. */
const ITERATIONS = 3;
let places = 0;

export interface FaultReport {
  /** The fault came: the process died or failed. */
  hit: boolean;
  exit: number | null;
  signal: string | null;
  said: string;
  wrongs: string[];
}

interface Seen {
  outcome: string;
  tree: string;
  verdicts: string[];
  commits: string[];
}

type FenceKind = RunSpec["fence"]["kind"];

interface PlaceOptions {
  /** Where the state shall live, when not beside the repository (a small disk). */
  state?: string;
  fence?: FenceKind;
  iterations?: number;
  /** A place that was made before. */
  root?: string;
  /** Its check is a script in which a failure can be planted. */
  controlled?: boolean;
}

export class FaultPlace {
  readonly root: string;
  readonly repo: string;
  readonly env: Record<string, string>;
  /** Of this place alone: a run sweeps what bears its name, on the whole machine. */
  readonly run: string;
  readonly #file: string;
  readonly #iterations: number;

  constructor({ state, fence = "none", iterations = ITERATIONS, root, controlled = false }: PlaceOptions = {}) {
    this.#iterations = iterations;
    this.root = root ?? realpathSync(mkdtempSync(join(tmpdir(), "pawl-fault-")));
    this.repo = join(this.root, "repo");
    this.#file = join(this.root, "run.json");
    this.env = {
      PATH: process.env["PATH"] ?? "",
      HOME: join(this.root, "home"),
      PAWL_HOME: state ?? join(this.root, "state"),
      GIT_CONFIG_NOSYSTEM: "1",
      NODE_COMPILE_CACHE: COMPILED,
      TMPDIR: this.root,
    };
    if (root !== undefined) {
      this.run = (JSON.parse(readFileSync(this.#file, "utf8")) as { spec: RunSpec }).spec.run;
      return;
    }
    this.run = `r-fault-${process.pid}-${(places += 1)}`;
    mkdirSync(this.repo);
    mkdirSync(join(this.root, "home"));
    writeFileSync(join(this.repo, "a file"), "base\n");
    writeFileSync(join(this.repo, "check.sh"), "test -e good || exit 1\n");
    initRepository(this.repo, { branch: "trunk", user: { name: "User", email: "user@example.invalid" } });
    const commit = commitAll("base", { cwd: this.repo, env: this.env });
    writeFileSync(
      this.#file,
      JSON.stringify({ spec: this.#spec(fence, controlled), base: this.#base(commit), iterations }),
    );
  }

  git(...args: string[]): string {
    return execFileSync("git", args, { cwd: this.repo, env: this.env, encoding: "utf8" }).trim();
  }

  #base(commit: string): object {
    return {
      commit,
      tree: this.git("rev-parse", "HEAD^{tree}"),
      branch: "trunk",
      detached: false,
    };
  }

  #spec(kind: FenceKind, controlled: boolean): RunSpec {
    const spec = makeSpec({ run: this.run, environment: { PATH: this.env["PATH"] ?? "" } });
    const command = controlled ? "sh check.sh" : "test -e good";
    return {
      ...spec,
      fence: { ...spec.fence, kind },
      workspace: { ...spec.workspace, repository: this.repo, path: this.repo, branch: "pawl/fault" },
      agent: { ...spec.agent, name: "scripted" },
      checks: [{ name: "good", kind: "command", command, required: true, timeoutMs: 60_000 }],
      ...(controlled ? { protect: { ...spec.protect, tests: ["check.sh"], scripts: { [command]: "check.sh" } } } : {}),
      ...(controlled ? { verdicts: { ...spec.verdicts, control: "auto", passes: 1 } } : {}),
    };
  }

  async drive(
    fault?: string,
    how: "" | "reopen" = "",
  ): Promise<{ status: number | null; signal: string | null; said: string }> {
    const env = { ...this.env, ...(fault === undefined ? {} : { PAWL_FAULT: fault }) };
    const child = spawn(process.execPath, [DRIVER, this.#file, how], {
      env,
      cwd: this.repo,
      stdio: ["ignore", "ignore", "pipe"],
      timeout: DRIVE_TIMEOUT_MS,
    });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    return await new Promise((resolve) =>
      child.on("close", (status, signal) => resolve({ status, signal, said: said.trim() })),
    );
  }

  async facts(): Promise<Fact[]> {
    if (!existsSync(join(this.env["PAWL_HOME"] ?? "", "journal.db"))) return [];
    const state = openState(this.env);
    try {
      const rows = await state.journal.runs();
      return rows.length === 0 ? [] : await state.journal.read(this.run);
    } finally {
      state.close();
    }
  }

  async seen(): Promise<Seen> {
    const facts = await this.facts();
    const end = facts.findLast((f): f is FactOf<"run-end"> => f.type === "run-end");
    const checks = facts.filter((f): f is FactOf<"check-end"> => f.type === "check-end");
    return {
      outcome: end?.outcome.is ?? "none",
      tree: this.git("rev-parse", "pawl/fault^{tree}"),
      // A check that could not be started judged nothing and is tried again.
      verdicts: [
        ...new Set(
          checks.filter((f) => f.verdict.is !== "unverifiable").map((f) => `${f.iteration} ${f.tree} ${f.verdict.is}`),
        ),
      ],
      commits: this.git("log", "--format=%T %s", "trunk..pawl/fault").split("\n"),
    };
  }

  /** What a run must never leave behind. */
  async leftovers(): Promise<string[]> {
    const wrongs: string[] = [];
    if (existsSync(join(this.repo, ".git", "index.lock"))) wrongs.push("index.lock was left");
    if (this.git("status", "--porcelain") !== "") wrongs.push(`status: ${this.git("status", "--porcelain")}`);
    if (this.git("fsck", "--no-dangling") !== "") wrongs.push("fsck complains");
    if (taggedProcesses("PAWL_RUN", this.run).length > 0) wrongs.push("a process is left");
    const sockets = readdirSync(this.root).filter((name) => /^pawl-\w{6}$/.test(name));
    if (sockets.length > 0) wrongs.push(`sockets are left: ${sockets.join(", ")}`);
    const turns = (await this.facts()).filter((f): f is FactOf<"turn-end"> => f.type === "turn-end");
    if (turns.filter((t) => t.outcome.is === "done").length !== this.#iterations)
      wrongs.push(`${turns.length} turns, not ${this.#iterations} done`);
    return wrongs;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Calm {
  seen: Seen;
  /** How often it came by each point. */
  passed: Record<FaultPoint, number>;
}

type Kind = Required<Pick<PlaceOptions, "fence" | "iterations">> & Pick<PlaceOptions, "controlled">;
const calms = new Map<string, Promise<Calm>>();

/** The measure for all others of its kind: made once. */
function calmRun(kind: Kind): Promise<Calm> {
  const name = JSON.stringify(kind);
  const known = calms.get(name) ?? driveCalmly(kind);
  calms.set(name, known);
  return known;
}

async function driveCalmly(kind: Kind): Promise<Calm> {
  const place = new FaultPlace(kind);
  try {
    const { status, said } = await place.drive();
    const passed = /^passed (.+)$/m.exec(said)?.[1];
    if (status !== 0 || passed === undefined) throw new Error(`the undisturbed run failed: ${said}`);
    return { seen: await place.seen(), passed: JSON.parse(passed) as Calm["passed"] };
  } finally {
    place.remove();
  }
}

export async function undisturbed(): Promise<Seen> {
  return (await calmRun({ fence: "none", iterations: ITERATIONS })).seen;
}

async function faultRun(fault: string, { seen: calm }: Calm, kind: Kind): Promise<FaultReport> {
  const place = new FaultPlace(kind);
  try {
    const first = await place.drive(fault);
    const isBroken = first.status !== 0;
    // One that kills says nothing; one that is got over leaves a run that ends well.
    const hit = isBroken || first.said.endsWith("fault met");
    const wrongs: string[] = [];
    if (first.signal === null && first.status !== 0 && first.status !== 5)
      wrongs.push(`not told apart: ${first.status} ${first.said}`);
    const again = isBroken ? await place.drive() : first;
    if (again.status !== 0) wrongs.push(`driven again: ${again.status} ${again.said}`);
    else {
      const seen = await place.seen();
      for (const key of ["outcome", "tree", "verdicts", "commits"] as const) {
        if (JSON.stringify(seen[key]) !== JSON.stringify(calm[key]))
          wrongs.push(`${key}: ${JSON.stringify(seen[key])}`);
      }
      wrongs.push(...(await place.leftovers()));
    }
    return { hit, exit: first.status, signal: first.signal, said: first.said, wrongs };
  } finally {
    place.remove();
  }
}

interface Every extends Partial<Kind> {
  step?: number;
  first?: number;
}

/** Runs faults at n = first, first + step, …, as often as an undisturbed run comes by the point; a few at once. */
export async function faultEvery(
  point: FaultPoint,
  how: string,
  { step = 1, first = 1, fence = "none", iterations = ITERATIONS }: Every = {},
): Promise<{ points: number; wrongs: string[] }> {
  const kind = { fence, iterations };
  const calm = await calmRun(kind);
  const wrongs: string[] = [];
  let points = 0;
  let next = first;
  const work = async (): Promise<void> => {
    while (next <= calm.passed[point]) {
      const fault = `${point}:${next}:${how}`;
      next += step;
      const report = await faultRun(fault, calm, kind);
      wrongs.push(...report.wrongs.map((wrong) => `${fault}: ${wrong}`));
      if (report.hit) points += 1;
    }
  };
  await Promise.all(Array.from({ length: DRIVES_AT_ONCE }, work));
  return { points, wrongs };
}

/**
 * At each stage of judging of a run of one iteration the process is killed, or pawl's own code throws: whichever way it
 * ends, it has to come to its proper end when it is driven, or reopened, without the fault.
 */
export async function crashEveryStage(how: "kill" | "BUG"): Promise<{ stages: number; wrongs: string[] }> {
  const { passed } = await calmRun({ fence: "none", iterations: 1, controlled: true });
  const wrongs: string[] = [];
  let next = 1;
  const crash = async (fault: string): Promise<void> => {
    const place = new FaultPlace({ iterations: 1, controlled: true });
    try {
      const first = await place.drive(fault);
      const { outcome } = await place.seen();
      if (first.signal === null && !first.said.endsWith("fault met")) wrongs.push(`${fault}: not met`);
      // What is thrown is got over, or ends in an outcome that says so.
      if (how === "BUG" && first.status !== 0) wrongs.push(`${fault}: ended with ${first.status}: ${first.said}`);
      const again = outcome === "verified" ? first : await place.drive(undefined, "reopen");
      const end = (await place.seen()).outcome;
      if (end !== "verified") wrongs.push(`${fault}: ${outcome}, then ${end}: ${again.said}`);
    } finally {
      place.remove();
    }
  };
  const work = async (): Promise<void> => {
    while (next <= passed.judge) await crash(`judge:${next++}:${how}`);
  };
  await Promise.all(Array.from({ length: DRIVES_AT_ONCE }, work));
  return { stages: passed.judge, wrongs };
}
