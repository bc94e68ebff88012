/**
 * Inside the disk that loses its power: `make` makes a place and drives its run, `count ROOT` says for every line how
 * many facts it has told by now, `look ROOT` says what is wrong with what was left of it. One line of JSON each.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import type { Fact, FactOf } from "../../src/events.ts";
import { FaultPlace } from "./fault-run.ts";

const say = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`);
const [mode, root = ""] = process.argv.slice(2);

if (mode === "make") {
  const place = new FaultPlace();
  execFileSync("sync");
  say({ root: place.root });
  const { status, said } = await place.drive();
  say({ status, said, facts: (await place.facts()).map((fact) => JSON.stringify(fact)) });
} else if (mode === "count") {
  for await (const _ of createInterface({ input: process.stdin })) process.stdout.write(`${told(root)}\n`);
} else {
  const place = new FaultPlace({ root });
  const wrongs: string[] = [];
  let facts: Fact[] = [];
  try {
    facts = await place.facts();
  } catch (error) {
    wrongs.push(`the journal cannot be read: ${String(error)}`);
  }
  const before = facts.map((fact) => JSON.stringify(fact));
  wrongs.push(...lookAtGit(place, facts));
  const again = await place.drive();
  if (again.status !== 0) wrongs.push(`driven again: ${again.status} ${again.said}`);
  const whole: Fact[] = await place.facts().catch(() => []);
  const end = whole.findLast((fact): fact is FactOf<"run-end"> => fact.type === "run-end");
  if (end?.outcome.is !== "verified") wrongs.push(`driven again it is ${end?.outcome.is}, ${end?.outcome.reason}`);
  wrongs.push(...lookAtGit(place, whole));
  say({ wrongs, facts: before });
}

/** Read only: who closes a journal otherwise may write to the disk what nobody had synced. */
function told(place: string): number {
  try {
    const journal = new DatabaseSync(join(place, "state/journal.db"), { readOnly: true });
    try {
      return Number(journal.prepare("SELECT count(*) AS n FROM facts").get()?.["n"]);
    } finally {
      journal.close();
    }
  } catch {
    // It is being made.
    return 0;
  }
}

/** Every commit that a fact tells of is there and whole, and so is all the rest. */
function lookAtGit(place: FaultPlace, facts: readonly Fact[]): string[] {
  const wrongs: string[] = [];
  const repos = join(place.env["PAWL_HOME"] ?? "", "repos");
  const [name] = existsSync(repos) ? readdirSync(repos) : [];
  const own = name === undefined ? undefined : join(repos, name, "private.git");
  const git = (dir: string, ...args: string[]) =>
    spawnSync("git", [`--git-dir=${dir}`, ...args], { env: place.env, cwd: place.root, encoding: "utf8" });
  const users = join(place.repo, ".git");
  for (const dir of [users, ...(own === undefined || !existsSync(join(own, "HEAD")) ? [] : [own])]) {
    const { status, stdout, stderr } = git(dir, "fsck", "--full", "--no-dangling", "--no-progress");
    const said = `${stdout}${stderr}`.split("\n").filter((line) => line !== "" && !line.startsWith("notice:"));
    if (status !== 0 || said.length > 0) wrongs.push(`fsck of ${dir}: ${status} ${said.slice(0, 3).join("; ")}`);
  }
  for (const fact of facts) {
    if (fact.type === "change-recorded" && git(own ?? "", "cat-file", "-e", `${fact.commit}^{tree}`).status !== 0)
      wrongs.push(`snapshot ${fact.snapshot} is in the journal and not in the repository`);
    if (fact.type !== "change-accepted" || fact.commit === null) continue;
    if (git(users, "merge-base", "--is-ancestor", fact.commit, `refs/heads/${fact.branch}`).status !== 0)
      wrongs.push(`commit ${fact.commit} is in the journal and not on ${fact.branch}`);
  }
  return wrongs;
}
