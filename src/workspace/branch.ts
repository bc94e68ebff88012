/** Names of branches: which are allowed, which is free, and what a goal is called as one. */
import { UsageError } from "../errors.ts";
import { userGit, type Environment } from "./user-git.ts";

const MAX_SLUG_CHARACTERS = 40;

/** A goal in a few words that are a branch name on every system. */
export function branchSlug(goal: string): string {
  const words = goal
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  const cut = words.slice(0, MAX_SLUG_CHARACTERS + 1);
  const whole = cut.length > MAX_SLUG_CHARACTERS ? cut.slice(0, Math.max(cut.lastIndexOf("-"), 1)) : cut;
  return whole.slice(0, MAX_SLUG_CHARACTERS).replace(/-+$/, "") || "run";
}

interface Names {
  repository: string;
  environment?: Environment;
  /** Before the words; "" for none. */
  prefix?: string;
}

/** `<prefix><slug>`, or the first free of `-2`, `-3`, …; a `/` becomes a `-` where a branch of that name is in the way. */
export async function freeBranchName(
  slug: string,
  { repository, environment = process.env, prefix = "pawl/" }: Names,
): Promise<string> {
  checkPrefix(prefix);
  const taken = await takenNames({ repository, environment });
  const isBlocked = foldersOf(prefix).some((folder) => taken.has(folder));
  const free = isBlocked ? prefix.replaceAll("/", "-") : prefix;
  for (let k = 1; ; k += 1) {
    const name = `${free}${slug}${k === 1 ? "" : `-${k}`}`;
    if (!taken.has(name) && below(name, taken) === undefined) return checkedBranch(name);
  }
}

async function takenNames({ repository, environment }: Names): Promise<Set<string>> {
  const place = { cwd: repository, environment: environment ?? process.env };
  const listed = await userGit(["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"], place);
  return new Set(listed.stdout.toString("utf8").split("\n").filter(Boolean));
}

const below = (name: string, taken: ReadonlySet<string>): string | undefined =>
  [...taken].find((other) => other.startsWith(`${name}/`));

/** A branch beside which git can have none of that name, because one is a folder where the other is a file. */
export async function blockingBranch(name: string, names: Names): Promise<string | undefined> {
  const taken = await takenNames(names);
  return foldersOf(name).find((folder) => taken.has(folder)) ?? below(name, taken);
}

/** `a/b/` has `a` and `a/b`. */
function foldersOf(prefix: string): string[] {
  const parts = prefix.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}

function checkPrefix(prefix: string): void {
  if (isBranchName(`${prefix}x`)) return;
  throw new UsageError(`branch-prefix ${JSON.stringify(prefix)} cannot begin a branch name`, {
    hint: "such as `pawl/` or `team/pawl-`; see `git help check-ref-format`.",
  });
}

export function checkedBranch(name: string): string {
  if (isBranchName(name)) return name;
  throw new UsageError(`${JSON.stringify(name)} cannot be a branch name`, {
    hint: "Use letters, digits, '-', '_' and '/'; see `git help check-ref-format`.",
  });
}

/** The rules of `git check-ref-format --branch`, where `-`, `HEAD` and `@{…}` mean something else. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "@" || name === "HEAD" || name.startsWith("-") || name.endsWith(".")) return false;
  // eslint-disable-next-line no-control-regex -- control characters are exactly what git refuses
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{/.test(name)) return false;
  return name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));
}
