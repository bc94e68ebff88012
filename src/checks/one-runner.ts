/**
 * Whether a command is one program whose report has everything that can fail in it. Where failures are set aside by a
 * person, anything else in the command could hide behind them: it fails with the same exit code, or is never reached.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { folderOf } from "../platform/command-folder.ts";
import { lookUp } from "../platform/look-up.ts";

const MAX_PACKAGE_CHARS = 1024 * 1024;
/** Scripts that call scripts. */
const MAX_DEPTH = 4;
/** What makes several commands of one, or words that only a shell can tell. */
const COMPOUND = /[;&|<>()`$\n\\]/;
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;
/** A share of lines that is too low fails the whole, and is no test. */
const COVERAGE = /^--?(?:no-)?cov|^--coverage/;
const QUIET = new Set(["-s", "--silent", "-y", "--yes", "--no-install", "--if-present", "--no"]);

/** First words that only start another program; `npm exec vitest`. */
const STARTERS: readonly (readonly string[])[] = [
  ["npx"],
  ["bunx"],
  ["npm", "exec"],
  ["pnpm", "exec"],
  ["yarn", "exec"],
  ["uv", "run"],
  ["poetry", "run"],
  ["pipenv", "run"],
];
const RUNNERS: readonly (readonly string[])[] = [
  ["vitest"],
  ["jest"],
  ["mocha"],
  ["playwright", "test"],
  ["node", "--test"],
  ["pytest"],
  ["py.test"],
  ["python", "-m", "pytest"],
  ["python3", "-m", "pytest"],
  ["python", "-m", "unittest"],
  ["python3", "-m", "unittest"],
  ["go", "test"],
  ["cargo", "test"],
  ["tsc"],
  ["eslint"],
  ["oxlint"],
];
const MANAGERS = new Set(["npm", "pnpm", "yarn", "bun"]);

type Scripts = Readonly<Record<string, unknown>>;

export async function isOneRunner(given: string, tree: string): Promise<boolean> {
  const { folder, command } = folderOf(given);
  if (COMPOUND.test(command)) return false;
  const text = await readFile(join(tree, folder, "package.json"), "utf8").catch(() => "");
  return isRunnerIn(command, scriptsIn(text.slice(0, MAX_PACKAGE_CHARS)), MAX_DEPTH);
}

function isRunnerIn(command: string, scripts: Scripts, depth: number): boolean {
  if (depth === 0 || COMPOUND.test(command)) return false;
  const all = command.trim().split(/\s+/);
  const words = all.slice(all.findIndex((word) => !ASSIGNMENT.test(word))).filter((word) => !QUIET.has(word));
  const first = words[0]?.split("/").at(-1) ?? "";
  const named = [first, ...words.slice(1)];
  const begins = (start: readonly string[]): boolean => start.every((word, at) => named[at] === word);
  const starter = STARTERS.find(begins);
  if (starter !== undefined) return isRunnerIn(named.slice(starter.length).join(" "), scripts, depth - 1);
  if (MANAGERS.has(first)) return isScript(words.slice(1), scripts, depth);
  return RUNNERS.some(begins) && !named.some((word) => COVERAGE.test(word));
}

/** `npm test`, `npm run unit -- --quiet`, `yarn unit`; with an option before `--` it may be anything. */
function isScript(words: readonly string[], scripts: Scripts, depth: number): boolean {
  const [name = "", ...args] = words[0] === "run" || words[0] === "run-script" ? words.slice(1) : words;
  const script = name === "t" ? "test" : name;
  const own = lookUp(scripts, script);
  const isAlone = [`pre${script}`, `post${script}`].every((name) => !Object.hasOwn(scripts, name));
  if (typeof own !== "string" || !isAlone) return false;
  if (args.length > 0 && args[0] !== "--") return false;
  return isRunnerIn([own, ...args.slice(1)].join(" "), scripts, depth - 1);
}

function scriptsIn(text: string): Scripts {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: unknown };
    return typeof scripts === "object" && scripts !== null ? { ...scripts } : {};
  } catch {
    return {};
  }
}
