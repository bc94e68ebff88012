/** What a workspace tells when a run ends. */

/** What was in the workspace beside the last snapshot, and the ref that keeps it. */
export interface Leftover {
  salvage: string;
  /** A few of them. */
  paths: string[];
  fileCount: number;
}

/** Whether the user's branch holds what was handed over last. */
export type Standing =
  /** It does. `warnings`: what else is to be known of it. */
  | { is: "whole"; warnings: string[] }
  /** It does not: why, in words, and where the work is kept. */
  | { is: "missing"; reason: string; kept: string };
