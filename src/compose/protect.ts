/** What a run protects, detected in its repository before the first turn. Only small files at known places are read. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, resolve } from "node:path";
import { detectProtect } from "../config/protect/detect.ts";
import type { Resolved } from "../config.ts";
import type { ProtectSpec } from "../spec.ts";

/** A script, a manifest or a Makefile; what is longer names no tools that matter. */
const MAX_READ_BYTES = 1024 * 1024;

export function protectFor(
  settings: Resolved["settings"],
  { workspace, path = "" }: { workspace: string; path: string | undefined },
): ProtectSpec {
  const read = (name: string): string | undefined => {
    const file = join(workspace, name);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size <= MAX_READ_BYTES ? readFileSync(file, "utf8") : undefined;
  };
  return detectProtect(
    { names: new Set(readdirSync(workspace)), read: (name) => attempt(() => read(name)) },
    {
      commands: settings.checks.flatMap((check) =>
        "run" in check ? [check.run] : "metric" in check ? [check.metric.run] : [],
      ),
      protect: settings.protect,
      unprotect: settings.unprotect,
      allowTestChanges: settings["allow-test-changes"],
      pathFolders: foldersOnPath(path, workspace),
    },
  );
}

/** A name that is too long, a folder on the way that is a file: not there. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Dependencies are protected as such. An entry that is no absolute path means the folder a command runs in. */
function foldersOnPath(path: string, workspace: string): string[] {
  const inside = path
    .split(delimiter)
    .map((entry) => relative(workspace, isAbsolute(entry) ? entry : resolve(workspace, entry)))
    .filter(
      (folder) => !isAbsolute(folder) && !folder.split("/").some((part) => part === ".." || part === "node_modules"),
    );
  return [...new Set(inside)];
}
