/**
 * The texts that tests are written in, read from the tree by the tests' ids. What the change added is none of the base's
 * and is left out: an agent's own text excuses nothing.
 */
import { readdir } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import type { FileChange } from "../events.ts";
import type { JudgedChange } from "../ports.ts";
import { isTestPath } from "./guard/languages.ts";
import { placeOf, type TestPlace } from "./tests-of-file.ts";
import { testText, type TestText } from "./test-text.ts";
import { readTreeFile, treeFiles } from "./tree-file.ts";

const MAX_BYTES = 1024 * 1024;
/** Followed of one test file; and paths looked for in one judgement, most of which are not there. */
const MAX_IMPORTS = 50;
const MAX_PATHS = 5_000;

export interface TestSource {
  /** The file, or of Go the folder. */
  path: string;
  names: readonly string[];
  text: TestText;
  /** Files that it loads, or that the runner loads for it, unless the change touches them. */
  around(): Promise<readonly { path: string; text: TestText }[]>;
}

export interface TestSources {
  /** undefined: nothing tells where it is, or the change brought it in. */
  of(id: string): Promise<TestSource | undefined>;
  /** Neither added nor changed. */
  isUntouched(path: string): Promise<boolean>;
}

interface Options {
  root: string;
  change: JudgedChange;
  goModule: string | undefined;
}

export function testSources({ root, change, goModule }: Options): TestSources {
  const read = new Map<string, Promise<string | undefined>>();
  const textOf = (path: string): Promise<string | undefined> => {
    const known = read.get(path);
    if (known !== undefined || read.size >= MAX_PATHS) return known ?? Promise.resolve(undefined);
    const text = readTreeFile(root, path, MAX_BYTES).then((file) => (file.is === "text" ? file.text : undefined));
    read.set(path, text);
    return text;
  };
  let changed: Promise<ReadonlyMap<string, FileChange>> | undefined;
  const touched = () =>
    (changed ??= change.files().then((files) => new Map(files.map((file) => [file.path, file] as const))));
  const isUntouched = async (path: string): Promise<boolean> => !(await touched()).has(path);
  const isOfBase = async (path: string): Promise<boolean> =>
    (await isUntouched(path)) || (await change.before(path, MAX_BYTES)) !== undefined;

  async function sourceOf(place: TestPlace): Promise<TestSource | undefined> {
    const paths = place.folder === undefined ? place.files : await goTests(root, place.folder);
    const found: { path: string; text: string }[] = [];
    for (const path of paths) {
      const text = (await isOfBase(path)) ? await textOf(path) : undefined;
      if (text !== undefined) found.push({ path, text });
      if (found.length > 0 && place.folder === undefined) break;
    }
    const [first] = found;
    if (first === undefined) return undefined;
    const all = found.map(({ text }) => text).join("\n");
    const text = testText(first.path, all);
    if (text === undefined) return undefined;
    const around: TestSource["around"] = async () => {
      const texts: { path: string; text: TestText }[] = [];
      for (const path of importsOf(first.path, all)) {
        const other = (await isUntouched(path)) ? await textOf(path) : undefined;
        const parsed = other === undefined ? undefined : testText(path, other);
        if (parsed !== undefined) texts.push({ path, text: parsed });
      }
      return texts;
    };
    return { path: place.folder ?? first.path, names: place.names, text, around };
  }

  const known = new Map<string, Promise<TestSource | undefined>>();
  return {
    isUntouched,
    async of(id) {
      const place = placeOf(id, goModule);
      if (place === undefined) return undefined;
      const key = place.folder ?? place.files.join("\0");
      const source = known.get(key) ?? sourceOf(place);
      known.set(key, source);
      const found = await source;
      return found === undefined ? undefined : { ...found, names: place.names };
    },
  };
}

async function goTests(root: string, folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder)).catch((): string[] => []);
  return names.filter((name) => name.endsWith("_test.go")).map((name) => (folder === "" ? name : `${folder}/${name}`));
}

const JS_IMPORT = /(?:\bfrom\s*|\brequire\s*\(\s*|\bimport\s*\(?\s*)["'](?<path>\.{1,2}\/[^"']+)["']/g;
const JS_ENDINGS = ["", ".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".jsx", ".tsx", "/index.js", "/index.ts"];
const PY_IMPORT = /^[ \t]*(?:from[ \t]+(?<from>\.*[\w.]*)[ \t]+import|import[ \t]+(?<whole>[\w.]+))/gm;

/** Paths that it may mean; most are not there. A file of settings for tests in a folder above counts for all below. */
function importsOf(path: string, text: string): string[] {
  const folder = dirname(path);
  if (path.endsWith(".py")) {
    const modules = [...text.matchAll(PY_IMPORT)]
      .slice(0, MAX_IMPORTS)
      .map(({ groups }) => groups?.["from"] ?? groups?.["whole"] ?? "");
    return [
      ...above(folder).map((one) => join(one, "conftest.py")),
      ...modules.flatMap((name) => pythonPaths(name, folder)),
    ];
  }
  return [...text.matchAll(JS_IMPORT)]
    .slice(0, MAX_IMPORTS)
    .flatMap(({ groups }) =>
      JS_ENDINGS.map((ending) => normalize(join(folder, `${groups?.["path"] ?? ""}${ending}`))).filter(isInside),
    );
}

function pythonPaths(module: string, folder: string): string[] {
  const dots = /^\.*/.exec(module)?.[0].length ?? 0;
  const name = module.slice(dots).replaceAll(".", "/");
  const from = dots === 0 ? [".", folder] : [join(folder, ...Array.from({ length: dots - 1 }, () => ".."))];
  return [...new Set(from.map((one) => normalize(join(one, `${name}.py`))))].filter(isInside);
}

const isInside = (path: string): boolean => !path.startsWith("..") && !path.startsWith("/");

/** A folder and those above it, up to the top. */
function above(folder: string): string[] {
  const up = dirname(folder);
  return up === folder ? [folder] : [folder, ...above(up)];
}

const MAX_SEARCHED = 2_000;

/** Whether any test file that the change does not touch speaks of skips; where there are too many to look, it may. */
export async function anySkips(
  root: string,
  { isTest = isTestPath, sources }: { isTest?: ((path: string) => boolean) | undefined; sources: TestSources },
): Promise<boolean> {
  const paths = await treeFiles(root, (path) => isTest(path) || isTestPath(path), MAX_SEARCHED).catch(() => undefined);
  if (paths === undefined) return true;
  for (const path of paths) {
    const file = (await sources.isUntouched(path)) ? await readTreeFile(root, path, MAX_BYTES) : undefined;
    if (file?.is === "text" && testText(path, file.text)?.speaksOfSkips === true) return true;
  }
  return false;
}
