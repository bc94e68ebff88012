/** How long a turn and a silence in it may last, for every agent. Waiting for a person is neither work nor silence. */
import type { TurnOutcome } from "../events.ts";
import type { TurnLimits } from "../ports.ts";
import type { Waiting } from "./waiting.ts";

/** How long an interrupted turn may take to end before its process is killed. */
const INTERRUPT_GRACE_MS = 5_000;
/** The same after a timeout: it was silent or slow for long enough; with what ending it takes, two seconds over it is all. */
const TIMEOUT_GRACE_MS = 500;

/** When a turn that was told to end is killed. Monotonic ms. */
export const killTime = (outcome: TurnOutcome): number =>
  performance.now() + (outcome.is === "timeout" ? TIMEOUT_GRACE_MS : INTERRUPT_GRACE_MS);

export interface Deadlines {
  /** The agent has shown a sign of life. */
  seen(): void;
  /** The next one, monotonic ms; `timed`: false when there is none. Until `quietUntil` it has said that it will be silent. */
  next(options: { timed: boolean; quietUntil?: number }): number;
  /** undefined: none of those told last. */
  passed(): TurnOutcome | undefined;
}

/** Of a turn that begins now. */
export function deadlines({ limits, waiting }: { limits: TurnLimits; waiting: Waiting }): Deadlines {
  const { turnTimeoutMs, idleTimeoutMs } = limits;
  const startedAt = performance.now();
  let seenAt = startedAt;
  let turn = Infinity;
  let idle = Infinity;
  return {
    seen: () => void (seenAt = performance.now()),
    next({ timed, quietUntil = 0 }) {
      const runs = timed && !waiting.isWaiting();
      const waited = waiting.waited();
      turn = runs ? startedAt + turnTimeoutMs + waited.ms : Infinity;
      idle = runs ? Math.max(seenAt, quietUntil, waited.until) + idleTimeoutMs : Infinity;
      return Math.min(turn, idle);
    },
    passed() {
      const now = performance.now();
      if (now >= turn) return { is: "timeout", which: "turn", afterMs: turnTimeoutMs };
      return now >= idle ? { is: "timeout", which: "idle", afterMs: idleTimeoutMs } : undefined;
    },
  };
}
