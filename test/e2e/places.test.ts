/**
 * Where a run works and where its work goes, through the built command line: with the real Claude Code on the stand-in where
 * people come from other loops or its process lives on between turns, else with a shell script.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace, GATE } from "../support/cli.ts";
import { heldSleep } from "../support/held-sleep.ts";
import { waitFor, writeFiles } from "../support/temp.ts";

const bash = (command: string) => ({ tools: [{ name: "Bash", input: { command, description: "work" } }] });
const CHECK = ["--check", "made=grep -q right made.txt"];
const writes = (text = "right") => byIteration({ 1: [bash(`printf ${text} > made.txt`), { text: CLAIM }] });
const summaryOf = (stderr: string): string => stderr.slice(stderr.indexOf("checks "));

describe("a worktree of its own", () => {
  it("brings ignored files that .worktreeinclude names and says what it left; the branch has the prefix that was asked for", async () => {
    const files = { "readme.md": "hello\n", ".gitignore": ".env\nbuild/\n", ".worktreeinclude": ".env\nplain.txt\n" };
    const command = "printf right > made.txt; cat .env >> made.txt; test ! -e build";
    const place = await cliPlace({
      files: { ...files, "pawl.yaml": "branch-prefix: team/bot-\n" },
      shellAgent: { 1: [command, CLAIM] },
    });
    writeFiles(place.repository.path, { ".env": "TOKENLESS=1\n", "build/x": "x", "plain.txt": "not ignored\n" });
    const result = await place.pawl("run", "make it", ...CHECK, "--worktree=side");
    expect([result.code, result.stdout]).toEqual([0, "verified team/bot-make-it\n"]);
    expect(result.stderr).toContain('"plain.txt": not copied, for git does not ignore it');
    expect(place.repository.git("show", "team/bot-make-it:made.txt")).toBe("rightTOKENLESS=1");
    expect(existsSync(join(place.repository.path, "made.txt"))).toBe(false);
    expect(place.repository.git("ls-tree", "--name-only", "team/bot-make-it").split("\n")).not.toContain(".env");
    const list = (await place.pawl("worktrees", "list")).stdout;
    expect(list).toMatch(/^side\s+r-\S+\s+team\/bot-make-it\s+verified\s+0\.0 MB\s+\S+\/side$/m);
  });

  it("of two starts of one goal at once each gets a branch; the loser of one name leaves nothing behind", async () => {
    const place = await cliPlace({ shellAgent: { 1: ["printf right > made.txt", CLAIM] } });
    const names = ["--worktree=one", "--worktree=one", "--worktree", "--worktree"];
    const ends = await Promise.all(names.map((name) => place.pawl("run", name, "--json", ...CHECK, "-f", "goal.md")));
    expect(ends.map(({ code }) => code)).toEqual([2, 2, 2, 2]);
    writeFileSync(join(place.repository.path, "goal.md"), "make it");
    place.repository.commit("goal");
    const raced = await Promise.all(names.map((name) => place.pawl("run", name, "--json", ...CHECK, "-f", "goal.md")));
    expect(raced.map(({ code }) => code).toSorted((a, b) => Number(a) - Number(b))).toEqual([0, 0, 0, 2]);
    const lost = raced.find(({ code }) => code === 2);
    expect(lost?.stderr).toContain("-worktrees/one exists already");
    const { git, path } = place.repository;
    expect(git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/heads/pawl").split("\n").toSorted()).toEqual([
      "make-it",
      "make-it-2",
      "make-it-3",
    ]);
    expect(readdirSync(`${path}-worktrees`)).toHaveLength(3);
    expect((await place.pawl("runs", "--json")).stdout.trim().split("\n")).toHaveLength(3);
  });

  it("is kept by clean while its run has not ended, though nothing in it is unsaved", async () => {
    const place = await cliPlace({ shellAgent: { 1: ["sleep 600", "hm"] } });
    const running = place.start(["run", "make it", ...CHECK, "--worktree=side", "--json"]);
    await waitFor(() => running.stdout().includes('"type":"turn-start"'), { what: "a turn" });
    running.child.kill("SIGTERM");
    const [first] = (await running.done).of("run-start");
    const listed = (await place.pawl("worktrees", "list")).stdout;
    expect(listed).toMatch(new RegExp(`^side\\s+${first?.run}\\s+pawl/make-it\\s+not ended\\s`));
    const kept = `kept side: run ${first?.run} has not ended: pawl resume ${first?.run}\n`;
    expect((await place.pawl("worktrees", "clean")).stdout).toBe(kept);
  });

  it("is kept by clean while its work is not saved; names and flags that cannot be are refused", async () => {
    const place = await cliPlace({ shellAgent: { 1: ["printf wrong > made.txt", "hm"] } });
    const run = place.start(["run", "make it", ...CHECK, "--worktree=side", "--json", "--max-iterations", "1"]);
    const ended = await run.done;
    expect(ended.code).toBe(3);
    writeFileSync(join(`${place.repository.path}-worktrees/side`, "by-hand.txt"), "mine\n");
    expect((await place.pawl("worktrees", "clean")).stdout).toBe("kept side: it has uncommitted changes\n");
    expect((await place.pawl("worktrees", "clean", "side")).code).toBe(1);
    expect((await place.pawl("worktrees", "list")).stdout).toContain("exhausted, dirty: it has uncommitted changes");
    const refusals: [string[], string][] = [
      [["worktrees", "clean", "nope"], 'no worktree called "nope"'],
      [["run", "x", "--worktree=a/b", ...CHECK], "cannot be a worktree's name"],
      [["run", "x", "--worktree=b", "--allow-dirty", ...CHECK], "--worktree contradicts --allow-dirty"],
      [["run", "x", "--worktree=b", "--current-branch", ...CHECK], "--worktree contradicts --current-branch"],
    ];
    for (const [args, says] of refusals) {
      const refused = await place.pawl(...args);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(says)]);
    }
    const prefixed = await place.start(["run", "x", ...CHECK], { env: { PAWL_BRANCH_PREFIX: "a b/" } }).done;
    expect([prefixed.code, prefixed.stderr]).toEqual([2, expect.stringContaining('branch-prefix "a b/"')]);
    expect((await place.pawl("worktrees", "clean", "--force")).stdout).toBe("removed side\n");
  });
});

describe("in the user's own directory", () => {
  it("--current-branch commits on the branch one is on, also what was uncommitted with --allow-dirty, as a commit of its own", async () => {
    const place = await cliPlace({ script: writes() });
    writeFileSync(join(place.repository.path, "readme.md"), "edited\n");
    const result = await place.pawl("run", "make it", ...CHECK, "--current-branch", "--allow-dirty");
    expect([result.code, result.stdout]).toEqual([0, "verified main\n"]);
    const { git, path } = place.repository;
    expect(git("log", "--format=%s", "main").split("\n")).toEqual([
      "pawl: iteration 1",
      "Uncommitted changes from before the run",
      "base",
    ]);
    expect(git("show", "--name-only", "--format=", "main~1")).toBe("readme.md");
    expect(git("status", "--porcelain", "-b")).toBe("## main");
    expect(readFileSync(join(path, "readme.md"), "utf8")).toBe("edited\n");
  });

  it("--no-commit leaves branch, index and HEAD as they were, and the work in the tree", async () => {
    const place = await cliPlace({ script: writes() });
    const { git, path } = place.repository;
    writeFileSync(join(path, "staged.txt"), "staged\n");
    git("add", "staged.txt");
    const before = git("rev-parse", "HEAD");
    const result = await place.pawl("run", "make it", ...CHECK, "--no-commit", "--allow-dirty");
    expect([result.code, result.stdout]).toEqual([0, "verified (no branch)\n"]);
    expect(git("for-each-ref", "--format=%(refname) %(objectname)")).toBe(`refs/heads/main ${before}`);
    expect(git("symbolic-ref", "--short", "HEAD")).toBe("main");
    expect(git("status", "--porcelain").split("\n")).toEqual(["A  staged.txt", "?? made.txt"]);
  });
});

describe("told as it is", () => {
  it("what a process of the agent's writes after the last snapshot is kept, and the summary says so", async () => {
    const gate = `${GATE}late`;
    const late = `env -i PATH=$PATH setsid sh -c 'for i in $(seq 6000); do [ ! -e ${gate} ] || break; sleep 0.05; done; printf late > late.txt' >/dev/null 2>&1 &`;
    const place = await cliPlace({
      script: byIteration({ 1: [bash(`printf right > made.txt; ${late} true`), { text: CLAIM }] }),
    });
    const held = heldSleep();
    const check = ["--check", `slow=[ ! -e made.txt ] || sleep ${held.seconds}; grep -q right made.txt`];
    const running = place.start(["run", "make it", "--verbose", ...check]);
    // A check is begun when what it judges has been taken.
    await waitFor(() => running.stderr().includes("check slow on "), { what: "the check" });
    writeFileSync(join(place.repository.path, gate), "");
    const file = join(place.repository.path, "late.txt");
    const isLate = (): boolean => existsSync(file) && readFileSync(file, "utf8") === "late";
    const result = await held.openUntil(running.done, isLate);
    expect([result.code, result.stdout]).toEqual([0, "verified pawl/make-it\n"]);
    expect(isLate()).toBe(true);
    expect(summaryOf(result.stderr)).toContain(
      'warning     changed after the last snapshot, so neither judged nor delivered: "late.txt"; kept as salvage/end-0',
    );
    expect(place.repository.git("ls-tree", "--name-only", "pawl/make-it").split("\n")).not.toContain("late.txt");
    const back = await place.pawl("restore", "--at", "salvage/end-0", "--branch", "late");
    expect(back.code).toBe(0);
    expect(place.repository.git("show", "late:late.txt")).toBe("late");
  });

  const destroy = {
    1: ["git branch -D mine; printf wrong > made.txt", "one"],
    2: ["rm -rf .git .git/*; printf right > made.txt", CLAIM],
  } as const;

  it("a repository that the agent deleted, and a branch of the user's that it deleted", async () => {
    // Without a fence: inside one the user's repository is out of reach.
    const script = byIteration({
      1: [bash(destroy[1][0]), { text: destroy[1][1] }],
      2: [bash(destroy[2][0]), { text: destroy[2][1] }],
    });
    const place = await cliPlace({ script, env: { PAWL_FENCE: "none" } });
    const oid = place.repository.git("rev-parse", "HEAD");
    place.repository.git("branch", "mine");
    const result = await place.pawl("run", "make it", ...CHECK, "--json");
    expect(result.code).toBe(4);
    const said = result.of("change-recorded").flatMap(({ warnings }) => warnings);
    expect(said[0]).toMatch(
      `the branch "mine" was deleted while the run worked; it was at ${oid}; that commit is kept`,
    );
    // The hand-over of the first iteration may still be under way when it is deleted, make a part of it again, or find its
    // objects gone and the rest there.
    expect(result.of("run-end")[0]?.outcome).toEqual({
      is: "needs-human",
      rule: "hand-over-refused",
      reason: expect.stringMatching(
        /(\.git(\/objects)? was (deleted|replaced by something else)|not a git repository: '.*\.git'|the repository has not got .* based on); the work is kept as salvage\/conflict-\d$/,
      ),
    });
  });

  it("nothing, where a fence kept the user's repository out of the reach of an agent that deletes it", async () => {
    const place = await cliPlace({ shellAgent: destroy });
    place.repository.git("branch", "mine");
    const before = place.repository.git("for-each-ref", "refs/heads/mine", "refs/heads/main");
    const result = await place.pawl("run", "make it", ...CHECK, "--json");
    expect(result.code).toBe(0);
    expect(result.of("change-recorded").flatMap(({ warnings }) => warnings)).toEqual([]);
    expect(place.repository.git("for-each-ref", "refs/heads/mine", "refs/heads/main")).toBe(before);
    expect(place.repository.git("show", "pawl/make-it:made.txt")).toBe("right");
    expect(place.repository.git("status", "--porcelain")).toBe("");
  });
});
