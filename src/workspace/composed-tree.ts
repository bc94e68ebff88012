/** What is written to disk for a judged tree: with its submodules' files, without dependency folders of its own. */
import type { Lane } from "./lane.ts";
import { ownFoldersOf, withoutFolders } from "./own-folders.ts";
import { shown } from "./scan.ts";
import { withSubmodules } from "./submodules.ts";

export interface ComposedTree {
  tree: string;
  /** What is not as in the judged tree, for the evidence. */
  words: string;
  /** Files for dependencies that differ from the base's, for people. */
  lockfiles: string[];
}

export interface Composing {
  /** What it is most often: begun with before the rest is known. */
  first(tree: string): Promise<string>;
  of(tree: string): Promise<ComposedTree>;
}

export function composing(lane: Lane): Composing {
  const submodules = withSubmodules(lane);
  const own = ownFoldersOf(lane);
  let last: { of: string; composed: ComposedTree } | undefined;
  const compose = async (tree: string): Promise<ComposedTree> => {
    const [{ tree: whole, missing }, { folders, lockfiles }] = await Promise.all([submodules(tree), own(tree)]);
    const words = [
      ...(missing.length === 0 ? [] : [`without the submodules ${missing.map(shown).join(", ")}`]),
      ...(folders.length === 0 ? [] : [`without its own ${folders.map(shown).join(", ")}`]),
    ];
    return {
      tree: folders.length === 0 ? whole : await withoutFolders(lane, { tree: whole, folders }),
      words: words.map((one) => ` ${one}`).join(""),
      lockfiles: lockfiles.map(shown),
    };
  };
  return {
    first: async (tree) => (await submodules(tree)).tree,
    async of(tree) {
      if (last?.of !== tree) last = { of: tree, composed: await compose(tree) };
      return last.composed;
    },
  };
}
