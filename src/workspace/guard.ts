/**
 * The base of protection: the tree before the first turn, followed by what people change in protected files between
 * turns. Its name is in each snapshot's commit, so that a restored state is guarded as it was.
 */
import { join } from "node:path";
import type { PathChange } from "../events.ts";
import { undoneIn } from "./judged.ts";
import { keepRef, type Lane } from "./lane.ts";
import type { RawPath } from "./scan.ts";
import { differences, exchangedIn, type Blob } from "./tree-entries.ts";

const TRAILER = /^Pawl-Guard: ([0-9a-f]{40,64})$/m;
const LEFT = /^Pawl-Left: agent$/m;

/** Of a snapshot, from its commit's message. */
export function guardIn(message: string): string | undefined {
  return TRAILER.exec(message)?.[1];
}

/** The message with the guard's name, where that is not the base itself. */
export function withGuard(lane: Lane, { message, guard }: { message: string; guard: string }): string {
  return guard === lane.prepared.base.tree ? message : `${message}\n\nPawl-Guard: ${guard}`;
}

/**
 * The message of a snapshot after which the workspace may still hold what the agent made of protected files: they could
 * not be put back there, or nothing of it was looked at.
 */
export const withLeft = (message: string): string => `${message}\n\nPawl-Left: agent`;

export const isLeftIn = (message: string): boolean => LEFT.test(message);

interface Change {
  guard: string;
  /** The snapshot before it. */
  from: string;
  to: string;
  n: number;
}

/** After a change by the user. What another hand does to the agent's own new tests, or to the rest of a manifest, is no matter. */
export async function followUser(lane: Lane, about: Change): Promise<{ guard: string; followed: PathChange[] }> {
  const { guard: before, from, to } = about;
  const [all, known, undone] = await Promise.all([
    differences(lane.privateGit, { from, to }),
    differences(lane.privateGit, { from: before, to: from }),
    undoneIn(lane, { guard: before, tree: to }),
  ]);
  const agents = new Set(known.filter((one) => one.before === undefined).map(({ path }) => path));
  const changed = new Set(undone.map(({ path }) => path));
  const theirs = all.filter(({ path }) => {
    switch (lane.protection.kindOf(nameOf(path))) {
      case undefined:
        return false;
      case "config":
        return true;
      case "test":
        return !agents.has(path);
      case "keys":
        return changed.has(nameOf(path));
    }
  });
  if (theirs.length === 0) return { guard: about.guard, followed: [] };
  const exchange = new Map<RawPath, Blob | null>(theirs.map(({ path, after }) => [path, after ?? null]));
  const index = join(lane.layout.dir, "guard.index");
  const guard = await exchangedIn(lane.view, { tree: about.guard, index, exchange });
  // Nothing else holds it.
  await keepRef(lane, { name: `guard/${about.n}`, oid: guard });
  const followed = theirs.map(({ path, before, after }): PathChange => ({
    path: nameOf(path),
    how: before === undefined ? "added" : after === undefined ? "removed" : "edited",
  }));
  return { guard, followed };
}

const nameOf = (path: RawPath): string => Buffer.from(path, "latin1").toString("utf8");
