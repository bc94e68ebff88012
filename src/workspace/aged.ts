/**
 * Files that the base lacks look old in a verify tree: for who decides by time what need not be done again, such as make,
 * a stamp that the agent added must not be newer than what it stands for. Changed files stay as new as they are.
 */
import { existsSync, lutimesSync } from "node:fs";
import { join } from "node:path";
import { gitFailed } from "./git.ts";
import type { Lane } from "./lane.ts";
import { absolute } from "./scan.ts";

/** Of programs that compare times; elsewhere nothing is asked. */
const BY_TIME = ["Makefile", "makefile", "GNUmakefile", "build.ninja", "Rakefile", "SConstruct", "Snakefile"];
/** Older than anything built, and a year that archives can say. */
const OLD = new Date("2000-01-01T00:00:00Z");

export async function ageAdded(lane: Lane, { root, tree }: { root: string; tree: string }): Promise<void> {
  if (!BY_TIME.some((name) => existsSync(join(root, name)))) return;
  const { base } = lane.prepared;
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", base.tree, tree];
  const listed = await lane.privateGit.run(args);
  if (listed.code !== 0) throw gitFailed(args, listed);
  const added = listed.stdout.toString("latin1").split("\0").filter(Boolean);
  for (const path of added) if (existsSync(absolute(root, path))) lutimesSync(absolute(root, path), OLD, OLD);
}
