/**
 * Which dependencies a tree asks for, as a key: the content of the files that decide about them, with the command that
 * makes them and where it runs. And the tree they are made in: the base with those files of the judged tree, so that
 * nothing else an agent wrote is run with it, and the same key means the same dependencies.
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { globMatcher, spelledOut } from "../platform/glob.ts";
import type { SetupSpec } from "../spec.ts";
import type { Lane } from "./lane.ts";
import { shown, type RawPath } from "./scan.ts";

interface KeyFile {
  path: RawPath;
  /** Mode and object, as git lists them. */
  is: string;
}

export interface Asked {
  key: string;
  tree: string;
  /** Key files that differ from the base's, for people. */
  touched: string[];
}

/** Of the environment: the names that are another's in every run and say nothing of what is installed. */
const NOT_ITS_OWN = /^(HOME|PAWL_.*|TMPDIR|TMP|TEMP|XDG_RUNTIME_DIR)$/;

interface About {
  spec: SetupSpec;
  environment: Readonly<Record<string, string>>;
  /** The path its files have for the command: installs hold it. */
  seenAt: string;
}

/** Remembers the last tree: most changes touch none of the files. */
export function keysOf(lane: Lane, { spec, environment, seenAt }: About): (tree: string) => Promise<Asked> {
  const isKey = globMatcher(spec.keys.map(spelledOut));
  const { base } = lane.prepared;
  const own = Object.keys(environment)
    .filter((name) => !NOT_ITS_OWN.test(name))
    .toSorted()
    .map((name) => [name, environment[name]]);
  const fixed = JSON.stringify([spec.command, seenAt, process.platform, process.arch, own]);
  let last: { tree: string; asked: Asked } | undefined;
  let ofBase: Promise<KeyFile[]> | undefined;

  const find = async (tree: string): Promise<Asked> => {
    const before = await (ofBase ??= filesOf(lane, { tree: base.tree, isKey }));
    const files = tree === base.tree ? before : await filesOf(lane, { tree, isKey });
    const hash = createHash("sha256")
      .update(fixed)
      .update(JSON.stringify(files.map(({ path, is }) => [path, is])));
    const touched = differing(before, files);
    return {
      key: hash.digest("hex").slice(0, 32),
      tree: touched.length === 0 ? base.tree : await withFiles(lane, { before, files }),
      touched: touched.map(shown),
    };
  };
  return async (tree) => {
    if (last !== undefined && last.tree !== tree) {
      const args = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", last.tree, tree];
      const { code, stdout } = await lane.privateGit.run(args);
      const isSame = code === 0 && !stdout.toString("latin1").split("\0").some(isKey);
      last = isSame ? { tree, asked: last.asked } : undefined;
    }
    return (last ??= { tree, asked: await find(tree) }).asked;
  };
}

async function filesOf(lane: Lane, about: { tree: string; isKey: (path: string) => boolean }): Promise<KeyFile[]> {
  const listed = (await lane.privateGit.run(["ls-tree", "-r", "-z", about.tree])).stdout.toString("latin1").split("\0");
  return listed.filter(Boolean).flatMap((line) => {
    const path = line.slice(line.indexOf("\t") + 1);
    return about.isKey(path) ? [{ path, is: line.slice(0, line.indexOf("\t")) }] : [];
  });
}

function differing(before: readonly KeyFile[], files: readonly KeyFile[]): RawPath[] {
  const [was, is] = [before, files].map((all) => new Map(all.map((one) => [one.path, one.is])));
  const paths = new Set([...before, ...files].map(({ path }) => path));
  return [...paths].filter((path) => was?.get(path) !== is?.get(path));
}

async function withFiles(lane: Lane, about: { before: KeyFile[]; files: KeyFile[] }): Promise<string> {
  const index = join(lane.layout.dir, "setup.index");
  for (const left of [index, `${index}.lock`]) rmSync(left, { force: true });
  const git = lane.view.at({ index, sync: "few" });
  await git.need(["read-tree", lane.prepared.base.tree]);
  const gone = about.before.map(({ path }) => `0 ${"0".repeat(40)}\t${path}\0`);
  const there = about.files.map(({ path, is }) => {
    const [mode = "", , oid = ""] = is.split(" ");
    return `${mode} ${oid}\t${path}\0`;
  });
  const input = Buffer.from([...gone, ...there].join(""), "latin1");
  await git.need(["update-index", "-z", "--index-info"], { input });
  return await git.need(["write-tree"]);
}
