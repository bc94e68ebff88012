/**
 * Marks that a person puts on files in the index, skip-worktree and assume-unchanged: pawl's own index knows those of
 * before the run alone, and what it hands over would take the others off.
 */
import { join } from "node:path";
import type { Git } from "./git.ts";
import type { Lane } from "./lane.ts";
import { look, workTreeOf, type RawPath } from "./scan.ts";
import { copyIndex } from "./user-index.ts";

/** By path, as `ls-files -v` shows them: `S` for skip-worktree, a small letter for assume-unchanged, `H` for neither. */
export type Marks = ReadonlyMap<RawPath, string>;

const PLAIN = /^[HS]$/i;
const isSkipped = (shown: string): boolean => shown.toUpperCase() === "S";
const OPTIONS: readonly { option: string; has: (shown: string) => boolean }[] = [
  { option: "skip-worktree", has: isSkipped },
  { option: "assume-unchanged", has: (shown) => shown !== shown.toUpperCase() },
];

/** That index, or a copy of it with the user's marks. `theirs` is undefined where nobody wrote the one that pawl put. */
export async function withMarks(
  lane: Lane,
  { from, theirs }: { from: string; theirs: Git | undefined },
): Promise<string> {
  const wanted = theirs === undefined ? lane.memory.marks : await marksOf(theirs);
  if (wanted === undefined) return from;
  const ours = await marksOf(lane.view.at({ index: from }));
  const differing = new Map([...wanted].filter(([path, shown]) => ours.has(path) && ours.get(path) !== shown));
  lane.memory.marks = differing.size === 0 ? undefined : differing;
  if (differing.size === 0) return from;
  const marked = join(lane.layout.dir, "marked.index");
  copyIndex(from, marked);
  await mark(lane.view.at({ index: marked, sync: "few" }), { wanted: differing, ours });
  return marked;
}

/**
 * What a person has marked since, pawl's index has marked, too: changes in such a file are not to be seen, and what a
 * sparse checkout took away is not deleted. Where an agent may have made the marks, those of a sparse checkout alone
 * are followed, and only for files that are as they say.
 */
export async function followMarks(lane: Lane, theirs: Git): Promise<void> {
  const [wanted, ours] = await Promise.all([marksOf(theirs), marksOf(lane.view)]);
  const differing = [...wanted].filter(([path, shown]) => (ours.get(path) ?? shown) !== shown);
  if (differing.length === 0) return;
  const followed = lane.isApart ? differing : await onlySparse(lane, { differing, ours });
  if (followed.length > 0) await mark(lane.view, { wanted: new Map(followed), ours });
}

type Marked = readonly [path: RawPath, shown: string];

/** A mark alone says nothing of a file that is gone: without a sparse checkout it was deleted. */
async function onlySparse(
  lane: Lane,
  { differing, ours }: { differing: readonly Marked[]; ours: Marks },
): Promise<Marked[]> {
  const root = workTreeOf(lane.view);
  const found = differing.flatMap(([path, shown]) => {
    const own = ours.get(path) ?? shown;
    if (isSkipped(own) === isSkipped(shown) || isSkipped(shown) === (look(root, path) !== undefined)) return [];
    const next = isSkipped(shown) ? "S" : "H";
    return [[path, own === own.toUpperCase() ? next : next.toLowerCase()] as const];
  });
  const isAway = ([, shown]: Marked): boolean => isSkipped(shown);
  return found.some(isAway) && !(await isSparse(lane)) ? found.filter((one) => !isAway(one)) : found;
}

const isSparse = async ({ user }: Lane): Promise<boolean> =>
  (await user.run(["config", "--bool", "core.sparseCheckout"])).stdout.toString().trim() === "true";

async function marksOf(git: Git): Promise<Marks> {
  const listed = await git.run(["ls-files", "-z", "-v"]);
  // One that git cannot read has none to keep.
  const lines = listed.code === 0 ? listed.stdout.toString("latin1").split("\0").filter(Boolean) : [];
  return new Map(lines.map((line) => [line.slice(2), line.slice(0, 1)] as const).filter(([, is]) => PLAIN.test(is)));
}

async function mark(git: Git, { wanted, ours }: { wanted: Marks; ours: Marks }): Promise<void> {
  for (const { option, has } of OPTIONS) {
    const changed = [...wanted].filter(([path, shown]) => has(shown) !== has(ours.get(path) ?? ""));
    for (const is of [true, false]) {
      const paths = changed.filter(([, shown]) => has(shown) === is).map(([path]) => `${path}\0`);
      if (paths.length === 0) continue;
      const how = `--${is ? "" : "no-"}${option}`;
      await git.need(["update-index", how, "-z", "--stdin"], { input: Buffer.from(paths.join(""), "latin1") });
    }
  }
}
