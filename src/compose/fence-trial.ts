/** Opens a fence as a run would and tries to get out of it. */
import { join } from "node:path";
import { allowedEnvironment } from "../platform/environment.ts";
import type { FenceKind } from "../platform/fence.ts";
import { USUAL_LIMITS } from "../platform/fence/limits.ts";
import { runProcess } from "../platform/process.ts";
import { laneLayout } from "../workspace/layout.ts";
import { openCanaries, type Canaries } from "./fence-canaries.ts";
import { PROBES, type Probe } from "./fence-probes.ts";
import { openRunFence } from "./fence.ts";

const PROBE_LIMIT_MS = 10_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const NOT_TRIED = 77;
const TRIAL = "trial";

export interface Tried {
  name: string;
  is: "held" | "broken" | "untried";
}

/** More than any of the tries writes. */
const TRIAL_BYTES = 1024 ** 3;

/** Throws like `openRunFence` when the fence cannot be opened. */
export async function tryFence(kind: Exclude<FenceKind, "none">): Promise<{ level: string; tried: Tried[] }> {
  const canaries = await openCanaries();
  try {
    const { workspace, state } = canaries;
    const homes = join(state, "runs", TRIAL);
    const user = { ...process.env, CANARY_API_KEY: canaries.secret };
    const environment = allowedEnvironment(user, { run: TRIAL, home: join(homes, "agent") });
    const fence = await openRunFence({
      spec: {
        run: TRIAL,
        fence: { kind, network: "off", hosts: [], ...USUAL_LIMITS, diskBytes: TRIAL_BYTES, outputBytes: TRIAL_BYTES },
        workspace: { path: workspace },
      },
      layout: laneLayout({ stateDir: state, repository: workspace, run: TRIAL, lane: "main" }),
      stateDir: state,
      runDir: homes,
      agentHome: join(homes, "agent"),
      checkHome: join(homes, "check"),
      programs: [],
      environment,
      onAttempt: () => undefined,
    });
    try {
      const tried: Tried[] = [];
      for (const probe of PROBES) tried.push(await tryProbe(probe, { canaries, confine: fence.agent, environment }));
      return { level: fence.level, tried };
    } finally {
      await fence.close();
    }
  } finally {
    canaries.close();
  }
}

interface Trial {
  canaries: Canaries;
  confine: Awaited<ReturnType<typeof openRunFence>>["agent"];
  environment: Record<string, string>;
}

/** Without `confine`, on the machine as it is. */
export async function tryProbe(
  { name, script, broken }: Probe,
  { canaries, confine, environment }: Trial,
): Promise<Tried> {
  let output = "";
  const { exitCode, startError } = await runProcess({
    command: "/bin/sh",
    args: ["-c", script],
    cwd: canaries.workspace,
    env: { ...environment, ...canaries.environment },
    timeoutMs: PROBE_LIMIT_MS,
    confine,
    onOutput: (chunk) => {
      output = (output + Buffer.from(chunk).toString("latin1")).slice(-MAX_OUTPUT_BYTES);
    },
  });
  if (exitCode === NOT_TRIED || startError !== null) return { name, is: "untried" };
  const isBroken =
    broken === "exit-0"
      ? exitCode === 0
      : broken === "secret-told"
        ? output.includes(canaries.secret)
        : broken(canaries);
  return { name, is: isBroken ? "broken" : "held" };
}
