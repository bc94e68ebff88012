/** The Check port: what judges a tree. */
import type { FileChange, PathChange, Verdict } from "../events.ts";
import type { VerifyTree } from "./verify-tree.ts";

/** Judges one tree. `unverifiable` means it could not judge; it is never a guess. Never rejects. */
export interface Check {
  readonly name: string;
  readonly required: boolean;
  readonly cost: "cheap" | "slow" | "remote";
  judge(tree: VerifyTree, signal: AbortSignal, about: JudgeAbout): Promise<Verdict>;
}

/** What a check may know beside the tree. Only pawl's own facts and objects: nothing an agent can write to. */
export interface JudgeAbout {
  goal: string;
  /** What the same check said of the tree before the first turn; undefined while that is what is asked. */
  baseline: Verdict | undefined;
  /** The tree before the first turn is judged, as it is. */
  isBase?: boolean;
  /** Everything since the tree before the first turn. */
  change: JudgedChange;
  /** Verdicts of the checks that came before it on this tree, by name. */
  verdicts: ReadonlyMap<string, Verdict>;
}

export interface JudgedChange {
  base: string;
  tree: string;
  files(): Promise<FileChange[]>;
  diff(maxBytes: number): Promise<string>;
  /** A file as it was before the first turn; undefined when there was none. */
  before(path: string, maxBytes: number): Promise<string | undefined>;
  /** What the agent changed and pawl undid. */
  undone: readonly PathChange[];
}
