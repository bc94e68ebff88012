/** How turns of every agent end: those that never began, those that met a limit, and what is told before the end. */
import type { TurnOutcome, Usage } from "../events.ts";
import type { AgentEvent, TurnEnd } from "../ports.ts";
import { brief } from "./outcome.ts";

export const NO_USAGE: Usage = {
  requests: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  usd: 0,
  estimated: false,
};

export const failed = (message: string): TurnOutcome => ({ is: "failed", kind: "agent", message: brief(message) });

export const interrupted = (signal: AbortSignal): TurnOutcome => ({ is: "interrupted", by: String(signal.reason) });

export const maxTurns = (limit: number | undefined): TurnOutcome => ({
  is: "failed",
  kind: "max-turns",
  message: `the agent reached its limit of model requests in one turn: ${limit}`,
});

/** The end of a turn that never reached the model. */
export function emptyEnd(outcome: TurnOutcome): TurnEnd {
  return {
    type: "turn-end",
    outcome,
    usage: NO_USAGE,
    finalText: "",
    call: null,
    messageId: null,
    contextTokens: null,
  };
}

/** undefined: a turn can begin. */
export function cannotBegin(session: {
  signal: AbortSignal;
  closed: boolean;
  running: boolean;
}): TurnOutcome | undefined {
  if (session.signal.aborted) return interrupted(session.signal);
  if (session.closed) return { is: "cut", reason: "the session is closed" };
  return session.running ? failed("another turn of this session is running") : undefined;
}

type Hide = (text: string) => string;
interface Telling {
  /** What is known of the connection and the limits since the last look. */
  notices: () => string[];
  /** Changes all that is told. */
  as?: (event: AgentEvent) => AgentEvent;
}

/** Notices are told before the turn ends. */
export async function* withNotices(
  events: AsyncGenerator<AgentEvent, boolean>,
  { notices, as = (event) => event }: Telling,
): AsyncGenerator<AgentEvent, boolean> {
  try {
    for (;;) {
      const next = await events.next();
      if (next.done === true) return next.value;
      if (next.value.type === "turn-end") for (const text of notices()) yield as({ type: "notice", text });
      yield as(next.value);
    }
  } finally {
    await events.return(false);
  }
}

/** An outcome without what an agent must not show: its right to pass. */
export function hiddenIn(outcome: TurnOutcome, hide: Hide): TurnOutcome {
  switch (outcome.is) {
    case "failed":
    case "limited":
      return { ...outcome, message: hide(outcome.message) };
    case "cut":
      return { ...outcome, reason: hide(outcome.reason) };
    case "done":
    case "interrupted":
    case "timeout":
      return outcome;
  }
}

/** undefined: it was aborted first. */
export async function unlessAborted<T>(starting: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = (): void => aborted.resolve(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([starting, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
