import { execFileSync } from "node:child_process";
import {
  chmodSync,
  readdirSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { withoutRoot } from "../../test/support/without-root.ts";
import type { Snapshot, Workspace } from "../ports.ts";
import { isBranchName } from "./branch.ts";

const AT = 1_700_000_000_000;
const list = (text: string) => text.split("⁞");
const BASIC = list("-rf⁞--help⁞-⁞--⁞$(touch x)⁞`id`⁞a b⁞ lead⁞trail ⁞new\nline⁞tab\there⁞quo\"te⁞it's⁞~x⁞a,b");
const SHELL = list("a;b⁞a|b⁞a&b⁞a>b⁞a<b⁞*⁞?⁞[x]⁞{a,b}⁞~⁞!x⁞#hash⁞a\\b⁞a\\nb⁞%s⁞^up⁞@⁞@{u}");
const GITTY = list(":(top)x⁞:⁞:!x⁞:^x⁞HEAD⁞refs⁞index⁞config⁞a..b⁞..a⁞...⁞a.lock⁞.gitx⁞gitmodules⁞0⁞=a");
const TEXT = list("ä⁞a\u0308⁞日本語⁞🎉⁞Ünïcode name⁞\u202Ertl⁞zero\u200Bwidth⁞\u0001ctl⁞\u007f⁞ẞ⁞CASE⁞case⁞Case");
const DEEP = list("d/e/e/p⁞-d/-f⁞d ir/f ile⁞d\nir/x⁞:(glob)/x⁞$HOME/x⁞é/ö/ü⁞con⁞nul.txt⁞x.git⁞a/b.git/c");
const LONG = ["long".repeat(60), `${"deep/".repeat(40)}x`];
const MORE = Array.from({ length: 28 }, (_, n) =>
  `odd ${String.fromCodePoint(0x21 + n)} name ${n}`.replaceAll("/", "_"),
);
const NAMES = [...BASIC, ...SHELL, ...GITTY, ...TEXT, ...DEEP, ...LONG, ...MORE];

let place: Scratch;
let workspace: Workspace;
let taken = 0;

beforeEach(async () => {
  place = scratch();
  workspace = await openFor(place);
  taken = 0;
  await workspace.prepare();
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

async function snap(): Promise<Snapshot> {
  taken += 1;
  return await workspace.snapshot(taken, { parent: taken === 1 ? null : taken - 1, message: "m", at: AT });
}
const at = (path: string) => join(place.repo, path);

describe("odd names", () => {
  it(`make an exact round trip: ${NAMES.length} of them through snapshot, hand-over, verify tree and restore (A19)`, async () => {
    expect(new Set(NAMES).size).toBeGreaterThanOrEqual(100);
    for (const name of NAMES) place.write(name, `content of ${name}`);
    const { judged, warnings, fileCount } = await snap();
    expect(warnings).toEqual([]);
    expect(fileCount).toBe(NAMES.length);
    const accepted = await workspace.accept({ tree: judged, message: "m", at: AT, snapshot: 1 });
    expect(accepted.warnings).toEqual([]);
    const listed = place.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0");
    expect(NAMES.filter((name) => !listed.includes(name))).toEqual([]);
    const tree = await workspace.verifyTree(judged);
    for (const name of NAMES) expect(readFileSync(join(tree.path, name), "utf8")).toBe(`content of ${name}`);
    for (const name of NAMES) rmSync(at(name));
    await workspace.restore(1, { salvage: "1", at: AT });
    for (const name of NAMES) expect(readFileSync(at(name), "utf8")).toBe(`content of ${name}`);
    expect(place.git("status", "--porcelain")).toBe("");
  });

  it("that are no text keep their bytes", async () => {
    const name = Buffer.concat([Buffer.from(`${place.repo}/bad-`), Buffer.from([0xff, 0xfe, 0x80])]);
    writeFileSync(name, "bytes");
    const { fileCount, warnings } = await snap();
    expect([fileCount, warnings]).toEqual([1, []]);
    rmSync(name);
    await snap();
    await workspace.restore(1, { salvage: "1", at: AT });
    expect(readFileSync(name, "utf8")).toBe("bytes");
  });

  it("of branches are judged as git judges them", () => {
    const names = [
      ...NAMES,
      "pawl/x",
      "a//b",
      "/a",
      "a/",
      ".a",
      "a/.b",
      "a.",
      "x@{y",
      "a b",
      "ok/ö",
      "a~1",
      "HEAD",
      "-x",
      "",
    ];
    const git = (name: string) => {
      try {
        execFileSync("git", ["check-ref-format", "--branch", name], { stdio: "pipe", cwd: place.root });
        return true;
      } catch {
        return false;
      }
    };
    for (const name of names.filter((name) => !/^@(\{-|$)|^-$/.test(name)))
      expect([name, isBranchName(name)]).toEqual([name, git(name)]);
  });
});

describe("links, kinds and modes", () => {
  it("links are stored as links: dangling, absolute, looping, to directories, out of the tree (A3)", async () => {
    const links = {
      dangling: "nowhere",
      absolute: "/etc/passwd",
      loop: "loop",
      toDir: "dir",
      up: "../../..",
      git: ".git/config",
    };
    for (const [name, target] of Object.entries(links)) symlinkSync(target, at(name));
    const { judged } = await snap();
    const tree = await workspace.verifyTree(judged);
    for (const [name, target] of Object.entries(links)) {
      expect(readlinkSync(join(tree.path, name))).toBe(target);
      rmSync(at(name));
    }
    await workspace.restore(1, { salvage: "1", at: AT });
    for (const [name, target] of Object.entries(links)) expect(readlinkSync(at(name))).toBe(target);
  });

  it("executable bits count as a change and come back", async () => {
    chmodSync(at("a.txt"), 0o755);
    const { files, judged } = await snap();
    expect(files).toEqual([{ path: "a.txt", status: "M", added: 0, removed: 0 }]);
    chmodSync(at("a.txt"), 0o644);
    await snap();
    await workspace.restore(1, { salvage: "1", at: AT });
    expect(lstatSync(at("a.txt")).mode & 0o111).not.toBe(0);
    expect(lstatSync(join((await workspace.verifyTree(judged)).path, "a.txt")).mode & 0o111).not.toBe(0);
  });

  it("a file becomes a directory, a directory a file or a link, and back", async () => {
    const original = await snap();
    rmSync(at("a.txt"));
    place.write("a.txt/inside", "in\n");
    rmSync(at("dir"), { recursive: true });
    writeFileSync(at("dir"), "a file now");
    const swapped = await snap();
    expect(swapped.files.map(({ path, status }) => `${status} ${path}`).toSorted()).toEqual(
      ["A a.txt/inside", "A dir", "D a.txt", "D dir/b.txt"].toSorted(),
    );
    rmSync(at("dir"));
    symlinkSync("a.txt", at("dir"));
    expect((await snap()).files).toEqual([{ path: "dir", status: "T", added: 1, removed: 1 }]);
    await workspace.restore(1, { salvage: "1", at: AT });
    expect(readFileSync(at("dir/b.txt"), "utf8")).toBe("two\n");
    await workspace.restore(2, { salvage: "2", at: AT });
    expect(readFileSync(at("a.txt/inside"), "utf8")).toBe("in\n");
    expect((await workspace.snapshot(9, { parent: 1, message: "m", at: AT })).tree).toBe(swapped.tree);
    expect((await workspace.verifyTree(original.judged)).tree).toBe(original.tree);
  });

  it("a directory moved out and replaced by a link to it is a link, and nothing behind it is read or written (A3)", async () => {
    const outside = join(place.root, "outside");
    renameSync(at("dir"), outside);
    symlinkSync(outside, at("dir"));
    writeFileSync(join(outside, "b.txt"), "from outside\n");
    const { tree } = await snap();
    expect(place.privateGit("ls-tree", tree, "dir")).toMatch(/^120000 blob/);
    expect(place.privateGit("cat-file", "--batch-all-objects", "--batch")).not.toContain("from outside");
    await workspace.restore(0, { salvage: "1", at: AT });
    expect(readFileSync(join(outside, "b.txt"), "utf8")).toBe("from outside\n");
    expect(lstatSync(at("dir")).isSymbolicLink()).toBe(false);
    expect(readFileSync(at("dir/b.txt"), "utf8")).toBe("two\n");
  });

  it("the same with the link ignored: the files are gone from the tree", async () => {
    const outside = join(place.root, "outside");
    renameSync(at("dir"), outside);
    symlinkSync(outside, at("dir"));
    writeFileSync(join(outside, "b.txt"), "from outside\n");
    place.write(".gitignore", "dir\n");
    const { tree } = await snap();
    expect(place.privateGit("ls-tree", "-r", "--name-only", tree)).toBe(".gitignore\na.txt");
    await workspace.restore(0, { salvage: "1", at: AT });
    expect(readFileSync(join(outside, "b.txt"), "utf8")).toBe("from outside\n");
    expect(readFileSync(at("dir/b.txt"), "utf8")).toBe("two\n");
  });

  it("a pipe or socket in a file's place is said and never opened", async () => {
    rmSync(at("a.txt"));
    execFileSync("mkfifo", [at("a.txt")]);
    rmSync(at("dir/b.txt"));
    const server = createServer().listen(at("dir/b.txt"));
    await new Promise((resolve) => server.once("listening", resolve));
    const { files, warnings } = await snap();
    server.close();
    expect(files.map(({ path, status }) => `${status} ${path}`)).toEqual(["D a.txt", "D dir/b.txt"]);
    expect(warnings.join()).toMatch(/a\.txt.*pipe/);
    await workspace.restore(0, { salvage: "1", at: AT });
    expect(readFileSync(at("a.txt"), "utf8")).toBe("one\n");
  });

  it("names that git keeps out of every tree are said, and the rest is taken", async () => {
    place.write(".GIT/config", "x");
    place.write("fine.txt");
    const { files, warnings } = await snap();
    expect(files.map(({ path }) => path)).toEqual(["fine.txt"]);
    expect(warnings.join()).toContain(".GIT/config");
  });
});

describe("a restore", () => {
  it("keeps ignored files, and salvages those that must give way", async () => {
    place.write("out.log", "tracked by force\n");
    place.git("add", "-f", "out.log");
    place.git("commit", "-qm", "log");
    await snap();
    await snap();
    place.write("keep.log", "mine\n");
    await workspace.snapshot(5, { parent: 1, message: "m", at: AT });
    rmSync(at("a.txt"));
    place.write("a.txt/x.log", "ignored, in the way\n");
    const { salvage } = await workspace.restore(1, { salvage: "1", at: AT });
    expect(readFileSync(at("keep.log"), "utf8")).toBe("mine\n");
    expect(readFileSync(at("a.txt"), "utf8")).toBe("one\n");
    expect(place.privateGit("show", `refs/pawl/r1/main/${salvage}:a.txt/x.log`)).toBe("ignored, in the way");
  });

  it("again under the same name keeps the first salvage, and what was there the second time too", async () => {
    await snap();
    place.write("a.txt", "first\n");
    await workspace.restore(1, { salvage: "1", at: AT });
    place.write("a.txt", "second\n");
    await workspace.restore(1, { salvage: "1", at: AT });
    expect(place.privateGit("show", "refs/pawl/r1/main/salvage/1:a.txt")).toBe("first");
    expect(place.privateGit("show", "refs/pawl/r1/main/lost/1:a.txt")).toBe("second");
  });

  it("is a new commit when it is accepted", async () => {
    place.write("a.txt", "bad\n");
    const bad = await snap();
    await workspace.accept({ tree: bad.judged, message: "bad", at: AT, snapshot: 1 });
    const { tree } = await workspace.restore(0, { salvage: "1", at: AT });
    await workspace.accept({ tree, message: "Restore", at: AT, snapshot: 1 });
    expect(place.git("log", "--format=%s", "main..HEAD")).toBe("Restore\nbad");
    expect(place.git("status", "--porcelain")).toBe("");
    expect(place.git("diff", "main", "HEAD")).toBe("");
  });
});

describe("a verify tree", () => {
  it("survives what a check does to it: links, directories, a repository, read-only files", async () => {
    const { judged } = await snap();
    const first = await workspace.verifyTree(judged);
    rmSync(join(first.path, "dir"), { recursive: true });
    symlinkSync(place.home, join(first.path, "dir"));
    rmSync(join(first.path, "a.txt"));
    mkdirSync(join(first.path, "a.txt/x"), { recursive: true });
    execFileSync("git", ["init", "-q", first.path]);
    execFileSync("git", ["init", "-q", join(first.path, "nested")]);
    writeFileSync(join(first.path, "ro"), "x", { mode: 0o400 });
    await first.release();
    const second = await workspace.verifyTree(judged);
    expect(readFileSync(join(second.path, "dir/b.txt"), "utf8")).toBe("two\n");
    expect(readFileSync(join(second.path, "a.txt"), "utf8")).toBe("one\n");
    for (const left of [".git", "nested", "ro"]) expect(existsSync(join(second.path, left))).toBe(false);
    expect(existsSync(join(place.home, ".gitconfig"))).toBe(true);
  });

  it("is rid of names that are no text and of folders that were closed", async () => {
    const { judged } = await snap();
    using _ = withoutRoot(place.root);
    const first = await workspace.verifyTree(judged);
    const odd = (dir: string) => Buffer.concat([Buffer.from(`${join(first.path, dir)}/`), Buffer.from([0xff, 0xfe])]);
    writeFileSync(odd("."), "found by a test runner");
    mkdirSync(odd("dir"));
    writeFileSync(Buffer.concat([odd("dir"), Buffer.from("/x")]), "x");
    mkdirSync(join(first.path, "cache/module"), { recursive: true });
    writeFileSync(join(first.path, "cache/module/x"), "x");
    for (const closed of ["cache/module", "cache", "dir"]) chmodSync(join(first.path, closed), 0o555);
    expect(() => rmSync(join(first.path, "cache"), { recursive: true })).toThrow("EACCES");
    await first.release();
    const second = await workspace.verifyTree(judged);
    expect(readdirSync(second.path).toSorted()).toEqual([".gitignore", "a.txt", "dir"]);
    expect(readdirSync(join(second.path, "dir"))).toEqual(["b.txt"]);
    chmodSync(second.path, 0o555);
    await second.release();
    await (await workspace.verifyTree(judged)).release();
  });

  it("goes from tree to tree and holds exactly each", async () => {
    place.write("only-in-1/x", "1\n");
    const one = await snap();
    rmSync(at("only-in-1"), { recursive: true });
    place.write("a.txt", "two\n");
    const two = await snap();
    for (const { judged, first } of [
      { ...one, first: true },
      { ...two, first: false },
      { ...one, first: true },
    ]) {
      const tree = await workspace.verifyTree(judged);
      expect(existsSync(join(tree.path, "only-in-1"))).toBe(first);
      expect(readFileSync(join(tree.path, "a.txt"), "utf8")).toBe(first ? "one\n" : "two\n");
      await tree.release();
    }
  });
});
