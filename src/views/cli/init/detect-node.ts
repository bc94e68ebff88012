/** Node projects: the scripts of package.json, run by the package manager whose lockfile is there; workspaces, too. */
import type { Files, Found, Purpose, Setup } from "./detect.ts";

const MANIFEST = "package.json";
type Runner = "npm" | "pnpm" | "yarn" | "bun";
const LOCKFILES: Readonly<Record<string, Runner>> = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
  "package-lock.json": "npm",
  "npm-shrinkwrap.json": "npm",
};
/** Names of scripts, the usual one first. */
const SCRIPTS: Readonly<Record<Purpose, readonly string[]>> = {
  tests: ["test", "tests", "test:unit", "unit"],
  types: ["typecheck", "type-check", "check-types", "check:types", "types", "tsc"],
  lint: ["lint", "lint:check", "eslint"],
  build: ["build", "compile"],
};
const PURPOSES = Object.keys(SCRIPTS) as Purpose[];
/** What `npm init` writes. */
const NO_TESTS = /no test specified/;
const MAX_PACKAGES = 100;

interface Manifest {
  scripts: Record<string, unknown>;
  packageManager: unknown;
  workspaces: unknown;
  /** Names of all that it depends on. */
  depends: string[];
}

export function fromNode(files: Files): Found[] {
  const manifest = manifestOf(files);
  if (manifest === undefined) return [];
  const runner = runnerOf(files.names, manifest.packageManager);
  const packages = packagesOf(files, manifest);
  return PURPOSES.flatMap((purpose): Found[] => {
    const script = SCRIPTS[purpose].find((name) => isUsable(manifest.scripts[name]));
    if (script !== undefined) return [{ purpose, command: commandOf(runner, script), from: MANIFEST }];
    const common = SCRIPTS[purpose].find((name) => packages.some((one) => isUsable(one.scripts[name])));
    if (common !== undefined) return [{ purpose, ...everywhere(files, { runner, script: common, packages }) }];
    return withoutScript(purpose, { names: files.names, manifest });
  });
}

const isUsable = (script: unknown): boolean => typeof script === "string" && script !== "" && !NO_TESTS.test(script);

function commandOf(runner: Runner, script: string): string {
  // `bun test` is bun's own test runner, not the script.
  if (script === "test" && runner !== "bun") return `${runner} test`;
  return runner === "yarn" ? `yarn ${script}` : `${runner} run ${script}`;
}

/** In every package of a workspace that has the script. */
function everywhere(
  { names }: Files,
  { runner, script, packages }: { runner: Runner; script: string; packages: readonly Manifest[] },
): Pick<Found, "command" | "from"> {
  const all = packages.every(({ scripts }) => isUsable(scripts[script]));
  switch (runner) {
    case "npm":
      return { command: `npm run ${script} --workspaces${all ? "" : " --if-present"}`, from: MANIFEST };
    case "pnpm":
      return { command: `pnpm -r${all ? "" : " --if-present"} run ${script}`, from: "pnpm-workspace.yaml" };
    case "yarn":
      // Version 1 stops at a package without the script.
      return {
        command: names.has(".yarnrc.yml")
          ? `yarn workspaces foreach -A run ${script}`
          : `yarn workspaces run ${script}`,
        from: MANIFEST,
      };
    case "bun":
      return { command: `bun run --filter '*' ${script}`, from: MANIFEST };
  }
}

/** Tools that are there without a script for them. */
function withoutScript(
  purpose: Purpose,
  { names, manifest }: { names: ReadonlySet<string>; manifest: Manifest },
): Found[] {
  const tool = (name: string, command: string, from: string): Found[] =>
    manifest.depends.includes(name)
      ? [
          {
            purpose,
            command: `npx --no-install ${command}`,
            from,
            needs: [`node_modules/.bin/${command.split(" ")[0]}`],
          },
        ]
      : [];
  if (purpose === "types" && names.has("tsconfig.json")) return tool("typescript", "tsc --noEmit", "tsconfig.json");
  const config = [...names].find((name) => /^(eslint\.config\.[cm]?[jt]s|\.eslintrc(\.\w+)?)$/.test(name));
  if (purpose === "lint" && config !== undefined) return tool("eslint", "eslint .", config);
  return [];
}

function runnerOf(names: ReadonlySet<string>, declared: unknown): Runner {
  const said = typeof declared === "string" ? /^(npm|pnpm|yarn|bun)@/.exec(declared)?.[1] : undefined;
  const locked = Object.entries(LOCKFILES).find(([file]) => names.has(file))?.[1];
  return (said as Runner | undefined) ?? locked ?? "npm";
}

export function nodeSetup({ names }: Files): Setup | undefined {
  const [from, runner] = Object.entries(LOCKFILES).find(([file]) => names.has(file)) ?? [];
  if (from === undefined || runner === undefined || !names.has(MANIFEST)) return undefined;
  const commands: Readonly<Record<Runner, string>> = {
    npm: "npm ci",
    pnpm: "pnpm install --frozen-lockfile",
    yarn: names.has(".yarnrc.yml") ? "yarn install --immutable" : "yarn install --frozen-lockfile",
    bun: "bun install --frozen-lockfile",
  };
  return { command: commands[runner], from, makes: "node_modules" };
}

/** Of a workspace: folders that are named, or all in a folder (`packages/*`). */
function packagesOf(files: Files, { workspaces }: Manifest): Manifest[] {
  const patterns = [...listed(workspaces), ...pnpmPackages(files.read("pnpm-workspace.yaml"))];
  const folders = patterns.flatMap((pattern) => {
    const path = pattern.replace(/^\.\//, "").replace(/\/$/, "");
    const parent = /^(.*?)\/?\*{1,2}$/.exec(path)?.[1];
    if (parent === undefined) return path.includes("*") || path.startsWith("!") ? [] : [path];
    const names = (parent === "" ? files : files.within(parent))?.names ?? [];
    return [...names].toSorted().map((name) => (parent === "" ? name : `${parent}/${name}`));
  });
  return folders.slice(0, MAX_PACKAGES).flatMap((folder) => {
    const inside = files.within(folder);
    return inside === undefined ? [] : (manifestOf(inside) ?? []);
  });
}

/** A list, or with yarn an object that has one. */
function listed(workspaces: unknown): string[] {
  const list = Array.isArray(workspaces)
    ? workspaces
    : (workspaces as { packages?: unknown } | null | undefined)?.packages;
  return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
}

/** Its `packages` list; a parser of all YAML would be loaded for three lines. */
function pnpmPackages(text = ""): string[] {
  const [, block = ""] = /^packages:[^\S\n]*\n((?:[^\S\n]*(?:-.*|#.*)?\n?)*)/m.exec(text) ?? [];
  return [...block.matchAll(/^\s*-\s*["']?([^"'\s#]+)/gm)].map(([, pattern]) => pattern ?? "");
}

function manifestOf({ names, read }: Files): Manifest | undefined {
  if (!names.has(MANIFEST)) return undefined;
  try {
    const value: unknown = JSON.parse(read(MANIFEST) ?? "");
    if (typeof value !== "object" || value === null) return undefined;
    const { scripts, packageManager, workspaces, dependencies, devDependencies } = value as Record<string, unknown>;
    const asObject = (one: unknown): Record<string, unknown> =>
      typeof one === "object" && one !== null ? { ...one } : {};
    const depends = [dependencies, devDependencies].flatMap((one) => Object.keys(asObject(one)));
    return { scripts: asObject(scripts), packageManager, workspaces, depends };
  } catch {
    return undefined;
  }
}
