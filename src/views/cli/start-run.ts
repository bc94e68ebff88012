/**
 * Everything between the words of `pawl run` and the first fact. Nothing is changed or spent before `begin`: a refusal
 * leaves no trace.
 */
import type { Flags } from "../../config/settings.ts";
import { statfsSync, existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment, State } from "../../compose.ts";
import { checkAgents, warmAgent } from "../../compose/agents.ts";
import { commandNames, withCommands } from "../../compose/command-agent.ts";
import { fenceHosts, fenceKind, refuseWithoutRelay } from "../../compose/fence.ts";
import { freezeEnvironment, thawEnvironment } from "../../compose/environment.ts";
import { readTemplate, refuseMemoFiles, refuseTemplates } from "../../compose/templates.ts";
import { uncommitted } from "../../compose/uncommitted.ts";
import { readEntry } from "../../agent-entry.ts";
import { resolveSettings, type Resolved } from "../../config.ts";
import { toRunSpec } from "../../config/run-spec.ts";
import { commandExists } from "../../checks/command-words.ts";
import { TerminalError, UsageError } from "../../errors.ts";
import type { NewFact, Task } from "../../events.ts";
import { makeRedact } from "../../journal/redact.ts";
import { configDir, stateDir } from "../../platform/paths.ts";
import type { Base, Redact } from "../../ports.ts";
import type { RunSpec } from "../../spec.ts";
import { VERSION } from "../../version.ts";
import { blockingBranch, branchSlug, checkedBranch, freeBranchName } from "../../workspace/branch.ts";
import { inspectRepository, type RepositoryFacts } from "../../workspace/inspect.ts";
import { EMPTY_TREE } from "../../workspace/objects.ts";
import { userGit } from "../../workspace/user-git.ts";
import { oneLine } from "../plain.ts";
import { withContext } from "./goal.ts";
import { inGivenFolder } from "./given-folder.ts";
import { refuseGitInside, refuseStateInside } from "./refuse-inside.ts";
import { makeRunId, repositoriesOf } from "./run-id.ts";
import { taskFile } from "./task-file.ts";
import { refuseUnwritable } from "./state-place.ts";
import { protectFor } from "../../compose/protect.ts";

const MIN_FREE_BYTES = 16 * 1024 * 1024;
const SHOWN_PATHS = 3;
const MAX_PATH_CHARS = 80;

export interface Planned {
  spec: RunSpec;
  base: Base;
  resolved: Resolved;
  /** In tasks mode. */
  tasks?: Task[];
  /** Where commands run that were given on the command line, in words, where that is not the top level. */
  folderNote?: string;
  /** The branch as it would be named now: another run may have taken the name meanwhile. */
  branchNow: () => Promise<string | undefined>;
}

interface PlanRequest {
  goal: string;
  /** Told to the agent behind the goal. */
  context?: string;
  flags: Flags;
  env: Environment;
  cwd: string;
  /** The run works in a worktree of its own, so the state of this one does not matter. */
  elsewhere: boolean;
  /** What a program brings itself. */
  own?: OwnParts;
}

export interface OwnParts {
  /** Whether settings files and PAWL_… variables count. */
  config: boolean;
  /** Name of the program's agent that works; then nothing is asked of the machine's. */
  agent?: string;
  /** Names of all that the program brings. */
  agents: readonly string[];
  /** Names of those of the checks that the program judges itself. */
  checks: readonly string[];
}

export async function planRun({ goal, context, flags, env, cwd, elsewhere, own }: PlanRequest): Promise<Planned> {
  const given =
    own?.config === false
      ? resolveSettings({ flags, env: {}, repository: undefined, userDir: undefined })
      : resolveSettings({ flags, env, repository: repositoriesOf(cwd)[0], userDir: configDir(env) });
  if (elsewhere) refuseWithWorktree(given);
  const template = readTemplate(given, { cwd });
  const looking = inspectRepository(cwd, { environment: env });
  // While git looks: what the first fact needs, and the agent's start.
  warmSchemas();
  const facts = await looking;
  const { topLevel } = facts;
  const listed = taskFile(given, { cwd, topLevel });
  const { resolved: here, ...told } = await inGivenFolder(given, { cwd, env, topLevel, own: own?.checks ?? [] });
  const resolved = listed === undefined ? here : { ...here, settings: { ...here.settings, tasks: listed.file } };
  const { settings } = resolved;
  const base = baseOf(facts);
  refuseStateInside(facts, stateDir(env));
  if (!elsewhere) refuseInProgress(facts);
  const isClean =
    elsewhere || settings["allow-dirty"] ? undefined : refuseDirty(facts, { base, env, memos: memosOf(resolved) });
  // Looked at together; what is told is the first in this order.
  const branchNow = (): Promise<string | undefined> => branchFor(resolved, { goal, facts, env });
  const found = inOrder([isClean, branchNow(), fenceKind(settings.fence)] as const);
  if (own?.agent === undefined) warmAgent(readEntry(settings.agent)?.agent ?? "");
  const [, branch, fence] = await found;
  if (fence !== "none" && !elsewhere) refuseGitInside(facts);
  const planned = toRunSpec(resolved, {
    run: makeRunId(Date.now(), Math.random),
    goal: withContext(goal, context),
    repository: topLevel,
    path: topLevel,
    branch,
    fence,
    hosts: fenceHosts(settings.network, settings["allow-host"]),
    protect: protectFor(settings, { workspace: topLevel, path: env["PATH"] }),
    ...(template === undefined ? {} : { template }),
    ...(own === undefined ? {} : { own }),
    commands: commandNames(settings.agents),
    environment: freezeEnvironment(env, {
      add: settings.env,
      home: settings.home,
      redact: makeRedact({ environment: env }),
    }),
  });
  const named = await withCommands(planned, { table: settings.agents, own: own?.agents ?? [] });
  const spec = own === undefined ? named : withOwn(named, own);
  refuseWithoutRelay(spec.fence);
  refuseTemplates({ spec, base });
  refuseMemoFiles(spec);
  refuseSecrets(spec, makeRedact({ environment: env }));
  await checkAgents(spec, { env, own: own?.agents ?? [] });
  refuseMissingCommands(spec, env);
  refuseUnwritable(stateDir(env));
  refuseFullDisk(stateDir(env));
  return { spec, base, resolved, branchNow, ...told, ...(listed === undefined ? {} : { tasks: listed.tasks }) };
}

/** A failure is told when they are needed. */
function warmSchemas(): void {
  import("../../events.ts").catch(() => undefined);
}

function withOwn(spec: RunSpec, { checks }: OwnParts): RunSpec {
  return {
    ...spec,
    checks: spec.checks.map((check) => (checks.includes(check.name) ? { ...check, kind: "custom" } : check)),
  };
}

/** A worktree begins at the last commit and has a branch of its own. */
function refuseWithWorktree({ settings, origins }: Resolved): void {
  if (settings.commit !== "branch") {
    throw new UsageError(`a worktree has a branch of its own, and commit is ${settings.commit}`, {
      hint: `commit: ${origins.commit?.where ?? "default"}; leave one of the two out`,
    });
  }
  if (settings["allow-dirty"] && origins["allow-dirty"]?.from === "flag") {
    throw new UsageError("--worktree contradicts --allow-dirty: a worktree begins at the last commit", {
      hint: "leave --allow-dirty out: what is uncommitted here stays here",
    });
  }
}

const memosOf = ({ settings: s }: Resolved): string[] =>
  [s.tasks, s.notes, s.knowledge].filter((file) => file !== undefined);

/** Like Promise.all, but it is the first of the list that rejects and not the fastest. */
async function inOrder<A, B, C>([a, b, c]: readonly [Promise<A> | undefined, Promise<B>, Promise<C>]): Promise<
  [A | undefined, B, C]
> {
  const [first, second, third] = await Promise.allSettled([a, b, c]);
  if (first.status === "rejected") throw first.reason;
  if (second.status === "rejected") throw second.reason;
  if (third.status === "rejected") throw third.reason;
  return [first.value, second.value, third.value];
}

function baseOf({ head, objectFormat }: RepositoryFacts): Base {
  return {
    commit: head.is === "unborn" ? null : head.commit,
    tree: head.is === "unborn" ? EMPTY_TREE[objectFormat] : head.tree,
    branch: head.is === "detached" ? null : head.branch,
    detached: head.is === "detached",
  };
}

function refuseInProgress({ inProgress, topLevel }: RepositoryFacts): void {
  if (inProgress === null) return;
  throw new UsageError(`a ${inProgress} is in progress in ${topLevel}`, {
    hint: `finish it or run \`git ${inProgress} --abort\` first`,
  });
}

async function refuseDirty(
  { topLevel }: RepositoryFacts,
  { base, env, memos }: { base: Base; env: Environment; memos: readonly string[] },
): Promise<void> {
  const found = await uncommitted({ cwd: topLevel, environment: env, commit: base.commit });
  const paths = found.filter((path) => !memos.includes(path));
  if (paths.length === 0) return;
  const names = paths.slice(0, SHOWN_PATHS).map((path) => oneLine(path, { max: MAX_PATH_CHARS }));
  const more = paths.length > SHOWN_PATHS ? ` and ${paths.length - SHOWN_PATHS} more` : "";
  throw new UsageError(`${topLevel} has uncommitted changes: ${names.join(", ")}${more}`, {
    hint: "commit or stash them, pass --allow-dirty to make them the run's first commit, or use --worktree",
  });
}

async function branchFor(
  { settings }: Resolved,
  { goal, facts, env }: { goal: string; facts: RepositoryFacts; env: Environment },
): Promise<string | undefined> {
  if (settings.commit === "current" && facts.head.is === "detached") {
    throw new UsageError("HEAD is detached: there is no current branch to commit on", {
      hint: "switch to a branch, or leave --current-branch out",
    });
  }
  if (settings.commit !== "branch") return undefined;
  if (settings.branch !== undefined) return await freeBranch(checkedBranch(settings.branch), { facts, env });
  // A branch is pushed and shown: a secret in the goal is not for its name.
  const words = makeRedact({ environment: env })(goal);
  const prefix = settings["branch-prefix"];
  return await freeBranchName(branchSlug(words), { repository: facts.topLevel, environment: env, prefix });
}

/** One that is there already must be where the run begins: nobody's commits are left behind or taken over. */
async function freeBranch(name: string, { facts, env }: { facts: RepositoryFacts; env: Environment }): Promise<string> {
  const blocking = await blockingBranch(name, { repository: facts.topLevel, environment: env });
  if (blocking !== undefined)
    throw new UsageError(`there can be no branch ${name} beside ${blocking}`, { hint: "give another name" });
  const place = { cwd: facts.topLevel, environment: env };
  const tip = (await userGit(["rev-parse", "-q", "--verify", `refs/heads/${name}`], place)).stdout.toString().trim();
  if (tip === "" || (facts.head.is !== "unborn" && tip === facts.head.commit)) return name;
  throw new UsageError(`the branch ${name} exists already and is somewhere else`, {
    hint: "give another name, or switch to it and use --current-branch",
  });
}

/** The journal masks secrets, so a command with one in it could not be run again. */
export function refuseSecrets({ checks, hooks, agent, commands }: RunSpec, redact: Redact): void {
  const masked = (value: unknown): boolean => JSON.stringify(value, masking) !== JSON.stringify(value);
  const masking = (_: string, value: unknown): unknown => (typeof value === "string" ? redact(value) : value);
  const check = checks.find(masked);
  const hook = hooks.find(({ command }) => masked(command));
  if (check === undefined && hook === undefined && !masked([agent.options, commands])) return;
  const where = check !== undefined ? "a check holds" : "a hook's command holds";
  throw new UsageError(
    `${check === undefined && hook === undefined ? "the agent's options hold" : where} a secret, which pawl never writes down`,
    {
      hint: "put it into a variable and pass that with --env NAME",
    },
  );
}

export function refuseMissingCommands(spec: RunSpec, env: Environment): void {
  const { checks, hooks, environment, workspace, run, setup } = spec;
  const place = { env: thawEnvironment(environment, { env, run, home: undefined }), cwd: workspace.path };
  const missing = checks
    .filter(({ kind }) => kind === "command" || kind === "metric")
    .find(({ command }) => !commandExists(command, { ...place, hasSetup: setup !== undefined }));
  const hook = hooks.find(({ command }) => !commandExists(command, place));
  if (missing === undefined && hook !== undefined) {
    const command = oneLine(hook.command, { max: MAX_PATH_CHARS });
    throw new UsageError(
      `hook ${oneLine(hook.name, { max: MAX_PATH_CHARS })}: not found or not executable: ${command}`,
      {
        hint: "hooks run in the repository's top level with your PATH; `chmod +x` makes a script executable",
      },
    );
  }
  if (missing === undefined) return;
  throw new UsageError(
    `check ${missing.name}: command not found: ${oneLine(missing.command, { max: MAX_PATH_CHARS })}`,
    {
      hint: "checks run in the folder they were given in, those of pawl.yaml at the top level, with your PATH",
    },
  );
}

export function refuseFullDisk(dir: string): void {
  let place = dir;
  while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
  const { bavail, bsize } = statfsSync(place);
  if (bavail * bsize >= MIN_FREE_BYTES) return;
  throw new TerminalError(
    `the disk is full: under ${MIN_FREE_BYTES / 1024 / 1024} MB free where pawl keeps its state (${dir})`,
    {
      hint: "make room, or set PAWL_HOME to another disk",
    },
  );
}

/** The first fact. From here on the run exists. */
export async function begin({ journal }: State, { spec, base }: Pick<Planned, "spec" | "base">): Promise<void> {
  const first: NewFact = { type: "run-start", lane: "main", spec, pawl: VERSION, base };
  await journal.create(spec.run, first, { repository: spec.workspace.repository, goal: spec.goal });
}
