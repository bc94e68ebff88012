/** Opens a fence as a run would and tries to get out of it. */
import { join } from "node:path";
import { allowedEnvironment } from "../platform/environment.ts";
import type { FenceKind } from "../platform/fence.ts";
import { USUAL_LIMITS } from "../platform/fence/limits.ts";
import { runProcess, type Confine } from "../platform/process.ts";
import { laneLayout } from "../workspace/layout.ts";
import { openCanaries, type Canaries } from "./fence-canaries.ts";
import { PROBES, type Probe } from "./fence-probes.ts";
import { openRunFence } from "./fence.ts";

const PROBE_LIMIT_MS = 10_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
const NOT_TRIED = 77;
const TRIAL = "trial";

export type Held = "held" | "broken" | "untried";

/** From both kinds of sandboxes: an agent's is made by bubblewrap, a check's is a copy of one as a rule. */
export interface Tried {
  name: string;
  agent: Held;
  check: Held;
}

export const isBroken = ({ agent, check }: Tried): boolean => agent === "broken" || check === "broken";

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
      const held = async (confine: Confine | undefined): Promise<Held[]> => {
        const each: Held[] = [];
        for (const probe of PROBES) each.push(await tryProbe(probe, { canaries, confine, environment }));
        return each;
      };
      // What later checks are copies of is made behind the first one, while the agent's are tried.
      await tryProbe(NOTHING, { canaries, confine: fence.check, environment });
      const [agent, check] = [await held(fence.agent), await held(fence.check)];
      const tried = PROBES.map(({ name }, n) => ({ name, agent: agent[n] ?? "untried", check: check[n] ?? "untried" }));
      return { level: fence.level, tried };
    } finally {
      await fence.close();
    }
  } finally {
    canaries.close();
  }
}

const NOTHING: Probe = { name: "nothing", script: "true", broken: () => false };

interface Trial {
  canaries: Canaries;
  confine: Confine | undefined;
  environment: Record<string, string>;
}

/** Without `confine`, on the machine as it is. */
export async function tryProbe({ script, broken }: Probe, { canaries, confine, environment }: Trial): Promise<Held> {
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
  if (exitCode === NOT_TRIED || startError !== null) return "untried";
  const isOut =
    broken === "exit-0"
      ? exitCode === 0
      : broken === "secret-told"
        ? output.includes(canaries.secret)
        : broken(canaries);
  return isOut ? "broken" : "held";
}
