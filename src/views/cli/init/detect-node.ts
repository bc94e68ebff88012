/** Node projects: the scripts of package.json, run by the package manager whose lockfile is there. */
import type { Files, Found, Purpose } from "./detect.ts";

const MANIFEST = "package.json";
const LOCKFILES: Readonly<Record<string, string>> = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
  "package-lock.json": "npm",
};
/** Names of scripts, the usual one first. */
const SCRIPTS: Readonly<Record<Purpose, readonly string[]>> = {
  tests: ["test", "tests", "test:unit", "unit"],
  types: ["typecheck", "type-check", "check-types", "types", "tsc"],
  lint: ["lint", "lint:check", "eslint"],
  build: ["build", "compile"],
};
/** What `npm init` writes. */
const NO_TESTS = /no test specified/;

export function fromNode({ names, read }: Files): Found[] {
  const manifest = names.has(MANIFEST) ? parsed(read(MANIFEST)) : undefined;
  if (manifest === undefined) return [];
  const runner = runnerOf(names, manifest.packageManager);
  return (Object.keys(SCRIPTS) as Purpose[]).flatMap((purpose) => {
    const script = SCRIPTS[purpose].find((name) => isUsable(manifest.scripts[name]));
    return script === undefined ? [] : [{ purpose, command: commandOf(runner, script), from: MANIFEST }];
  });
}

const isUsable = (script: unknown): boolean => typeof script === "string" && script !== "" && !NO_TESTS.test(script);

function commandOf(runner: string, script: string): string {
  // `bun test` is bun's own test runner, not the script.
  if (script === "test" && runner !== "bun") return `${runner} test`;
  return runner === "yarn" ? `yarn ${script}` : `${runner} run ${script}`;
}

function runnerOf(names: ReadonlySet<string>, declared: unknown): string {
  const said = typeof declared === "string" ? /^(npm|pnpm|yarn|bun)@/.exec(declared)?.[1] : undefined;
  const locked = Object.entries(LOCKFILES).find(([file]) => names.has(file))?.[1];
  return said ?? locked ?? "npm";
}

function parsed(text: string | undefined): { scripts: Record<string, unknown>; packageManager: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    if (typeof value !== "object" || value === null) return undefined;
    const { scripts, packageManager } = value as { scripts?: unknown; packageManager?: unknown };
    return { scripts: typeof scripts === "object" && scripts !== null ? { ...scripts } : {}, packageManager };
  } catch {
    return undefined;
  }
}
