/** A directory that goes from tree to tree by what differs is, each time, what a fresh checkout of the tree would be. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { scratch, specFor, type Scratch } from "../../test/fixtures/repository.ts";
import type { Workspace } from "../ports.ts";
import { openWorkspace } from "./open.ts";

let place: Scratch;
let workspace: Workspace;
let shown: [string, readonly string[]][];
const open = () =>
  openWorkspace({
    spec: specFor(place.repo),
    run: "r1",
    lane: "main",
    stateDir: place.stateDir,
    environment: place.environment,
    verify: { layers: { show: (path, folders) => void shown.push([path, folders]) } },
  });

beforeEach(async () => {
  place = scratch();
  shown = [];
  workspace = await open();
  await workspace.prepare();
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

let snapshots = 0;
async function snapshot(): Promise<string> {
  snapshots += 1;
  return (await workspace.snapshot(snapshots, { parent: null, message: "m", at: 1 })).judged;
}

/** Names with kind, mode and content. */
function listed(root: string, below = ""): string[] {
  return readdirSync(join(root, below))
    .toSorted()
    .flatMap((name) => {
      const path = join(below, name);
      const stats = lstatSync(join(root, path));
      if (stats.isDirectory()) return [`${path}/`, ...listed(root, path)];
      if (stats.isSymbolicLink()) return [`${path} -> ${readlinkSync(join(root, path))}`];
      return [`${path} ${(stats.mode & 0o111) !== 0} ${readFileSync(join(root, path), "utf8")}`];
    });
}

function fresh(tree: string): string[] {
  const to = join(place.root, "fresh");
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to);
  const [index, from] = [join(place.root, "fresh.index"), readdirSync(join(place.stateDir, "repos"))[0] ?? ""];
  rmSync(index, { force: true });
  const git = [`--git-dir=${join(place.stateDir, "repos", from, "private.git")}`, `--work-tree=${to}`];
  const env = { ...place.environment, GIT_INDEX_FILE: index };
  execFileSync("git", ["-c", "core.bare=false", ...git, "read-tree", "--reset", "-u", tree], { env, cwd: to });
  return listed(to);
}

async function seen(tree: string): Promise<string[]> {
  const opened = await workspace.verifyTree(tree);
  const found = listed(opened.path);
  await opened.release();
  return found;
}

const write = (path: string, text = path): void => {
  mkdirSync(dirname(join(place.repo, path)), { recursive: true });
  writeFileSync(join(place.repo, path), text);
};
const remove = (path: string): void => rmSync(join(place.repo, path), { recursive: true, force: true });
const STEPS: [string, () => void][] = [
  ["new files, deep and at the top", () => (write("x/y/z.txt"), write("top.txt"))],
  ["a file that becomes a folder", () => (remove("top.txt"), write("top.txt/in.txt"))],
  ["a folder that becomes a file", () => (remove("x"), write("x"))],
  ["a file that becomes a link", () => (remove("x"), symlinkSync("a.txt", join(place.repo, "x")))],
  ["a link that becomes a folder", () => (remove("x"), write("x/again.txt"))],
  ["a folder that becomes a link to another", () => (remove("x"), symlinkSync("dir", join(place.repo, "x")))],
  ["a program", () => chmodSync(join(place.repo, "a.txt"), 0o755)],
  ["names that are no words", () => (write("-rf"), write("sp ace\n$(x)"), write("ü/ñ"))],
  ["other rules for lines", () => write(".gitattributes", "*.txt text eol=crlf\n")],
  ["a change under those rules", () => write("a.txt", "one\r\ntwo\r\n")],
  ["nothing but what the rules say", () => remove(".gitattributes")],
  ["all gone but one", () => ["dir", "top.txt", "x", "ü", "-rf"].forEach(remove)],
];

it("whatever changes, forward and back", { timeout: 180_000 }, async () => {
  const trees: string[] = [];
  for (const [what, step] of STEPS) {
    step();
    const tree = await snapshot();
    trees.push(tree);
    expect([what, await seen(tree)]).toEqual([what, fresh(tree)]);
  }
  for (const tree of trees.toReversed()) expect(await seen(tree)).toEqual(fresh(tree));
  const paths = new Set(shown.map(([path]) => path));
  expect(paths.size).toBe(1);
});

it("by a later driver too, and anew when it is not known what is there", async () => {
  write("one.txt");
  const [first, second] = [await snapshot(), (write("two.txt"), await snapshot())];
  expect(await seen(second)).toEqual(fresh(second));
  await workspace.close();
  workspace = await open();
  expect(await seen(first)).toEqual(fresh(first));
  await workspace.close();
  const [path = ""] = shown.map(([at]) => at);
  writeFileSync(`${path}.holds`, `another-boot ${first}`);
  writeFileSync(join(path, "torn.txt"), "");
  workspace = await open();
  expect(await seen(first)).toEqual(fresh(first));
});

it("two trees are on disk while both are looked at, one when one is enough", async () => {
  write("one.txt");
  const [first, second] = [await snapshot(), (write("two.txt"), await snapshot())];
  const [a, b, again] = [
    await workspace.verifyTree(first),
    await workspace.verifyTree(second),
    await workspace.verifyTree(first),
  ];
  expect(a.path).not.toBe(b.path);
  expect(again.path).toBe(a.path);
  expect(listed(a.path)).toEqual(fresh(first));
  expect(listed(b.path)).toEqual(fresh(second));
  for (const tree of [a, b, again]) await tree.release();
  expect((await workspace.verifyTree(second)).path).toBe(b.path);
});

it("who wants one tree too many waits until another is released", async () => {
  const trees: string[] = [];
  for (const n of [1, 2, 3, 4, 5]) trees.push((write("n.txt", String(n)), await snapshot()));
  const [one, , , , fifth] = trees.map((tree) => workspace.verifyTree(tree));
  const held = await one;
  expect(await Promise.race([fifth, new Promise((resolve) => setTimeout(() => resolve("waits"), 1_500))])).toBe(
    "waits",
  );
  await held?.release();
  expect(listed((await fifth)?.path ?? "")).toEqual(fresh(trees[4] ?? ""));
});
