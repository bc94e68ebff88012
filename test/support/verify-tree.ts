/** A tree to be judged, and what is told of its change, both made of texts. */
import { join } from "node:path";
import type { JudgeAbout, VerifyTree } from "../../src/ports.ts";
import { noAbout } from "./about.ts";
import { tempDir, writeFiles } from "./temp.ts";

const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

type Files = Readonly<Record<string, string>>;

export function treeOf(files: Files = {}): VerifyTree {
  const path = join(tempDir("verify"), "tree");
  writeFiles(path, { ".keep": "", ...files });
  return { path, tree: TREE, isolation: "copy", release: async () => {} };
}

/** The change from one set of files to another; lines are counted as if each changed file were written anew. */
export function aboutChange(before: Files, after: Files, more: Partial<JudgeAbout["change"]> = {}): JudgeAbout {
  const lines = (text: string | undefined): number => (text ?? "").split("\n").length - 1;
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const files = paths
    .filter((path) => before[path] !== after[path])
    .map((path) => ({
      path,
      status: before[path] === undefined ? "A" : after[path] === undefined ? "D" : "M",
      added: lines(after[path]),
      removed: lines(before[path]),
    }));
  return {
    ...noAbout,
    change: {
      ...noAbout.change,
      files: async () => files,
      diff: async () => files.map(({ path }) => `+++ ${path}\n${after[path] ?? ""}`).join("\n"),
      before: async (path) => before[path],
      ...more,
    },
  };
}
