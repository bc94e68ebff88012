/**
 * The directory checks run in: exactly one tree, written from an index of its own, with no link to any repository. It
 * is brought from tree to tree, so a check costs what changed; what checks leave behind is removed before the next.
 */
import { chmodSync, constants, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { VerifyTree } from "../ports.ts";
import { openUp, removeAround } from "./dependencies.ts";
import type { Git } from "./git.ts";
import type { Lane } from "./lane.ts";
import { pristineFolders } from "./pristine.ts";
import { absolute, CLOSED, shown } from "./scan.ts";
import { withSubmodules } from "./submodules.ts";
import { clearOwnLock } from "./take-tree.ts";

/** Every untracked path, whole directories as one; ignored ones too. */
const LEFTOVERS = ["ls-files", "-z", "-o", "--directory"];

export interface VerifyTrees {
  open(tree: string): Promise<VerifyTree>;
  settled(): Promise<void>;
}

export function verifyTrees(lane: Lane): VerifyTrees {
  const path = lane.layout.verify;
  const git = lane.view.at({ workTree: path, index: lane.layout.verifyIndex, sync: "none" });
  const kept = lane.prepared.dependencies.map((folder) => Buffer.from(join(path, folder)));
  const { dependencies: from } = lane.layout;
  const dependencies = pristineFolders({ from, to: path, folders: lane.prepared.dependencies });
  const submodules = withSubmodules(lane);
  let at: string | undefined;
  let cleaning: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const bring = async (tree: string): Promise<void> => {
    if (cleaning === undefined) await clearOwnLock(lane.layout.verifyIndex);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    await (cleaning ??= clean(git, { path, kept }));
    await dependencies.bring();
    if (at === tree) return;
    at = undefined;
    const args = ["read-tree", "--reset", "-u", tree];
    if ((await git.run(args)).code !== 0) {
      // Its index is not synced to disk: one torn by a power loss is written anew.
      rmSync(lane.layout.verifyIndex, { force: true });
      openUp(Buffer.from(path), kept);
      await clean(git, { path, kept });
      await git.need(args);
    }
    at = tree;
  };
  return {
    async open(tree) {
      const ready = last.then(async () => {
        const { tree: whole, missing } = await submodules(tree);
        await bring(whole);
        return missing;
      });
      last = ready.catch(() => undefined);
      const missing = await ready;
      return {
        path,
        tree,
        isolation: missing.length === 0 ? "copy" : `copy without the submodules ${missing.map(shown).join(", ")}`,
        // The check may have changed tracked files: the next one has them written anew. Cleaning overlaps the next turn.
        release: async () => {
          at = undefined;
          cleaning = clean(git, { path, kept });
          // Then the next check cleans first, and fails if it must.
          cleaning.catch(() => {
            cleaning = undefined;
          });
        },
      };
    },
    async settled() {
      await Promise.allSettled([last, cleaning]);
    },
  };
}

/** Folders that a check closed are opened: what is in them would stay. */
async function clean(git: Git, place: { path: string; kept: readonly Buffer[] }): Promise<void> {
  if (!existsSync(place.path)) return;
  chmodSync(place.path, constants.S_IRWXU);
  try {
    if (await isCleaned(git, place)) return;
  } catch (error) {
    if (!["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  openUp(Buffer.from(place.path), place.kept);
  await isCleaned(git, place);
}

/** False when there are folders that cannot be looked into. */
async function isCleaned(git: Git, { path, kept }: { path: string; kept: readonly Buffer[] }): Promise<boolean> {
  removeAround(Buffer.from(join(path, ".git")), []);
  const listed = await git.run(LEFTOVERS);
  // An index that cannot be read is found and replaced by whoever writes the tree next.
  if (listed.code !== 0) return true;
  for (const name of listed.stdout.toString("latin1").split("\0").filter(Boolean))
    removeAround(absolute(path, name.replace(/\/$/, "")), kept);
  return listed.stderr.search(CLOSED) < 0;
}
