/** One lane's hold on its workspace: places, git processes, what `prepare` found, and what is known between calls. */
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import type { Base } from "../ports.ts";
import type { ProtectSpec, WorkspaceSpec } from "../spec.ts";
import { NOTHING_PROTECTED } from "../verdict-defaults.ts";
import { openGit, type Git } from "./git.ts";
import type { Marks } from "./index-marks.ts";
import type { LaneLayout } from "./layout.ts";
import { commitBytes, readRef, writeCommit, writeRef, type CommitRequest, type ObjectFormat } from "./objects.ts";
import { PAWL, type Person } from "./objects.ts";
import { readCommit } from "./private-repository.ts";
import { protection, type Protection } from "./protection.ts";
import type { TestsApart } from "./judged.ts";
import type { RefCache } from "./read-refs.ts";
import type { RawPath } from "./scan.ts";
import type { Submodule } from "./submodules.ts";

/** What `prepare` fixed for the whole run; a file in pawl's state. */
export interface Prepared {
  v: 1;
  base: Base;
  /** HEAD's commit before the run touched anything. */
  origin: string | null;
  /** Where accepted work goes; null when nothing is committed. */
  branch: string | null;
  /** pawl made it, for this run alone. */
  isOwnBranch?: boolean;
  gitDir: string;
  commonDir: string;
  /** The user's object directory and refs, as real paths. */
  objects: string;
  refs: string;
  objectFormat: ObjectFormat;
  author: Person;
  /** PATH for git and filters. */
  path: string;
  shared: boolean;
  /** Submodules of the base (bytes). */
  gitlinks: string[];
  /** With the places of their objects; none in runs of before they were looked for. */
  submodules?: Submodule[];
  /** Dependency folders that were copied for checks (bytes). */
  dependencies: string[];
  /** What was there and ignored (bytes), and when that was (ms); unknown in runs of before it was looked for. */
  ignored?: { paths: string[]; at: number };
  /** Folders of tracked files with a repository of their own (bytes); unknown in runs of before they were looked for. */
  gitFolders?: string[];
  /** For the first snapshot: what it will not see. */
  warnings: string[];
}

export interface Lane {
  readonly layout: LaneLayout;
  readonly run: string;
  readonly spec: WorkspaceSpec;
  readonly prepared: Prepared;
  /** The workspace with the frozen settings, pawl's index and pawl's objects. */
  readonly view: Git;
  readonly privateGit: Git;
  /** The user's refs. Their settings are read, so only commands that touch refs and objects by name. */
  readonly user: Git;
  readonly protection: Protection;
  /** The agent cannot reach the user's repository: who commits there is a person. */
  readonly isApart: boolean;
  readonly memory: Memory;
}

/** Shortcuts only: everything here can be found out again. */
export interface Memory {
  /** The tree of pawl's index. */
  indexTree?: string | undefined;
  /** What the user's branch lacks of `tree`: changed paths with their blobs. */
  pending?: { tree: string; changes: Map<string, string | null> } | undefined;
  nestedTrees: Map<string, string>;
  /** Marks of the user's index: the one whose tracking is followed, and the one whose contents pawl holds. */
  followedIndex?: string | undefined;
  keptIndex?: string | undefined;
  /** That the index which was put has, and pawl's own has not. */
  marks?: Marks | undefined;
  refs: RefCache;
  /** What tests of the last judged tree are not the base's. */
  tests?: ({ tree: string } & TestsApart) | undefined;
  guardTests?: { guard: string; any: boolean } | undefined;
  /** Protected files of a tree, and the folders above them. */
  guarded?: { guard: string; files: RawPath[]; folders: RawPath[] } | undefined;
  /** From the snapshot before the last to the last. */
  step?: { from: string; to: string; paths: readonly RawPath[] } | undefined;
  /** The user's refs at the last look. */
  seenRefs?: Map<string, string> | undefined;
}

interface LaneRequest {
  layout: LaneLayout;
  run: string;
  spec: WorkspaceSpec;
  prepared: Prepared;
  /** Without it nothing is: enough for whoever takes no snapshots. */
  protect?: ProtectSpec;
  isApart?: boolean;
}

export function openLane({ protect = NOTHING_PROTECTED, isApart = false, ...about }: LaneRequest): Lane {
  const { layout, run, spec, prepared } = about;
  const place = { home: layout.home, globalConfig: layout.globalConfig, path: prepared.path, run };
  return {
    ...about,
    view: openGit({
      ...place,
      gitDir: layout.view,
      objects: join(layout.privateGit, "objects"),
      workTree: spec.path,
      index: layout.index,
    }),
    privateGit: openGit({ ...place, gitDir: layout.privateGit }),
    user: openGit({ ...place, gitDir: prepared.gitDir, commonDir: prepared.commonDir, sync: "few" }),
    protection: protection(protect),
    isApart,
    memory: { nestedTrees: new Map(), refs: { folders: new Map() } },
  };
}

export function readPrepared(layout: LaneLayout): Prepared | undefined {
  return existsSync(layout.prepared) ? (JSON.parse(readFileSync(layout.prepared, "utf8")) as Prepared) : undefined;
}

/** Commits into the private repository. */
export async function commit(
  lane: Lane,
  request: Omit<CommitRequest, "author"> & { author?: Person },
): Promise<string> {
  return await writeCommit(join(lane.layout.privateGit, "objects"), {
    body: commitBytes({ author: PAWL, ...request }),
    format: lane.prepared.objectFormat,
  });
}

/** `name` below the lane's own refs, e.g. `snap/3`. */
export function getRef(lane: Lane, name: string): string | undefined {
  return readRef(lane.layout.privateGit, `${lane.layout.refs}/${name}`);
}

export async function setRef(lane: Lane, { name, oid }: { name: string; oid: string }): Promise<void> {
  await writeRef(lane.layout.privateGit, { name: `${lane.layout.refs}/${name}`, oid });
}

export function dropRef(lane: Lane, name: string): void {
  rmSync(join(lane.layout.privateGit, lane.layout.refs, name), { force: true });
}

const numbered = (name: string, k: number): string => (k === 1 ? name : `${name}.${k}`);

/** Under a name of its own when that one is taken by something else: what is named here must never be dropped. */
export async function keepRef(lane: Lane, { name, oid }: { name: string; oid: string }): Promise<string> {
  for (let k = 1; ; k += 1) {
    const free = numbered(name, k);
    const there = getRef(lane, free);
    if (there === undefined) await setRef(lane, { name: free, oid });
    if (there === undefined || there === oid) return free;
  }
}

/** All that was kept under that name. */
export function keptRefs(lane: Lane, name: string): { name: string; oid: string }[] {
  const kept = [];
  for (let k = 1; ; k += 1) {
    const oid = getRef(lane, numbered(name, k));
    if (oid === undefined) return kept;
    kept.push({ name: numbered(name, k), oid });
  }
}

export async function treeOf(lane: Lane, oid: string): Promise<string> {
  const { base, branch } = lane.prepared;
  // Without a branch the base's tree may be one that its commit lacks: what was uncommitted is in no commit then.
  if (branch !== null && oid === base.commit) return base.tree;
  return (await readCommit(oid, lane.privateGit)).tree;
}

/** For copying from the user's objects. */
export function placesOf(lane: Lane): { lane: LaneLayout; view: Git; privateGit: Git; userObjects: string } {
  return { lane: lane.layout, view: lane.view, privateGit: lane.privateGit, userObjects: lane.prepared.objects };
}

/** The workspace directory itself: one that was deleted is an empty one, one that became a link is refused. */
export function ensureWorkspace(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) mkdirSync(path, { recursive: true });
  else if (!stats.isDirectory() || realpathSync(path) !== path)
    throw new TerminalError(`${path} is not the directory any more that the run began with`, {
      hint: "Put the directory back in its place, then resume; all snapshots are safe.",
    });
}
