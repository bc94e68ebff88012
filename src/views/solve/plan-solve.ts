/**
 * Everything between the words of `pawl solve` and the first fact. Nothing is changed or spent before the run begins: a
 * refusal leaves no trace.
 */
import { join, resolve } from "node:path";
import type { Environment } from "../../compose.ts";
import { checkAgents } from "../../compose/agents.ts";
import { commandNames, withCommands } from "../../compose/command-agent.ts";
import { freezeEnvironment } from "../../compose/environment.ts";
import { fenceHosts, fenceKind, refuseWithoutRelay } from "../../compose/fence.ts";
import { resolveSettings, type Resolved } from "../../config.ts";
import { toRunSpec } from "../../config/run-spec.ts";
import { DEFAULTS, type Flags, type SettingName } from "../../config/settings.ts";
import { UsageError } from "../../errors.ts";
import { makeRedact } from "../../journal/redact.ts";
import { MIN_REQUEST_TOKENS, promptBytes, wireBytes } from "../../loop/history.ts";
import { configDir, runDir, SCRATCH, stateDir } from "../../platform/paths.ts";
import { questionText } from "../../recipes/solve/question.ts";
import { CONVERSATION_SHARE, QUESTION_SHARE } from "../../recipes/solve/shares.ts";
import { runSpecSchema, type RunSpec } from "../../spec.ts";
import type { SolveSpec } from "../../spec/solve.ts";
import { makeRunId, repositoriesOf } from "../cli/run-id.ts";
import { SOLVE_DEFAULTS, SOLVE_SETTINGS } from "../cli/setting-options.ts";
import { refuseFullDisk, refuseMissingCommands, refuseSecrets, type OwnParts } from "../cli/start-run.ts";
import { refuseUnwritable } from "../cli/state-place.ts";
import { answerChecks, readPlan, readSchema } from "./asked.ts";
import { refuseExecutor } from "./executor-check.ts";
import { givenFiles, type GivenFile } from "./given-files.ts";
import { refusePlaces } from "./places.ts";

export interface SolveAsked {
  question: string;
  /** Paths. */
  files: readonly string[];
  expect: string | undefined;
  /** A file, or the schema itself. */
  schema: string | undefined;
  /** A file. */
  plan: string | undefined;
  planOnly: boolean;
  out: string | undefined;
  save: string | undefined;
  flags: Flags;
  env: Environment;
  cwd: string;
  own?: OwnParts & { executor: boolean };
}

export interface PlannedSolve {
  spec: RunSpec;
  files: GivenFile[];
  resolved: Resolved;
}

export async function planSolve(asked: SolveAsked): Promise<PlannedSolve> {
  const { question, env, own } = asked;
  const resolved = settingsOf(asked);
  const { settings } = resolved;
  refusePlaces(asked);
  const files = givenFiles(asked.files);
  const schema = asked.schema === undefined ? undefined : readSchema(asked.schema);
  const steps = asked.plan === undefined ? undefined : readPlan(asked.plan);
  if (steps !== undefined && asked.planOnly)
    throw new UsageError("--plan-only contradicts --plan: there is a plan already", { hint: "leave one out" });
  const solve: SolveSpec = {
    executor: settings.executor,
    ...(settings.language === undefined ? {} : { language: settings.language }),
    files: files.map(({ path, bytes, sha256, head }) => ({ path, bytes, sha256, head })),
    history: settings.history,
    requestTokens: settings["request-tokens"],
    repeats: settings.repeats,
    parallel: settings.parallel,
    stepTries: settings["step-tries"],
    limits: {
      timeoutMs: settings["code-time"],
      memoryBytes: settings["code-memory"],
      processes: settings["code-processes"],
      diskBytes: settings["code-disk"],
      outputBytes: settings["code-output"],
    },
    ...(steps === undefined ? {} : { plan: steps }),
    planOnly: asked.planOnly,
    ...(asked.out === undefined ? {} : { out: resolve(asked.cwd, asked.out) }),
    ...(asked.save === undefined ? {} : { save: resolve(asked.cwd, asked.save) }),
  };
  refuseSmall(solve);
  const run = makeRunId(Date.now(), Math.random);
  const path = join(runDir(stateDir(env), run), SCRATCH);
  const redact = makeRedact({ environment: env });
  const plain = toRunSpec(resolved, {
    run,
    goal: "solve",
    repository: path,
    path,
    branch: undefined,
    fence: await fenceKind(settings.fence),
    hosts: fenceHosts(settings.network, settings["allow-host"]),
    ...(own === undefined ? {} : { own }),
    commands: commandNames(settings.agents),
    environment: freezeEnvironment(env, { add: settings.env, home: settings.home, redact }),
  });
  const given = answerChecks({ expect: asked.expect, schema }, { timeoutMs: settings["check-timeout"] });
  const spec = runSpecSchema.parse(solveSpec(plain, { question, solve, given, files, own }));
  refuseLong(spec, solve);
  const named = await withCommands(spec, { table: settings.agents, own: own?.agents ?? [] });
  refuseWithoutRelay(named.fence);
  refuseSecrets(named, redact);
  refuseExecutor(named, { env, own });
  await checkAgents(named, { env, own: own?.agents ?? [] });
  refuseMissingCommands({ ...named, workspace: { ...named.workspace, path: asked.cwd } }, env);
  refuseUnwritable(stateDir(env));
  refuseFullDisk(stateDir(env));
  return { spec: named, files, resolved };
}

/** Those that say something here; checks of a project's file are about its tests. */
function settingsOf({ flags, env, cwd, own }: SolveAsked): Resolved {
  const given =
    own?.config === false
      ? resolveSettings({ flags, env: {}, repository: undefined, userDir: undefined })
      : resolveSettings({ flags, env, repository: repositoriesOf(cwd)[0], userDir: configDir(env) });
  const isSaid = (name: SettingName): boolean => {
    const from = given.origins[name]?.from;
    return from !== undefined && from !== "default" && (name !== "checks" || from === "flag");
  };
  const counted = SOLVE_SETTINGS.filter(isSaid).map((name) => [name, given.settings[name]]);
  const scratch = { commit: "none", "allow-dirty": true };
  const settings = {
    ...DEFAULTS,
    ...SOLVE_DEFAULTS,
    ...scratch,
    ...Object.fromEntries(counted),
  } as Resolved["settings"];
  return { settings, origins: given.origins };
}

interface Parts {
  question: string;
  solve: SolveSpec;
  given: RunSpec["checks"];
  files: readonly GivenFile[];
  own: SolveAsked["own"];
}

/** What a run that solves has otherwise than one that works in a repository. */
function solveSpec(plain: RunSpec, { question, solve, given, files, own }: Parts): RunSpec {
  const isFull = solve.history === "full";
  const checks = [...given, ...plain.checks].map((check): RunSpec["checks"][number] =>
    own?.checks.includes(check.name) === true ? ({ ...check, kind: "custom" } as const) : check,
  );
  refuseSameNames(checks);
  return {
    ...plain,
    recipe: "solve",
    goal: question,
    workspace: { ...plain.workspace, scratch: true },
    solve,
    agent: {
      ...plain.agent,
      context: isFull ? "auto" : "fresh",
      contextLimitTokens: Math.floor(solve.requestTokens * CONVERSATION_SHARE),
      options: {
        ...plain.agent.options,
        ...(solve.executor === "claude"
          ? {
              executor: "claude",
              files: solve.files.map(({ path: name, sha256 }) => ({
                path: join(plain.workspace.path, name),
                sha256,
                name,
              })),
            }
          : {}),
        ...(plain.agent.name === "messages" ? { requestTokens: solve.requestTokens } : {}),
        // What the model runs itself makes a conversation long that pawl cannot prune.
        ...(plain.agent.name === "messages" && (isFull || solve.executor === "claude") ? { contextEditing: true } : {}),
      },
    },
    checks,
    claim: { ...plain.claim, required: false, confirmations: 1 },
    criteria: [],
    // Checks may compare with what was given, so code cannot give itself something else.
    protect: { ...plain.protect, config: files.map(({ path }) => onlyNamed(path)) },
    // Nothing was judged before the first answer, and an answer does not come out otherwise the second time.
    verdicts: { ...plain.verdicts, preExisting: "require", reruns: 0, passes: 1, control: "off" },
    minIterations: 1,
  };
}

/** As a pattern: what has a meaning in one stands for any sign. */
const onlyNamed = (name: string): string => name.replaceAll(/[*?{},]/g, "?");

function refuseSameNames(checks: RunSpec["checks"]): void {
  const twice = checks.find(({ name }, at) => checks.findIndex((one) => one.name === name) !== at);
  if (twice !== undefined)
    throw new UsageError(`two checks are called ${twice.name}`, { hint: "--check NAME=COMMAND" });
}

function refuseSmall({ requestTokens, limits: { memoryBytes } }: SolveSpec): void {
  if (requestTokens < MIN_REQUEST_TOKENS)
    throw new UsageError(`--request-tokens ${requestTokens}: at least ${MIN_REQUEST_TOKENS} are needed`);
  if (memoryBytes < MIN_MEMORY_BYTES)
    throw new UsageError(`--code-memory ${memoryBytes}: no program starts with less than ${MIN_MEMORY_BYTES} bytes`, {
      hint: "for example: --code-memory 256MB",
    });
}
const MIN_MEMORY_BYTES = 32 * 1024 * 1024;

/** With what is demanded of the answer: half of a schema would be told as the whole. */
function refuseLong(spec: RunSpec, { requestTokens }: SolveSpec): void {
  const room = Math.floor(promptBytes(requestTokens) * QUESTION_SHARE);
  const bytes = wireBytes(questionText(spec));
  if (bytes <= room) return;
  const what = spec.checks.length === 0 ? "the question has" : "the question and what is checked have";
  throw new UsageError(`${what} the weight of ${bytes} bytes; ${room} fit into requests of ${requestTokens} tokens`, {
    hint: "put the data into a file (--file), or raise --request-tokens",
  });
}
