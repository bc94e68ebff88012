import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { currentOwner } from "../platform/owner.ts";
import { freeBranchName } from "./branch.ts";
import { lockWorkspace } from "./lock.ts";
import { cleanWorktrees, createWorktree, listWorktrees } from "./worktrees.ts";

const AT = 1_700_000_000_000;
const AT_ONCE = 8;
const PATH_MAX_BYTES = 4096;
let place: Scratch;

beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

const where = () => ({ repository: place.repo, stateDir: place.stateDir, environment: place.environment });

describe("worktrees", () => {
  it("are made beside the repository, with the ignored files that .worktreeinclude names", async () => {
    place.write(".worktreeinclude", ".env*\nsecret/\na.txt\n");
    place.write(".gitignore", ".env*\nsecret/\nbuild/\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "include");
    place.write(".env", "KEY=1\n");
    place.write("secret/key", "k\n");
    place.write("build/out", "o\n");
    symlinkSync("/etc/passwd", join(place.repo, ".env.link"));
    const made = await createWorktree({ ...where(), name: "one" });
    expect(made.path).toBe(join(place.root, "repo-worktrees/one"));
    expect(readFileSync(join(made.path, ".env"), "utf8")).toBe("KEY=1\n");
    expect(existsSync(join(made.path, "secret/key"))).toBe(true);
    expect(existsSync(join(made.path, "build"))).toBe(false);
    expect(existsSync(join(made.path, ".env.link"))).toBe(false);
    const { warnings, undo: _, ...listed } = made;
    expect(await listWorktrees(where())).toEqual([listed]);
    expect(warnings).toEqual(['".env.link": not copied, for it is no plain file inside the repository']);
    expect(place.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  });

  it("that cannot be furnished are gone again with their branch, and the reason is one line", async () => {
    place.write(".worktreeinclude", "deep/\n");
    place.write(".gitignore", "deep/\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "include");
    // Fits here, and not below the longer name of a worktree.
    const room = PATH_MAX_BYTES - 4 - Buffer.byteLength(join(place.repo, "deep//f"));
    const parts = Array.from({ length: Math.ceil(room / 201) }, () => "d".repeat(200));
    place.write(`deep/${parts.join("/").slice(0, room)}/f`, "x\n");
    const making = createWorktree({ ...where(), name: "one", run: "r1", branch: async () => "pawl/one" });
    await expect(making).rejects.toThrow(/^the worktree could not be furnished, and is gone again: ENAMETOOLONG.*$/);
    expect(await listWorktrees(where())).toEqual([]);
    expect(existsSync(join(place.root, "repo-worktrees/one"))).toBe(false);
    expect(place.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
    expect(place.git("worktree", "list").split("\n")).toHaveLength(1);
  });

  it("get links of included files as links, and nothing through a link that the commit holds", async () => {
    const outside = join(place.root, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(place.repo, "local"));
    place.write(".worktreeinclude", "deps/\nlocal/\nnotes.txt\n");
    place.write(".gitignore", "deps/\n/local/\n");
    place.git("add", "-A", "-f");
    place.git("commit", "-qm", "a link that is a folder here");
    rmSync(join(place.repo, "local"));
    place.write("local/key", "k\n");
    place.write("deps/tool.sh", "#!/bin/sh\n");
    chmodSync(join(place.repo, "deps/tool.sh"), 0o755);
    mkdirSync(join(place.repo, "deps/bin"));
    symlinkSync("../tool.sh", join(place.repo, "deps/bin/tool"));
    place.write("notes.txt", "not ignored\n");
    const { path, warnings } = await createWorktree({ ...where(), name: "one" });
    expect(readlinkSync(join(path, "deps/bin/tool"))).toBe("../tool.sh");
    expect(statSync(join(path, "deps/bin/tool")).mode & 0o777).toBe(0o755);
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync(join(path, "notes.txt"))).toBe(false);
    expect(warnings).toEqual([
      '"notes.txt": not copied, for git does not ignore it',
      '"local/key": not copied, for it is no plain file inside the repository',
    ]);
  });

  it("with a branch reserve it: starts at once get one each, and one that is undone leaves nothing", async () => {
    const names = Array.from({ length: AT_ONCE }, (_, n) => `w${n}`);
    const branch = async () => await freeBranchName("same", { repository: place.repo, environment: place.environment });
    const made = await Promise.all(
      names.map(async (name) => await createWorktree({ ...where(), name, run: `r-${name}`, branch })),
    );
    const branches = made.map((worktree) => worktree.branch ?? "");
    expect(new Set(branches).size).toBe(AT_ONCE);
    expect(place.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/pawl").split("\n").toSorted()).toEqual(
      branches.toSorted(),
    );
    expect((await listWorktrees(where())).map(({ run }) => run ?? "").toSorted()).toEqual(
      names.map((name) => `r-${name}`),
    );
    await Promise.all(made.map(async ({ undo }) => await undo()));
    expect(await listWorktrees(where())).toEqual([]);
    expect(existsSync(join(place.root, "repo-worktrees"))).toBe(false);
    expect(place.git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
    expect(place.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
  });

  it("are kept as long as somebody needs them, unless forced; a name that pawl did not make is refused", async () => {
    await createWorktree({ ...where(), name: "one", run: "r-1" });
    const needed = async ({ run }: { run: string | undefined }) => `run ${run} has not ended`;
    expect(await cleanWorktrees({ ...where(), needed })).toEqual({
      removed: [],
      kept: [{ name: "one", why: "run r-1 has not ended" }],
    });
    await expect(cleanWorktrees({ ...where(), names: ["two"] })).rejects.toThrow('no worktree called "two"');
    expect((await cleanWorktrees({ ...where(), needed, force: true })).removed).toEqual(["one"]);
  });

  it("can be made many at once, without a stray branch", async () => {
    const names = Array.from({ length: AT_ONCE }, (_, n) => `w${n}`);
    await Promise.all(names.map(async (name) => await createWorktree({ ...where(), name })));
    expect((await listWorktrees(where())).map(({ name }) => name).toSorted()).toEqual(names);
    expect(place.git("branch", "--list")).toBe("* main");
  });

  it("carry a run: the branch is made there, the user's own directory stays", async () => {
    const { path } = await createWorktree({ ...where(), name: "run" });
    const workspace = await openFor(place, { path });
    expect(await workspace.prepare()).toMatchObject({ commit: place.git("rev-parse", "main"), detached: true });
    writeFileSync(join(path, "a.txt"), "in the worktree\n");
    const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    await workspace.accept({ tree: judged, message: "m", at: AT, snapshot: 1 });
    expect(place.gitIn(path, "status", "--porcelain", "-b")).toBe("## pawl/task");
    expect(place.git("status", "--porcelain", "-b")).toBe("## main");
    expect(place.git("show", "pawl/task:a.txt")).toBe("in the worktree");
  });

  it("are cleaned when their work is safe: not with changes, not while in use, not with commits on no branch", async () => {
    for (const name of ["clean", "dirty", "used", "lost", "other"]) await createWorktree({ ...where(), name });
    const at = (name: string) => join(place.root, "repo-worktrees", name);
    writeFileSync(join(at("dirty"), "new.txt"), "x");
    place.gitIn(at("lost"), "commit", "-q", "--allow-empty", "-m", "on no branch");
    const lock = lockWorkspace({ path: at("used"), stateDir: place.stateDir, owner: currentOwner() });
    const result = await cleanWorktrees({ ...where(), names: ["clean", "dirty", "used", "lost"] });
    lock.release();
    expect(result).toEqual({
      removed: ["clean"],
      kept: [
        { name: "dirty", why: "it has uncommitted changes" },
        { name: "lost", why: "its commit is on no branch" },
        { name: "used", why: `pid ${process.pid} works in it` },
      ],
    });
    expect(existsSync(at("clean"))).toBe(false);
    expect((await cleanWorktrees({ ...where(), names: ["dirty"], force: true })).removed).toEqual(["dirty"]);
    expect(place.git("worktree", "list")).not.toMatch(/clean|dirty/);
  });

  it("carry runs that begin at once from different commits", async () => {
    const names = Array.from({ length: AT_ONCE }, (_, n) => `w${n}`);
    const paths: string[] = [];
    for (const name of names) {
      place.git("commit", "-q", "--allow-empty", "-m", name);
      paths.push((await createWorktree({ ...where(), name })).path);
    }
    const begun = names.map(async (run, n) => {
      const workspace = await openFor(place, { run, path: paths[n] ?? "", branch: `pawl/${run}` });
      return await workspace.prepare();
    });
    expect(await Promise.all(begun)).toHaveLength(AT_ONCE);
  });

  it("never share a branch: the second run that was promised the name is refused", async () => {
    const [one, two] = [
      await createWorktree({ ...where(), name: "one" }),
      await createWorktree({ ...where(), name: "two" }),
    ];
    const open = async ({ name, path }: { name: string; path: string }) => await openFor(place, { run: name, path });
    const [first, second] = [await open(one), await open(two)];
    const results = await Promise.allSettled([first.prepare(), second.prepare()]);
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toMatchObject({ name: "UsageError", message: expect.stringContaining("checked out") });
    const winner = results[0]?.status === "fulfilled" ? first : second;
    expect(await winner.prepare()).toMatchObject({ detached: true });
  });

  it("of the user's own, locked ones and missing ones stay as they are", async () => {
    const at = (name: string) => join(place.root, "repo-worktrees", name);
    await createWorktree({ ...where(), name: "locked" });
    place.git("worktree", "lock", at("locked"));
    place.git("worktree", "add", "-q", "-b", "mine", at("mine"));
    const away = join(place.root, "away");
    place.git("worktree", "add", "-q", "--detach", away);
    renameSync(away, `${away}-unplugged`);
    const { removed, kept } = await cleanWorktrees(where());
    expect([removed, kept.map(({ name }) => name)]).toEqual([[], ["locked"]]);
    renameSync(`${away}-unplugged`, away);
    expect(place.gitIn(away, "status", "--porcelain")).toBe("");
  });

  it("with a submodule checked out or a merge in progress are kept", async () => {
    const library = join(place.root, "library");
    place.gitIn(place.root, "init", "-q", library);
    place.gitIn(library, "commit", "-q", "--allow-empty", "-m", "lib");
    place.git("submodule", "add", "-q", library, "lib");
    place.git("commit", "-qm", "submodule");
    const { path } = await createWorktree({ ...where(), name: "one" });
    place.gitIn(path, "submodule", "update", "-q", "--init");
    writeFileSync(join(path, "lib/work.txt"), "only here\n");
    const { path: merging } = await createWorktree({ ...where(), name: "two" });
    writeFileSync(join(place.gitIn(merging, "rev-parse", "--absolute-git-dir"), "MERGE_HEAD"), "");
    expect((await cleanWorktrees(where())).kept).toEqual([
      { name: "one", why: "a submodule is checked out in it" },
      { name: "two", why: "a merge is in progress" },
    ]);
  });

  it("are refused with a reason: a name that leads elsewhere, one that exists, no commit yet", async () => {
    for (const name of ["../x", "-f", "a b", "", "a/b"])
      await expect(createWorktree({ ...where(), name })).rejects.toMatchObject({ name: "UsageError" });
    await createWorktree({ ...where(), name: "one" });
    await expect(createWorktree({ ...where(), name: "one" })).rejects.toThrow("exists already");
    rmSync(join(place.repo, ".git"), { recursive: true });
    place.git("init", "-q");
    await expect(createWorktree({ ...where(), name: "two" })).rejects.toThrow("without a commit");
  });
});
