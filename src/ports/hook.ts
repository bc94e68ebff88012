/** What runs a hook's command; part of the ports. */
import type { HookSpec } from "../spec.ts";

export interface HookResult {
  ok: boolean;
  exitCode: number | null;
  durationMs: number;
  /** Redacted by the journal; bounded. */
  output: string;
}
/** Runs one hook's command in the workspace with a fact on its standard input. Never rejects for the command's failure. */
export type RunHook = (hook: HookSpec, input: string, signal: AbortSignal) => Promise<HookResult>;
