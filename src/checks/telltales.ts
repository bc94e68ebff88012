/**
 * Words by which product code speaks of what judges it: it asks whether it is tested, answers a matcher in place of a
 * value, or changes what an assertion means. They prove nothing, and who hides them is not found; but the plain ones are
 * seen, and a person looks. Only what a change brings in counts.
 */
import type { FileChange } from "../events.ts";
import type { JudgeAbout } from "../ports.ts";
import { isTestPath } from "./guard/languages.ts";
import { isLockfile, movedPackages, saysPackages } from "./moved-packages.ts";
import { readTreeFile } from "./tree-file.ts";

interface Telltale {
  files: RegExp;
  word: RegExp;
  /** There it is honest. */
  except?: RegExp;
  /** So it is beside these words. */
  unless?: RegExp;
}

const NODE = /\.(?:[cm]?[jt]sx?|vue|svelte)$/i;
const PYTHON = /\.pyi?$/i;

/** Scripts of developers start runners, too. */
const TOOLING = /(?:^|\/)(?:scripts?|tools?|ci|tasks?|build|\.\w+)\/|(?:^|\/)\w+file\.[cm]?[jt]s$/i;
/** Names of tests and runners, not parts of other words and not the method of an expression. */
const testName = (names: string): string => String.raw`(?<![a-z])(?:${names})(?![a-z]|\s*\()`;
const NODE_TEST = testName("tests?|specs?|vitest|jest|mocha");
const PYTHON_TEST = testName("tests?|pytest|unittest");
const NEAR_CHARS = 160;
/** One a few lines from the other. */
const near = (one: string, other: string): RegExp =>
  new RegExp(`(?:${one})[^]{0,${NEAR_CHARS}}?(?:${other})|(?:${other})[^]{0,${NEAR_CHARS}}?(?:${one})`, "i");

const NODE_RUNNER = String.raw`["'\`\s/](?:vitest|jest|mocha|ava|--test)["'\`\s]`;
const NODE_SPAWN = String.raw`\bchild_process\b|\bexeca\b|\bspawn(?:Sync)?\s*\(|\bexec(?:File)?(?:Sync)?\s*\(|\bfork\s*\(|\bBun\.spawn|\bDeno\.Command`;
const PYTHON_RUNNER = String.raw`["'\s](?:pytest|py\.test|unittest|nose2?)["'\s]`;
const PYTHON_SPAWN = String.raw`\bsubprocess\b|\bos\.(?:system|popen|exec\w+|spawn\w+)\b|\bPopen\b|\brunpy\b`;
const LOADED = "_?pytest|unittest|conftest|nose2?|hypothesis|xdist";

const TELLTALES: readonly Telltale[] = [
  {
    files: NODE,
    word: /\basymmetricMatch\b|\bjest\.asymmetricMatcher\b|\bjest-matchers-object\b|\$\$jest-matchers\b/,
  },
  {
    files: NODE,
    word: /\bNODE_TEST_CONTEXT\b|\bJEST_WORKER_ID\b|\bVITEST_(?:WORKER|POOL)_ID\b|\benv\s*(?:\.|\[["'])VITEST\b|\b__vitest_\w+|\breallyExit\b/,
  },
  // `require("assert").equal = …`, `assert.strict.equal = …`; a comparison or an arrow is none.
  { files: NODE, word: /\bassert(?:\/strict)?(?:["']\s*\))?(?:\.strict)?\.\w+\s*=(?![=>])/ },
  { files: NODE, word: /\b(?:expect\.extend|chai\.use)\s*\(|\bAssertion\.(?:prototype|overwrite\w+|add\w+)\b/ },
  // It asks how it was started, or by whom it is called.
  {
    files: NODE,
    word: near(
      String.raw`\bprocess\.(?:argv\[1\]|argv\.at\(1\)|execArgv)|\brequire\.(?:main\b(?!\s*[!=])|cache\b)|\bmodule\.parent\b|\bnpm_lifecycle_event\b`,
      NODE_TEST,
    ),
  },
  {
    files: NODE,
    word: near(String.raw`\bError\(\)\.stack\b|\bstack\b[^\n]{0,20}=\s*new Error\b|\bprepareStackTrace\b`, NODE_TEST),
  },
  { files: NODE, word: /\btypeof\s+(?:describe|beforeEach|afterEach|jest|vi)\s*[!=]=/ },
  {
    files: PYTHON,
    word: near(
      String.raw`\binspect\.(?:stack|currentframe)\b|\bsys\._getframe\b|\btraceback\.(?:extract|format|walk)_stack\b`,
      PYTHON_TEST,
    ),
  },
  {
    files: PYTHON,
    word: /\bsys\.argv\[0\]\)*\s*(?:[!=]=|\.(?:ends|starts)with\b|\.find\b|(?:not\s+)?in\b)(?![^]{0,80}__main__)|(?:\bin|[!=]=)\s+(?:[\w.]+\()?sys\.argv\[0\]|\bsys\.argv\b[^\n]{0,60}(?:py\.?test|unittest)\b|\b(?:py\.?test|unittest)\b[^\n]{0,60}\bsys\.argv\b/,
  },
  {
    files: PYTHON,
    word: new RegExp(
      String.raw`\b_pytest\b|\bPYTEST_\w+|\bsys\.modules\b[^\n]{0,40}["'](?:${LOADED})\b|["'](?:${LOADED})["'][^\n]{0,40}\bsys\.modules\b`,
    ),
  },
  { files: /\.(?:py|[cm]?[jt]s|rb|go|rs)$/i, word: /\/proc\/(?:self|[^\s"'`]*ppid[^\s"'`]*)\/cmdline\b/ },
  { files: /\.go$/, word: /\btesting\.Testing\s*\(|["'`]test\.v["'`]|\bos\.Args\[0\][^\n]{0,60}(?<![a-z])test/ },
  { files: /\.rs$/, word: /\bcfg!\s*\(\s*test\s*\)/ },
  {
    files: /\.rb$/,
    word: /\bdefined\?\s*\(?\s*(?:RSpec|Minitest|Test::Unit)\b|\$(?:0|PROGRAM_NAME)\b[^\n]{0,60}(?:rspec|minitest)/,
  },
  { files: /\.(?:java|kt|scala)$/, word: /["']org\.junit[\w.]*["']|getStackTrace\s*\(\)[^]{0,200}\bjunit\b/i },
  { files: /\.php$/, word: /\b_*PHPUNIT_\w+/ },
  // It runs the tests itself, or a copy of them.
  { files: NODE, word: near(NODE_SPAWN, NODE_RUNNER), except: TOOLING },
  { files: PYTHON, word: near(PYTHON_SPAWN, PYTHON_RUNNER), except: TOOLING },
  {
    files: PYTHON,
    word: /\bpytest\.main\s*\(|\bunittest\.(?:main|TextTestRunner|TestLoader|defaultTestLoader|TestProgram)\b/,
    except: TOOLING,
    unless: /\bTestCase\s*\)/,
  },
  {
    files: PYTHON,
    word: /\b(?:exec|compile|run_path|spec_from_file_location)\s*\([^\n]{0,80}(?<![a-z])tests?(?:_\w*\.py|\/)/,
  },
  { files: PYTHON, word: /\bTestCase\.\w+\s*=(?!=)|\bsetattr\s*\(\s*(?:unittest|pytest)\b/ },
  { files: PYTHON, word: /\b__eq__\s*(?:=\s*lambda[^:\n]*:|\([^)\n]*\)[^:\n]*:)\s*(?:return\s+)?True\b/ },
  { files: /\.rs$/, word: /\bmacro_rules!\s*(?:assert|assert_eq|assert_ne|panic)\b/ },
];

const MAX_SHOWN_CHARS = 80;

/** The first such word of each kind that a file has now and did not have before. */
export function telltalesIn(path: string, { before, after }: { before: string; after: string }): string[] {
  const about = TELLTALES.filter(
    ({ files, word, except }) => files.test(path) && except?.test(path) !== true && !word.test(before),
  );
  return about.flatMap(({ word, unless }) => {
    const [found] = unless?.test(after) === true ? [] : (word.exec(after) ?? []);
    return found === undefined ? [] : [found.replaceAll(/\s+/g, " ").slice(0, MAX_SHOWN_CHARS)];
  });
}

/** More is no work of one iteration's, and is not read by anybody. */
const MAX_FILES = 500;
const MAX_BYTES = 512 * 1024;
const MAX_LOCKFILE_BYTES = 32 * 1024 * 1024;

/** One suspicion a file. */
export async function telltalesOf(
  change: JudgeAbout["change"],
  { path: root, isTest = () => false }: { path: string; isTest?: ((path: string) => boolean) | undefined },
): Promise<string[]> {
  const files = (await change.files()).filter(({ path }) => isSource(path) && !isTestPath(path) && !isTest(path));
  const found: string[] = [];
  for (const { path } of files.slice(0, MAX_FILES)) {
    const maxBytes = isLockfile(path) ? MAX_LOCKFILE_BYTES : MAX_BYTES;
    const now = await readTreeFile(root, path, maxBytes);
    if (now.is === "too-large" && isLockfile(path)) found.push(`${path} ${now.why}: tests may use what it names`);
    if (now.is !== "text") continue;
    const both = { before: (await change.before(path, maxBytes)) ?? "", after: now.text };
    const words = telltalesIn(path, both);
    if (words.length > 0) found.push(`${path} speaks of what judges it (${words.join(", ")}): look at what it does`);
    const [moved] = movedPackages(path, both);
    if (moved !== undefined) found.push(`${path} takes a package from another place (${moved}): tests may use it`);
  }
  return found;
}

const MAX_NAMED = 3;

/** What was red is green, and of the base's files nothing changed but what tests alone use: they may have been helped. */
export function besideProduct(files: readonly FileChange[], doubtful: readonly string[] = []): string[] {
  const edited = files.map(({ status, path }) => (status.startsWith("A") ? "" : path)).filter((path) => path !== "");
  if (edited.length === 0 || !edited.every((path) => doubtful.includes(path))) return [];
  return [`the change touches nothing that the product uses, only ${edited.slice(0, MAX_NAMED).join(", ")}`];
}

const isSource = (path: string): boolean => saysPackages(path) || TELLTALES.some(({ files }) => files.test(path));
