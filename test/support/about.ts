/** What a check is told beside the tree, with nothing in it. */
import type { JudgeAbout } from "../../src/ports.ts";

const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

export const noAbout: JudgeAbout = {
  goal: "make it green",
  baseline: undefined,
  change: {
    base: EMPTY_TREE,
    tree: EMPTY_TREE,
    files: async () => [],
    diff: async () => "",
    before: async () => undefined,
    undone: [],
  },
  verdicts: new Map(),
};
