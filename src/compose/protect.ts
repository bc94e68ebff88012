/** What a run protects, detected in its repository before the first turn. Only small files at known places are read. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, resolve } from "node:path";
import { detectProtect } from "../config/protect/detect.ts";
import { globMatcher } from "../platform/glob.ts";
import type { Resolved } from "../config.ts";
import type { ProtectSpec } from "../spec.ts";

/** A script, a manifest or a Makefile; what is longer names no tools that matter. */
const MAX_READ_BYTES = 1024 * 1024;
/** Whose scripts are looked at. */
const MAX_PACKAGES = 200;
/** Of all folders, looked at by name. */
const MAX_ENTRIES = 50_000;
const NOT_OURS = /^(\.git|node_modules|\.venv|venv|target|vendor|__pycache__)$/;

export function protectFor(
  settings: Resolved["settings"],
  { workspace, path = "" }: { workspace: string; path: string | undefined },
): ProtectSpec {
  const read = (name: string): string | undefined => {
    const file = join(workspace, name);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.size <= MAX_READ_BYTES ? readFileSync(file, "utf8") : undefined;
  };
  const look = (name: string): string | undefined => attempt(() => read(name));
  const manifests = workspaceFolders(look, workspace).flatMap((folder) => {
    const text = look(join(folder, "package.json"));
    return text === undefined ? [] : [{ folder, text }];
  });
  const files = filesIn(workspace);
  return detectProtect(
    {
      names: new Set(readdirSync(workspace)),
      manifests,
      read: look,
      // With more than can be looked at: yes, for what is named so is then protected.
      holds: (patterns, isOne = () => true) =>
        files().paths.filter(globMatcher(patterns)).some(isOne) || !files().isAll,
      list: (patterns) => files().paths.filter(globMatcher(patterns)),
    },
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

/** Paths of its files, walked once and only when asked for; `isAll` is false where there are more than can be looked at. */
function filesIn(workspace: string): () => { paths: string[]; isAll: boolean } {
  let found: { paths: string[]; isAll: boolean } | undefined;
  return () => (found ??= walked(workspace));
}

function walked(workspace: string): { paths: string[]; isAll: boolean } {
  const folders = [""];
  const paths: string[] = [];
  let seen = 0;
  for (const folder of folders) {
    for (const entry of attempt(() => readdirSync(join(workspace, folder), { withFileTypes: true })) ?? []) {
      if ((seen += 1) > MAX_ENTRIES) return { paths, isAll: false };
      const path = join(folder, entry.name);
      if (!entry.isDirectory()) paths.push(path);
      else if (!NOT_OURS.test(entry.name)) folders.push(path);
    }
  }
  return { paths, isAll: true };
}

/** A name that is too long, a folder on the way that is a file: not there. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** Of npm, yarn, bun and pnpm: folders by name, or all below one. */
function workspaceFolders(look: (name: string) => string | undefined, workspace: string): string[] {
  const named = attempt(() => JSON.parse(look("package.json") ?? "{}") as { workspaces?: unknown })?.workspaces;
  const listed = Array.isArray(named) ? named : ((named as { packages?: unknown } | undefined)?.packages ?? []);
  const pnpm = (look("pnpm-workspace.yaml") ?? "").matchAll(/^\s*-\s*["']?([^"'\s#]+)/gm);
  const patterns = [...(Array.isArray(listed) ? listed : []), ...[...pnpm].map(([, pattern]) => pattern)];
  return patterns
    .filter((pattern): pattern is string => typeof pattern === "string" && !pattern.startsWith("!"))
    .flatMap((pattern) => {
      const folder = pattern.replace(/^\.\//, "").replace(/\/\*.*$/, "");
      if (!pattern.includes("*")) return [folder];
      const names = attempt(() => readdirSync(join(workspace, folder))) ?? [];
      return names.map((name) => join(folder, name));
    })
    .slice(0, MAX_PACKAGES);
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
