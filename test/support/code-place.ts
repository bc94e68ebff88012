/** A place to run generated code in, fenced as a run's own: its workspace, its state, canaries around it. */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openRunFence, type RunFence } from "../../src/compose/fence.ts";
import { localExecutor } from "../../src/executors/local.ts";
import { allowedEnvironment } from "../../src/platform/environment.ts";
import { USUAL_LIMITS } from "../../src/platform/fence/limits.ts";
import type { Code, Execution, ExecutionLimits, Executor, Language } from "../../src/ports/executor.ts";
import { laneLayout } from "../../src/workspace/layout.ts";
import type { FenceSpec } from "../../src/spec.ts";

const MB = 1024 ** 2;
const CODE_LIMITS: ExecutionLimits = {
  // Against a hang alone.
  timeoutMs: 60_000,
  memoryBytes: 256 * MB,
  processes: 64,
  diskBytes: 16 * MB,
  outputBytes: MB,
};

export interface CodePlace {
  /** Of its run. */
  name: string;
  limits: ExecutionLimits;
  root: string;
  folder: string;
  state: string;
  fence: RunFence;
  executor: Executor;
  run(language: Language, text: string, limits?: Partial<ExecutionLimits>, signal?: AbortSignal): Promise<Execution>;
  close(): Promise<void>;
}

let places = 0;

export function emptyFolder(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
}

/** `root` exists and is empty. Rejects where there is no fence. */
export async function codePlace(root: string, given: Partial<FenceSpec> = {}): Promise<CodePlace> {
  const [folder, state] = [join(root, "work"), join(root, "state")];
  for (const path of [folder, state]) mkdirSync(path);
  const run = `r-code-${process.pid}-${(places += 1)}`;
  const homes = join(state, "runs", run);
  const environment = allowedEnvironment(process.env, { run, home: join(homes, "check") });
  mkdirSync(join(homes, "check"), { recursive: true });
  const limits = { ...USUAL_LIMITS, diskBytes: 1024 * MB, outputBytes: 64 * MB };
  const fence = await openRunFence({
    spec: {
      run,
      fence: { kind: "bwrap", network: "off", hosts: [], ...limits, ...given },
      workspace: { path: folder },
    },
    layout: laneLayout({ stateDir: state, repository: folder, run, lane: "main" }),
    stateDir: state,
    runDir: homes,
    agentHome: join(homes, "agent"),
    checkHome: join(homes, "check"),
    programs: [],
    environment,
    onAttempt: () => undefined,
  });
  const executor = localExecutor({ environment: { ...environment, ...fence.environment }, confine: fence.code });
  return {
    name: run,
    limits: CODE_LIMITS,
    root,
    folder,
    state,
    fence,
    executor,
    run: (language, text, more = {}, signal = new AbortController().signal) => {
      const code: Code = { language, text };
      return executor.run(code, { folder, limits: { ...CODE_LIMITS, ...more } }, signal);
    },
    close: () => fence.close(),
  };
}
