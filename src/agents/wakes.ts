/** What a turn waits for: what happens in order, the end of the program, an abort, a deadline. One reader at a time. */

/** Longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** `T`: what the agent's own stream can bring. */
export type Wake<T> =
  | T
  /** `why` is for people. */
  | { is: "ended"; why: string }
  | { is: "aborted" }
  | { is: "timer" };

export interface Wakes<T> {
  put(wake: Wake<T>): void;
  /** Nothing comes after what is waiting. */
  over(why: string): void;
  ended(): string | undefined;
  clear(): void;
  /** The next thing that happens, at the latest at `deadline` (monotonic ms). */
  next(options: { deadline: number; signal: AbortSignal | undefined }): Promise<Wake<T>>;
  /** Ends a `next` that waits, as a timer would. */
  nudge(): void;
}

/** `onLength`: how many wait for the reader, after each change. */
export function wakes<T>(onLength: (waiting: number) => void = () => undefined): Wakes<T> {
  const queue: Wake<T>[] = [];
  let ended: string | undefined;
  let wake: (() => void) | undefined;

  function shift(): Wake<T> | undefined {
    const first = queue.shift();
    onLength(queue.length);
    if (first !== undefined) return first;
    return ended === undefined ? undefined : { is: "ended", why: ended };
  }

  return {
    put(item) {
      queue.push(item);
      onLength(queue.length);
      wake?.();
    },
    over(why) {
      ended ??= why;
      wake?.();
    },
    ended: () => ended,
    clear() {
      queue.length = 0;
      onLength(0);
    },
    async next({ deadline, signal }) {
      if (signal?.aborted === true) return { is: "aborted" };
      const ready = shift();
      if (ready !== undefined) return ready;
      const waitMs = Math.min(Math.max(0, deadline - performance.now()), MAX_TIMER_MS);
      const reason = await new Promise<"wake" | "timer" | "aborted">((resolve) => {
        const done = (why: "wake" | "timer" | "aborted"): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", onAbort);
          resolve(why);
        };
        const onAbort = (): void => done("aborted");
        const timer = setTimeout(() => done("timer"), waitMs);
        wake = () => done("wake");
        signal?.addEventListener("abort", onAbort, { once: true });
      });
      wake = undefined;
      return reason === "wake" ? (shift() ?? { is: "timer" }) : { is: reason };
    },
    nudge: () => wake?.(),
  };
}
