/**
 * The one place that builds ports from settings. Views call it; what is heavy (schemas, agents, workspace) is loaded
 * only when a run is driven, so that looking at the journal starts fast.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { UsageError } from "./errors.ts";
import { agentNamed, agentsOf, programFolders } from "./compose/agents.ts";
import type { RunFence } from "./compose/fence.ts";
import type { FactOf } from "./events.ts";
import { openJournal, type JournalHandle } from "./journal/open.ts";
import { makeRedact } from "./journal/redact.ts";
import { KNOWN_TYPES } from "./loop/known-types.ts";
import { wholeSpec } from "./loop/state.ts";
import { isAlive } from "./platform/owner.ts";
import { agentHome, judgeHome, runDir, stateDir } from "./platform/paths.ts";
import { refusedSystem } from "./platform/system.ts";
import type { Agent, Check, Ports, Redact } from "./ports.ts";
import type { Executor } from "./ports/executor.ts";
import type { RunSpec } from "./spec.ts";
import { lookUp } from "./platform/look-up.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface State extends JournalHandle {
  /** pawl's state directory. */
  readonly dir: string;
  readonly redact: Redact;
}

const LANE = "main";

/** For views: reads facts and trace, writes to the inbox. Creates nothing by looking. */
export function openState(env: Environment): State {
  const dir = stateDir(env);
  const redact = makeRedact({ environment: env });
  return { dir, redact, ...openJournal({ dir, redact, isAlive }) };
}

/** For drivers: also knows which facts may be written and gone on over. */
export async function openDriverState(env: Environment): Promise<State> {
  const refused = refusedSystem();
  if (refused !== undefined) throw new UsageError(refused.what, { hint: refused.hint });
  const dir = stateDir(env);
  const redact = makeRedact({ environment: env });
  return { dir, redact, ...openJournal({ dir, redact, isAlive, validator: loadValidator, knownTypes: KNOWN_TYPES }) };
}

/** The schemas take a while to load, and are not needed before something is written. */
async function loadValidator(): Promise<(fact: unknown) => unknown> {
  const { factSchema } = await import("./events.ts");
  return (fact) => factSchema.parse(fact);
}

export interface Composed {
  ports: Ports;
  spec: RunSpec;
  close(): Promise<void>;
}

interface ComposeOptions {
  run: string;
  env: Environment;
  state: State;
  /** What the run's first fact says, where the caller knows it already: a long journal takes time to read. */
  start?: Pick<FactOf<"run-start">, "spec" | "base">;
  /** Instead of the named agent's own adapter. */
  agents?: Readonly<Record<string, Agent>>;
  /** The program's own, for the checks of kind `custom`. */
  checks?: readonly Check[];
  /** The program's own, instead of what runs code here. */
  executor?: Executor;
  ahead?: Ports["ahead"];
  /** Opened by the caller already. */
  fence?: RunFence | undefined;
}

/** Everything a run needs to be driven, from its first fact: the same for a new run and for one driven again. */
export async function composeForRun({
  run,
  env,
  state,
  start,
  agents,
  checks = [],
  executor,
  ahead,
  fence: opened,
}: ComposeOptions): Promise<Composed> {
  const [
    { openWorkspace },
    { checksAtOnce, makeCheck },
    { verifyOptions, withDependencies },
    { sweep },
    { currentOwner },
    { systemClock },
    { thawEnvironment },
    hooks,
    places,
  ] = await Promise.all([
    import("./workspace/open.ts"),
    import("./compose/checks.ts"),
    import("./compose/dependencies.ts"),
    import("./platform/sweep.ts"),
    import("./platform/owner.ts"),
    import("./platform/clock.ts"),
    import("./compose/environment.ts"),
    import("./compose/hook.ts"),
    import("./compose/agent-place.ts"),
  ]);
  const { spec, base } = start ?? (await startOf(state, run));
  const checkHome = join(runDir(state.dir, run), "check-home");
  const { journal, trace, blobs } = state;
  const environment = thawEnvironment(spec.environment, { env, run, home: checkHome });
  const fence = opened ?? (await runFence({ run, env, state, start: { spec, base } }));
  const forChecks = { ...environment, ...fence.environment };
  const workspace = await openWorkspace({
    spec: spec.workspace,
    run,
    lane: LANE,
    stateDir: state.dir,
    environment: env,
    protect: spec.protect,
    isApart: fence.agent !== undefined,
    verify: verifyOptions(spec, { fence, environment: forChecks }),
  });
  const named = await agentsOf(spec, { env, own: agents });
  const judges = judgeHome(runDir(state.dir, run));
  const ports: Ports = {
    journal,
    trace,
    blobs,
    clock: systemClock,
    agents: named,
    workspace,
    checks: spec.checks.map((check) =>
      withDependencies(
        makeCheck(check, {
          run,
          blobs,
          environment: forChecks,
          maxOutputBytes: spec.fence.outputBytes,
          fence:
            fence.check === undefined
              ? undefined
              : { confine: fence.check, level: fence.level, at: spec.workspace.path },
          reports: fence.reports,
          testChanges: spec.protect.testChanges,
          custom: checks,
          tests: spec.protect.tests,
          doubtful: spec.protect.doubtful,
          judge: {
            agent: lookUp(named, spec.agent.name),
            settings: spec.agent,
            place: {
              home: judges,
              environment: {
                ...thawEnvironment(spec.environment, { env, run, home: join(judges, "home") }),
                ...fence.environment,
              },
              confine: fence.judge,
              sockets: fence.sockets,
            },
          },
        }),
        { kind: check.kind, blobs },
      ),
    ),
    checksAtOnce: checksAtOnce(spec, fence),
    hook: hooks.hookRunner({
      cwd: spec.workspace.path,
      environment: { ...environment, PAWL_HOME: state.dir },
      redact: state.redact,
    }),
    ...(await codeRoomOf(spec, { fence, environment: forChecks, executor })),
    owner: currentOwner(),
    sweep: (id) => sweep(id),
    ...(await places.runPlaces({ run, env, state, start: { spec, base } }, { fence })),
    ...(ahead === undefined ? {} : { ahead }),
    ...(spec.prices === undefined ? {} : { price: (await import("./platform/prices.ts")).pricesBy(spec.prices) }),
    uuid: () => randomUUID(),
  };
  return {
    ports,
    spec,
    async close() {
      await workspace.close();
      // One that was given is closed by whoever opened it.
      if (opened === undefined) await fence.close();
    },
  };
}

/** Only of a run whose code pawl runs itself. */
async function codeRoomOf(
  spec: RunSpec,
  about: { fence: RunFence; environment: Readonly<Record<string, string>>; executor: Executor | undefined },
): Promise<Pick<Ports, "code">> {
  if (spec.solve?.executor !== "local") return {};
  const { codeRoom } = await import("./compose/code-room.ts");
  return { code: codeRoom(spec.solve, { workspace: spec.workspace.path, ...about }) };
}

export type Begun = Required<Pick<ComposeOptions, "run" | "env" | "state" | "start">>;

/** What holds the agent and the checks of a run; to be closed when nothing of it runs any more. */
export async function runFence({ run, env, state, start }: Begun): Promise<RunFence> {
  const [{ openRunFence }, { laneLayout }, { thawEnvironment }] = await Promise.all([
    import("./compose/fence.ts"),
    import("./workspace/layout.ts"),
    import("./compose/environment.ts"),
  ]);
  const { spec } = start;
  const home = agentHome(state.dir, { run, lane: LANE });
  return await openRunFence({
    spec,
    layout: laneLayout({ stateDir: state.dir, repository: spec.workspace.repository, run, lane: LANE }),
    stateDir: state.dir,
    runDir: runDir(state.dir, run),
    agentHome: home,
    checkHome: join(runDir(state.dir, run), "check-home"),
    programs: await programFolders(spec, env),
    environment: thawEnvironment(spec.environment, { env, run, home: join(home, "home") }),
    onAttempt: (attempt) => state.trace.write(run, { at: Date.now(), turn: 0, kind: "network", data: attempt }),
  });
}

/**
 * Starts the agent of a run that has just begun, before all else that driving needs is loaded: its program takes longest.
 * The caller watches signals already, and closes the session, whatever happens; also one that was driven with.
 */
export async function startAhead(
  { run, env, state, start }: Begun,
  { fence }: { fence: RunFence },
): Promise<NonNullable<Ports["ahead"]>> {
  const { agent: wanted, workspace } = start.spec;
  const { agentPlace } = await import("./compose/agent-place.ts");
  const [place, agents, { realPath }] = await Promise.all([
    agentPlace({ run, env, state, start }, { keep: false, fence }),
    agentNamed(wanted.name, { env, commands: start.spec.commands }),
    import("./workspace/layout.ts"),
  ]);
  const agent = lookUp(agents, wanted.name);
  if (agent === undefined) throw new Error(`no agent named ${wanted.name}`);
  const ref = randomUUID();
  const session = await agent.open({
    run,
    lane: LANE,
    workspace: realPath(workspace.path),
    session: { ref, mode: "new" },
    agent: wanted,
    model: wanted.model,
    ...place,
  });
  await session.warm?.();
  return { ref, session };
}

async function startOf({ journal }: State, run: string): Promise<FactOf<"run-start">> {
  const [first] = await journal.read(run);
  if (first?.type === "run-start") return { ...first, spec: wholeSpec(first.spec) };
  throw new UsageError(`there is no run ${run}`, { hint: "`pawl runs --all` lists them" });
}
