/**
 * Names of runs: how one is made, and how what a person types finds one. Any unique prefix will do, with or without
 * the leading `r-`; nothing at all means the newest run of this repository.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { UsageError } from "../../errors.ts";
import type { Journal, RunRow } from "../../ports.ts";
import { SCRATCH } from "../../platform/paths.ts";

/** Without letters that are mistaken for digits; in ASCII order, so that names sort by time. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const DAY_MS = 86_400_000;
const SLOT_CHARS = 3;
const RANDOM_CHARS = 3;
const MAX_SHOWN = 5;

/** `r-20261115-k3fx7q`: the day, the time of day in slots of under 3 s, and chance. UTC. */
export function makeRunId(at: number, random: () => number): string {
  const day = new Date(at).toISOString().slice(0, 10).replaceAll("-", "");
  const slots = ALPHABET.length ** SLOT_CHARS;
  const slot = Math.floor(((at % DAY_MS) / DAY_MS) * slots);
  const chance = Math.floor(random() * ALPHABET.length ** RANDOM_CHARS);
  return `r-${day}-${spell(slot, SLOT_CHARS)}${spell(chance, RANDOM_CHARS)}`;
}

function spell(value: number, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest = Math.floor(rest / ALPHABET.length)) {
    text = (ALPHABET[rest % ALPHABET.length] ?? "0") + text;
  }
  return text;
}

/** Whether a word on the command line is meant as a run and not as text. */
export function looksLikeRun(word: string): boolean {
  return /^r-[0-9a-z-]*$/.test(word);
}

interface Where {
  /** What the person typed. */
  asked: string | undefined;
  cwd: string;
}

/** UsageError when there is none, or more than one. */
export async function resolveRun(journal: Pick<Journal, "runs">, { asked, cwd }: Where): Promise<RunRow> {
  const rows = await journal.runs();
  if (asked !== undefined) return matching(rows, asked);
  const here = runsHere(rows, cwd);
  return newestOf(here.length > 0 ? here : rows.filter(isHomeless), cwd);
}

/** Runs of the repository that `cwd` is in, oldest first. */
export function runsHere(rows: readonly RunRow[], cwd: string): RunRow[] {
  const here = repositoriesOf(cwd);
  return rows.filter((row) => here.includes(row.repository)).toSorted((a, b) => a.createdAt - b.createdAt);
}

/** A run that solves has a repository of its own, which nobody stands in. */
const isHomeless = ({ repository, run }: RunRow): boolean => repository.endsWith(join(run, SCRATCH));

function newestOf(rows: readonly RunRow[], cwd: string): RunRow {
  const row = rows.at(-1);
  if (row !== undefined) return row;
  throw new UsageError(
    repositoriesOf(cwd).length === 0 ? "which run? this is not a git repository" : "this repository has no run yet",
    { hint: "name a run; `pawl runs --all` lists them" },
  );
}

function matching(rows: readonly RunRow[], asked: string): RunRow {
  const exact = rows.find((row) => row.run === asked);
  if (exact !== undefined) return exact;
  const found = rows.filter((row) => row.run.startsWith(asked) || row.run.startsWith(`r-${asked}`));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (found.length === 0) {
    throw new UsageError(`there is no run ${JSON.stringify(asked)}`, { hint: "`pawl runs --all` lists them" });
  }
  const names = found.slice(-MAX_SHOWN).map((row) => row.run);
  throw new UsageError(`${JSON.stringify(asked)} is the beginning of ${found.length} runs`, {
    hint: `one of: ${names.join(", ")}${found.length > MAX_SHOWN ? ", …" : ""}`,
  });
}

/** Real paths of the repository around `cwd` and, from a linked worktree, of the one it belongs to; [] outside. */
export function repositoriesOf(cwd: string): string[] {
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const git = join(dir, ".git");
    if (isGit(git)) return [realpathSync(dir), ...mainOf(git)];
    if (dir === dirname(dir)) return [];
  }
}

/** As git sees it: an empty folder of that name, which some sandboxes leave behind, is no repository. */
function isGit(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (!found.isDirectory() || existsSync(join(path, "HEAD")));
}

/** A linked worktree's `.git` is a file that names its git directory, whose `commondir` names the repository's. */
function mainOf(git: string): string[] {
  try {
    if (statSync(git).isDirectory()) return [];
    const gitDir = resolve(
      dirname(git),
      readFileSync(git, "utf8")
        .replace(/^gitdir:/, "")
        .trim(),
    );
    const common = realpathSync(resolve(gitDir, readFileSync(join(gitDir, "commondir"), "utf8").trim()));
    return basename(common) === ".git" ? [dirname(common)] : [];
  } catch {
    return [];
  }
}
