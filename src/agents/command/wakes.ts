/** What a turn waits for next: a line, the end of the process, an abort, or time. Nothing that was read is lost. */
import { linesOf, type Line } from "./lines.ts";
import type { Exit, TurnProcess } from "./process.ts";

export type Wake = { is: "line"; line: Line } | { is: "exit"; exit: Exit } | { is: "aborted" } | { is: "timer" };

/** Longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface Wakes {
  /** At the latest at `deadline` (monotonic ms). */
  next(options: { deadline: number; signal: AbortSignal | undefined }): Promise<Wake>;
  /** Ends a `next` that waits, as a timer would. */
  nudge(): void;
}

/** `exit` comes once everything that was printed has been read. */
export function wakesOf({ stdout, exited }: Pick<TurnProcess, "stdout" | "exited">): Wakes {
  const lines = linesOf(stdout);
  let pending: Promise<Wake> | undefined;
  let nudge: (() => void) | undefined;

  async function pull(): Promise<Wake> {
    const { done, value } = await lines.next();
    return done === true ? { is: "exit", exit: await exited } : { is: "line", line: value };
  }

  return {
    async next({ deadline, signal }) {
      if (signal?.aborted === true) return { is: "aborted" };
      const other = Promise.withResolvers<Wake>();
      const waitMs = Math.min(Math.max(0, deadline - performance.now()), MAX_TIMER_MS);
      const timer = setTimeout(() => other.resolve({ is: "timer" }), waitMs);
      const onAbort = (): void => other.resolve({ is: "aborted" });
      signal?.addEventListener("abort", onAbort, { once: true });
      nudge = () => other.resolve({ is: "timer" });
      pending ??= pull();
      const wake = await Promise.race([pending, other.promise]);
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      nudge = undefined;
      if (wake.is === "line" || wake.is === "exit") pending = undefined;
      return wake;
    },
    nudge: () => nudge?.(),
  };
}
