/** What checks are given to judge; part of the Workspace port. */

export interface VerifyTree {
  /** Not to be written to; dependencies need not be in it. See `ready`. */
  readonly path: string;
  readonly tree: string;
  /** How far it is from the agent's reach, for the evidence. */
  readonly isolation: string;
  /**
   * For a check that runs something, before it does: makes or brings the dependencies. `fenced`: it runs in the run's
   * fence, with `path` as its folder. `apart`: it runs as it likes; the tree that is given back is a folder with everything
   * in it that may be written to, and is released by whoever asked. A tree without it is ready.
   */
  ready?(signal: AbortSignal, how: "fenced" | "apart"): Promise<Ready>;
  release(): Promise<void>;
}

export type Ready =
  /**
   * `stale`: which files say that the dependencies in use are not the ones the tree asks for. `changed`: which files of the
   * change they were made anew from. `missing`: that none are there, and what to do, in words.
   */
  | {
      is: "ready";
      tree: VerifyTree;
      stale: readonly string[];
      changed?: readonly string[];
      missing?: string | undefined;
    }
  | { is: "failed"; setup: FailedSetup };

export interface FailedSetup {
  command: string;
  exitCode: number | null;
  signal: string | null;
  durationMs: number;
  /** Its end, bounded. */
  output: string;
  /** Why it could not run to its end, where it did not. */
  reason: string | undefined;
  /** Files that decide about dependencies and that the change touched. */
  touched: readonly string[];
}
