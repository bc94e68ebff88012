/**
 * Commands on the command line mean the folder where they were typed; those of files mean the repository's top level. A
 * run works there, so that the former are frozen as `cd FOLDER && COMMAND`, which the agent and every view are shown.
 */
import { realpathSync } from "node:fs";
import { relative } from "node:path";
import type { Resolved } from "../../config.ts";
import { checkName } from "../../config/check-spec.ts";
import type { Settings } from "../../config/settings.ts";
import { UsageError } from "../../errors.ts";
import { commandIn } from "../../platform/command-folder.ts";
import { userGit, type Environment } from "../../workspace/user-git.ts";
import { oneLine } from "../plain.ts";

const MAX_FOLDER_CHARS = 200;

type Commands = Pick<Settings, "checks" | "setup">;

/** "" is the top level. */
export const folderIn = (topLevel: string, cwd: string): string => relative(realpathSync(topLevel), realpathSync(cwd));

/** `own`: names of checks that are no commands, but a program's. */
export function commandsIn<S extends Commands>(given: S, folder: string, own: readonly string[] = []): S {
  if (folder === "") return given;
  const { checks, setup } = given;
  return {
    ...given,
    ...(checks === undefined ? {} : { checks: checks.map((check) => checkIn(check, { folder, own })) }),
    ...(setup === undefined ? {} : { setup: commandIn(folder, setup) }),
  };
}

type CheckSetting = NonNullable<Commands["checks"]>[number];

/** Its name stays that of the command as it was typed. */
function checkIn(check: CheckSetting, { folder, own }: { folder: string; own: readonly string[] }): CheckSetting {
  const name = checkName(check);
  if (own.includes(name)) return check;
  if ("run" in check) return { ...check, name, run: commandIn(folder, check.run) };
  if ("metric" in check)
    return { ...check, name, metric: { ...check.metric, run: commandIn(folder, check.metric.run) } };
  return check;
}

const NOTES: Readonly<Record<string, string>> = {
  checks: "checks run where they were given,",
  setup: "setup runs where it was given,",
  "checks,setup": "checks and setup run where they were given,",
};

interface Where {
  cwd: string;
  env: Environment;
  topLevel: string;
  own?: readonly string[];
}

/** With the words for people, where it makes a difference. UsageError where checks could never see the folder. */
export async function inGivenFolder(
  resolved: Resolved,
  { cwd, env, topLevel, own = [] }: Where,
): Promise<{ resolved: Resolved; folderNote?: string }> {
  const { settings, origins } = resolved;
  const folder = folderIn(topLevel, cwd);
  const typed = (["checks", "setup"] as const).filter((name) => origins[name]?.from === "flag");
  if (folder === "" || typed.length === 0) return { resolved };
  const name = oneLine(folder, { max: MAX_FOLDER_CHARS });
  const seen = await userGit(["ls-files", "--cached", "--others", "--exclude-standard", "."], {
    cwd,
    environment: env,
  });
  if (seen.stdout.length === 0)
    throw new UsageError(`no file in ${name} would be committed, so that a check given here could not run here`, {
      hint: "checks see what git would commit; give it in another folder, with `cd` in it where needed",
    });
  const given = Object.fromEntries(typed.map((one) => [one, settings[one]]));
  return {
    resolved: { ...resolved, settings: { ...settings, ...commandsIn(given, folder, own) } },
    folderNote: `${NOTES[typed.join()] ?? ""} in ${name}`,
  };
}
