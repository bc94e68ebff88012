/**
 * A running Claude Code process and its stream, read one message at a time so that a slow reader slows it down instead
 * of filling memory.
 */
import type { Query, SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Channel } from "../channel.ts";
import type { ClaudeProcess } from "./process.ts";
import type { Totals } from "./reader.ts";

/** How long the stream may still deliver after the process has exited: a child may hold the output open. */
const EXIT_DRAIN_MS = 1_000;
/** Longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type Wake =
  | { is: "message"; message: SDKMessage }
  /** The stream is over; `why` is for people. */
  | { is: "ended"; why: string }
  | { is: "aborted" }
  | { is: "timer" };

/** Runtime supports an option that the types leave out: queued messages are cancelled with the turn. */
interface Interruptible {
  interrupt(options: { cancelQueued: boolean }): Promise<unknown>;
}

export interface Live {
  /** What its cumulative totals may be before the next turn; one after the first. */
  baselines: readonly Totals[];
  /** Its process has exited or its stream is over. */
  isDead(): boolean;
  say(message: SDKUserMessage): void;
  setModel(model: string): Promise<void>;
  /** Asks the turn to end; what was queued does not run. Never rejects. */
  interrupt(): Promise<void>;
  /** The next thing that happens, at the latest at `deadline` (monotonic ms). */
  next(options: { deadline: number; signal: AbortSignal | undefined }): Promise<Wake>;
  /** Ends a `next` that waits, as a timer would. */
  nudge(): void;
  /** Limits of the fence that were met since the last look. */
  limits(): string[];
  /** Ends process and children. Repeatable. */
  end(): Promise<void>;
}

interface Parts {
  query: Query;
  input: Channel<SDKUserMessage>;
  process: ClaudeProcess;
  baselines: readonly Totals[];
}

export function live({ query, input, process, baselines }: Parts): Live {
  let arrived: Wake | undefined;
  let pulling = false;
  let ended: string | undefined;
  let exited = false;
  let wake: (() => void) | undefined;

  const over = (why: string): void => {
    const words = process.lastWords();
    ended ??= words === "" ? why : `${why}: ${words}`;
    wake?.();
  };
  void process.exited.then((how) => {
    exited = true;
    setTimeout(() => over(`Claude Code ended (${how})`), EXIT_DRAIN_MS).unref();
  });

  function pull(): void {
    if (pulling || arrived !== undefined) return;
    pulling = true;
    query.next().then(
      (result) => {
        pulling = false;
        if (result.done === true) return over("Claude Code ended");
        arrived = { is: "message", message: result.value };
        return wake?.();
      },
      (error: unknown) => {
        pulling = false;
        over(error instanceof Error ? error.message : String(error));
      },
    );
  }

  function take(): Wake | undefined {
    const taken = arrived;
    arrived = undefined;
    if (taken !== undefined) return taken;
    return ended === undefined ? undefined : { is: "ended", why: ended };
  }

  return {
    baselines,
    isDead: () => exited || ended !== undefined,
    say: (message) => input.push(message),
    setModel: (model) => query.setModel(model),
    async interrupt() {
      try {
        await (query as unknown as Interruptible).interrupt({ cancelQueued: true });
      } catch {
        // It is dead or dying; the stream tells.
      }
    },
    async next({ deadline, signal }) {
      if (signal?.aborted === true) return { is: "aborted" };
      const ready = take();
      if (ready !== undefined) return ready;
      pull();
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
      return reason === "wake" ? (take() ?? { is: "timer" }) : { is: reason };
    },
    nudge: () => wake?.(),
    limits: () => process.limits(),
    async end() {
      input.end();
      await process.end();
      try {
        query.close();
      } catch {
        // Closed already.
      }
    },
  };
}
