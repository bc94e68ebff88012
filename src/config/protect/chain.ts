/**
 * The scripts of the repository that a command comes down to, one after the other: through `&&`, `cd`, `bash -c`, make,
 * package scripts and shell scripts. A failure is planted in each of them before a run ends. Read once from the base. Pure.
 */
import { dirname, join, normalize } from "node:path/posix";
import type { PlantSpec } from "../../spec.ts";
import { globMatcher } from "../../platform/glob.ts";
import { inside, MAKEFILES, moved, scriptCalls, scriptsIn, type Project } from "./commands.ts";
import { importsOf, kindOf } from "./imports.ts";
import { recipesOf } from "./make-words.ts";
import { namedBy, programIn } from "./run-words.ts";
import { fatesOf } from "./shell-fate.ts";
import { stepsOf } from "./shell-words.ts";

const MAX_DEPTH = 6;
/** Each takes a run of the check. */
const MAX_SCRIPTS = 8;
const MAX_OTHERS = 8;

/** They find tests by themselves: a failure is planted in those. */
const RUNNER =
  /^(vitest|jest|mocha|ava|tap|tape|uvu|jasmine|karma|qunit|playwright|cypress|cucumber(-js)?|pytest|py\.test|tox|nox|phpunit|rspec|bats|prove|ctest|gotestsum|gradlew?|mvnw?|react-scripts)$/;
const RUNS_TESTS =
  /^(node .*--test\b|(python|pypy)[\d.]* .*-m (pytest|unittest)|(go|cargo|deno|bun|dotnet|swift|mix|rake) (test|nextest|spec)\b)/;
/** They run what nobody can plant a failure in: code in the command itself, compiled code, other languages. */
const OPAQUE = /^(java|dotnet|lua|elixir|julia|Rscript|scala|swift)$|^(go|cargo) run$/;
const INLINE = /^(-\w*[ecp]|--eval|--print|-)$/;
const INTERPRETER = /^(node|deno|bun|tsx|ts-node|python[\d.]*|pypy3?|ruby|perl|php)$/;
/** A script that starts others may be a runner of its own making. */
const STARTS_OTHERS = /\b(child_process|worker_threads|execa|subprocess|multiprocessing)\b/;

const EXITS = /\bprocess\s*\.\s*exit\b|\b(?:sys\.exit|os\._exit|SystemExit)\b/;
/** They start what follows, with options and variables of their own. */
const AROUND = /^(?:c8|nyc|cross-env|cross-env-shell|env-cmd)$/;
const IGNORES_HOOKS = /^\s*ignore-scripts\s*=\s*true/m;

interface At {
  /** Folders it may run in; "" is the top. */
  places: readonly string[];
  /** Its failure is the command's. */
  must: boolean;
  depth: number;
}

/** `judges`: files that are the judge's own, and so as the base has them. */
export function chainOf(command: string, project: Project, judges: readonly string[]): PlantSpec {
  const scripts = new Map<string, boolean>();
  const others = new Set<string>();
  const known = new Set(judges);
  const seen = new Set<string>();
  let runners = 0;
  let isOpen = false;

  const script = (path: string, at: At): void => {
    const text = known.has(path) ? project.read(path) : undefined;
    if (text === undefined) return;
    const kind = kindOf(path, text);
    // A helper that ends it for it: then its own end may never be come to.
    const helpers = importsOf(path, { text, kind }).map((one) => (known.has(one.path) ? project.read(one.path) : ""));
    const must = at.must && !helpers.some((helper) => EXITS.test(helper ?? ""));
    scripts.set(path, must || scripts.get(path) === true);
    if (kind === "shell") shell(text, { ...at, depth: at.depth + 1 }, "file");
    else if (STARTS_OTHERS.test(text)) isOpen = true;
  };

  const packageScripts = (words: readonly string[], at: At): void => {
    const isMeant = globMatcher(workspacesIn(project.read("package.json") ?? "{}"));
    // A pattern also means what is below: packages inside a workspace are none.
    const isWorkspace = (folder: string): boolean => isMeant(folder) && !isMeant(dirname(folder));
    for (const { name, manager, isElsewhere, isInEvery } of scriptCalls(words)) {
      const own = at.places.map((folder) => ({ folder, text: project.read(join(folder, "package.json")) ?? "{}" }));
      const hooked = manager === "node" ? [name] : [`pre${name}`, name, `post${name}`];
      for (const { folder, text } of isElsewhere ? [...own, ...project.manifests] : own) {
        const all = scriptsIn(text);
        for (const one of hooked) {
          const line = Object.hasOwn(all, one) ? all[one] : undefined;
          // Of the others some run what stands before and after, and some do not.
          const isHooked = manager === "npm" && !IGNORES_HOOKS.test(project.read(".npmrc") ?? "");
          const isRun = !isElsewhere || (isInEvery && manager === "npm" && isWorkspace(folder));
          const must = at.must && isRun && (one === name || isHooked);
          if (typeof line === "string") shell(line, { places: [folder], must, depth: at.depth + 1 }, "command");
        }
      }
    }
  };

  const make = (words: readonly string[], at: At): void => {
    const { opened, folder } = namedBy(words);
    const places = folder === undefined ? at.places : moved(at.places, folder);
    const files = [...opened, ...MAKEFILES].flatMap((name) => inside(name, places));
    const text = files.map((path) => project.read(path)).find((one) => one !== undefined);
    if (text === undefined) return;
    // What is there already may be up to date.
    const isNever = (target: string): boolean => !/[/.]/.test(target) && !project.names.has(target);
    for (const { line, isSure } of recipesOf(text, words.slice(1), isNever))
      shell(line, { places, must: at.must && isSure, depth: at.depth + 1 }, "command");
  };

  const simple = (all: readonly string[], input: string | undefined, at: At): readonly string[] => {
    const given = within(programIn(all));
    const words = programIn(given);
    const [first = ""] = words;
    const program = first.slice(first.lastIndexOf("/") + 1);
    const named = namedBy(given, input);
    const places = named.folder === undefined ? at.places : moved(at.places, named.folder);
    const line = [program, ...words.slice(1)].join(" ");
    if (/^g?make$/.test(program)) make(words, at);
    else if (RUNNER.test(program) || RUNS_TESTS.test(line) || /^\$.* -m (pytest|unittest)/.test(line)) runners += 1;
    else if (OPAQUE.test(program) || OPAQUE.test(words.slice(0, 2).join(" ")) || first.startsWith("$"))
      others.add(line.slice(0, MAX_NAME_CHARS));
    else if (INTERPRETER.test(program) && isInline(words)) others.add(`${program} with code of its own`);
    else {
      const programs = named.run.flatMap((word) => inside(word, at.places));
      const paths = [...programs, ...named.interpreted.flatMap((word) => inside(word, at.places))];
      const isThere = (path: string): boolean => project.read(path) !== undefined;
      // What is not there yet is made by the command itself, by a compiler say.
      if (programs.length > 0 && !programs.some(isThere)) others.add(programs[0] ?? "");
      // A name that only the shell knows may be that of any test.
      if ([...named.run, ...named.interpreted].some((word) => word.includes("$"))) isOpen = true;
      const there = paths.filter(isThere);
      for (const path of there) script(path, { ...at, must: at.must && there.length === 1 });
    }
    for (const text of named.texts) shell(text, { ...at, depth: at.depth + 1 }, "command");
    packageScripts(words, { ...at, places });
    return named.cd === undefined ? at.places : moved(at.places, named.cd);
  };

  const shell = (text: string, at: At, of: "command" | "file"): void => {
    const key = JSON.stringify([text, at.places]);
    if (at.depth > MAX_DEPTH || seen.has(key)) return;
    seen.add(key);
    const steps = stepsOf(text, { quotes: of === "command" ? "lines" : "line" });
    const fates = fatesOf(steps, text);
    const outside: (readonly string[])[] = [];
    let { places } = at;
    for (const [nth, step] of steps.entries()) {
      if (step.is === "open") outside.push(places);
      else if (step.is === "close") places = outside.pop() ?? places;
      // What it says of a failure there nobody hears: `a; b`.
      else if (fates[nth] === "never") places = moved(places, namedBy(step.words).cd ?? "");
      else places = simple(step.words, step.input, { ...at, places, must: at.must && fates[nth] === "always" });
    }
  };

  shell(command, { places: [""], must: true, depth: 0 }, "command");
  const found = [...scripts].map(([path, must]) => ({ path, must }));
  const more = found.length > MAX_SCRIPTS ? [`${found.length - MAX_SCRIPTS} more scripts`] : [];
  return { scripts: found.slice(0, MAX_SCRIPTS), others: [...others, ...more].slice(0, MAX_OTHERS), runners, isOpen };
}

const MAX_NAME_CHARS = 60;

/** Folders of a package's workspaces, as globs; none where some are taken out again. */
function workspacesIn(manifest: string): string[] {
  try {
    const { workspaces } = (JSON.parse(manifest) ?? {}) as { workspaces?: unknown };
    const globs = Array.isArray(workspaces) ? workspaces.filter((one) => typeof one === "string") : [];
    return globs.some((glob) => glob.startsWith("!")) ? [] : globs.map((glob) => normalize(glob).replace(/\/+$/, ""));
  } catch {
    return [];
  }
}

/** `c8 --all node test.js`, `cross-env CI=1 node test.js`. */
function within(words: readonly string[]): readonly string[] {
  if (!AROUND.test(words[0] ?? "")) return words;
  const start = words.findIndex((word, nth) => nth > 0 && !/^-|=/.test(word));
  return start === -1 ? [] : within(programIn(words.slice(start)));
}

/** `node -e …`, `python -`, `python <<EOF`. */
function isInline([, ...rest]: readonly string[]): boolean {
  const plain = rest.findIndex((word) => !word.startsWith("-"));
  const options = plain === -1 ? rest : rest.slice(0, plain);
  return rest.length === 0 || options.some((word) => INLINE.test(word));
}
