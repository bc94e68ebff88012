/** The Workspace port on git: one lane's directory, with pawl's private repository beside it. */
import { TerminalError, UsageError } from "../errors.ts";
import { fault } from "../platform/faults.ts";
import type { Workspace } from "../ports.ts";
import type { ProtectSpec, WorkspaceSpec } from "../spec.ts";
import { accept } from "./accept.ts";
import { diffTrees, fileAt } from "./diff.ts";
import { getRef, openLane, readPrepared, treeOf, type Lane } from "./lane.ts";
import { laneLayout, realPath } from "./layout.ts";
import { ledElsewhere, ledToOtherWork } from "./elsewhere.ts";
import { bringBranchBack, dropBranch } from "./drop-branch.ts";
import { leftover } from "./leftover.ts";
import { readMemo, writeMemo } from "./memo.ts";
import { treeNumbers } from "./numbers.ts";
import { plantedTree } from "./planted-tree.ts";
import { prepare } from "./prepare.ts";
import { restore } from "./restore.ts";
import { snapshot } from "./snapshot.ts";
import { standing } from "./standing.ts";
import { clearOwnLock } from "./take-tree.ts";
import type { Environment } from "./user-git.ts";
import { sweepHolds } from "./user-index.ts";
import { verifyTrees, type VerifyOptions, type VerifyTrees } from "./verify-tree.ts";

export interface WorkspaceRequest {
  spec: WorkspaceSpec;
  run: string;
  lane: string;
  stateDir: string;
  /** What of an agent's change is undone; nothing unless said. */
  protect?: ProtectSpec;
  /** A fence keeps the agent away from the user's repository. */
  isApart?: boolean;
  /** The user's own (HOME, PATH, XDG_CONFIG_HOME, GIT_CONFIG_*): where their git settings are found. */
  environment: Environment;
  /** How checks see trees. */
  verify?: VerifyOptions;
}

/** The caller holds the workspace's lock while methods that change something run. */
export async function openWorkspace(request: WorkspaceRequest): Promise<Workspace> {
  const { run, environment } = request;
  const layout = laneLayout({ ...request, repository: request.spec.repository });
  const spec = { ...request.spec, path: realPath(request.spec.path) };
  const isSetUp = request.verify?.setup !== undefined;
  let open: { lane: Lane; trees: VerifyTrees } | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const opened = async (): Promise<{ lane: Lane; trees: VerifyTrees }> => {
    if (open !== undefined) return open;
    const prepared = readPrepared(layout);
    if (prepared === undefined)
      throw new TerminalError(`the workspace of run ${run} was never prepared`, { hint: "Start the run again." });
    await clearOwnLock(layout.index);
    const { protect, isApart = false } = request;
    const lane = openLane({ layout, run, spec, prepared, isApart, ...(protect === undefined ? {} : { protect }) });
    return (open ??= { lane, trees: verifyTrees(lane, request.verify ?? {}) });
  };
  /** One at a time: they share pawl's index. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work).catch(refuseToGoOn);
    last = result.catch(() => undefined);
    return result;
  };
  return {
    path: spec.path,
    prepare: () => inTurn(async () => (await prepare({ layout, run, spec, environment, isSetUp })).base),
    snapshot: (n, about) => inTurn(async () => await snapshot((await opened()).lane, n, about)),
    diff: async (fromTree, toTree, maxBytes) =>
      await diffTrees((await opened()).lane.privateGit, { from: fromTree, to: toTree, maxBytes }),
    changes: async (from, to) =>
      from === to
        ? []
        : (await treeNumbers((await opened()).lane.privateGit, { from, to }, { maxFiles: Infinity })).files,
    fileAt: async (tree, path, maxBytes) => await fileAt((await opened()).lane.privateGit, { tree, path, maxBytes }),
    accept: (asked) => inTurn(async () => await accept((await opened()).lane, asked)),
    read: async (path, maxBytes, options) => readMemo(spec.path, { path, maxBytes, ...options }),
    write: async (path, text) => writeMemo(spec.path, { path, text }),
    restore: (to, about) =>
      inTurn(async () => {
        const { lane } = await opened();
        return await restore(lane, { tree: await snapshotTree(lane, to), ...about });
      }),
    leftover: (tree, about) => inTurn(async () => await leftover((await opened()).lane, { tree, ...about })),
    planted: async (tree, about) => await plantedTree((await opened()).lane, tree, about),
    ready: async (where) => {
      if (readPrepared(layout) === undefined) return;
      const { lane } = await opened();
      if (lane.prepared.branch !== null) sweepHolds(lane.prepared.gitDir);
      const led =
        where === "between" ? await ledToOtherWork(lane) : lane.isApart ? await ledElsewhere(lane) : undefined;
      if (led !== undefined) throw new UsageError(led.says, { hint: led.hint });
      await bringBranchBack(lane);
    },
    dropBranch: () => inTurn(async () => await dropBranch((await opened()).lane)),
    standing: () => inTurn(async () => await standing((await opened()).lane)),
    verifyTree: async (tree) => {
      fault("judge");
      return await (await opened()).trees.open(tree).catch(refuseToGoOn);
    },
    close: async () => {
      await Promise.allSettled([last, open?.trees.settled()]);
    },
  };
}

/** What the system refused (a full disk, no more processes) is no answer of git's. */
function refuseToGoOn(error: unknown): never {
  if (!(error instanceof Error) || !("code" in error)) throw error;
  throw new TerminalError(`the workspace could not be read or written: ${error.message}`, {
    hint: "See to disk space, limits and permissions, then resume: every step is repeated from its start.",
    cause: error,
  });
}

/** Of snapshot `n`; 0 without a snapshot of that number is the base. */
export async function snapshotTree(lane: Lane, n: number): Promise<string> {
  const oid = getRef(lane, `snap/${n}`);
  if (oid !== undefined) return await treeOf(lane, oid);
  if (n === 0) return lane.prepared.base.tree;
  throw new TerminalError(`snapshot ${n} of run ${lane.run} is not in pawl's repository`, {
    hint: "Its state was removed or damaged; `pawl show` lists what is left.",
  });
}
