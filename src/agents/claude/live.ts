/**
 * A running Claude Code process and its stream, read one message at a time so that a slow reader slows it down instead
 * of filling memory.
 */
import type { Query, SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { afterReading } from "../../platform/clock.ts";
import type { Channel } from "../channel.ts";
import { wakes, type Wakes } from "../wakes.ts";
import type { Late } from "./late.ts";
import type { ClaudeProcess } from "./process.ts";
import type { Totals } from "./reader.ts";

/** How long the stream may still deliver after the process has exited: a child may hold the output open. */
const EXIT_DRAIN_MS = 1_000;

interface Message {
  is: "message";
  message: SDKMessage;
}

/** Runtime supports an option that the types leave out: queued messages are cancelled with the turn. */
interface Interruptible {
  interrupt(options: { cancelQueued: boolean }): Promise<unknown>;
}

export interface Live extends Pick<Wakes<Message>, "next" | "nudge"> {
  /** What its cumulative totals may be before the next turn; one after the first. */
  baselines: readonly Totals[];
  /** Its process has exited or its stream is over. */
  isDead(): boolean;
  say(message: SDKUserMessage): void;
  setModel(model: string): Promise<void>;
  /** Asks the turn to end; what was queued does not run. Never rejects. */
  interrupt(): Promise<void>;
  /** Limits of the fence that were met since the last look. */
  limits(): string[];
  usageLimitPrefixes(): readonly string[];
  /** Ends process and children. Repeatable. */
  end(): Promise<void>;
}

/** What the SDK makes of a process. */
export interface Spoken {
  query: Query;
  /** How its messages begin that say that a limit of the subscription is reached. */
  usageLimitPrefixes: readonly string[];
}

interface Parts {
  sdk: Late<Spoken>;
  input: Channel<SDKUserMessage>;
  process: ClaudeProcess;
  baselines: readonly Totals[];
}

export function live({ sdk, input, process, baselines }: Parts): Live {
  let spoken: Spoken | undefined;
  sdk.ready.then(
    (made) => (spoken = made),
    () => undefined,
  );
  let arrived = 0;
  let pulling = false;
  let exited = false;
  const inbox = wakes<Message>((waiting) => {
    arrived = waiting;
  });

  const over = (why: string): void => {
    const words = process.lastWords();
    inbox.over(words === "" ? why : `${why}: ${words}`);
  };
  void process.exited.then((how) => {
    exited = true;
    afterReading(EXIT_DRAIN_MS, () => over(`Claude Code ended (${how})`));
  });

  function pull(): void {
    if (pulling || arrived > 0 || inbox.ended() !== undefined) return;
    pulling = true;
    sdk.ready
      .then(({ query }) => query.next())
      .then(
        (result) => {
          pulling = false;
          if (result.done === true) return over("Claude Code ended");
          return inbox.put({ is: "message", message: result.value });
        },
        (error: unknown) => {
          pulling = false;
          over(error instanceof Error ? error.message : String(error));
        },
      );
  }

  return {
    baselines,
    isDead: () => exited || inbox.ended() !== undefined,
    say(message) {
      process.say(message);
      input.push(message);
    },
    setModel: async (model) => (await sdk.now()).query.setModel(model),
    async interrupt() {
      try {
        const { query } = await sdk.now();
        await (query as unknown as Interruptible).interrupt({ cancelQueued: true });
      } catch {
        // It is dead or dying; the stream tells.
      }
    },
    next(options) {
      pull();
      return inbox.next(options);
    },
    nudge: () => inbox.nudge(),
    limits: () => process.limits(),
    usageLimitPrefixes: () => spoken?.usageLimitPrefixes ?? [],
    async end() {
      sdk.never();
      input.end();
      await process.end();
      try {
        spoken?.query.close();
      } catch {
        // Closed already.
      }
    },
  };
}
