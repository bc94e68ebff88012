/**
 * One turn over a living server: passes on what happens and ends it exactly once, when its prompts are answered and the
 * server has come to rest, by a limit, an abort or the death of the process.
 */
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent, TurnEnd, TurnLimits } from "../../ports.ts";
import { deadlines, killTime } from "../deadlines.ts";
import { failed, interrupted, maxTurns } from "../ending.ts";
import type { Waiting } from "../waiting.ts";
import type { Asks } from "./ask.ts";
import type { Live } from "./live.ts";
import type { Meter } from "./meter.ts";
import type { ModelWay } from "./model-way.ts";
import { isAborted, outcomeOf, outcomeOfRetry } from "./outcome.ts";
import type { TurnReader } from "./reader.ts";

/** From the answer to the prompt until the last event of it, which comes another way. */
const SETTLE_LIMIT_MS = 5_000;
/** Until the server has heard that a turn is to end. */
const ABORT_LIMIT_MS = 1_000;
/** A wait longer than this, and more tries than these, are pawl's: journalled, shown and interruptible. */
const MAX_OWN_RETRY_WAIT_MS = 20_000;
const MAX_OWN_RETRIES = 2;

export interface Watched {
  uuid: string;
  /** opencode's own name of the session. */
  session: string;
  live: Live;
  waiting: Waiting;
  asks: Asks;
  reader: TurnReader;
  meter: Meter;
  /** undefined: on a server that finds its own way. */
  way: ModelWay | undefined;
  limits: TurnLimits;
  maxRequests: number | undefined;
  signal: AbortSignal;
  /** Prompts that were not answered yet. */
  pending: { count: number };
  /** It has to answer in a form. */
  answers: boolean;
}

/** `send`: the prompt. Returns whether the server is still fit for another turn. */
export async function* watch(watched: Watched, send: () => void): AsyncGenerator<AgentEvent, boolean> {
  const { uuid, session, waiting, live, meter, way, maxRequests, pending } = watched;
  let atLimit = false;
  waiting.begin(uuid, () => live.nudge());
  way?.begin(session, {
    limit: maxRequests,
    onLimit() {
      atLimit = true;
      live.nudge();
    },
    onSpent: (spent) => meter.spent(spent),
  });
  // Before the prompt is sent: nothing of the turn may be missed.
  live.listen();
  pending.count = 1;
  send();
  try {
    return yield* watchLive(watched, () => atLimit);
  } finally {
    waiting.end();
    live.unlisten();
  }
}

async function* watchLive(watched: Watched, isAtLimit: () => boolean): AsyncGenerator<AgentEvent, boolean> {
  const { session, live, waiting, asks, reader, limits, signal, pending, way } = watched;
  const { view } = reader;
  const time = deadlines({ limits, waiting });
  let stopping: TurnOutcome | undefined;
  let killAt = Infinity;
  let settleAt = Infinity;
  let answer: unknown;

  /** One that arrived after the turn would end the next one. */
  let aborts: Promise<unknown> = Promise.resolve();
  const abort = (): void => {
    const limit = AbortSignal.timeout(ABORT_LIMIT_MS);
    const sent = live.client.session.abort({ sessionID: session }, { signal: limit }).catch(() => undefined);
    aborts = Promise.all([aborts, sent]);
  };
  const stop = (outcome: TurnOutcome): void => {
    stopping = outcome;
    reader.refuse();
    killAt = killTime(outcome);
    abort();
    // A question that waits would hold the turn.
    waiting.end();
  };

  const isFit = (): boolean => stopping !== undefined || !isAborted(view.error);

  for (;;) {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
    if (stopping === undefined && isAtLimit()) stop(maxTurns(watched.maxRequests));
    if (pending.count === 0) {
      if (view.idle) {
        await aborts;
        yield* end(watched, { stopping, died: undefined });
        return isFit();
      }
      if (settleAt === Infinity) settleAt = performance.now() + SETTLE_LIMIT_MS;
    }
    // Waiting for a retry that was announced is no silence.
    const quietUntil = view.retry === undefined ? 0 : performance.now() + view.retry.next - Date.now();
    const due = time.next({ timed: stopping === undefined && pending.count > 0, quietUntil });
    const wake = await live.next({
      deadline: Math.min(due, killAt, settleAt),
      signal: stopping === undefined ? signal : undefined,
    });
    switch (wake.is) {
      case "event": {
        const events = reader.take(wake.type, wake.properties);
        if (reader.isOurs(wake.properties)) {
          time.seen();
          asks.take(wake.type, wake.properties, live.client);
          // It may have begun only after it was told to end.
          if (stopping !== undefined && wake.type === "session.status" && !view.idle) abort();
        }
        yield* events;
        const { retry } = view;
        if (stopping === undefined && retry !== undefined && isTooLong(retry)) {
          stop(outcomeOfRetry(way?.refusal(session), { ...retry, seen: way !== undefined }));
        }
        break;
      }
      case "answered":
        pending.count -= 1;
        time.seen();
        answer = wake.data;
        if (pending.count === 0 && reader.isNothing(answer)) {
          await aborts;
          yield* end(watched, { stopping, died: undefined });
          return isFit();
        }
        break;
      case "refused":
        pending.count -= 1;
        // Something said that was not taken leaves the turn as it is.
        if (wake.of === "prompt") reader.refused(wake.error);
        break;
      case "ended":
        yield* end(watched, { stopping, died: wake.why });
        return false;
      case "aborted":
        stop(interrupted(signal));
        break;
      case "timer": {
        const now = performance.now();
        if (now >= killAt || now >= settleAt) {
          if (answer !== undefined) yield* reader.answered(answer);
          yield* end(watched, { stopping, died: undefined });
          return now < killAt;
        }
        const late = time.passed();
        if (late !== undefined) stop(late);
        break;
      }
    }
  }
}

const isTooLong = ({ attempt, next }: { attempt: number; next: number }): boolean =>
  attempt > MAX_OWN_RETRIES || next - Date.now() > MAX_OWN_RETRY_WAIT_MS;

function* end(
  { session, reader, meter, way, answers }: Watched,
  { stopping, died }: { stopping: TurnOutcome | undefined; died: string | undefined },
): Generator<AgentEvent> {
  reader.refuse();
  const { view } = reader;
  const found = outcomeOf({ finished: view.finished, error: view.error, refusal: way?.refusal(session), died });
  // It may have been done before the interrupt reached it.
  let outcome = stopping === undefined || found.is === "done" ? found : stopping;
  if (answers && outcome.is === "done" && view.answer === undefined) outcome = failed("there is no answer in the form");
  const usage = meter.usage(way?.requests(session) ?? 0);
  yield { type: "usage", usage };
  yield {
    type: "turn-end",
    outcome,
    usage,
    finalText: view.finalText,
    call: view.call,
    ...(answers && outcome.is === "done" ? { answer: view.answer } : {}),
    messageId: view.messageId,
    contextTokens: view.contextTokens,
  } satisfies TurnEnd;
}
