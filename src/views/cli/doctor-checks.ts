/** What `pawl doctor` looks at. Every check reads only, and says what to do when it is not content. */
import { existsSync, statfsSync, statSync } from "node:fs";
import { claudeLogin } from "../../agents/claude/login.ts";
import { claudeAvailable, TESTED_PACKAGE, untested } from "../../agents/claude/program.ts";
import { openState, type Environment } from "../../compose.ts";
import { TerminalError, UsageError } from "../../errors.ts";
import { installCommand } from "../../platform/install-command.ts";
import { stateDir } from "../../platform/paths.ts";
import { clockFinding } from "./doctor-clock.ts";
import { executorsFinding } from "./doctor-executors.ts";
import { fenceFinding } from "./doctor-fence.ts";
import { versionOf } from "./doctor-version.ts";
import { newerFinding } from "./doctor-newer.ts";
import { projectFindings } from "./doctor-project.ts";
import { counted } from "./format.ts";
import { nearestExisting, unwritable } from "./state-place.ts";

export interface Finding {
  name: string;
  is: "ok" | "warn" | "fail";
  says: string;
  /** The command or step that puts it right. */
  fix?: string;
}

export interface Looking {
  /** Ask nobody outside this machine. */
  offline: boolean;
}

type Examine = (env: Environment, looking: Looking) => Promise<Finding[]>;

const MIN_NODE = [22, 18] as const;
const MIN_GIT = [2, 36] as const;
const PRIVATE_MODE = 0o700;
const MIB = 1024 ** 2;
const LOW_DISK_MIB = 1_024;
const NO_DISK_MIB = 100;

export const EXAMINATIONS: readonly Examine[] = [
  node,
  git,
  agent,
  login,
  home,
  disk,
  journal,
  projectFindings,
  async (env, looking) => [await newerFinding(env, looking)],
  fenceFinding,
  executorsFinding,
];

const atLeast = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [a = 0, b = 0] = version.split(".").map(Number);
  return a > major || (a === major && b >= minor);
};

async function node(): Promise<Finding[]> {
  const version = process.versions.node;
  const says = `${version}, at least ${MIN_NODE.join(".")} is needed`;
  return [
    atLeast(version, MIN_NODE)
      ? { name: "node", is: "ok", says: version }
      : { name: "node", is: "fail", says, fix: "install Node 24, e.g. from nodejs.org" },
  ];
}

async function git(env: Environment): Promise<Finding[]> {
  const said = await versionOf("git", { args: ["--version"], env });
  const version = /\d+\.\d+(\.\d+)?/.exec(said ?? "")?.[0];
  if (version === undefined)
    return [{ name: "git", is: "fail", says: "not found", fix: "install git, e.g. `apt install git`" }];
  return [
    atLeast(version, MIN_GIT)
      ? { name: "git", is: "ok", says: version }
      : { name: "git", is: "fail", says: `${version}, at least ${MIN_GIT.join(".")} is needed`, fix: "update git" },
  ];
}

async function agent(env: Environment): Promise<Finding[]> {
  const name = "claude";
  try {
    const program = claudeAvailable({}, env);
    const says = await versionOf(program, { args: ["--version"], env });
    if (says === undefined)
      return [{ name, is: "fail", says: `${program} does not start`, fix: installCommand(TESTED_PACKAGE) }];
    const why = untested(says);
    return [
      why === undefined
        ? { name, is: "ok", says }
        : { name, is: "warn", says: why, fix: installCommand(TESTED_PACKAGE) },
    ];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [{ name, is: "fail", says: error.message, ...(error.hint === undefined ? {} : { fix: error.hint }) }];
  }
}

async function login(env: Environment): Promise<Finding[]> {
  const found = claudeLogin(env);
  if (found !== undefined) return [{ name: "login", is: "ok", says: found.describe }];
  return [
    {
      name: "login",
      is: "fail",
      says: "none found for claude",
      fix: "set ANTHROPIC_API_KEY, or sign in once with `claude` and /login; `pawl demo` needs neither",
    },
  ];
}

async function home(env: Environment): Promise<Finding[]> {
  const name = "state";
  const dir = stateDir(env);
  const why = unwritable(dir);
  if (why !== undefined) return [{ name, is: "fail", says: why, fix: "set PAWL_HOME to a directory of yours" }];
  if (!existsSync(dir)) return [{ name, is: "ok", says: `${dir}, made at the first run` }];
  const mode = statSync(dir).mode & 0o777;
  if (mode === PRIVATE_MODE) return [{ name, is: "ok", says: `${dir}, private` }];
  const says = `${dir} has mode ${mode.toString(8)}: others may read prompts and logs`;
  return [{ name, is: "warn", says, fix: `chmod 700 ${dir}` }];
}

async function disk(env: Environment): Promise<Finding[]> {
  const { bavail, bsize } = statfsSync(nearestExisting(stateDir(env)));
  const free = Math.floor((bavail * bsize) / MIB);
  const is = free < NO_DISK_MIB ? "fail" : free < LOW_DISK_MIB ? "warn" : "ok";
  return [
    { name: "disk", is, says: `${free} MiB free`, ...(is === "ok" ? {} : { fix: "make room, or set PAWL_HOME" }) },
  ];
}

/** Also compares the clock with the newest thing that was written. */
async function journal(env: Environment): Promise<Finding[]> {
  const state = openState(env);
  try {
    const rows = await state.journal.runs();
    const newest = rows.at(-1);
    const last = newest === undefined ? undefined : (await state.journal.read(newest.run)).at(-1);
    const says = rows.length === 0 ? "no runs yet" : `opens, ${counted(rows.length, "run")}`;
    return [await clockFinding(last?.at), { name: "journal", is: "ok", says }];
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    const fix = error.hint ?? "set PAWL_HOME to another directory";
    return [await clockFinding(undefined), { name: "journal", is: "fail", says: error.message, fix }];
  } finally {
    state.close();
  }
}
