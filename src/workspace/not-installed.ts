/** Packages that a lockfile asks for and that nobody has installed: the most frequent reason why checks fail at once. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../platform/shell-word.ts";

const FOLDER = "node_modules";
/** By lockfile, what installs from it. */
const INSTALLERS: Readonly<Record<string, string>> = {
  "package-lock.json": "npm ci",
  "npm-shrinkwrap.json": "npm ci",
  "pnpm-lock.yaml": "pnpm install --frozen-lockfile",
  "yarn.lock": "yarn install --frozen-lockfile",
  "bun.lock": "bun install --frozen-lockfile",
};
/** Packages that need no such folder. */
const INSTEAD = [".pnp.cjs", ".pnp.js"];
/** With no project at the top, so many folders in it are looked at. */
const MAX_FOLDERS = 200;

interface NotInstalled {
  /** Relative, such as `web/node_modules`. */
  folder: string;
  /** The command that makes it, run at the top. */
  by: string;
}

function notInstalled(root: string, has: (folder: string) => boolean): NotInstalled[] {
  if (existsSync(join(root, "package.json"))) return inOne(root, "", has);
  const folders = readdirSync(root, { withFileTypes: true }).filter((one) => one.isDirectory() && one.name !== FOLDER);
  return folders.slice(0, MAX_FOLDERS).flatMap(({ name }) => inOne(root, name, has));
}

function inOne(root: string, folder: string, has: (folder: string) => boolean): NotInstalled[] {
  const place = join(root, folder);
  const lockfile = Object.keys(INSTALLERS).find((name) => existsSync(join(place, name)));
  const wanted = join(folder, FOLDER);
  if (lockfile === undefined || !existsSync(join(place, "package.json"))) return [];
  if (has(wanted) || INSTEAD.some((name) => existsSync(join(place, name)))) return [];
  if (lockfile.endsWith(".json") && !readFileSync(join(place, lockfile), "utf8").includes(`"${FOLDER}/`)) return [];
  const by = INSTALLERS[lockfile] ?? "";
  return [{ folder: wanted, by: folder === "" ? by : `(cd ${shellWord(folder)} && ${by})` }];
}

/** Of a tree on disk, whose folders of packages are `copied` beside it; undefined: nothing is missing. */
export function missingIn(tree: string, copied: readonly string[] = []): string | undefined {
  const missing = notInstalled(tree, (folder) => copied.includes(folder) || existsSync(join(tree, folder)));
  return missing.length === 0 ? undefined : wordsOf(missing);
}

/** For a person, and for an agent that cannot help it. */
function wordsOf(missing: readonly NotInstalled[]): string {
  const [names, by] = [missing.map(({ folder }) => folder).join(", "), missing.map((one) => one.by).join(" && ")];
  const setup = `--setup ${shellWord(by)} --network registries`;
  return `no packages are installed in ${names}, and checks see only what was there before the first turn: install them before the run (${by}), or give ${setup}`;
}
