/** What trees of pawl's repository hold, and unified diffs between them, cut to a size. */
import { gitFailed, type Git } from "./git.ts";

const HOW = ["-r", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--submodule=short"];

export async function diffTrees(
  git: Git,
  { from, to, maxBytes }: { from: string; to: string; maxBytes: number },
): Promise<string> {
  if (from === to) return "";
  const args = ["diff-tree", ...HOW, from, to, "--"];
  const mark = `\n[cut at ${maxBytes} bytes]\n`;
  const result = await git.run(args, { maxBytes: Math.max(maxBytes - mark.length, 0) });
  if (result.code !== 0 && !result.truncated) throw gitFailed(args, result);
  const text = result.stdout.toString("utf8");
  return result.truncated ? text.replace(/\uFFFD+$/, "") + mark : text;
}

/** undefined when the tree has no such file; a link's text is where it leads. */
export async function fileAt(
  git: Git,
  { tree, path, maxBytes }: { tree: string; path: string; maxBytes: number },
): Promise<string | undefined> {
  const list = ["ls-tree", "-z", "--full-tree", tree, "--", path];
  const listed = await git.need(list);
  const [, type, oid] = /^\d+ (\w+) ([0-9a-f]+)\t/.exec(listed) ?? [];
  if (type !== "blob" || oid === undefined) return undefined;
  const args = ["cat-file", "blob", oid];
  const result = await git.run(args, { maxBytes });
  if (result.code !== 0 && !result.truncated) throw gitFailed(args, result);
  return result.stdout.toString("utf8");
}
