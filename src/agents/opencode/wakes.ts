/** What a turn waits for: events in order, answers to its prompts, the end of the server, an abort, a deadline. One reader at a time. */
import type { Json } from "./json.ts";

/** Longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Events that may wait for the reader; then the server's stream is not read on. */
const MAX_WAITING = 200;

export type Wake =
  | { is: "event"; type: string; properties: Json }
  /** A prompt was answered: its turn is over. `data`: the last message and its parts. */
  | { is: "answered"; data: unknown }
  | { is: "refused"; of: "prompt" | "say"; error: Json }
  /** `why` is for people. */
  | { is: "ended"; why: string }
  | { is: "aborted" }
  | { is: "timer" };

export interface Wakes {
  put(wake: Wake): void;
  /** Nothing comes after what is waiting. */
  over(why: string): void;
  ended(): string | undefined;
  clear(): void;
  /** Resolves when there is room for another event. */
  room(): Promise<void>;
  /** The next thing that happens, at the latest at `deadline` (monotonic ms). */
  next(options: { deadline: number; signal: AbortSignal | undefined }): Promise<Wake>;
  /** Ends a `next` that waits, as a timer would. */
  nudge(): void;
}

export function wakes(): Wakes {
  const queue: Wake[] = [];
  let ended: string | undefined;
  let wake: (() => void) | undefined;
  let roomy: (() => void) | undefined;

  const changed = (): void => {
    if (queue.length >= MAX_WAITING) return;
    roomy?.();
    roomy = undefined;
  };

  function shift(): Wake | undefined {
    const first = queue.shift();
    changed();
    if (first !== undefined) return first;
    return ended === undefined ? undefined : { is: "ended", why: ended };
  }

  return {
    put(item) {
      queue.push(item);
      wake?.();
    },
    over(why) {
      ended ??= why;
      wake?.();
    },
    ended: () => ended,
    clear() {
      queue.length = 0;
      changed();
    },
    room: () =>
      queue.length < MAX_WAITING
        ? Promise.resolve()
        : new Promise((resolve) => {
            roomy = resolve;
          }),
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
