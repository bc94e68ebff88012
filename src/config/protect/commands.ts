/**
 * What the checks really run: their commands, the package scripts, make targets and scripts of the repository that
 * these name, wherever `cd` leads. Read once from the base, to know which tools judge and which files are the judge's own.
 */
import { dirname, join, normalize } from "node:path/posix";
import { lookUp } from "../../platform/look-up.ts";
import { importsOf, kindOf } from "./imports.ts";
import { withVariables } from "./make-words.ts";
import { namedBy } from "./run-words.ts";
import { stepsOf } from "./shell-words.ts";

/** The repository as it is before the first turn. */
export interface Project {
  /** Entries of the top level. */
  names: ReadonlySet<string>;
  /** package.json of each package in a folder of its own. */
  manifests: readonly { folder: string; text: string }[];
  /** A small text file; undefined when there is none. */
  read(path: string): string | undefined;
  /** Whether one of the patterns (platform/glob.ts) means a file in it, of those that `isOne` takes. */
  holds(patterns: readonly string[], isOne?: (path: string) => boolean): boolean;
  /** Files that one of the patterns means; of a huge repository, not all. */
  list(patterns: readonly string[]): string[];
}

export interface Judging {
  /** Every line that a check comes down to, as far as it can be followed. */
  text: string;
  /** Files of the repository that are run. */
  files: string[];
  /** Those that a runner is given as tests, perhaps as patterns. */
  tests: string[];
  /** Below the top, where the checks' own commands run. */
  folders: string[];
}

const MAX_DEPTH = 6;
const MANAGER =
  /(?:^|[\s;&|("'])(?:(?<manager>npm|pnpm|yarn|bun)\s+(?:-[\w-]+(?:=\S+)?\s+)*(?:run-script\s+|run\s+)?(?:-[\w-]+\s+)*|node\s+(?:-[\w-]+(?:=\S+)?\s+)*?--run[ =])(?<name>[\w:.@/-]+)/g;
const ELSEWHERE = /\s(?:--prefix|-C|--dir|--cwd|-w|--workspace|-F|--filter)[ =]\S+/g;
const WORKSPACES = /\s(?:-w|--workspaces?|-ws|-F|--filter|-r|--recursive)(?=[ =]|$)/;
const EVERY_WORKSPACE = /\s(?:--workspaces|-ws)(?=\s|$)/;
const SHORT: Readonly<Record<string, string>> = { t: "test", tst: "test" };
const INTERPRETED =
  /\b(?:node|deno run|bun|tsx|ts-node|python[\d.]*|ruby|perl|php)\s+(?:-[\w-]+(?:=\S+)?\s+)*((?:\.\/)?[\w./@-]+\.\w+)/g;
/** Interpreters, and scripts of the repository, may run the product itself, too: a file is the judge's only if it says so. */
const JUDGE_NAME =
  /(test|check|verif|spec|assert|validat|judge|lint|(^|[/_-])(ci|qa|e2e)([/_.-]|$)|(^|\/)(scripts|tools|ci)\/)/i;
/** What a script that judges brings along, and a product does not have under such a name. */
const HELPER_NAME = /(helper|fixture|harness|support|expect|golden|oracle|mock|stub)[^/]*$/i;
export const SOURCED_NAME = /(^|\/)[^/]*(common|setup|env|func)[^/]*$/i;
/** A runner that is given all of it finds the tests in it by itself. */
export const PRODUCT_FOLDER = /^(src|lib|app|apps|packages|[^/]*\*)/i;
export const MAKEFILES = ["GNUmakefile", "makefile", "Makefile"];

interface Followed {
  text: string;
  /** Folders it may run in; "" is the top. */
  places: readonly string[];
  /** What a check says itself, or a package script: any file that it runs judges. */
  isCommand: boolean;
  depth: number;
}

export function whatJudges(commands: readonly string[], project: Project): Judging {
  const texts = new Map<string, string>();
  const files = new Set<string>();
  const tests = new Set<string>();
  const folders = new Set<string>();
  const packages = [{ folder: "", text: project.read("package.json") ?? "{}" }, ...project.manifests];

  const followFile = (path: string, { places, depth }: Pick<Followed, "places" | "depth">): void => {
    const text = project.read(path);
    if (text === undefined && path.includes("*") && project.holds([path])) files.add(path);
    if (text === undefined) return;
    files.add(path);
    follow(path, { text, places: unique([...places, folderOf(path)]), isCommand: false, depth: depth + 1 });
  };

  /** What is read only where it is there could be put there. */
  const keepAway = (path: string): void => {
    if (project.read(path) === undefined && !/[*?%]/.test(path)) files.add(path);
  };

  const followScripts = (line: string, { places, depth }: Pick<Followed, "places" | "depth">): void => {
    for (const name of scriptNames(line)) {
      const here = places.map((folder) => ({ folder, text: project.read(join(folder, "package.json")) ?? "{}" }));
      for (const { folder, text } of [...here, ...packages]) {
        const scripts = scriptsIn(text);
        for (const one of [`pre${name}`, name, `post${name}`]) {
          const script = Object.hasOwn(scripts, one) ? scripts[one] : undefined;
          if (typeof script !== "string") continue;
          follow(`script ${folder} ${one}`, { text: script, places: [folder], isCommand: true, depth: depth + 1 });
        }
      }
    }
  };

  const followWords = (line: { words: string[]; input?: string }, at: Followed & { key: string }): string[] => {
    const { isCommand, depth } = at;
    const named = namedBy(line.words, line.input);
    const places = named.folder === undefined ? at.places : moved(at.places, named.folder);
    if (depth === 0 && named.cd === undefined)
      for (const folder of places) if (folder !== "" && !folder.startsWith("..")) folders.add(folder);
    const found = (words: readonly string[]): string[] => words.flatMap((word) => inside(word, at.places));
    const judges = [
      ...found(named.run).filter((path) => isCommand || JUDGE_NAME.test(path)),
      ...found(named.interpreted).filter((path) => JUDGE_NAME.test(path)),
      ...found(named.sourced).filter((path) => isCommand || isSourced(path)),
      ...found(named.opened),
    ];
    for (const path of judges) followFile(path, { places, depth });
    const sourced = found(named.sourced).filter((path) => !isCommand && isSourced(path));
    for (const path of [...sourced, ...found(named.optional)]) keepAway(path);
    for (const path of found(named.tests).filter((one) => JUDGE_NAME.test(one) || !PRODUCT_FOLDER.test(one)))
      if (path.includes("*") ? project.holds([path]) : project.read(path) !== undefined) tests.add(path);
    for (const [nth, text] of named.texts.entries())
      follow(`${at.key} > ${line.words.join(" ")} ${nth}`, { text, places, isCommand, depth: depth + 1 });
    followScripts(line.words.join(" "), { places, depth });
    // The one at the top is looked at for every text that names make.
    const below = places.filter((folder) => folder !== "" || named.folder !== undefined);
    if (line.words.some((word) => /^g?make$/.test(word)))
      for (const path of below.flatMap((folder) => MAKEFILES.map((name) => join(folder, name))))
        followFile(path, { places, depth });
    return named.cd === undefined ? [...at.places] : moved(at.places, named.cd);
  };

  const followShell = (key: string, given: Followed): void => {
    const outside: (readonly string[])[] = [];
    let { places } = given;
    for (const step of stepsOf(given.text, { quotes: given.isCommand ? "lines" : "line" })) {
      if (step.is === "open") outside.push(places);
      else if (step.is === "close") places = outside.pop() ?? places;
      else places = followWords(step, { ...given, places, key });
    }
  };

  const follow = (key: string, given: Followed): void => {
    if (texts.has(key) || given.depth > MAX_DEPTH) return;
    const { text, places, depth } = given;
    texts.set(key, text);
    const kind = given.isCommand ? "shell" : kindOf(key, text);
    if (kind === "shell") followShell(key, given);
    // Each line of a recipe is a shell of its own.
    else if (kind === "make")
      for (const line of withVariables(text).replaceAll(/\\\n/g, " ").split("\n"))
        followShell(key, { ...given, text: line });
    else followScripts(text, given);
    const mentioned = [...text.matchAll(INTERPRETED)].flatMap(([, path = ""]) => inside(path, places));
    for (const path of mentioned.filter((one) => JUDGE_NAME.test(one))) followFile(path, given);
    if (!given.isCommand)
      for (const { path, isWhole, isOptional } of importsOf(key, { text, kind }))
        if (isWhole || isJudges(path))
          for (const one of inside(path, [""])) {
            followFile(one, given);
            if (isOptional === true) keepAway(one);
          }
    if (/\bg?make\b/.test(text)) {
      const makefile = MAKEFILES.find((name) => project.names.has(name));
      if (makefile !== undefined)
        follow(makefile, { text: project.read(makefile) ?? "", places: [""], isCommand: false, depth: depth + 1 });
    }
  };

  for (const [at, text] of commands.entries()) follow(`check ${at}`, { text, places: [""], isCommand: true, depth: 0 });
  if (/\btox\b/.test([...texts.values()].join("\n")))
    follow("tox.ini", { text: project.read("tox.ini") ?? "", places: [""], isCommand: false, depth: 1 });
  return {
    text: [...texts.values()].join("\n"),
    files: [...files].toSorted(),
    tests: [...tests].toSorted(),
    folders: [...folders].toSorted(),
  };
}

export const isJudges = (path: string): boolean => JUDGE_NAME.test(path) || HELPER_NAME.test(path);
const isSourced = (path: string): boolean => isJudges(path) || SOURCED_NAME.test(path);
const unique = (places: readonly string[]): string[] => [...new Set(places)];
const folderOf = (path: string): string => (path.includes("/") ? dirname(path) : "");

/** Where `cd` leads; a folder that only the shell knows may be any of those before. */
export function moved(places: readonly string[], to: string): string[] {
  if (/[$`~]/.test(to) || to.startsWith("/")) return [...places];
  return unique(places.map((place) => normalize(join(place, to)).replace(/^\.?\/*$|\/+$/g, "")));
}

/** A word as paths of the repository. What stands before the first `/` may be a variable with the script's own folder. */
export function inside(word: string, places: readonly string[]): string[] {
  const path = word.replace(/^(?:\$\{[^}]*\}|\$\w+|\$\(.*\))\//s, "./");
  if (path === "" || path.startsWith("/") || path.includes("$")) return [];
  return unique(places.map((place) => normalize(join(place, path)))).filter(
    (one) => one !== "." && !one.split("/").some((part) => part === ".." || part === "node_modules"),
  );
}

export function scriptsIn(manifest: string): Record<string, unknown> {
  try {
    return (JSON.parse(manifest) as { scripts?: Record<string, unknown> } | null)?.scripts ?? {};
  } catch {
    // npm cannot read it either.
    return {};
  }
}

const scriptNames = (text: string): string[] => callsIn(text).map(({ name }) => name);

/** Package scripts that a simple command runs, and by what; `isElsewhere`: of packages that it chooses itself. */
export const scriptCalls = (words: readonly string[]) => {
  const line = words.join(" ");
  const where = { isElsewhere: WORKSPACES.test(line), isInEvery: EVERY_WORKSPACE.test(line) };
  return callsIn(line)
    .filter(({ index }) => index === 0)
    .map((call) => ({ ...call, ...where }));
};

function callsIn(text: string): { name: string; manager: string; index: number }[] {
  return [...text.replaceAll(ELSEWHERE, "").matchAll(MANAGER)].map(({ groups, index }) => {
    const { name = "", manager = "node" } = groups ?? {};
    return { name: lookUp(SHORT, name) ?? name, manager, index };
  });
}
