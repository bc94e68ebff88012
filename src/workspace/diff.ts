/** Unified diffs between trees of pawl's repository, cut to a size. */
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
