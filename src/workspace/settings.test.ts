/** The law: a snapshot of an untouched tree equals the base tree, whatever the user's git settings are. */
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";

const AT = 1_700_000_000_000;
let place: Scratch;

beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

const commitAll = (dir = place.repo) => {
  place.gitIn(dir, "add", "-A");
  place.gitIn(dir, "commit", "-qm", "more");
};
const program = (name: string, script: string) => {
  const path = join(place.home, "bin", name);
  mkdirSync(join(place.home, "bin"), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
};

/** Untouched equals the base; one changed file changes exactly that; restored and judged trees are the user's files. */
async function obeysTheLaw(options: { repo?: string; change?: string } = {}): Promise<void> {
  const { repo = place.repo, change = "a.txt" } = options;
  const workspace = await openFor({ ...place, repo });
  const base = await workspace.prepare();
  const touched = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
  expect(touched).toMatchObject({ tree: base.tree, files: [] });
  const before = readFileSync(join(repo, change));
  appendFileSync(join(repo, change), "more\n");
  const changed = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
  expect(changed.files.map(({ path }) => path)).toEqual([change]);
  await workspace.accept({ tree: changed.judged, message: "m", at: AT, snapshot: 2 });
  expect(place.gitIn(repo, "status", "--porcelain")).toBe("");
  expect(place.gitIn(repo, "diff", "--stat", "HEAD")).toBe("");
  await workspace.restore(1, { salvage: "1", at: AT });
  expect(readFileSync(join(repo, change))).toEqual(before);
  const tree = await workspace.verifyTree(base.tree);
  expect(readFileSync(join(tree.path, change))).toEqual(before);
  await tree.release();
  await workspace.close();
}

describe("a snapshot of an untouched tree is the base tree", () => {
  it("with an encrypting filter, and stores no plain text", async () => {
    const crypt = program("crypt", "tr a-z n-za-m");
    place.git("config", "filter.crypt.clean", crypt);
    place.git("config", "filter.crypt.smudge", crypt);
    place.git("config", "filter.crypt.required", "true");
    place.write(".gitattributes", "secret* filter=crypt\n");
    place.write("secret.txt", "attack at dawn\n");
    commitAll();
    await obeysTheLaw({ change: "secret.txt" });
    const blobs = place.privateGit("cat-file", "--batch-all-objects", "--batch");
    expect(blobs).toContain("nggnpx ng qnja");
    expect(blobs).not.toContain("attack at dawn");
  });

  it("with an LFS-like filter whose store is in the user's git directory", async () => {
    const store = join(place.repo, ".git/big");
    mkdirSync(store);
    const clean = program(
      "big-clean",
      `f=$(mktemp); cat >"$f"; h=$(sha256sum "$f" | cut -c1-64); mv "$f" ${store}/$h; echo pointer $h`,
    );
    const smudge = program("big-smudge", `read p h; cat ${store}/$h`);
    place.git("config", "--global", "filter.big.clean", `${clean} %f`);
    place.git("config", "--global", "filter.big.smudge", `~/bin/big-smudge`);
    expect(smudge).toContain("big-smudge");
    place.write(".gitattributes", "*.bin filter=big -text\n");
    place.write("x.bin", "large\n");
    commitAll();
    await obeysTheLaw({ change: "x.bin" });
    expect(place.privateGit("cat-file", "--batch-all-objects", "--batch")).not.toContain("large\n");
  });

  it("with autocrlf and attributes for line ends", async () => {
    place.git("config", "core.autocrlf", "true");
    place.write(".gitattributes", "*.sh text eol=lf\n*.bat text eol=crlf\n");
    place.write("x.bat", "echo\r\n");
    place.write("x.sh", "echo\n");
    place.write("crlf.txt", "one\r\ntwo\r\n");
    commitAll();
    await obeysTheLaw({ change: "x.sh" });
  });

  it("with a global ignore file, info/exclude and info/attributes", async () => {
    place.git("config", "--global", "core.excludesFile", "~/my-ignore");
    writeFileSync(join(place.home, "my-ignore"), "*.secret\n*.keep\n");
    writeFileSync(join(place.repo, ".git/info/exclude"), "!*.keep\nlocal-only\n");
    writeFileSync(join(place.repo, ".git/info/attributes"), "*.crlf text eol=crlf\n");
    place.write("x.crlf", "a\r\n");
    place.write("yes.keep", "kept\n");
    commitAll();
    place.write("my.secret", "s");
    place.write("local-only", "l");
    await obeysTheLaw();
    expect(place.git("ls-tree", "-r", "--name-only", "pawl/task").split("\n")).toContain("yes.keep");
    expect(place.git("ls-tree", "-r", "--name-only", "pawl/task")).not.toMatch(/secret|local-only/);
  });

  it("with a sparse checkout in cone mode, whose absent files are not taken for deleted", async () => {
    place.write("in/x.txt");
    place.write("out/y.txt");
    commitAll();
    place.git("sparse-checkout", "set", "--cone", "in");
    expect(existsSync(join(place.repo, "out"))).toBe(false);
    await obeysTheLaw({ change: "in/x.txt" });
    expect(place.git("ls-tree", "-r", "--name-only", "pawl/task")).toContain("out/y.txt");
  });

  it("with a sparse index", async () => {
    place.write("in/x.txt");
    place.write("out/deep/y.txt");
    commitAll();
    place.git("sparse-checkout", "set", "--cone", "--sparse-index", "in");
    await obeysTheLaw({ change: "in/x.txt" });
    expect(place.git("ls-tree", "-r", "--name-only", "pawl/task")).toContain("out/deep/y.txt");
  });

  it("in a shallow clone", async () => {
    place.write("b.txt");
    commitAll();
    const clone = join(place.root, "clone");
    place.gitIn(place.root, "clone", "-q", "--depth=1", `file://${place.repo}`, clone);
    await obeysTheLaw({ repo: clone });
  });

  it("with assume-unchanged and skip-worktree files, and says which changes it will not see", async () => {
    place.write("assumed.txt", "a\n");
    place.write("skipped.txt", "s\n");
    commitAll();
    place.git("update-index", "--assume-unchanged", "assumed.txt");
    place.git("update-index", "--skip-worktree", "skipped.txt");
    place.write("assumed.txt", "mine\n");
    place.write("skipped.txt", "mine\n");
    const workspace = await openFor(place);
    const base = await workspace.prepare();
    const taken = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(taken.tree).toBe(base.tree);
    expect(taken.warnings.join()).toContain("assumed.txt");
    place.write("a.txt", "changed\n");
    const { judged } = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
    await workspace.accept({ tree: judged, message: "m", at: AT, snapshot: 2 });
    expect(place.git("ls-files", "-v", "assumed.txt", "skipped.txt")).toBe("h assumed.txt\nS skipped.txt");
    expect(place.git("show", "HEAD:assumed.txt")).toBe("a");
  });

  it("with file modes off", async () => {
    place.git("config", "core.fileMode", "false");
    chmodSync(join(place.repo, "a.txt"), 0o755);
    await obeysTheLaw();
  });

  it("with a split index, an untracked cache and index version 4", async () => {
    place.git("update-index", "--split-index", "--untracked-cache", "--index-version", "4");
    place.write("c.txt");
    commitAll();
    await obeysTheLaw();
  });

  it("with symbolic links in the base", async () => {
    symlinkSync("a.txt", join(place.repo, "link"));
    symlinkSync("/nowhere", join(place.repo, "dangling"));
    commitAll();
    await obeysTheLaw();
  });
});

describe("a filter program that an agent could change is refused before anything happens", () => {
  const cases: [string, (repo: string) => string][] = [
    ["a relative path", () => "./tools/clean.sh"],
    ["an absolute path", (repo) => `${repo}/tools/clean.sh %f`],
    ["a script for an interpreter", () => "sh tools/clean.sh"],
    ["a path made by the shell", () => "$(git rev-parse --show-toplevel)/tools/clean.sh"],
  ];
  it.each(cases)("%s", async (_, command) => {
    place.write("tools/clean.sh", "#!/bin/sh\ncat\n");
    commitAll();
    place.git("config", "filter.mine.clean", command(place.repo));
    const before = place.git("for-each-ref");
    const workspace = await openFor(place);
    await expect(workspace.prepare()).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("filter.mine.clean"),
    });
    expect(place.git("for-each-ref")).toBe(before);
  });

  it("a bare name that PATH finds inside the workspace is not found there", async () => {
    place.write("bin/git", `#!/bin/sh\ntouch ${place.root}/ran\n`);
    chmodSync(join(place.repo, "bin/git"), 0o755);
    commitAll();
    const environment = { ...place.environment, PATH: `${place.repo}/bin:${place.environment["PATH"]}` };
    const workspace = await openFor({ ...place, environment });
    await workspace.prepare();
    await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(existsSync(join(place.root, "ran"))).toBe(false);
  });
});

describe("pawl's repository borrows nothing", () => {
  it("and survives the user's gc and a forged object", async () => {
    const workspace = await openFor(place);
    const base = await workspace.prepare();
    const blob = place.git("rev-parse", "HEAD:a.txt");
    const other = place.git("hash-object", "-w", "dir/b.txt");
    const loose = (oid: string) => join(place.repo, ".git/objects", oid.slice(0, 2), oid.slice(2));
    chmodSync(loose(blob), 0o644);
    cpSync(loose(other), loose(blob));
    writeFileSync(join(place.repo, "a.txt"), "spoiled\n");
    await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    await workspace.restore(0, { salvage: "1", at: AT });
    expect(readFileSync(join(place.repo, "a.txt"), "utf8")).toBe("one\n");
    const tree = await workspace.verifyTree(base.tree);
    expect(readFileSync(join(tree.path, "a.txt"), "utf8")).toBe("one\n");
    expect(existsSync(join(place.stateDir, "repos/objects/info/alternates"))).toBe(false);
  });

  it("and a base with a forged object is refused instead of copied", async () => {
    const blob = place.git("rev-parse", "HEAD:a.txt");
    const other = place.git("hash-object", "-w", "dir/b.txt");
    const loose = (oid: string) => join(place.repo, ".git/objects", oid.slice(0, 2), oid.slice(2));
    chmodSync(loose(blob), 0o644);
    cpSync(loose(other), loose(blob));
    const workspace = await openFor(place);
    await expect(workspace.prepare()).rejects.toThrow(/not whole|failed/);
  });
});
