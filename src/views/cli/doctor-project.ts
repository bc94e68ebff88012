/** What `pawl run` would find in this folder: a repository, a clean tree, settings that can be read. */
import type { Environment } from "../../compose.ts";
import { uncommitted } from "../../compose/uncommitted.ts";
import { resolveSettings } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { configDir, stateDir } from "../../platform/paths.ts";
import { inspectRepository } from "../../workspace/inspect.ts";
import type { Finding } from "./doctor-checks.ts";
import { counted } from "./format.ts";
import { missingFor } from "./init/available.ts";
import { detect } from "./init/detect.ts";
import { filesOf } from "./init/files.ts";
import { startLine } from "./init/next-steps.ts";
import { refuseGitInside, refuseStateInside } from "./refuse-inside.ts";
import { repositoriesOf } from "./run-id.ts";

export async function projectFindings(env: Environment): Promise<Finding[]> {
  const [repository] = repositoriesOf(process.cwd());
  return [await repositoryFinding(repository, env), settingsFinding(repository, env)];
}

/** How a run would be started here: with the checks of the settings, else with what the repository has. */
export function startHere(env: Environment): string {
  const [repository] = repositoriesOf(process.cwd());
  try {
    const { settings } = resolveSettings({ env, repository, userDir: configDir(env) });
    if (settings.checks.length > 0) return startLine({ hasChecks: true, found: undefined });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
  }
  const found = repository === undefined ? [] : detect(filesOf(repository)).found;
  // Nothing weaker takes the place of tests that cannot be run.
  const usable = found
    .filter(({ purpose }) => purpose === found[0]?.purpose)
    .find((one) => missingFor(one, { repository: repository ?? "", env }) === undefined);
  return startLine({ hasChecks: false, found: usable });
}

async function repositoryFinding(repository: string | undefined, env: Environment): Promise<Finding> {
  const name = "repository";
  if (repository === undefined)
    return { name, is: "warn", says: "this folder is not in a git repository", fix: "cd to yours, or `git init`" };
  try {
    const facts = await inspectRepository(repository, { environment: env });
    refuseStateInside(facts, stateDir(env));
    refuseGitInside(facts);
    const { head, topLevel, inProgress } = facts;
    if (inProgress !== null)
      return {
        name,
        is: "warn",
        says: `a ${inProgress} is in progress`,
        fix: `finish it, or git ${inProgress} --abort`,
      };
    const commit = head.is === "unborn" ? null : head.commit;
    const changed = await uncommitted({ cwd: topLevel, environment: env, commit });
    if (changed.length > 0)
      return {
        name,
        is: "warn",
        says: `${counted(changed.length, "uncommitted change")}: \`pawl run\` wants a clean tree`,
        fix: "git stash -u, or pawl run with --worktree or --allow-dirty",
      };
    return { name, is: "ok", says: `${topLevel}, clean` };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { name, is: "warn", says: error.message, fix: error.hint ?? "git status" };
  }
}

function settingsFinding(repository: string | undefined, env: Environment): Finding {
  const name = "settings";
  try {
    const { settings, origins } = resolveSettings({ env, repository, userDir: configDir(env) });
    const files = new Set(Object.values(origins).flatMap(({ from, where }) => (from === "default" ? [] : [where])));
    const said = files.size === 0 ? "defaults" : [...files].join(", ");
    if (settings.checks.length > 0) return { name, is: "ok", says: said };
    return { name, is: "ok", says: `${said}; no check yet: pawl init, or --check COMMAND` };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { name, is: "fail", says: error.message, fix: error.hint ?? "pawl config show --origin" };
  }
}
