/**
 * Words by which product code speaks of what judges it: it asks whether it is tested, answers a matcher in place of a
 * value, or changes what an assertion means. They prove nothing, and who hides them is not found; but the plain ones are
 * seen, and a person looks. Only what a change brings in counts.
 */
import type { JudgeAbout } from "../ports.ts";
import { isTestPath } from "./guard/languages.ts";
import { isLockfile, movedPackages, saysPackages } from "./moved-packages.ts";
import { readTreeFile } from "./tree-file.ts";

interface Telltale {
  files: RegExp;
  word: RegExp;
}

const NODE = /\.(?:[cm]?[jt]sx?|vue|svelte)$/i;
const PYTHON = /\.pyi?$/i;

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
  { files: PYTHON, word: /\b_pytest\b|\bPYTEST_\w+|\bsys\.modules\b[^\n]{0,40}["'](?:_?pytest|unittest)\b/ },
  { files: PYTHON, word: /\bTestCase\.\w+\s*=(?!=)|\bsetattr\s*\(\s*(?:unittest|pytest)\b/ },
  { files: PYTHON, word: /\b__eq__\s*(?:=\s*lambda[^:\n]*:|\([^)\n]*\)[^:\n]*:)\s*(?:return\s+)?True\b/ },
  { files: /\.rs$/, word: /\bmacro_rules!\s*(?:assert|assert_eq|assert_ne|panic)\b/ },
];

/** The first such word of each kind that a file has now and did not have before. */
export function telltalesIn(path: string, { before, after }: { before: string; after: string }): string[] {
  return TELLTALES.filter(({ files, word }) => files.test(path) && !word.test(before)).flatMap(({ word }) => {
    const [found] = word.exec(after) ?? [];
    return found === undefined ? [] : [found.replaceAll(/\s+/g, " ")];
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

const isSource = (path: string): boolean => saysPackages(path) || TELLTALES.some(({ files }) => files.test(path));
