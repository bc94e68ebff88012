/** What the user's repository is right now. Pure reading; the command line refuses bad places with it. */
import { existsSync, lstatSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { UsageError } from "../errors.ts";
import { shellWord } from "../platform/shell-word.ts";
import { gitFailed } from "./git.ts";
import type { ObjectFormat } from "./objects.ts";
import { userGit, type Environment } from "./user-git.ts";

export type Head =
  | { is: "branch"; branch: string; commit: string; tree: string }
  | { is: "detached"; commit: string; tree: string }
  /** No commit yet. */
  | { is: "unborn"; branch: string };

export type InProgress = "merge" | "rebase" | "cherry-pick" | "revert";

export interface RepositoryFacts {
  /** Real paths. `gitDir` and `commonDir` differ in a linked worktree. */
  topLevel: string;
  gitDir: string;
  commonDir: string;
  linkedWorktree: boolean;
  shallow: boolean;
  objectFormat: ObjectFormat;
  head: Head;
  inProgress: InProgress | null;
}

const PROGRESS_MARKS: readonly (readonly [string, InProgress])[] = [
  ["MERGE_HEAD", "merge"],
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
];

/** In this order in the output, a line each; the last fails where there is no work tree. */
const WHERE = [
  "--is-bare-repository",
  "--is-inside-git-dir",
  "--absolute-git-dir",
  "--git-common-dir",
  "--show-object-format",
  "--show-toplevel",
];
/** Behind them: the first fails where there is no commit yet. */
const TIP = ["HEAD^{commit}", "HEAD^{tree}"];

/** What stands in HEAD where git keeps its refs in a table. */
const ELSEWHERE = "refs/heads/.invalid";

const BROKEN_HINT = "`git fsck` tells what is missing in it.";
const TRUST = "git config --global --add safe.directory";
const NOT_A_REPOSITORY_HINT = "Run pawl inside a git repository, or make one with `git init`.";

/** UsageError when `cwd` is not inside the work tree of a git repository. */
export async function inspectRepository(
  cwd: string,
  { environment = process.env }: { environment?: Environment } = {},
): Promise<RepositoryFacts> {
  const place = { cwd, environment };
  const where = await userGit(["rev-parse", ...WHERE, ...TIP], place).catch((error: unknown) => {
    if (existsSync(cwd)) throw error;
    throw new UsageError(`${cwd} does not exist`, { hint: NOT_A_REPOSITORY_HINT });
  });
  const lines = where.stdout.toString("utf8").split("\n");
  const [bare, insideGitDir, gitDir, commonDir, format, topLevel, commit, tree] = lines;
  // What is asked for in vain is shown as it is: a commit where there is none yet, or its tree where that is lost.
  const shown = where.code === 0 ? WHERE.length + TIP.length : WHERE.length + 1;
  if (where.code !== 0 && tree === TIP[1]) throw new UsageError(refusal(cwd, where.stderr), { hint: BROKEN_HINT });
  if (lines.length > shown + 1)
    throw new UsageError(`the path of this repository has a line break: ${JSON.stringify(cwd)}`, {
      hint: "Rename the directory.",
    });
  if (bare === "true")
    throw new UsageError(`${cwd} is a bare repository: there are no files to work on`, {
      hint: "Run pawl in a clone or a worktree of it.",
    });
  if (insideGitDir === "true")
    throw new UsageError(`${cwd} is inside a .git directory`, { hint: "Run pawl in the repository's work tree." });
  if (gitDir === undefined || commonDir === undefined || !topLevel) throw refused(cwd, where.stderr);
  if (where.code !== 0 && commit !== TIP[0]) throw gitFailed(["rev-parse"], where);
  const realGitDir = realpathSync(gitDir);
  const realCommonDir = realpathSync(isAbsolute(commonDir) ? commonDir : resolve(cwd, commonDir));
  return {
    topLevel: realpathSync(topLevel),
    gitDir: realGitDir,
    commonDir: realCommonDir,
    linkedWorktree: realGitDir !== realCommonDir,
    shallow: existsSync(join(realCommonDir, "shallow")),
    objectFormat: format === "sha256" ? "sha256" : "sha1",
    head: headOf({ symbolic: await symbolicHead(realGitDir, place), tip: where.code === 0 ? { commit, tree } : {} }),
    inProgress: inProgressIn(realGitDir),
  };
}

export function inProgressIn(gitDir: string): InProgress | null {
  return PROGRESS_MARKS.find(([name]) => existsSync(join(gitDir, name)))?.[1] ?? null;
}

/** What HEAD is a name for; "" when it is detached. Only where it is not a plain file, as all refs once were, git is asked. */
async function symbolicHead(gitDir: string, place: { cwd: string; environment: Environment }): Promise<string> {
  const isFile = lstatSync(join(gitDir, "HEAD"), { throwIfNoEntry: false })?.isFile() === true;
  const head = isFile ? readHead(gitDir) : undefined;
  if (head !== undefined && "commit" in head) return "";
  if (head !== undefined && head.ref !== ELSEWHERE) return head.ref;
  return (await userGit(["symbolic-ref", "-q", "HEAD"], place)).stdout.toString().trim();
}

const OBJECT = /^[0-9a-f]+$/;

function headOf({
  symbolic,
  tip: { commit = "", tree = "" },
}: {
  symbolic: string;
  tip: { commit?: string | undefined; tree?: string | undefined };
}): Head {
  const branch = symbolic.replace(/^refs\/heads\//, "");
  // What is no revision is shown as it is where there is a file of that name.
  if (!OBJECT.test(commit) || !OBJECT.test(tree)) return { is: "unborn", branch };
  return branch === "" ? { is: "detached", commit, tree } : { is: "branch", branch, commit, tree };
}

/** The state of HEAD now, without a git process in the usual case; `undefined` when it cannot be read. */
export function readHead(gitDir: string): { ref: string } | { commit: string } | undefined {
  try {
    const text = readFileSync(join(gitDir, "HEAD"), "utf8").trim();
    return text.startsWith("ref: ") ? { ref: text.slice("ref: ".length).trim() } : { commit: text };
  } catch {
    return undefined;
  }
}

export const isOn = (head: ReturnType<typeof readHead>, branch: string): boolean =>
  head !== undefined && "ref" in head && head.ref === `refs/heads/${branch}`;

function refused(cwd: string, stderr: string): UsageError {
  if (!stderr.includes("dubious ownership"))
    return new UsageError(refusal(cwd, stderr), { hint: NOT_A_REPOSITORY_HINT });
  // git says it itself, with the right path and quotes.
  const remedy = stderr.split("\n").find((line) => line.trim().startsWith(TRUST)) ?? `${TRUST} ${shellWord(cwd)}`;
  return new UsageError(`git refuses ${cwd}: the repository belongs to another user`, {
    hint: `${remedy.trim()}   # if you trust it`,
  });
}

function refusal(cwd: string, stderr: string): string {
  if (stderr.includes("not a git repository")) return `${cwd} is not in a git repository`;
  return `${cwd} is not a usable git repository: ${stderr.trim().split("\n")[0] ?? ""}`;
}
