/**
 * Files that were there and ignored before the first turn are a person's own: local settings, keys, builds. They are no
 * part of the work, also when an agent takes away the rule that named them, until a person adds them.
 */
import { gitFailed, type Git } from "./git.ts";
import type { Lane } from "./lane.ts";
import { copyOfTheirs } from "./others-index.ts";
import { look, type Follow, type RawPath } from "./scan.ts";

const LIST = ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"];
/** Each folder that is ignored as a whole is one. */
export const MAX_IGNORED = 20_000;

/** Folders end with a `/`. */
export async function ignoredIn(git: Git): Promise<RawPath[]> {
  const listed = await git.run(LIST);
  if (listed.code !== 0) throw gitFailed(LIST, listed);
  return listed.stdout.toString("latin1").split("\0").filter(Boolean);
}

export const following = (lane: Lane, follow: Follow = { update: [], drop: [] }): Follow => ({
  ...follow,
  leftOut: (paths) => leftOut(lane, paths),
});

/** Of paths that are new or changed: those to be left out. */
async function leftOut(lane: Lane, paths: Iterable<RawPath>): Promise<ReadonlySet<RawPath>> {
  const { ignored: { paths: before, at } = { paths: [], at: 0 } } = lane.prepared;
  const files = new Set(before.filter((path) => !path.endsWith("/")));
  const folders = before.filter((path) => path.endsWith("/"));
  const isOld = (path: RawPath): boolean => (look(lane.spec.path, path)?.birthtimeMs ?? at) < at;
  const found = [...paths].filter(
    (path) => files.has(path) || (folders.some((folder) => path.startsWith(folder)) && isOld(path)),
  );
  if (found.length === 0) return new Set();
  const tracked = await Promise.all([lane.view, copyOfTheirs(lane)].map((git) => trackedIn(git)));
  return new Set(found.filter((path) => !tracked.some((all) => all.has(path))));
}

async function trackedIn(git: Git | undefined): Promise<ReadonlySet<RawPath>> {
  const listed = await git?.run(["ls-files", "-z"]);
  return new Set(listed?.stdout.toString("latin1").split("\0"));
}
