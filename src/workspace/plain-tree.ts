/**
 * The verify tree where nothing can be laid over it: a plain directory, written from an index of its own, that checks may
 * write to. One at a time; it is brought from tree to tree, and what a check left or changed is put right before the next.
 */
import { chmodSync, constants, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Ready, VerifyTree } from "../ports.ts";
import { ageAdded } from "./aged.ts";
import { copyRepository } from "./check-git.ts";
import type { Composing } from "./composed-tree.ts";
import { openUp, removeAround } from "./dependencies.ts";
import type { Git } from "./git.ts";
import type { Lane } from "./lane.ts";
import { missingIn } from "./not-installed.ts";
import { pristineFolders } from "./pristine.ts";
import { absolute, CLOSED } from "./scan.ts";
import type { Dependencies, Setup } from "./setup.ts";
import { clearOwnLock } from "./take-tree.ts";

/** Every untracked path, whole directories as one; ignored ones too. */
const LEFTOVERS = ["ls-files", "-z", "-o", "--directory"];

export interface PlainTrees {
  open(tree: string): Promise<VerifyTree>;
  settled(): Promise<void>;
}

interface About {
  path: string;
  composing: Composing;
  /** Those copied before the first turn; what a setup makes takes their place. */
  copied: Dependencies;
  setup: Setup | undefined;
  repository?: ((tree: string) => Promise<string>) | undefined;
}

export function plainTrees(lane: Lane, { path, composing, copied, setup, repository }: About): PlainTrees {
  const index = `${path}.index`;
  const git = lane.view.at({ workTree: path, index, sync: "none" });
  let at: string | undefined;
  let dependencies = dependenciesIn(path, copied);
  let cleaning: Promise<void> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const place = () => ({ path, kept: dependencies.kept });

  const bring = async (tree: string): Promise<void> => {
    if (cleaning === undefined) await clearOwnLock(index);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    await (cleaning ??= clean(git, place()));
    await dependencies.bring();
    if (at === tree) return;
    at = undefined;
    const args = ["read-tree", "--reset", "-u", tree];
    if ((await git.run(args)).code !== 0) {
      // Its index is not synced to disk: one torn by a power loss is written anew.
      rmSync(index, { force: true });
      openUp(Buffer.from(path), place().kept);
      await clean(git, place());
      await git.need(args);
    }
    await ageAdded(lane, { root: path, tree });
    at = tree;
  };
  const ready = async (tree: VerifyTree, signal: AbortSignal): Promise<Ready> => {
    const { lockfiles, tree: whole } = await composing.of(tree.tree);
    if (setup === undefined) return { is: "ready", tree, stale: lockfiles, missing: missingIn(path, copied.folders) };
    const answer = await setup.of(tree.tree, signal);
    if (answer.is === "failed") return answer;
    if (dependencies.from !== answer.made.from) {
      dependencies.remove();
      dependencies = dependenciesIn(path, answer.made);
    }
    // It was made in this very place.
    if (!existsSync(path)) {
      at = undefined;
      rmSync(index, { force: true });
    }
    await bring(whole);
    return { is: "ready", tree, stale: [], changed: answer.changed };
  };
  return {
    async open(tree) {
      const released = Promise.withResolvers<undefined>();
      const opened = last.then(async () => {
        const composed = await composing.of(tree);
        await bring(composed.tree);
        if (repository !== undefined) copyRepository(await repository(composed.tree), path);
        return composed;
      });
      // The next one waits until this is released, or could not be opened.
      last = opened.then(
        () => released.promise,
        () => undefined,
      );
      const { words } = await opened;
      const own: VerifyTree = {
        path,
        tree,
        isolation: `copy${words}`,
        ready: (signal) => ready(own, signal),
        // The check may have changed tracked files: the next one has them written anew. Cleaning overlaps the next turn.
        release: async () => {
          at = undefined;
          cleaning = clean(git, place());
          // Then the next check cleans first, and fails if it must.
          cleaning.catch(() => {
            cleaning = undefined;
          });
          released.resolve(undefined);
        },
      };
      return own;
    },
    async settled() {
      await Promise.allSettled([cleaning]);
    },
  };
}

function dependenciesIn(path: string, { from, folders }: Dependencies) {
  const kept = folders.map((folder) => Buffer.from(join(path, folder)));
  return {
    from,
    kept,
    ...pristineFolders({ from, to: path, folders }),
    remove: () => kept.forEach((folder) => removeAround(folder, [])),
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
