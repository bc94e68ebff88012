/** What becomes of a snapshot that was just taken: whose change it is decides what is put back and what is followed. */
import type { PathChange } from "../events.ts";
import { fault } from "../platform/faults.ts";
import type { Snapshot } from "../ports.ts";
import { followUser } from "./guard.ts";
import { judgedAgain, judgedTree, undoneIn, type Judged } from "./judged.ts";
import { getRef, treeOf, type Lane } from "./lane.ts";
import type { Numbers } from "./numbers.ts";
import { putBack } from "./put-back.ts";
import type { RawPath } from "./scan.ts";

/** Facts stay small. */
export const MAX_LISTED_PATHS = 200;

interface Request {
  n: number;
  at: number;
  parents: readonly string[];
  /** `start`: before the first turn everything is the user's. */
  by: "agent" | "user" | "start";
  /** The tree of the snapshot before it, judged already. */
  from: string;
  guard: string;
  tree: string;
  /** By a person, while the agent worked. */
  committed: string | undefined;
  /** Between these two. */
  changes: Numbers["changes"];
  nested: readonly RawPath[];
}

interface Result {
  guard: string;
  tree: string;
  /** The workspace still holds what the agent made of protected files. */
  isLeft: boolean;
  said: Pick<Snapshot, "protected" | "kept" | "baseTests" | "testsChanged" | "followed" | "testsFollowed">;
  warnings: string[];
}

export async function judgeSnapshot(lane: Lane, about: Request): Promise<Result> {
  const { n, by, tree } = about;
  if (by === "start") {
    lane.memory.tests = { tree, newTests: [], testsChanged: [] };
    return { guard: tree, tree, isLeft: false, said: {}, warnings: [] };
  }
  fault("judge");
  const touches = about.changes.some(
    ({ path }) => lane.protection.kindOf(Buffer.from(path, "latin1").toString("utf8")) !== undefined,
  );
  const theirs = by === "user" && touches ? tree : about.committed;
  const { guard, followed } =
    theirs === undefined
      ? { guard: about.guard, followed: [] }
      : await followUser(lane, { guard: about.guard, from: about.from, to: theirs, n });
  const earlier = by === "agent" ? getRef(lane, `protected/${n}`) : undefined;
  const { tests } = lane.memory;
  const isKnown = !touches && guard === about.guard && tests?.tree === about.from;
  const found = isKnown ? await judgedAgain(lane, { tree, tests }) : await judgedTree(lane, { guard, tree });
  // What a person did stays as it is.
  const judged = by === "agent" ? found : { ...found, tree, undone: [] };
  lane.memory.tests = { tree: judged.tree, newTests: judged.newTests, testsChanged: judged.testsChanged };
  // What an attempt that was cut off has put back already.
  const before = earlier === undefined ? [] : await undoneIn(lane, { guard, tree: await treeOf(lane, earlier) });
  const put =
    judged.tree === tree
      ? undefined
      : await putBack(lane, { ...about, from: tree, to: judged.tree, exchange: judged.exchange });
  const kept = put?.kept ?? (earlier === undefined ? undefined : `protected/${n}`);
  return {
    guard,
    tree: judged.tree,
    isLeft: put?.isWhole === false,
    said: {
      ...saidOf(judged, { before, followed }),
      ...(followed.some(({ path }) => lane.protection.kindOf(path) === "test") ? { testsFollowed: true } : {}),
      ...(kept === undefined ? {} : { kept }),
    },
    warnings: put?.warnings ?? [],
  };
}

function saidOf(
  { undone, testsChanged, baseTests }: Judged,
  { before, followed }: { before: readonly PathChange[]; followed: readonly PathChange[] },
): Result["said"] {
  const all = new Map([...before, ...undone].map((one) => [one.path, one]));
  const listed = (changes: Iterable<PathChange>): PathChange[] => [...changes].slice(0, MAX_LISTED_PATHS);
  return {
    ...(all.size === 0 ? {} : { protected: listed(all.values()) }),
    ...(testsChanged.length === 0 ? {} : { testsChanged: listed(testsChanged) }),
    ...(followed.length === 0 ? {} : { followed: listed(followed) }),
    ...(baseTests === undefined ? {} : { baseTests }),
  };
}
