/** A running Claude Code process and its stream; a slow reader slows it down instead of filling memory. */
import type { SDKMessage, SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { afterReading } from "../../platform/clock.ts";
import { startPiped, type Wanted } from "../piped.ts";
import { wakes, type Wakes } from "../wakes.ts";
import type { Asks } from "./ask.ts";
import { protocol } from "./protocol.ts";
import type { Totals } from "./reader.ts";

/** How long the stream may still deliver after the process has exited: a child may hold the output open. */
const EXIT_DRAIN_MS = 1_000;

interface Message {
  is: "message";
  message: SDKMessage;
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
  /** Ends process and children. Repeatable. */
  end(): Promise<void>;
}

interface Parts {
  wanted: Wanted;
  /** The request that opens the conversation. */
  initialize: Readonly<Record<string, unknown>>;
  asks: Asks;
  baselines: readonly Totals[];
}

/** Throws when it cannot be started at all. */
export function live({ wanted, initialize, asks, baselines }: Parts): Live {
  const process = startPiped(wanted);
  let exited: string | undefined;
  let isSilent = false;
  const inbox = wakes<Message>((waiting) => spoken.waiting(waiting));

  const over = (why: string): void => {
    const words = process.lastWords();
    inbox.over(words === "" ? why : `${why}: ${words}`);
  };
  const ended = (): void => over(`Claude Code ended (${exited ?? "its output is closed"})`);
  const spoken = protocol(process, {
    asks,
    onMessage: (message) => inbox.put({ is: "message", message }),
    onEnd() {
      isSilent = true;
      if (exited === undefined) afterReading(EXIT_DRAIN_MS, ended);
      else ended();
    },
  });
  void process.exited.then((how) => {
    exited = how;
    if (isSilent) ended();
    else afterReading(EXIT_DRAIN_MS, ended);
  });
  spoken.request(initialize).catch((error: unknown) => {
    // Of one that has ended the exit tells more.
    if (exited === undefined) over(error instanceof Error ? error.message : String(error));
  });

  return {
    baselines,
    isDead: () => exited !== undefined || inbox.ended() !== undefined,
    say: (message) => spoken.say(message),
    async setModel(model) {
      await spoken.request({ subtype: "set_model", model });
    },
    async interrupt() {
      try {
        await spoken.request({ subtype: "interrupt", cancel_queued: true });
      } catch {
        // It is dead or dying; the stream tells.
      }
    },
    next: (options) => inbox.next(options),
    nudge: () => inbox.nudge(),
    limits: () => process.limits(),
    end: () => process.end(),
  };
}
