/** `run` of the library: the same as `pawl run`, in the hands of a program. */
import type { Flags } from "../../config/settings.ts";
import type { CheckGiven } from "../../config/settings/checks.ts";
import type { Environment } from "../../compose.ts";
import { UsageError } from "../../errors.ts";
import { fold } from "../../loop/fold.ts";
import type { Agent } from "../../ports.ts";
import { inPlace } from "../cli/in-place.ts";
import { begin, planRun } from "../cli/start-run.ts";
import { driveInProgram, type DriveParts, type RunHandle } from "./handle.ts";
import { holding } from "./holding.ts";
import { isOwnCheck, type OwnCheck } from "./own-check.ts";
import { toFlags, type CommandSettings, type RunSettings } from "./settings.ts";

/** `"npm test"`, `"tests=npm test"`, or as an entry of `checks` in pawl.yaml: `{ requires: … }`, `{ judge: … }`, … */
export type CheckSetting = CheckGiven;

export interface RunOptions extends RunSettings, DriveParts {
  goal: string;
  /** Inside the repository; the process's own unless said. */
  cwd?: string;
  /** An agent pawl knows by name (`"claude"`), or an object of your own. */
  agent?: string | Agent;
  /** Further agents of your own, to be named in `fallback`, `rotate`, `escalate` and `reviewAgent`. */
  agents?: readonly Agent[];
  /** Programs that may work as agents, as under `agents` in pawl.yaml, to be named in the same places. */
  commands?: CommandSettings;
  checks?: readonly (CheckSetting | OwnCheck)[];
  /** True: in a worktree of its own, called after the run; a text: called that. */
  worktree?: string | true;
  /** True: `pawl.yaml`, the user's settings and PAWL_… variables count, under what is given here. */
  config?: boolean;
  /** The process's own unless said. PAWL_HOME in it says where runs are kept; `env` names what the agent gets of it. */
  environment?: Environment;
}

/** UsageError, before anything was spent or changed, when it cannot be. */
export async function run(options: RunOptions): Promise<RunHandle> {
  const {
    goal,
    cwd = process.cwd(),
    agent,
    agents = [],
    commands,
    checks = [],
    worktree,
    config = false,
    environment: env = process.env,
    ...rest
  } = options;
  const { onIteration, onFact, signal, ...settings } = rest;
  if (typeof goal !== "string" || goal.trim() === "") throw new UsageError("a run needs a goal: a text");
  if (!Array.isArray(checks)) throw new UsageError("checks is a list", { hint: 'checks: ["npm test"]' });
  const brought = [...(typeof agent === "object" ? [agent] : []), ...agents];
  if (brought.some((one) => typeof one.open !== "function" || typeof one.inspect !== "function"))
    throw new UsageError("the agent is no Agent: it has no open or no inspect", {
      hint: 'or by name: agent: "claude"',
    });
  const own = checks.filter(isOwnCheck);
  const flags: Flags = {
    ...toFlags(settings),
    ...(checks.length === 0 ? {} : { checks: checks.map(settingOf) }),
    ...(typeof agent === "string" ? { agent } : {}),
    ...(commands === undefined ? {} : { agents: commands }),
  };
  const planned = await planRun({
    goal,
    flags,
    env,
    cwd,
    elsewhere: worktree !== undefined,
    own: {
      config,
      checks: own.map(({ name }) => name),
      agents: brought.map(({ name }) => name),
      ...(typeof agent === "object" ? { agent: agent.name } : {}),
    },
  });
  signal?.throwIfAborted();
  return await holding(env, async ({ state, lock, release }) => {
    const place = await inPlace(planned, { worktree, stateDir: state.dir, env });
    const { spec } = place.planned;
    await place.orUndo(() => lock(spec.workspace.path));
    await place.orUndo(() => begin(state, place.planned));
    const folded = fold(await state.journal.read(spec.run));
    return driveInProgram({
      start: place.planned,
      folded,
      env,
      state,
      agents: brought,
      checks: own,
      async broken(error) {
        const { takeBack } = await import("../../compose/forget.ts");
        if (await takeBack(state, spec, error)) await place.undo();
      },
      release,
      ...(onIteration === undefined ? {} : { onIteration }),
      ...(onFact === undefined ? {} : { onFact }),
      ...(signal === undefined ? {} : { signal }),
    });
  });
}

/** As `pawl.yaml` has it; that a check is the program's own is noted by its name. */
export function settingOf(check: CheckSetting | OwnCheck): CheckSetting {
  if (!isOwnCheck(check)) return check;
  const { name, about, required, timeout } = check;
  return {
    name,
    run: about ?? name,
    ...(required === undefined ? {} : { required }),
    ...(timeout === undefined ? {} : { timeout }),
  };
}
