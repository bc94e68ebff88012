/**
 * Which files and folders of the repository a source file names: modules that it imports and paths in its strings. Read
 * by words, nothing is run to learn it; where a name may mean several files, all of them are meant. Pure.
 */
import { basename, dirname, join } from "node:path/posix";

export interface Repository {
  files: ReadonlySet<string>;
  folders: ReadonlySet<string>;
  /** By path without its ending; `index.js` and `__init__.py` go by their folder, too. */
  modules: ReadonlyMap<string, readonly string[]>;
  /** By the last part of that path. */
  named: ReadonlyMap<string, readonly string[]>;
  folderNames: ReadonlySet<string>;
}

export interface References {
  files: Set<string>;
  folders: Set<string>;
}

const FOLDER_MODULE = /(?:^|\/)(?:index|__init__|mod)\.\w+$/;
/** With the word before it by which it is a module. */
const LITERAL =
  /(\b(?:from|import|require|require_relative|load|import_module|__import__|run_module|source)\s*\(?\s*)?(["'`])([^"'`\n]{1,200})\2/g;
const PYTHON_IMPORT = /^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]+)|import[ \t]+([^\n#;]+))/gm;
const SHELL_WORD = /(?:^|[\s=;(])((?:"?\$[\w{}()" -]+\/)?[\w./-]+)/gm;
const RUST_MODULE = /^\s*(?:pub\s+)?mod\s+(\w+)\s*;/gm;
const GO_EMBED = /^\/\/go:embed[ \t]+(.+)$/gm;
/** What is not known before it runs. */
const FILLED_IN = /\$\{|\{|%[sd(]|\*|\$\w/;
/** Between the parts of a path that is put together. */
const JOINED = /^\s*(?:,|\/|\+)\s*$/;
/** On the line of a name that could be any word. */
const SPEAKS_OF_PATHS =
  /path|dir|folder|file|open|read|load|glob|walk|join|resolve|root|embed|include|package|(?:^|[^/])\/\s*["']/i;
const ENDING = /\.\w+$/;

export function repositoryOf(paths: readonly string[]): Repository {
  const folders = new Set<string>();
  const modules = new Map<string, string[]>();
  const named = new Map<string, string[]>();
  const add = (map: Map<string, string[]>, key: string, path: string): void => {
    const known = map.get(key);
    if (known === undefined) map.set(key, [path]);
    else known.push(path);
  };
  for (const path of paths) {
    for (let folder = dirname(path); folder !== "." && !folders.has(folder); folder = dirname(folder))
      folders.add(folder);
    for (const module of [path.replace(ENDING, ""), ...(FOLDER_MODULE.test(path) ? [folderOf(path)] : [])]) {
      add(modules, module, path);
      add(named, basename(module), path);
    }
  }
  const folderNames = new Set([...folders].map((folder) => basename(folder)));
  return { files: new Set(paths), folders, modules, named, folderNames };
}

export const folderOf = (path: string): string => (path.includes("/") ? dirname(path) : "");

export function referencesOf(path: string, text: string, repository: Repository): References {
  const found: References = { files: new Set(), folders: new Set() };
  literals(text, { path, repository, found });
  const names = /\.pyi?$/i.test(path)
    ? pythonModules(text)
    : /\.rs$/i.test(path)
      ? [...text.matchAll(RUST_MODULE)].map(([, name = ""]) => `./${name}`)
      : [];
  for (const name of names) addModule(name, { path, repository, found });
  if (/\.(?:sh|bash|bats)$/i.test(path) || /^#!.*sh\b/.test(text))
    for (const [, word = ""] of text.matchAll(SHELL_WORD))
      addPath(word.replace(/^"?\$[\w{}()" -]+\//, "./"), { path, repository, found, isModule: false, line: "" });
  for (const [, listed = ""] of text.matchAll(GO_EMBED))
    for (const word of listed.split(/\s+/))
      addPath(`./${word}`, { path, repository, found, isModule: false, line: "" });
  found.files.delete(path);
  return found;
}

interface Looking {
  path: string;
  repository: Repository;
  found: References;
}

function literals(text: string, looking: Looking): void {
  let run: string[] = [];
  let end = -1;
  for (const match of text.matchAll(LITERAL)) {
    const [whole, word = "", , name = ""] = match;
    const isJoined = end >= 0 && match.index - end < 40 && JOINED.test(text.slice(end, match.index + word.length));
    run = isJoined ? [...run.slice(-5), name] : [name];
    end = match.index + whole.length;
    const line = text.slice(text.lastIndexOf("\n", match.index) + 1, match.index);
    for (let from = 0; from < run.length; from += 1)
      addPath(run.slice(from).join("/"), { ...looking, isModule: word !== "" && run.length === 1, line });
  }
}

interface Asked extends Looking {
  isModule: boolean;
  /** What stands before it. */
  line: string;
}

function addPath(given: string, asked: Asked): void {
  const { path, repository, found, isModule, line } = asked;
  const cut = given.search(FILLED_IN);
  // `words/${lang}.json` means the folder, `plugins.{name}` too.
  const name = cut < 0 ? given : given.slice(0, cut).replace(/[^/.]*$/, "");
  if (!/^[@~#]?[\w./@ -]+$/.test(name) || (cut >= 0 && !/\w/.test(name))) return;
  const own = folderOf(path);
  if (/^[./]+$/.test(name)) {
    for (const one of isModule ? (repository.modules.get(inside(own, name) ?? "/") ?? []) : []) found.files.add(one);
    return;
  }
  const plain = name.replace(/^[@~#](?=\w)|^[@~#]?\//, "").replace(/[./]+$/, "");
  const parts = plain.split("/").filter((part) => part !== "." && part !== "..");
  const last = parts.at(-1) ?? "";
  const isKnown = repository.folderNames.has(last) || repository.named.has(last);
  if (!isKnown && !repository.named.has(last.replace(ENDING, ""))) return;
  const isWord = parts.length === 1 && !/[./]/.test(given) && !isModule;
  for (const base of isModule && /^\.{1,2}\//.test(name) ? [own] : above(own)) {
    const at = inside(base, plain);
    if (at === undefined) continue;
    const files = repository.files.has(at)
      ? [at]
      : isWord || cut >= 0
        ? []
        : (repository.modules.get(at) ?? repository.modules.get(at.replace(ENDING, "")) ?? []);
    const isCode = files.length > 0 && (isModule || ENDING.test(last) || parts.length > 1);
    if (isCode) for (const one of files) found.files.add(one);
    const isMeant = repository.folders.has(at) && (!isWord || SPEAKS_OF_PATHS.test(line));
    if (isMeant) found.folders.add(at);
    if (isCode || isMeant) return;
  }
  // A short name of the settings, or a folder that is searched for modules.
  if (cut >= 0 || (parts.length === 1 && !/^[@~#]/.test(name))) return;
  const tail = parts.join("/").replace(ENDING, "");
  for (const one of repository.named.get(last.replace(ENDING, "")) ?? [])
    if (moduleNames(one).some((module) => module === tail || module.endsWith(`/${tail}`))) found.files.add(one);
}

/** `import a.b`, `from .c import d`, as paths; dots before the name lead up. */
function pythonModules(text: string): string[] {
  return [...text.matchAll(PYTHON_IMPORT)].flatMap(([, from, names = "", modules = ""]) => {
    const listed = (from === undefined ? modules : names.replaceAll(/[()]|#.*$/gm, "")).split(",").flatMap((name) => {
      const [, one] = /^\s*([\w.]+|\*)/.exec(name) ?? [];
      return one === undefined ? [] : [one];
    });
    if (from === undefined) return listed.map((name) => name.replaceAll(".", "/"));
    const [, dots = "", rest = ""] = /^(\.*)(.*)$/.exec(from) ?? [];
    const up = dots === "" ? "" : dots.length === 1 ? "./" : "../".repeat(dots.length - 1);
    const module = `${up}${rest.replaceAll(".", "/")}`;
    return [
      module,
      ...listed.filter((name) => name !== "*").map((name) => `${module}${rest === "" ? "" : "/"}${name}`),
    ];
  });
}

function addModule(name: string, { path, repository, found }: Looking): void {
  const own = folderOf(path);
  const isRelative = name.startsWith(".");
  const parts = name.split("/");
  for (const base of isRelative ? [own] : above(own)) {
    const at = inside(base, name);
    const files = at === undefined ? undefined : repository.modules.get(at);
    if (files === undefined) continue;
    for (const one of files) found.files.add(one);
    // A package is run before what is in it.
    for (let depth = isRelative ? parts.length : 1; depth < parts.length; depth += 1)
      for (const one of repository.modules.get(inside(base, parts.slice(0, depth).join("/")) ?? "/") ?? [])
        found.files.add(one);
    return;
  }
  if (isRelative) return;
  for (const one of repository.named.get(parts.at(-1) ?? "") ?? [])
    if (/\.pyi?$/i.test(one) && moduleNames(one).some((module) => module.endsWith(`/${name}`))) found.files.add(one);
}

const moduleNames = (path: string): string[] => [
  path.replace(ENDING, ""),
  ...(FOLDER_MODULE.test(path) ? [folderOf(path)] : []),
];

/** Its own folder first, then those above it, and the top. */
function above(folder: string): string[] {
  const parts = folder === "" ? [] : folder.split("/");
  return [...parts.map((_, at) => parts.slice(0, parts.length - at).join("/")), ""];
}

/** undefined outside of the repository. */
function inside(base: string, name: string): string | undefined {
  const at = join(base, name).replace(/\/$/, "");
  return at.startsWith("..") ? undefined : at === "." ? "" : at;
}
