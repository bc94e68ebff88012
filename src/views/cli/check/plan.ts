/** From the words of `pawl check` to the specification of what would judge a run that began here now. Changes nothing. */
import { commandNames, withCommands } from "../../../compose/command-agent.ts";
import { fenceHosts, fenceKind, refuseWithoutRelay } from "../../../compose/fence.ts";
import { freezeEnvironment } from "../../../compose/environment.ts";
import { protectFor } from "../../../compose/protect.ts";
import type { Environment } from "../../../compose.ts";
import { resolveSettings, type Resolved } from "../../../config.ts";
import { toRunSpec } from "../../../config/run-spec.ts";
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName, type Flags } from "../../../config/settings.ts";
import { UsageError } from "../../../errors.ts";
import { makeRedact } from "../../../journal/redact.ts";
import { configDir, stateDir } from "../../../platform/paths.ts";
import type { RunSpec } from "../../../spec.ts";
import { inspectRepository, type RepositoryFacts } from "../../../workspace/inspect.ts";
import { EMPTY_TREE } from "../../../workspace/objects.ts";
import { inGivenFolder } from "../given-folder.ts";
import { repositoriesOf } from "../run-id.ts";
import { refuseFullDisk } from "../start-run.ts";
import { refuseUnwritable } from "../state-place.ts";

const GOAL = "the tree as it is now";
/** Beside those of the fence. */
const ABOUT_CHECKS: ReadonlySet<string> = new Set(["checks", "check-timeout", "setup", "env", "home"]);

/** Settings that decide how a tree is judged. */
export const CHECK_SETTINGS: readonly SettingName[] = SETTING_NAMES.filter((name) => {
  const { group }: Setting = SETTINGS[name];
  return group === "fence" || ABOUT_CHECKS.has(name);
});

export interface PlannedCheck {
  /** Of a run that commits nothing and takes what is uncommitted for its beginning. */
  spec: RunSpec;
  /** The tree of the last commit: what guards and judges compare with. */
  base: string;
  resolved: Resolved;
  /** Where commands of the command line run, where that is not the top level. */
  folderNote?: string;
}

interface Asked {
  /** Of checks; none: all. */
  names: readonly string[];
  flags: Flags;
  env: Environment;
  cwd: string;
}

export async function planCheck({ names, flags, env, cwd }: Asked): Promise<PlannedCheck> {
  const [repository] = repositoriesOf(cwd);
  const given = resolveSettings({ flags, env, repository, userDir: configDir(env) });
  const facts = await inspectRepository(cwd, { environment: env });
  const { resolved, ...told } = await inGivenFolder(given, { cwd, env, topLevel: facts.topLevel });
  const { settings } = resolved;
  const unnamed = toRunSpec(resolved, {
    // It is given a name when it begins.
    run: "apart",
    goal: GOAL,
    repository: facts.topLevel,
    path: facts.topLevel,
    branch: undefined,
    fence: await fenceKind(settings.fence),
    hosts: fenceHosts(settings.network, settings["allow-host"]),
    protect: protectFor(settings, { workspace: facts.topLevel, path: env["PATH"] }),
    commands: commandNames(settings.agents),
    environment: freezeEnvironment(env, {
      add: settings.env,
      home: settings.home,
      redact: makeRedact({ environment: env }),
    }),
  });
  const planned = await withCommands(unnamed, { table: settings.agents, own: [] });
  refuseWithoutRelay(planned.fence);
  refuseUnwritable(stateDir(env));
  refuseFullDisk(stateDir(env));
  const { branch: _, ...workspace } = planned.workspace;
  const spec: RunSpec = {
    ...planned,
    checks: wanted(planned.checks, names),
    workspace: { ...workspace, commit: "none", allowDirty: true },
  };
  return { spec, base: treeOf(facts), resolved, ...told };
}

function wanted(checks: RunSpec["checks"], names: readonly string[]): RunSpec["checks"] {
  if (checks.length === 0)
    throw new UsageError("no check is configured", {
      hint: '`pawl init` writes a pawl.yaml with those it finds; or: pawl check --check "npm test"',
    });
  const unknown = names.find((name) => !checks.some((check) => check.name === name));
  if (unknown !== undefined)
    throw new UsageError(`there is no check ${JSON.stringify(unknown)}`, {
      hint: `there is: ${checks.map(({ name }) => name).join(", ")}`,
    });
  return names.length === 0 ? checks : checks.filter(({ name }) => names.includes(name));
}

const treeOf = ({ head, objectFormat }: RepositoryFacts): string =>
  head.is === "unborn" ? EMPTY_TREE[objectFormat] : head.tree;
