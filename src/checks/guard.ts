/**
 * Looks at what changed since the base, not at what the code does: tests gone, skipped or emptied, findings silenced,
 * secrets, size, places that are off limits. It counts, so what only a person can weigh is left to a person.
 */
import type { Failure, FileChange } from "../events.ts";
import { globMatcher, spelledOut } from "../platform/glob.ts";
import { findShapes } from "../platform/secret-shapes.ts";
import type { Check, JudgeAbout, VerifyTree } from "../ports.ts";
import type { CheckSpecOf, GuardRule } from "../spec.ts";
import { suppressionsIn } from "./guard/count.ts";
import { isTestPath, languageOf } from "./guard/languages.ts";
import { countTests, deletedTests, emptiedTests, skippedTests, type Version } from "./guard/tests.ts";
import { inProcessCheck } from "./in-process.ts";
import { readTreeFile } from "./tree-file.ts";
import { counted as numberOf } from "../plural.ts";

type Spec = CheckSpecOf<"guard">;

const MAX_FILES = 10_000;
const MAX_SOURCE_BYTES = 2 * 1024 * 1024;
/** Searched for secrets. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Shown of a secret, so that a person finds it: the prefix that tells whose key it is. */
const SHOWN_SECRET_CHARS = 6;
const MAX_PATHS_SHOWN = 20;
/** Written by tools: their lines are nobody's work. */
const LOCKFILES =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|go\.sum|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock)$/;

interface Looked {
  spec: Spec;
  files: readonly FileChange[];
  tree: VerifyTree;
  about: JudgeAbout;
  signal: AbortSignal;
  /** Of the files in a known language; read once. */
  versions: () => Promise<Version[]>;
  isTest: (path: string) => boolean;
}

/** `tests`: patterns of what the run knows to be tests, beside the usual names. */
export function guardCheck(spec: Spec, { tests }: { tests: readonly string[] }): Check {
  const isKnownTest = globMatcher(tests);
  const isTest = (path: string): boolean => isTestPath(path) || isKnownTest(path);
  return inProcessCheck(spec, async ({ tree, about, signal }) => {
    const files = await about.change.files();
    if (files.length > MAX_FILES)
      throw new Error(`${files.length} files changed, more than the ${MAX_FILES} a guard looks at`);
    let read: Promise<Version[]> | undefined;
    const looked: Looked = {
      spec,
      files,
      tree,
      about,
      signal,
      versions: () => (read ??= sources({ files, tree, about, signal })),
      isTest,
    };
    const failures: Failure[] = [];
    for (const rule of spec.rules) failures.push(...(await RULES[rule](looked)));
    return failures;
  });
}

const RULES: Readonly<Record<GuardRule, (looked: Looked) => Promise<Failure[]> | Failure[]>> = {
  "protected-paths": ({ about }) =>
    about.change.undone.map(({ path, how }) =>
      finding("protected-paths", path, `was ${how}; it is protected, so that was undone`),
    ),
  "tests-deleted": async ({ versions, isTest }) => deletedTests(countTests(await versions(), isTest)),
  "tests-skipped": async ({ versions, isTest }) => skippedTests(countTests(await versions(), isTest)),
  "tests-emptied": async ({ versions, isTest }) => emptiedTests(countTests(await versions(), isTest)),
  suppressions: async ({ versions }) => suppressions(await versions()),
  secrets,
  "diff-size": ({ files, spec }) => diffSize(files, spec),
  "forbidden-paths": ({ files, spec: { paths = [] } }) => {
    const isForbidden = globMatcher(paths.map(spelledOut));
    return files
      .filter(({ path }) => isForbidden(path))
      .map(({ path }) => finding("forbidden-paths", path, "was changed, and no change may touch it"));
  },
};

const finding = (rule: GuardRule, path: string, says: string): Failure => ({
  fingerprint: `guard:${rule}:${path}`,
  message: `${rule}: ${path} ${says}`,
  file: path,
});

async function sources({
  files,
  tree,
  about,
  signal,
}: Omit<Looked, "versions" | "spec" | "isTest">): Promise<Version[]> {
  const versions: Version[] = [];
  for (const { path } of files) {
    signal.throwIfAborted();
    if (languageOf(path) === undefined) continue;
    const found = await readTreeFile(tree.path, path, MAX_SOURCE_BYTES);
    // Half a file would be compared with a whole one.
    if (found.is === "too-large") throw new Error(`${path} ${found.why}`);
    const before = await about.change.before(path, MAX_SOURCE_BYTES);
    versions.push({ path, before, after: found.is === "text" ? found.text : undefined });
  }
  return versions;
}

function suppressions(versions: readonly Version[]): Failure[] {
  const counted = versions.map(({ path, before, after }) => ({
    path,
    before: suppressionsIn(before),
    after: suppressionsIn(after),
  }));
  const total = (of: "before" | "after"): number => counted.reduce((all, one) => all + one[of], 0);
  if (total("after") <= total("before")) return [];
  return counted
    .filter(({ before, after }) => after > before)
    .map(({ path, before, after }) =>
      finding(
        "suppressions",
        path,
        `silences ${numberOf(after, "finding")} of linters and compilers, before ${before}`,
      ),
    );
}

async function secrets({ files, tree, about, signal }: Looked): Promise<Failure[]> {
  const failures: Failure[] = [];
  for (const { path } of files) {
    signal.throwIfAborted();
    const found = await readTreeFile(tree.path, path, MAX_FILE_BYTES);
    if (found.is === "too-large") throw new Error(`${path} ${found.why}`);
    if (found.is !== "text") continue;
    const now = secretsIn(found.text);
    if (now.size === 0) continue;
    const before = secretsIn((await about.change.before(path, MAX_FILE_BYTES)) ?? "");
    for (const [secret, line] of now) {
      if (before.has(secret)) continue;
      const says = `has in line ${line} what looks like a secret: ${secret.slice(0, SHOWN_SECRET_CHARS)}…`;
      failures.push({ ...finding("secrets", path, says), line });
    }
  }
  return failures;
}

/** With the line each is in first. */
function secretsIn(text: string): Map<string, number> {
  const found = new Map<string, number>();
  findShapes(text, (start, end) => {
    const secret = text.slice(start, end);
    if (!found.has(secret)) found.set(secret, text.slice(0, start).split("\n").length);
  });
  return found;
}

function diffSize(files: readonly FileChange[], { maxLines }: Spec): Failure[] {
  if (maxLines === undefined) return [];
  const counted = files.filter(({ path }) => !LOCKFILES.test(path));
  const lines = counted.reduce((total, { added, removed }) => total + added + removed, 0);
  if (lines <= maxLines) return [];
  const largest = counted.toSorted((a, b) => b.added + b.removed - (a.added + a.removed)).slice(0, MAX_PATHS_SHOWN);
  const shown = largest.map(({ path, added, removed }) => `${path} +${added} -${removed}`).join(", ");
  return [
    {
      fingerprint: "guard:diff-size",
      message: `diff-size: ${numberOf(lines, "line")} changed, at most ${maxLines} may: ${shown}`,
      expected: `at most ${maxLines}`,
      actual: String(lines),
    },
  ];
}
