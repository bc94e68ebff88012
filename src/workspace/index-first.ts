/**
 * The user's index, so that their `git status` tells the truth. It is there before the branch, and held until that has
 * moved: the old index on top of the moved branch would take the work back with the user's next commit.
 */
import { join } from "node:path";
import type { Git } from "./git.ts";
import { withMarks } from "./index-marks.ts";
import type { Lane } from "./lane.ts";
import { indexMark, keepStaged, othersIndex, theirIndex, type Keeping, type TheirIndex } from "./others-index.ts";
import { holdIndex, type HeldIndex } from "./user-index.ts";

/** How often somebody may stage or commit under our hands; the last look is taken while nobody can. */
const MAX_LOOKS = 3;

interface Putting {
  /** The index to be put. */
  from: string;
  keeping: Keeping;
  /** Asked while nobody can stage or commit: is all else where it was seen? */
  isStill: () => Promise<boolean>;
}

interface FirstIndex {
  /** `moved`: it is not, and nothing was put; `left`: the index has to stay as it is. */
  is: "put" | "moved" | "left";
  /** What is to be told, however it ends; of what was kept see `keptWords`. */
  said: string[];
  /** Once the branch has moved, or could not be. */
  letGo: () => void;
}

export async function indexFirst(lane: Lane, { from, keeping, isStill }: Putting): Promise<FirstIndex> {
  const said: string[] = [];
  const keep = async (theirs: Git | undefined): Promise<unknown> =>
    theirs && said.push(...(await keepStaged(lane, { ...keeping, theirs })));
  const nothing = (): void => undefined;
  const left = (why: string): FirstIndex => ({ is: "left", said: [...said, why], letGo: nothing });
  const place = { gitDir: lane.prepared.gitDir, workspace: lane.spec.path, run: lane.run };
  for (let look = 1; look <= MAX_LOOKS; look += 1) {
    const seen = theirIndex(lane);
    if (seen.is === "odd") return left(oddWords(lane, seen));
    const isLast = look === MAX_LOOKS;
    // Not while it is held, for that may take long; but who stages without a pause is not waited for.
    const theirs = othersIndex(lane);
    const marked = await withMarks(lane, { from, theirs });
    if (!isLast) await keep(theirs);
    const index = await holdIndex(marked, place);
    if (index === undefined) break;
    let isPut = false;
    try {
      // Looked at again now that nobody can stage or commit: else what they just did would be theirs no more.
      if (!(await isStill())) return { is: "moved", said, letGo: nothing };
      const now = theirIndex(lane);
      if (now.is === "odd") return left(oddWords(lane, now));
      if (isLast) await keep(othersIndex(lane));
      if (isLast || isSame(seen, now)) isPut = index.put();
    } finally {
      if (!isPut) index.letGo();
    }
    if (isPut) return { is: "put", said, letGo: () => letGo(lane, index) };
  }
  return left("another git holds the index; run `git reset` when it is done to refresh the status");
}

const isSame = (one: TheirIndex, other: TheirIndex): boolean => JSON.stringify(one) === JSON.stringify(other);

const oddWords = ({ prepared }: Lane, { why }: { why: string }): string =>
  `${join(prepared.gitDir, "index")} is ${why}, and left as it is; run \`git reset\` before you commit`;

function letGo(lane: Lane, index: HeldIndex): void {
  lane.memory.keptIndex = lane.memory.followedIndex = indexMark(lane);
  index.letGo();
}
