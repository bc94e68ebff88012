/** What a run finds when it starts: uncommitted work, other branches, taken names, hostile words. Nothing of it is lost. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { writeFiles } from "../support/temp.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const CHECK = ["--check", "made=test -f made.txt"];
const MADE = byIteration({ 1: [bash("echo x > made.txt"), { text: CLAIM }] });

/** pawl's own repository, asked with plain git. */
function privateGit({ state, repository }: CliPlace, ...args: string[]): string {
  const repos = join(state, "repos");
  return repository.git(`--git-dir=${join(repos, readdirSync(repos)[0] ?? "", "private.git")}`, ...args);
}

describe.concurrent("a run in a dirty tree", () => {
  it("that puts its files back keeps the user's, and keeps its own failed work under a salvage ref (row 17)", async ({
    expect,
  }) => {
    const place = await cliPlace({
      files: { "readme.md": "base\n", "kept.txt": "base\n", ".gitignore": "*.secret\n" },
      script: byIteration({
        1: [bash("echo one > work.txt"), { text: "One." }],
        // That was green. This ruins what the user had not committed; the run is stuck, and puts the best state back.
        2: [bash("echo ruined > kept.txt; rm -rf new staged.txt; echo two > work.txt"), { text: "Two." }],
        3: [{ text: "Three." }],
        4: [{ text: "Four." }],
      }),
      env: { PAWL_PATIENCE: "2", PAWL_SHORT_TURN: "0", PAWL_LADDER: "restore-best,stop" },
    });
    const { repository, pawl } = place;
    const at = (path: string): string => readFileSync(join(repository.path, path), "utf8");
    writeFiles(repository.path, { "staged.txt": "staged\n" });
    repository.git("add", "staged.txt");
    const users = {
      "kept.txt": "the user's, not committed\n",
      "new/untracked file.txt": "the user's, untracked\n",
      "staged.txt": "staged, then changed\n",
      "own.secret": "the user's, ignored\n",
    };
    writeFiles(repository.path, users);
    expect((await pawl("run", "make it", ...CHECK)).code).toBe(2);
    const base = repository.git("rev-parse", "main");
    const check = ["--check", "grep -q user kept.txt"];
    const result = await pawl("run", "make it", ...check, "--allow-dirty", "--max-iterations", "6", "--json");
    const [restored, ...more] = result.of("change-restored");
    expect(more).toEqual([]);
    expect(restored).toMatchObject({ to: 1 });
    for (const [path, content] of Object.entries(users)) expect([path, at(path)]).toEqual([path, content]);
    expect(repository.git("rev-parse", "main")).toBe(base);
    const run = result.facts()[0]?.run ?? "";
    const lane = `refs/pawl/${run}/main`;
    expect(privateGit(place, "show", `${lane}/${restored?.salvage}:kept.txt`)).toBe("ruined");
    expect(privateGit(place, "show", `${lane}/user-index:staged.txt`)).toBe("staged");
    // And by hand, back to before the first turn: the same files, what was there under another ref.
    const byHand = await pawl("restore", run, "--at", "0");
    expect(byHand.code).toBe(0);
    const salvage = /--at (salvage\/\S+)/.exec(byHand.stderr)?.[1] ?? "";
    for (const [path, content] of Object.entries(users)) expect([path, at(path)]).toEqual([path, content]);
    expect(existsSync(join(repository.path, "work.txt"))).toBe(false);
    expect(privateGit(place, "show", `${lane}/${salvage}:work.txt`)).toBe("one");
  });
});

describe.concurrent("a run that finds its names taken", () => {
  it("starts from a branch that is not main and takes the next free branch name (row 19)", async ({ expect }) => {
    const { repository, pawl } = await cliPlace({ script: MADE });
    repository.git("branch", "-m", "main", "develop/ÜÄ");
    const taken = ["pawl/make-made-txt", "pawl/make-made-txt-2", "pawl/make-made-txt-3/sub"];
    for (const name of taken) repository.git("branch", name);
    repository.commit("more", { "more.txt": "more\n" });
    const before = repository.git("for-each-ref");
    const result = await pawl("run", "make made.txt", ...CHECK);
    expect(result.stdout).toBe("verified pawl/make-made-txt-4\n");
    expect(repository.git("log", "--format=%P", "-1")).toBe(repository.git("rev-parse", "develop/ÜÄ"));
    expect(repository.git("for-each-ref").split("\n")).toEqual(expect.arrayContaining(before.split("\n")));
  });

  it("works beside a branch that is called pawl, and refuses a given branch that is elsewhere (row 19)", async ({
    expect,
  }) => {
    const { repository, pawl, standin } = await cliPlace({ script: MADE });
    repository.git("branch", "pawl");
    repository.commit("more", { "more.txt": "more\n" });
    const refused = await pawl("run", "make made.txt", ...CHECK, "--branch", "pawl");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("branch pawl exists already")]);
    expect(standin?.requests).toEqual([]);
    const result = await pawl("run", "make made.txt", ...CHECK);
    expect(result.stdout).toBe("verified pawl-make-made-txt\n");
  });

  it("takes no worktree that is there already, whoever made it, and leaves it as it is (row 19)", async ({
    expect,
  }) => {
    const { repository, pawl, standin } = await cliPlace({ script: MADE });
    expect((await pawl("run", "make made.txt", ...CHECK, "--worktree=side")).code).toBe(0);
    const asked = standin?.requests.length;
    const before = repository.git("worktree", "list");
    const again = await pawl("run", "make made.txt", ...CHECK, "--worktree=side");
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("exists already")]);
    const other = `${repository.path}-worktrees/other`;
    mkdirSync(other);
    writeFileSync(join(other, "mine.txt"), "mine\n");
    expect((await pawl("run", "make made.txt", ...CHECK, "--worktree=other")).code).toBe(2);
    expect(readdirSync(other)).toEqual(["mine.txt"]);
    expect(repository.git("worktree", "list")).toBe(before);
    expect(standin?.requests).toHaveLength(asked ?? -1);
    // Without a name the next free one is found.
    expect((await pawl("run", "make made.txt", ...CHECK, "--worktree")).code).toBe(0);
    expect((await pawl("run", "make made.txt", ...CHECK, "--worktree")).code).toBe(0);
  });
});

it.concurrent("hands hostile words of goals, checks and files on as words: nothing runs, nothing is changed (A19)", async ({
  expect,
}) => {
  const goal = "-rf $(touch pwned) `touch pwned`; touch pwned | tee ../pwned\n'\"\\ %s --exec=touch\\ pwned é☃";
  const names = ["-rf", "$(touch pwned)", "`touch pwned`", "; touch pwned", "a\nb", "--exec=touch pwned", "'\""];
  const encoded = Buffer.from(JSON.stringify(names)).toString("base64");
  const write = `node -e "for (const n of JSON.parse(atob('${encoded}'))) require('fs').writeFileSync(n, n)"`;
  const { repository, pawl, sent } = await cliPlace({
    script: byIteration({ 1: [bash(write), { text: CLAIM }] }),
  });
  // Words in quotes: they would run only where they were taken for code once more.
  const check = "test -e ./-rf && test -e './$(touch pwned)' && test -e './`touch pwned`' && test ! -e pwned";
  const extra = `--append-system-prompt=${goal}`;
  const flags = ["--check", check, "--json", "-f", goalFile(repository.path, goal)];
  const ran = await pawl("run", ...flags, "--", extra);
  expect(ran.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
  const [spec] = ran.of("run-start").map((fact) => fact.spec);
  expect(spec).toMatchObject({ goal, checks: [{ command: check }], agent: { options: { extra: [extra] } } });
  const words = JSON.stringify(goal).slice(1, -1);
  const bodies = sent().map((body) => JSON.parse(body) as { system?: unknown; messages: unknown });
  expect(bodies.some(({ system }) => JSON.stringify(system ?? "").includes(words))).toBe(true);
  expect(bodies.some(({ messages }) => JSON.stringify(messages).includes(words))).toBe(true);
  expect(repository.git("status", "--porcelain")).toBe("");
  const listed = repository.git("ls-tree", "-z", "--name-only", "HEAD").split("\0").filter(Boolean);
  expect(listed.toSorted()).toEqual([...names, "readme.md"].toSorted());
  expect(existsSync(join(repository.path, "..", "pwned"))).toBe(false);
});

/** Outside the repository: a goal of many lines is easiest given as a file. */
function goalFile(repository: string, goal: string): string {
  const path = `${repository}.goal`;
  writeFileSync(path, goal);
  return path;
}
