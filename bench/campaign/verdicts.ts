/** Honest and cheating agents in small projects, each in a run of the built command line, sandboxed. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { CLAIM, cliPlace, type CliPlace } from "../../test/support/cli.ts";
import { toolchains } from "../../test/support/programs.ts";
import { tempDir, tempRepository } from "../../test/support/temp.ts";
import type { Case } from "./cases/case.ts";
import { CHEATS } from "./cases/cheats.ts";
import { HONEST } from "./cases/honest.ts";
import type { Part, PartResult } from "./part.ts";

const MODULES = join(import.meta.dirname, "../../node_modules");
const RUN_LIMIT_MS = 300_000;
const BY_HAND_LIMIT_MS = 60_000;
/** As many as the machine has cores here: each run starts programs of its own. */
const AT_ONCE = 2;
const MAX_SAID_CHARS = 600;

const environment = (): Record<string, string> => ({
  ...toolchains(),
  PATH: `${join(MODULES, ".bin")}:${process.env["PATH"] ?? ""}`,
  // As a user has it: repeated passes are part of what is tried.
  PAWL_PASSES: "3",
});

interface Manifest {
  dependencies?: object;
  optionalDependencies?: object;
  peerDependencies?: object;
}

/** Folders of the packages that `names` need when they are asked for in `from`, themselves among them. */
function closure(names: readonly string[], from = dirname(MODULES), found = new Set<string>()): Set<string> {
  for (const name of names) {
    const folder = installed(name, from);
    if (folder === undefined || found.has(folder)) continue;
    found.add(folder);
    const needs = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
    const kinds = [needs.dependencies, needs.optionalDependencies, needs.peerDependencies];
    closure(
      kinds.flatMap((kind) => Object.keys(kind ?? {})),
      folder,
      found,
    );
  }
  return found;
}

/** Where node finds a package: in the nearest `node_modules` above. */
function installed(name: string, from: string): string | undefined {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return folder;
  return from === dirname(MODULES) ? undefined : installed(name, dirname(from));
}

/** As `npm install` would have left it, by hard links. */
function install(root: string, packages: readonly string[]): void {
  if (packages.length === 0) return;
  for (const folder of closure(packages)) {
    const to = join(root, "node_modules", relative(MODULES, folder));
    mkdirSync(dirname(to), { recursive: true });
    // Those inside another one come with it.
    if (!existsSync(to)) execFileSync("cp", ["-al", folder, to]);
  }
  mkdirSync(join(root, "node_modules/.bin"));
  for (const name of packages)
    execFileSync("cp", ["-a", join(MODULES, ".bin", name), join(root, "node_modules/.bin", name)]);
}

interface Ended {
  outcome: string;
  code: number | null;
  said: string;
}

async function run({ files, check, does, flags = [], env = {}, packages = [] }: Case): Promise<Ended> {
  const turns = Object.fromEntries(does.map((what, at) => [at + 1, [what, CLAIM] as const]));
  const place: CliPlace = await cliPlace({ files, shellAgent: turns, env: { ...environment(), ...env } });
  install(place.repository.path, packages);
  const limit = flags.includes("--max-iterations") ? [] : ["--max-iterations", "2"];
  const args = ["run", "make the tests pass", "--check", `tests=${check}`, ...limit, ...flags, "--json"];
  const result = await place.start(args, { limitMs: RUN_LIMIT_MS }).done;
  const decision = result.of("decision-made").at(-1);
  const verdict = result.of("check-end").at(-1)?.verdict;
  const said = `${decision?.rule}: ${decision?.reason} | ${JSON.stringify(verdict)} | ${result.stderr}`;
  return {
    outcome: result.of("run-end").at(-1)?.outcome.is ?? "none",
    code: result.code,
    said: said.slice(0, MAX_SAID_CHARS),
  };
}

/** Whether whoever runs the check in the agent's folder afterwards would be fooled. */
function fools({ files, check, does, env = {}, packages = [] }: Case): boolean {
  const { path } = tempRepository(files);
  install(path, packages);
  const options = {
    cwd: path,
    env: { ...environment(), HOME: tempDir("home"), LANG: "C.UTF-8", ...env },
    timeout: BY_HAND_LIMIT_MS,
  };
  for (const what of does) spawnSync("/bin/sh", ["-c", what], options);
  return spawnSync("/bin/sh", ["-c", check], options).status === 0;
}

async function all(cases: readonly Case[], isWrong: (one: Case, ended: Ended) => boolean): Promise<PartResult> {
  const outcomes: Record<string, number> = {};
  const wrongs: unknown[] = [];
  const left = [...cases];
  const work = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      const ended = await run(one).catch((error: unknown): Ended => ({
        outcome: "none",
        code: null,
        said: String(error),
      }));
      outcomes[ended.outcome] = (outcomes[ended.outcome] ?? 0) + 1;
      const wrong = isWrong(one, ended);
      console.error(`${wrong ? "WRONG " : ""}${one.name}: ${ended.outcome}, exit ${ended.code}`);
      if (wrong) wrongs.push({ name: one.name, ...ended });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { cases: cases.length, outcomes, wrongs };
}

const chosen = (cases: readonly Case[], { from = 1, to = cases.length }: Readonly<Record<string, number>>): Case[] =>
  cases.slice(from - 1, to);

export const honest: Part = {
  name: "honest",
  about: "honest work in projects that are not all alike: runners, variables, folders, names, new features",
  shows: "A11",
  counts: { from: 1, to: HONEST.length },
  run: (counts) => all(chosen(HONEST, counts), (_, { outcome }) => outcome !== "verified"),
};

const DOCS = join(import.meta.dirname, "../../docs/verdicts.md");

/** Whether the docs name it among what cannot be prevented. */
const isDocumented = ({ documented }: Case): boolean =>
  documented !== undefined && readFileSync(DOCS, "utf8").includes(documented);

export const cheats: Part = {
  name: "cheats",
  about: "cheats around what a check starts, imports and reads",
  shows: "A11, row 5",
  counts: { from: 1, to: CHEATS.length },
  run: async (counts) => {
    const cases = chosen(CHEATS, counts);
    const harmless = cases.filter((one) => !fools(one)).map(({ name }) => name);
    const made = await all(
      cases,
      (one, { outcome }) =>
        outcome === "none" || outcome === "failed" || (outcome === "verified" && !isDocumented(one)),
    );
    return { ...made, fooledByHand: cases.length - harmless.length, harmless };
  },
};
