/**
 * One turn over a living process: passes on what happens and ends it exactly once, by the session becoming idle, a
 * limit, an abort or the death of the process.
 */
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent, TurnEnd, TurnLimits } from "../../ports.ts";
import { deadlines, killTime } from "../deadlines.ts";
import { interrupted } from "../ending.ts";
import { brief } from "../outcome.ts";
import type { Waiting } from "../waiting.ts";
import type { Live } from "./live.ts";
import type { Meter } from "../api-meter.ts";
import { outcomeOf } from "./outcome.ts";
import type { TurnReader } from "./reader.ts";
import { settle } from "./settle.ts";

/** A message said in the moment the turn ended may still be taken up. */
const LATE_SAY_GRACE_MS = 2_000;
/** A wait longer than this is pawl's: it is journalled, shown and can be interrupted. */
const MAX_OWN_RETRY_WAIT_MS = 20_000;

interface Watched {
  uuid: string;
  live: Live;
  waiting: Waiting;
  reader: TurnReader;
  meter: Meter;
  limits: TurnLimits;
  signal: AbortSignal;
}

/** What is waited for next, and since when. Times are monotonic ms. */
interface Deadlines {
  /** After the result: the program should become idle. */
  completion: number;
  /** After idle: something said is still on its way. */
  lateSay: number;
  /** After an interrupt. */
  interrupt: number;
}

/** Returns whether the process is still fit for another turn. */
export async function* watch(watched: Watched): AsyncGenerator<AgentEvent, boolean> {
  const { uuid, live, waiting } = watched;
  waiting.begin(uuid, () => live.nudge());
  try {
    return yield* watchLive(watched);
  } finally {
    waiting.end();
  }
}

async function* watchLive(watched: Watched): AsyncGenerator<AgentEvent, boolean> {
  const { live, waiting, reader, meter, limits, signal } = watched;
  const { view } = reader;
  const time = deadlines({ limits, waiting });
  let stopping: TurnOutcome | undefined;
  let died: string | undefined;
  let retryUntil = 0;
  const due: Deadlines = {
    completion: Infinity,
    lateSay: Infinity,
    interrupt: Infinity,
  };

  const stop = (outcome: TurnOutcome): void => {
    stopping = outcome;
    reader.refuse();
    due.interrupt = killTime(outcome);
    void live.interrupt();
  };
  const end = (): TurnEnd => {
    reader.refuse();
    if (view.unanswered) meter.bareRequest();
    const found = outcomeOf({ ...view, died });
    // It may have been done before the interrupt reached it.
    const outcome = stopping === undefined || found.is === "done" ? found : stopping;
    const usage = settle(meter, { totals: view.totals, baselines: live.baselines });
    if (view.totals !== undefined) live.baselines = [view.totals];
    const { finalText, messageId, contextTokens } = view;
    const answered = outcome.is === "done" && view.answer !== undefined ? { answer: view.answer } : {};
    return { type: "turn-end", outcome, usage, finalText, call: reader.call(), ...answered, messageId, contextTokens };
  };

  for (;;) {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
    // Waiting for a retry that was announced is no silence.
    const limit = time.next({ timed: stopping === undefined, quietUntil: retryUntil });
    const wake = await live.next({
      deadline: Math.min(limit, ...Object.values(due)),
      signal: stopping === undefined ? signal : undefined,
    });
    switch (wake.is) {
      case "message": {
        const now = performance.now();
        time.seen();
        yield* reader.take(wake.message);
        if (wake.message.type === "result") due.completion = now + limits.completionGraceMs;
        if (wake.message.type === "stream_event") due.completion = Infinity;
        if (wake.message.type === "system" && wake.message.subtype === "api_retry") {
          const waitMs = wake.message.retry_delay_ms;
          retryUntil = now + waitMs;
          if (stopping === undefined && waitMs > MAX_OWN_RETRY_WAIT_MS) stop(longRetry(wake.message));
        }
        if (!view.idle) due.lateSay = Infinity;
        else if (stopping === undefined && reader.undelivered().length > 0) {
          due.lateSay = Math.min(due.lateSay, now + LATE_SAY_GRACE_MS);
          due.completion = Infinity;
        } else {
          yield end();
          return true;
        }
        break;
      }
      case "ended":
        died = wake.why;
        yield end();
        return false;
      case "aborted":
        stop(interrupted(signal));
        break;
      case "timer": {
        const now = performance.now();
        if (now >= due.interrupt || now >= due.lateSay) {
          yield end();
          return false;
        }
        if (now >= due.completion) {
          const text = "the agent answered but did not come to rest; its processes were ended";
          yield { type: "notice", text };
          yield end();
          return false;
        }
        const late = time.passed();
        if (late !== undefined) stop(late);
        break;
      }
    }
  }
}

function longRetry(retry: { retry_delay_ms: number; error_status: number | null; error: string }): TurnOutcome {
  const message = brief(`${retry.error}: the provider asks to wait ${Math.ceil(retry.retry_delay_ms / 1000)} s`);
  const kind = retry.error_status === 429 ? "rate" : "overloaded";
  return { is: "limited", kind, resetAt: Date.now() + retry.retry_delay_ms, message };
}
