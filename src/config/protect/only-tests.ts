/**
 * What only tests use: helpers that the base's tests import and the product does not, data that they open, folders of
 * tests under other names. A module that nothing but tests imports may as well be what they test, so it takes two signs:
 * in its name, in its text, or that the tests use something beside it that looks less like a helper. Pure.
 */
import { basename } from "node:path/posix";
import { globMatcher } from "../../platform/glob.ts";
import type { Project } from "./commands.ts";
import { folderOf, referencesOf, repositoryOf, type References, type Repository } from "./references.ts";

/** Of source files; in a larger repository only names count. */
const MAX_SOURCES = 5_000;
/** Each is a pattern of the frozen specification. */
const MAX_FOUND = 2_000;
const SIGNS_NEEDED = 2;
const MIN_TESTS = 3;
const NEARLY_ALL = 0.75;

const CODE =
  /\.(?:[cm]?[jt]sx?|vue|svelte|pyi?|rb|sh|bash|bats|php|pl|lua|go|rs|java|kt|kts|scala|cs|swift|c|cc|cpp|h|hpp|exs?|dart|r|jl)$/i;
/** Whose imports are told by their words. */
const FOLLOWED = /\.(?:[cm]?[jt]sx?|vue|svelte|py|rb|sh|bash|c|cc|cpp|h|hpp)$/i;
const DATA = /\.(?:jsonl?|ndjson|json5|csv|tsv|txt|xml|ya?ml|dat|in|out|ans|npy|npz|pkl|parquet|hex|b64|log)$/i;
const PRODUCT_FOLDER = /(?:^|\/)(?:src|lib|libs|app|internal|cmd|source)\//i;
/** Data that is a product's own, whoever reads it beside. */
const PRODUCT_DATA =
  /(?:^|\/)(?:config|conf|settings|locales?|i18n|lang|translations?|templates?|views|public|static|assets|migrations?|schemas?|content|docs?|prompts|rules|policies|requirements)\/|(?:^|\/)(?:[^/]*(?:package|lock|config|schema|openapi|swagger|manifest|compose)[^/]*\.\w+|(?:readme|license|licence|changelog|requirements|robots|version|cmakelists)[^/]*|\.[^/]*)$/i;

const words = (text: string): Set<string> =>
  new Set(
    text
      .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z]+/g),
  );
const TEST_WORDS = "test tests testing tested spec specs unit e2e it";
const wordsOf = (listed: string): ReadonlySet<string> => new Set(listed.split(" "));
/** As a part of a name. */
const SAYS_TESTS = wordsOf(
  "test tests testing testcase testcases testdata testsuite testsuites testlib testkit testbed testutil testutils " +
    "testhelper testhelpers unittest unittests assert asserts assertion assertions expectation expectations",
);
/** A product may be about it: an oracle's client, a matcher of patterns, a golden section. */
const MAY_SAY_TESTS = wordsOf(
  "expect expects expected fixture fixtures mock mocks stub stubs fake fakes golden goldens oracle oracles harness " +
    "matcher matchers",
);
const SAYS_HELPER = wordsOf(
  "helper helpers support shared common case cases sample samples example examples vector vectors scenario scenarios " +
    "check checks checker compare comparison judge verify verifier spec specs inputs outputs corpus",
);
/** Names of folders and files that say it all; `tests` only where it stands by itself. */
const TEST_PLACE = wordsOf("testcase testcases testdata testsuite testsuites fixture fixtures unittest unittests");
const OF_TEST = /^(?:case|cases|data|suite|suites|vectors?|inputs?|files?|resources?|fixtures?|utils?|helpers?)$/;

const SAYS_TESTS_TEXT =
  /^\s*(?:import|from)\s+(?:pytest|unittest|hypothesis|hamcrest|assertpy)\b|(?:from|require\(|import)\s*["'](?:vitest|chai|mocha|sinon|tape|ava|(?:node|bun):test|@jest\/\w+|@playwright\/test|@testing-library\/[\w-]+)["']|\bAssertionError\b|(?:^|[^.\w])expect\s*\(/m;
const ASSERTS =
  /(?:^|[^.\w])assert\b|\b(?:expected|actual)\b|(?:def|function|const|let|fn)\s+(?:assert|expect|should|same|equals?|approx)\w*|exports\.(?:assert|expect|should|same|equals?)\w*/i;
/** Values in a list or a table, and nothing that could be called. */
const IS_DATA = /(?:=|\bdefault|\breturn)\s*[[{(]/;
const DOES_SOMETHING = /\b(?:def|function|class|lambda|fn|interface|type|declare)\b|=>|\w\s*\([^)]*\)\s*\{/;
const IS_STARTED = /^#!|__name__\s*==\s*["']__main__["']|\brequire\.main\b/;
/** Tests of languages whose layouts have them in a folder of their own. */
const TEST_TEXT = /@Test\b|\bTestCase\b|\[(?:Fact|Theory|Test|TestMethod)\b|\bXCTestCase\b|^\s*TEST(?:_[FP])?\s*\(/m;

interface Judging {
  /** Patterns of tests, and of what else judges. */
  tests: readonly string[];
  config: readonly string[];
}

interface Known {
  project: Project;
  repository: Repository;
  isJudge: (path: string) => boolean;
  tests: readonly Named[];
  references: ReadonlyMap<string, References>;
  /** Of modules that may be helpers: who names them. */
  namedBy: ReadonlyMap<string, readonly string[]>;
  entries: ReadonlySet<string>;
  /** Folders in which nearly all code is tests. */
  testFolders: ReadonlySet<string>;
}

/** A test, by what it says that it tests. */
interface Named {
  name: string;
  folders: readonly string[];
}

export interface OnlyTests {
  /** Paths and folders, as patterns. */
  tests: string[];
  /** Modules that tests name beside the product and the product does not: too few signs to protect them. */
  doubtful: string[];
}

export function onlyTests(project: Project, judging: Judging): OnlyTests {
  const paths = project.list(["**"]);
  const [isTestName, isConfig] = [globMatcher(judging.tests), globMatcher(judging.config)];
  const ours = paths.filter((path) => !DEPENDENCY.test(path));
  const sources = ours.filter((path) => CODE.test(path));
  if (sources.length > MAX_SOURCES)
    return { tests: placesByName(ours, { isJudge: isTestName, isProducts: () => false }), doubtful: [] };
  const texts = new Map(sources.map((path) => [path, project.read(path) ?? ""]));
  const others = new Set(sources.filter((path) => !isTestName(path) && !FOLLOWED.test(path) && isTestOf(path, texts)));
  const isTest = (path: string): boolean => isTestName(path) || others.has(path);
  const repository = repositoryOf(ours);
  const references = new Map([...texts].map(([path, text]) => [path, referencesOf(path, text, repository)]));
  const namedBy = new Map<string, string[]>();
  for (const [path, { files }] of references)
    for (const file of files) namedBy.set(file, [...(namedBy.get(file) ?? []), path]);
  const isJudge = (path: string): boolean => isTest(path) || isConfig(path);
  const named = sources.filter(isTest).map((path) => ({
    name: withoutTests(stemOf(path)),
    folders: path.split("/").slice(0, -1),
  }));
  const entries = entriesOf(project, repository);
  const testFolders = foldersOfTests(sources, isTest);
  const known: Known = { project, repository, isJudge, tests: named, references, namedBy, entries, testFolders };
  const helpers = helpersOf(known, texts);
  const isReached = reachedByProduct(known, helpers);
  const data = dataOf(known, { helpers, isReached });
  const isProducts = (path: string): boolean =>
    isReached(path) || (FOLLOWED.test(path) && !helpers.has(path) && !isJudge(path) && isPaired(path, known));
  const places = placesByName(ours, { isJudge, isProducts });
  const isPlace = globMatcher(places);
  const single = [...others, ...helpers, ...data].filter((path) => !isPlace(path)).toSorted();
  const tests = [...places, ...single.slice(0, MAX_FOUND).map(asPattern)];
  return { tests, doubtful: doubtfulOf(known, { isProducts, isOurs: (path) => isPlace(path) || helpers.has(path) }) };
}

function doubtfulOf(
  { references, namedBy, isJudge }: Known,
  { isProducts, isOurs }: { isProducts: (path: string) => boolean; isOurs: (path: string) => boolean },
): string[] {
  const isKnown = (path: string): boolean => isProducts(path) || PRODUCT_FOLDER.test(path);
  const isBeside = (path: string) => (test: string) =>
    isJudge(test) &&
    [...(references.get(test)?.files ?? [])].some((other) => other !== path && !isJudge(other) && isKnown(other));
  return [...references.keys()]
    .filter((path) => FOLLOWED.test(path) && !isJudge(path) && !isOurs(path) && !isKnown(path))
    .filter((path) => (namedBy.get(path) ?? []).some(isBeside(path)))
    .slice(0, MAX_FOUND);
}

const DEPENDENCY = /(?:^|\/)(?:node_modules|\.venv|venv|site-packages|__pycache__|\.git|target|vendor)\//;
const asPattern = (path: string): string => path.replaceAll(/[{}*?,]/g, "?");

function isTestOf(path: string, texts: ReadonlyMap<string, string>): boolean {
  // There it may be the product that others test with.
  if (PRODUCT_FOLDER.test(path)) return false;
  const name = words(basename(path).replace(/\.\w+$/, ""));
  return (name.has("test") || name.has("tests")) && TEST_TEXT.test(texts.get(path) ?? "");
}

/** What package.json says the package is. */
function entriesOf(project: Project, repository: Repository): Set<string> {
  const all = [{ folder: "", text: project.read("package.json") ?? "{}" }, ...project.manifests];
  const found = all.flatMap(({ folder, text }) => {
    try {
      const { main, module, browser, bin, exports } = JSON.parse(text) as Record<string, unknown>;
      const named = JSON.stringify([main, module, browser, bin, exports]).replaceAll(/"(?=\w)/g, '"./');
      const at = folder === "" ? "package.js" : `${folder}/package.js`;
      return [...referencesOf(at, named.replaceAll(/[[\],]/g, ";"), repository).files];
    } catch {
      // npm cannot read it either.
      return [];
    }
  });
  return new Set(found);
}

function foldersOfTests(sources: readonly string[], isTest: (path: string) => boolean): Set<string> {
  const counts = new Map<string, { tests: number; all: number }>();
  for (const path of sources) {
    const count = counts.get(folderOf(path)) ?? { tests: 0, all: 0 };
    counts.set(folderOf(path), { tests: count.tests + (isTest(path) ? 1 : 0), all: count.all + 1 });
  }
  const found = [...counts].filter(([, { tests, all }]) => tests >= MIN_TESTS && tests >= all * NEARLY_ALL);
  return new Set(found.map(([folder]) => folder).filter((folder) => folder !== ""));
}

/** What tests reach, less what something else of the product does, until nothing more falls away. */
function helpersOf(known: Known, texts: ReadonlyMap<string, string>): Set<string> {
  const { references, namedBy, isJudge } = known;
  const helpers = new Set<string>();
  const queue = [...references.keys()].filter(isJudge);
  for (const path of queue)
    for (const file of references.get(path)?.files ?? [])
      if (!helpers.has(file) && !isJudge(file) && FOLLOWED.test(file)) {
        helpers.add(file);
        queue.push(file);
      }
  const own = new Map([...helpers].map((path) => [path, ownSigns(path, { known, text: texts.get(path) ?? "" })]));
  const isUsed = (path: string): boolean =>
    (namedBy.get(path) ?? []).some((one) => !isJudge(one) && (own.get(one) ?? 0) <= 0);
  const isProduct = (path: string): boolean =>
    known.entries.has(path) || PRODUCT_FOLDER.test(path) || isPaired(path, known) || isUsed(path);
  const signsOf = (path: string): number => {
    const by = namedBy.get(path) ?? [];
    const mine = own.get(path) ?? 0;
    // By its name it may be told from what merely looks less like one; otherwise that has to be the product for sure.
    const isHelper = has(nameOf(path), SAYS_HELPER) || known.testFolders.has(folderOf(path));
    const isLess = (other: string): boolean =>
      other !== path &&
      CODE.test(other) &&
      !isJudge(other) &&
      (isProduct(other) || (isHelper && (own.get(other) ?? 0) < mine));
    const isBeside = by.some((one) => isJudge(one) && [...(references.get(one)?.files ?? [])].some(isLess));
    return mine + (isBeside || !by.some(isJudge) ? 1 : 0);
  };
  for (const path of helpers)
    if (known.entries.has(path) || isPaired(path, known) || signsOf(path) < SIGNS_NEEDED) helpers.delete(path);
  for (let before = -1; before !== helpers.size;) {
    before = helpers.size;
    const isReached = reachedByProduct(known, helpers);
    for (const path of helpers) if (isReached(path)) helpers.delete(path);
  }
  return helpers;
}

const nameOf = (path: string): Set<string> =>
  words(
    path
      .split("/")
      .slice(-2)
      .join("/")
      .replace(/\.\w+$/, ""),
  );
const has = (name: ReadonlySet<string>, known: ReadonlySet<string>): boolean =>
  [...name].some((word) => known.has(word));

function ownSigns(path: string, { known, text }: { known: Known; text: string }): number {
  const name = nameOf(path);
  const helping = [...name].filter((word) => SAYS_HELPER.has(word) || MAY_SAY_TESTS.has(word)).length;
  const isAmongTests = known.testFolders.has(folderOf(path));
  const byName = has(name, SAYS_TESTS) ? 2 : Math.min(2, helping + (isAmongTests ? 1 : 0));
  const byText = SAYS_TESTS_TEXT.test(text)
    ? 2
    : ASSERTS.test(text) || (IS_DATA.test(text) && !DOES_SOMETHING.test(text))
      ? 1
      : 0;
  return byName + byText - (PRODUCT_FOLDER.test(path) ? 1 : 0) - (IS_STARTED.test(text) ? 1 : 0);
}

/** A test is named after it. */
function isPaired(path: string, { tests }: Known): boolean {
  const stem = stemOf(path);
  const mine = withoutTests(/^(?:index|__init__|mod|main)$/.test(stem) ? basename(folderOf(path)) : stem);
  if (mine === "") return false;
  const isPlain = ![SAYS_HELPER, SAYS_TESTS, MAY_SAY_TESTS].some((known) => has(nameOf(path), known));
  return tests.some(
    ({ name, folders }) => name === mine || (isPlain && (name.startsWith(`${mine} `) || folders.includes(stem))),
  );
}

const stemOf = (path: string): string => basename(path).replace(/\..*$/, "");
const withoutTests = (name: string): string =>
  [...words(name)].filter((word) => !TEST_WORDS.split(" ").includes(word)).join(" ");

function reachedByProduct(known: Known, helpers: ReadonlySet<string>): (path: string) => boolean {
  const { references, isJudge, entries } = known;
  const [files, folders] = [new Set(entries), new Set<string>()];
  for (const [path, named] of references) {
    if (isJudge(path) || helpers.has(path)) continue;
    for (const file of named.files) files.add(file);
    for (const folder of named.folders) folders.add(folder);
  }
  return (path) => files.has(path) || foldersAbove(path).some((folder) => folders.has(folder));
}

const foldersAbove = (path: string): string[] => {
  const parts = path.split("/");
  return parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join("/"));
};

/** Files without code that tests or their helpers open, where these have code to be tried with them. */
function dataOf(
  known: Known,
  { helpers, isReached }: { helpers: ReadonlySet<string>; isReached: (path: string) => boolean },
): string[] {
  const { repository, references, isJudge, namedBy, testFolders } = known;
  const isOurs = (path: string): boolean => isJudge(path) || helpers.has(path);
  const usesProduct = (path: string): boolean =>
    [...(references.get(path)?.files ?? [])].some((file) => CODE.test(file) && !isOurs(file));
  // What others import is not known.
  const isTried = (path: string): boolean =>
    !FOLLOWED.test(path) || usesProduct(path) || (namedBy.get(path) ?? []).some(usesProduct);
  const isTests = (path: string): boolean =>
    has(nameOf(path), SAYS_TESTS) || has(nameOf(path), MAY_SAY_TESTS) || testFolders.has(folderOf(path));
  const isData = (path: string): boolean =>
    !CODE.test(path) && !isJudge(path) && !isReached(path) && (isTests(path) || !isProductData(path));
  const opened = new Set<string>();
  const folders = new Map<string, boolean>();
  for (const [path, named] of references) {
    if (!isOurs(path)) continue;
    const isBeside = isTried(path);
    for (const file of named.files) if (isData(file) && (isBeside || isTests(file))) opened.add(file);
    for (const folder of named.folders) folders.set(folder, isBeside || folders.get(folder) === true);
  }
  for (const file of repository.files) {
    const above = foldersAbove(file).flatMap((folder) => folders.get(folder) ?? []);
    const isOpened = above.includes(true) || (above.length > 0 && isTests(file)) || testFolders.has(folderOf(file));
    if (isOpened && isData(file)) opened.add(file);
  }
  return [...opened];
}

const isProductData = (path: string): boolean =>
  !DATA.test(path) || PRODUCT_DATA.test(path) || PRODUCT_FOLDER.test(path);

interface Places {
  isJudge: (path: string) => boolean;
  isProducts: (path: string) => boolean;
}

/** Folders and data files with a name of tests that the product does not use. */
function placesByName(paths: readonly string[], { isJudge, isProducts }: Places): string[] {
  const found = new Set<string>();
  const products = new Set<string>();
  for (const path of paths) {
    if (isJudge(path)) continue;
    const folders = foldersAbove(path).filter((folder) => isTestPlace(basename(folder)));
    // Elsewhere code of such a name may be what the product is about.
    const isProduct = isProducts(path) || (CODE.test(path) && PRODUCT_FOLDER.test(path));
    for (const folder of folders) (isProduct ? products : found).add(folder);
    const isFile = !CODE.test(path) && isTestPlace(basename(path).replace(/\.\w+$/, ""));
    if (isFile && folders.length === 0 && !isProducts(path) && !isProductData(path)) found.add(path);
  }
  return [...found]
    .filter((place) => !products.has(place))
    .map(asPattern)
    .toSorted();
}

function isTestPlace(name: string): boolean {
  if (/(?:^|[^a-z])tests(?![a-z])/i.test(name)) return true;
  const parts = [...words(name)];
  return parts.some((part, at) => TEST_PLACE.has(part) || (part === "test" && OF_TEST.test(parts[at + 1] ?? "")));
}
