/**
 * What the settings of runners and compilers name in the base: where tests are, under names that say nothing, and files
 * that are loaded before them or that settings go on in. Read by their words: no configuration is run to learn it. Pure.
 */
import { dirname } from "node:path/posix";
import { inside, isJudges, PRODUCT_FOLDER, SOURCED_NAME, type Project } from "./commands.ts";
import { importsOf } from "./imports.ts";
import { namedBy } from "./run-words.ts";

export interface NamedBySettings {
  tests: string[];
  files: string[];
}

const MAX_FILES = 500;
const MAX_DEPTH = 4;
/** Of what is protected as configuration, that which may name more. */
const SETTINGS_NAME =
  /(^|\/)(\.[\w-]+rc(\.\w+)?|[^/]*(config|conf|workspace|setup|babel|tsconfig|jsconfig|conftest|pytest|tox)[^/]*)$/i;
const CONFIG_NAME = /(config|workspace|rc)(\.[\w-]+)*$/i;
const CODE = /\.[cm]?[jt]sx?$/i;
const ENDS = ["", ".json", ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", "/index.js", "/index.ts", "/jest-preset.js"];

const TEST_KEYS = "spec|testMatch|include";
const FILE_KEYS =
  "require|file|import|setupFiles|setupFilesAfterEnv|globalSetup|globalTeardown|preset|extends|testEnvironment|" +
  "environment|resolver|transform|reporters|snapshotSerializers|runner|testRunner|supportFile|helpers";
/** A key with a value in quotes, a list or a table of them. */
const quoted = (keys: string): RegExp =>
  new RegExp(`(?:^|[\\s{,"'])(?:${keys})["']?\\s*[:=]\\s*(\\[[^\\]]*\\]|\\{[^}]*\\}|"[^"]*"|'[^']*')`, "gm");
/** The same in YAML and INI, where lines go on by being indented or listed. */
const bare = (keys: string): RegExp => new RegExp(`^(?:${keys})\\s*[:=]((?:.*)(?:\\n[ \\t]+\\S.*|\\n- .*)*)`, "gm");
/** Names files, but not those that are run. */
const COVERAGE = /\bcoverage\s*:\s*\{(?:[^{}]|\{[^{}]*\})*\}/g;
/** More than a word: something that a runner takes as a case. */
const CASES = /(?:^|[^.\w])(?:describe|it|test|suite|context|specify)(?:\.\w+)*\s*\(|^\s*(?:async\s+)?def\s+test/m;

/** `settings`: patterns of files that are protected as configuration. */
export function namedBySettings(project: Project, settings: readonly string[]): NamedBySettings {
  const files = new Set<string>();
  const tests = new Set<string>();
  const seen = new Set<string>();

  const addTests = (patterns: readonly string[]): void => {
    for (const pattern of patterns) {
      const found = project.list([pattern]);
      const cases = found.filter((path) => CASES.test(project.read(path) ?? ""));
      const isTests = cases.length === found.length && (isJudges(pattern) || !PRODUCT_FOLDER.test(pattern));
      for (const one of isTests && found.length > 0 ? [pattern] : cases.filter((path) => !PRODUCT_FOLDER.test(path)))
        tests.add(one);
    }
  };

  const addFiles = (names: readonly string[], { folder, depth }: { folder: string; depth: number }): void => {
    for (const name of names) {
      const plain = name.replace(/^<rootDir>\/?/, "./");
      const path = ENDS.flatMap((end) => inside(`${plain}${end}`, [folder])).find(
        (one) => project.read(one) !== undefined,
      );
      if (path === undefined || MANIFEST.test(path) || !isSettings(path)) continue;
      files.add(path);
      look(path, depth + 1);
    }
  };

  const look = (path: string, depth: number): void => {
    if (seen.has(path) || depth > MAX_DEPTH || seen.size >= MAX_FILES) return;
    seen.add(path);
    const text = project.read(path) ?? "";
    const folder = path.includes("/") ? dirname(path) : "";
    const named = namedIn(path, text);
    addTests(named.tests.flatMap((test) => inside(test, [folder])));
    addTests(named.anywhere);
    addFiles(named.files, { folder, depth });
    // What a set-up file imports may well be the product; what a configuration does, hardly.
    if (!CODE.test(path) || !CONFIG_NAME.test(path)) return;
    for (const { path: one } of importsOf(path, { text, kind: "node" })) addFiles([one], { folder: "", depth });
  };

  for (const path of project.list(settings).filter((one) => SETTINGS_NAME.test(one))) look(path, 0);
  for (const path of project.list(["**/{package.json,pyproject.toml,setup.cfg}"])) look(path, 0);
  return { tests: [...tests].toSorted(), files: [...files].toSorted() };
}

const MANIFEST = /(^|\/)(package\.json|pyproject\.toml|setup\.cfg)$/;

/** In a folder of the product it may as well be the product: only where its name says otherwise. */
const isSettings = (path: string): boolean =>
  !PRODUCT_FOLDER.test(path) || isJudges(path) || SOURCED_NAME.test(path) || SETTINGS_NAME.test(path);

interface Named {
  /** Relative to the file. */
  tests: string[];
  anywhere: string[];
  files: string[];
}

function namedIn(path: string, text: string): Named {
  const isPython = /\.(ini|toml|cfg)$/i.test(path);
  if (isPython) return python(text);
  if (/(^|\/)package\.json$/.test(path)) return manifest(text);
  const isLines = /\.ya?ml$|rc$/i.test(path);
  const from = (keys: string): string[] => [
    ...literals(text.replaceAll(COVERAGE, ""), quoted(keys)),
    ...(isLines ? words(text, bare(keys)) : []),
  ];
  const isCompiler = /(ts|js)config[^/]*\.json$/i.test(path);
  return { tests: isCompiler ? [] : from(TEST_KEYS), anywhere: [], files: from(FILE_KEYS) };
}

/** Runners' keys of package.json, as if each were a file. */
function manifest(text: string): Named {
  const all: Named = { tests: [], anywhere: [], files: [] };
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    for (const key of ["jest", "mocha", "ava", "vitest"]) {
      if (value === null || typeof value !== "object" || value[key] === undefined) continue;
      const named = namedIn(`${key}.config.json`, JSON.stringify(value[key]));
      all.tests.push(...named.tests);
      all.files.push(...named.files);
    }
  } catch {
    // npm cannot read it either.
  }
  return all;
}

/** Settings of pytest: names of test files are meant in any folder. */
function python(text: string): Named {
  const of = (key: string): string[] => [...literals(text, quoted(key)), ...words(text, bare(key))];
  const names = of("python_files").filter((name) => /[a-z]{2}.*\.py$/i.test(name));
  const { opened } = namedBy(["pytest", ...of("addopts").flatMap((option) => option.split(/\s+/))]);
  return {
    tests: [],
    anywhere: names.map((name) => (name.includes("/") ? name : `**/${name}`)),
    files: opened,
  };
}

function literals(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, value = ""]) =>
    [...value.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map(([, one, other]) => one ?? other ?? ""),
  );
}

const words = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].flatMap(([, value = ""]) =>
    value
      .split(/[\s,]+/)
      .map((word) => word.replaceAll(/^["']|["']$/g, ""))
      .filter((word) => word !== "" && word !== "-"),
  );
