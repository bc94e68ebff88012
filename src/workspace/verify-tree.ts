/**
 * The trees checks run on. With layers: directories that hold exactly one tree each, shown to every check under a layer of
 * its own, with the dependencies below; several checks may look at one at once, and nothing is cleaned. Without: one
 * plain directory.
 */
import { join } from "node:path";
import type { Ready, VerifyTree } from "../ports.ts";
import { checkRepository } from "./check-git.ts";
import { composing } from "./composed-tree.ts";
import type { Lane } from "./lane.ts";
import { missingIn } from "./not-installed.ts";
import { slotPath } from "./layout.ts";
import { plainTrees } from "./plain-tree.ts";
import { openSetup, type SetupRequest } from "./setup.ts";
import { openSlot, type Slot } from "./slot.ts";

/** Trees on disk at the same time; who wants another one waits. */
const MAX_SLOTS = 4;

/** Something that shows folders below a directory, to commands that run with it as theirs, and keeps it unchanged. */
export interface Layers {
  show(path: string, folders: readonly string[]): void;
}

export interface VerifyTrees {
  open(tree: string): Promise<VerifyTree>;
  settled(): Promise<void>;
}

export interface VerifyOptions {
  layers?: Layers | undefined;
  setup?: SetupRequest | undefined;
  /** Whether checks get a repository. */
  git?: boolean | undefined;
}

export function verifyTrees(lane: Lane, { layers, setup: asked, git }: VerifyOptions): VerifyTrees {
  const { layout, prepared } = lane;
  const parts = composing(lane);
  const copied = { from: layout.dependencies, folders: prepared.dependencies };
  const repository = git === true ? checkRepository(lane) : undefined;
  const plainPath = layers === undefined ? slotPath(layout, 0) : join(layout.verify, "plain");
  // Unfenced, nothing can show the folder where it is made as the one where it will be used.
  const inPlace = asked !== undefined && asked.confine === undefined ? plainPath : undefined;
  const setup = asked === undefined ? undefined : openSetup(lane, { ...asked, inPlace });
  const plain = plainTrees(lane, { path: plainPath, composing: parts, copied, setup, repository });
  if (layers === undefined) return plain;

  const slots: { slot: Slot; users: number }[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let freed = Promise.withResolvers<undefined>();

  const take = async (tree: string): Promise<(typeof slots)[number]> => {
    for (;;) {
      const found = slots.find(({ slot }) => slot.at() === tree) ?? slots.find(({ users }) => users === 0);
      if (found !== undefined) return found;
      if (slots.length < MAX_SLOTS) {
        const made = { slot: openSlot(lane, slotPath(layout, slots.length)), users: 0 };
        slots.push(made);
        return made;
      }
      await freed.promise;
    }
  };
  const open = async (tree: string) => {
    const first = await parts.first(tree);
    const taken = await take(first);
    const [composed] = await Promise.all([parts.of(tree), taken.slot.bring(first)]);
    // Seldom another: the tree has folders that it must not be judged with.
    const final = composed.tree === first ? taken : await take(composed.tree);
    await final.slot.bring(composed.tree);
    // One at a time, too: each takes the place of the last.
    const below = repository === undefined ? [] : [await repository(composed.tree)];
    final.users += 1;
    return { taken: final, composed, below };
  };
  return {
    async open(tree) {
      const opened = last.then(() => open(tree));
      last = opened.catch(() => undefined);
      const { taken, composed, below } = await opened;
      const { path } = taken.slot;
      // With a setup they are shown when they are made; whoever shares the slot has them already.
      if (setup === undefined || taken.users === 1)
        layers.show(path, setup === undefined ? [...below, copied.from] : below);
      let isOpen = true;
      const own: VerifyTree = {
        path,
        tree,
        isolation: `overlay${composed.words}`,
        async ready(signal, how): Promise<Ready> {
          if (how === "apart") return await apart(tree, signal);
          if (setup === undefined)
            return { is: "ready", tree: own, stale: composed.lockfiles, missing: missingIn(path, copied.folders) };
          const answer = await setup.of(tree, signal);
          if (answer.is === "failed") return answer;
          layers.show(path, [...below, answer.made.from]);
          return { is: "ready", tree: own, stale: [], changed: answer.changed };
        },
        release: async () => {
          if (!isOpen) return;
          isOpen = false;
          taken.users -= 1;
          freed.resolve(undefined);
          freed = Promise.withResolvers();
        },
      };
      return own;
    },
    settled: () => plain.settled(),
  };

  async function apart(tree: string, signal: AbortSignal): Promise<Ready> {
    const opened = await plain.open(tree);
    const answer = (await opened.ready?.(signal, "apart")) ?? { is: "ready", tree: opened, stale: [] };
    if (answer.is === "failed") await opened.release();
    return answer;
  }
}
