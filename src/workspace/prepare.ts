/**
 * The first effect of a run: freezes the settings, copies the base into pawl's repository, makes the branch. What is
 * about to be done is written down before the user's repository is touched, so that every step can be repeated.
 */
import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../errors.ts";
import { writeDurably } from "../platform/files.ts";
import type { Base } from "../ports.ts";
import type { WorkspaceSpec } from "../spec.ts";
import { checkedBranch } from "./branch.ts";
import { copyDependencies } from "./dependencies.ts";
import { ignoredIn, MAX_IGNORED } from "./ignored-before.ts";
import { fillFencedGit } from "./fenced-git.ts";
import { branchTip } from "./handover.ts";
import { inspectRepository, type Head, type RepositoryFacts } from "./inspect.ts";
import { openLane, placesOf, readPrepared, type Lane, type Prepared } from "./lane.ts";
import { slotPath, type LaneLayout } from "./layout.ts";
import { EMPTY_TREE, makeDirsDurably } from "./objects.ts";
import { copyCommit, copyObjects, initPrivateRepository } from "./private-repository.ts";
import { indexNumbers, isNoObject } from "./numbers.ts";
import { look, NO_CAPS, scan, shown } from "./scan.ts";
import { freezeSettings, type Frozen } from "./settings.ts";
import { snapshotNested } from "./nested.ts";
import { gitFoldersIn } from "./reopened.ts";
import { startBranch, type Intent } from "./start-branch.ts";
import { findSubmodules, missingWords } from "./submodules.ts";
import { clearOwnLock } from "./take-tree.ts";
import { copyIndex, copyShared, sweepHolds } from "./user-index.ts";
import { isWithin, type Environment } from "./user-git.ts";
import { watchLater } from "./watch-later.ts";
import { watchRefs } from "./watch-refs.ts";
import { counted } from "../plural.ts";

const SHOWN_PATHS = 3;

export interface PrepareRequest {
  layout: LaneLayout;
  run: string;
  spec: WorkspaceSpec;
  environment: Environment;
  /** Dependencies of judged trees are made by a command: those in the workspace need not be copied. */
  isSetUp?: boolean;
}

export async function prepare(request: PrepareRequest): Promise<Prepared> {
  const { layout } = request;
  const done = readPrepared(layout);
  if (done !== undefined) {
    await fillFencedGit(openLane({ ...request, prepared: done }));
    return done;
  }
  const facts = await inspectRepository(request.spec.path, { environment: request.environment });
  refuseUnusable(request, facts);
  // Who commits nothing may look on while another run is driven.
  if (request.spec.commit !== "none") sweepHolds(facts.gitDir);
  makeDirsDurably(layout.dir);
  await clearOwnLock(layout.index);
  initPrivateRepository(layout, facts.objectFormat);
  const frozen = await freezeSettings(layout, {
    facts,
    workspace: request.spec.path,
    environment: request.environment,
  });
  const intended = readIntent(layout, facts, request.spec);
  const head = intended?.head ?? facts.head;
  const lane = openLane({ ...request, prepared: firstDraft({ facts, frozen, head, request }) });
  const places = placesOf(lane);
  if (head.is !== "unborn") await copyCommit(head.commit, places);
  takeUserIndex(layout, facts);
  const staged = await stagedChanges(lane);
  await copyObjects(
    staged.map(({ blob }) => blob).filter((blob) => blob !== null),
    places,
  );
  const intent = intended ?? (await makeIntent(lane, { head, staged: staged.map(({ path }) => path) }));
  // Inside a fence the verify tree lies at the workspace's own path.
  const instead = existsSync(layout.fencedGit) ? request.spec.path : slotPath(layout, 0);
  const ignored = await ignoredIn(lane.view);
  const copying = { ignored, to: layout.dependencies, instead };
  const dependencies = request.isSetUp === true ? [] : await copyDependencies(request.spec.path, copying);
  const { gitlinks, warnings: hidden } = await trackedOddities(lane);
  const submodules = await findSubmodules(gitlinks, {
    workspace: request.spec.path,
    commonDir: facts.commonDir,
    environment: request.environment,
  });
  const warnings = [...hidden, ...missingWords(submodules)];
  const prepared = await startBranch(
    { ...lane, prepared: { ...lane.prepared, dependencies, gitlinks, submodules, warnings } },
    intent,
  );
  if (request.spec.scratch !== true) prepared.ignored = { paths: ignored.slice(0, MAX_IGNORED), at: intent.at };
  prepared.gitFolders = await gitFoldersIn(lane, prepared.base.tree);
  await watchRefs(lane);
  watchLater(lane);
  writeDurably(layout.prepared, JSON.stringify(prepared));
  await fillFencedGit({ ...lane, prepared });
  return prepared;
}

function refuseUnusable({ spec, layout }: PrepareRequest, facts: RepositoryFacts): void {
  if (isWithin(layout.root, spec.path))
    throw new UsageError(`pawl's state (${layout.root}) lies inside the workspace, where the agent could change it`, {
      hint: "Set PAWL_HOME to a directory outside the repository.",
    });
  if (facts.topLevel !== spec.path)
    throw new UsageError(`${spec.path} is not the top level of its repository (${facts.topLevel})`, {
      hint: "Give the top level as the workspace.",
    });
  if (facts.inProgress !== null)
    throw new UsageError(`a ${facts.inProgress} is in progress in ${spec.path}`, {
      hint: `Finish it or run \`git ${facts.inProgress} --abort\` first.`,
    });
  if (spec.commit === "current" && facts.head.is === "detached")
    throw new UsageError("HEAD is detached: there is no current branch to commit to", {
      hint: "Check out a branch, or leave --current-branch out.",
    });
  if (spec.commit === "branch") checkedBranch(spec.branch ?? "");
}

function firstDraft(about: { facts: RepositoryFacts; frozen: Frozen; head: Head; request: PrepareRequest }): Prepared {
  const { facts, frozen, head, request } = about;
  const empty = EMPTY_TREE[facts.objectFormat];
  const base: Base = {
    commit: head.is === "unborn" ? null : head.commit,
    tree: head.is === "unborn" ? empty : head.tree,
    branch: head.is === "detached" ? null : head.branch,
    detached: head.is === "detached",
  };
  return {
    v: 1,
    base,
    origin: base.commit,
    branch: branchOf(request.spec, base),
    gitDir: facts.gitDir,
    commonDir: facts.commonDir,
    objects: realpathSync(join(facts.commonDir, "objects")),
    refs: realpathSync(join(facts.commonDir, "refs")),
    objectFormat: facts.objectFormat,
    author: frozen.author,
    path: frozen.path,
    shared: frozen.shared,
    gitlinks: [],
    dependencies: [],
    warnings: [],
  };
}

function branchOf(spec: WorkspaceSpec, base: Base): string | null {
  switch (spec.commit) {
    case "branch":
      return spec.branch ?? null;
    case "current":
      return base.branch;
    case "none":
      return null;
  }
}

/** The intent of an earlier attempt holds only while HEAD is where that attempt found or put it. */
function readIntent(layout: LaneLayout, { head }: RepositoryFacts, spec: WorkspaceSpec): Intent | undefined {
  if (!existsSync(layout.preparing)) return undefined;
  const intent = JSON.parse(readFileSync(layout.preparing, "utf8")) as Intent;
  const onOurs =
    head.is !== "detached" && head.branch === (spec.commit === "branch" ? spec.branch : headBranch(intent.head));
  return onOurs || JSON.stringify(head) === JSON.stringify(intent.head) ? intent : undefined;
}

function headBranch(head: Head): string | undefined {
  return head.is === "detached" ? undefined : head.branch;
}

/** pawl's index starts as the user's: flags, sparse entries and stat data are all there. */
function takeUserIndex(layout: LaneLayout, { gitDir }: RepositoryFacts): void {
  const from = join(gitDir, "index");
  rmSync(layout.index, { force: true });
  if (!existsSync(from)) return;
  copyIndex(from, layout.index);
  copyShared(gitDir, layout.view);
}

/** What the user's index holds that HEAD does not; the new blobs are copied in, or pawl's index would be hollow. */
async function stagedChanges(lane: Lane): Promise<{ path: string; blob: string | null }[]> {
  const { changes } = await indexNumbers(lane.view, lane.prepared.base.tree, { counted: false });
  const unmerged = changes.find(({ blob }) => blob !== null && isNoObject(blob));
  if (unmerged === undefined) return changes;
  throw new UsageError(`${shown(unmerged.path)} in ${lane.spec.path} is unmerged`, {
    hint: "Resolve the conflict and `git add` the file first; an unfinished `git stash pop` leaves one, too.",
  });
}

async function makeIntent(lane: Lane, { head, staged }: { head: Head; staged: string[] }): Promise<Intent> {
  const found = await scan(lane.view, NO_CAPS);
  const paths = [...new Set([...staged, ...found.update, ...found.drop, ...found.nested])];
  const memos = lane.spec.memos.map((path) => Buffer.from(path).toString("latin1"));
  const others = paths.filter((path) => !memos.includes(path));
  if (others.length > 0 && !lane.spec.allowDirty) {
    const names = others.slice(0, SHOWN_PATHS).map(shown).join(", ");
    const more = others.length > SHOWN_PATHS ? ` and ${others.length - SHOWN_PATHS} more` : "";
    throw new UsageError(`${lane.spec.path} has uncommitted changes: ${names}${more}`, {
      hint: "Commit or stash them, or pass --allow-dirty to make them the run's first commit.",
    });
  }
  const { branch } = lane.prepared;
  const isOther = branch !== null && headBranch(head) !== branch;
  const isNewBranch = isOther && (await branchTip(lane, branch)) === undefined;
  const intent: Intent = { head, dirty: paths.length > 0, isNewBranch, at: Date.now() };
  writeDurably(lane.layout.preparing, JSON.stringify(intent));
  return intent;
}

/** Submodules, and files whose changes the user told git not to look at. */
async function trackedOddities(lane: Lane): Promise<{ gitlinks: string[]; warnings: string[] }> {
  const listed = (await lane.view.run(["ls-files", "-z", "-s", "-v"])).stdout.toString("latin1").split("\0");
  const pathOf = (line: string) => line.slice(line.indexOf("\t") + 1);
  const gitlinks = listed.filter((line) => line.slice(2).startsWith("160000 ")).map(pathOf);
  // One that is not there is a sparse checkout's.
  const isThere = (path: string): boolean => look(lane.spec.path, path) !== undefined;
  const hidden = [
    ...listed.filter((line) => /^[a-z] /.test(line)).map(pathOf),
    ...listed
      .filter((line) => line.startsWith("S "))
      .map(pathOf)
      .filter(isThere),
  ];
  if (gitlinks.length > 0) await snapshotNested(withGitlinks(lane, gitlinks), baselineRequest);
  if (hidden.length === 0) return { gitlinks, warnings: [] };
  const names = hidden.slice(0, SHOWN_PATHS).map(shown).join(", ");
  return {
    gitlinks,
    warnings: [
      `${counted(hidden.length, "file")} marked assume-unchanged or skip-worktree, changes there are not seen: ${names}`,
    ],
  };
}

const baselineRequest = { found: [], name: "base", at: 0, caps: NO_CAPS };

function withGitlinks(lane: Lane, gitlinks: string[]): Lane {
  return { ...lane, prepared: { ...lane.prepared, gitlinks } };
}
