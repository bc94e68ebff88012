/**
 * One turn over a living ACP agent: passes on what happens and ends it exactly once, by the agent's own answer, a limit,
 * an abort or the death of the process.
 */
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent, TurnEnd, TurnLimits } from "../../ports.ts";
import { deadlines, killTime } from "../deadlines.ts";
import { interrupted, maxTurns } from "../ending.ts";
import { outcomeOfRefusal } from "../outcome.ts";
import { countAt, listAt, objectAt, parsed, textAt, type Json } from "./json.ts";
import type { Asks } from "./ask.ts";
import type { Launched } from "./launch.ts";
import type { Meter } from "./meter.ts";
import type { ModelWay } from "./model-way.ts";
import { outcomeOf, showsOverflow, wordsFor, type Answered } from "./outcome.ts";
import type { TurnReader } from "./reader.ts";
import type { TurnRecord } from "./record.ts";
import type { Said } from "../refusal.ts";
import { currentModel } from "./session-config.ts";
import type { Waiting } from "../waiting.ts";

/** Requests that outlive the turn (a title, …) are waited for, so that they count in it. */
const SETTLE_MS = 500;
/** A wait longer than this is pawl's: it is journalled, shown and can be interrupted. */
const MAX_OWN_RETRY_WAIT_MS = 20_000;
/** An agent may try so often before pawl takes no for an answer. */
const MAX_REFUSALS = 4;
/** How often a turn goes on that the agent ended because something was denied. */
const MAX_CONTINUATIONS = 3;

export interface Watched {
  uuid: string;
  prompt: Json[];
  launched: Launched;
  waiting: Waiting;
  asks: Asks;
  reader: TurnReader;
  meter: Meter;
  record: TurnRecord;
  way: ModelWay;
  limits: TurnLimits;
  maxRequests: number | undefined;
  signal: AbortSignal;
  /** What the session had cost before, as the agent says; undefined: not known. */
  costBefore: number | undefined;
  /** The final text is the answer, as JSON. */
  answers: boolean;
}

/** Returns whether the process is still fit for another turn. */
export async function* watch(watched: Watched): AsyncGenerator<AgentEvent, boolean> {
  const { uuid, launched, waiting, way, record, meter, maxRequests } = watched;
  await watched.asks.takeReasons();
  const { connection } = launched;
  let atLimit = false;
  waiting.begin(uuid, () => connection.nudge());
  connection.listen(launched.id);
  way.begin({
    meter,
    limit: maxRequests,
    onLimit() {
      atLimit = true;
      connection.nudge();
    },
    onLeave: () => record.write({ at: "request", usage: meter.usage() }),
    news: (news) => connection.put(news),
  });
  try {
    return yield* watchLive(watched, () => atLimit);
  } finally {
    waiting.end();
    connection.unlisten();
    await way.end(0);
  }
}

async function* watchLive(watched: Watched, isAtLimit: () => boolean): AsyncGenerator<AgentEvent, boolean> {
  const { launched, waiting, reader, limits, signal } = watched;
  const { connection, id: sessionId } = launched;
  const time = deadlines({ limits, waiting });
  let stopping: TurnOutcome | undefined;
  let killAt = Infinity;
  let refusals = 0;
  let continuations = 0;
  let overflowed = false;

  const stop = (outcome: TurnOutcome): void => {
    if (stopping !== undefined) return;
    stopping = outcome;
    killAt = killTime(outcome);
    connection.notify("session/cancel", { sessionId });
    // A question that waits would hold the turn.
    waiting.end();
  };

  connection.ask("session/prompt", { sessionId, prompt: watched.prompt });
  for (;;) {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
    if (isAtLimit()) stop(maxTurns(watched.maxRequests));
    const wake = await connection.next({
      deadline: Math.min(time.next({ timed: stopping === undefined }), killAt),
      signal: stopping === undefined ? signal : undefined,
    });
    switch (wake.is) {
      case "update":
        time.seen();
        // It comes another way than the model's answers: the summary may have been answered before it is heard of.
        overflowed ||= showsOverflow(wake.update, watched.way.earlierRefusal());
        yield* reader.take(wake.update);
        break;
      case "answering":
        time.seen();
        refusals = 0;
        yield* reader.answering();
        for (const directive of wake.heard) yield { type: "delivered", directive };
        break;
      case "metered":
        time.seen();
        yield reader.usage();
        break;
      case "said-no": {
        refusals += 1;
        time.seen();
        yield retryOf(wake.said, refusals);
        if (refusals >= MAX_REFUSALS || waitOf(wake.said) > MAX_OWN_RETRY_WAIT_MS) stop(refused(wake.said));
        break;
      }
      case "answered": {
        const isCancelled = stopping === undefined && textAt(wake.result, "stopReason") === "cancelled";
        const reasons = isCancelled ? await watched.asks.takeReasons() : [];
        if (reasons.length > 0 && continuations < MAX_CONTINUATIONS) {
          continuations += 1;
          connection.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: reasons.join("\n") }] });
          break;
        }
        takeUsage(watched, wake.result);
        yield* end(watched, { is: "stopped", reason: textAt(wake.result, "stopReason") }, { stopping, overflowed });
        return true;
      }
      case "error": {
        const isRefusal = watched.way.refusal() !== undefined;
        yield* end(watched, wake, { stopping, overflowed });
        return isRefusal;
      }
      case "ended":
        yield* end(watched, { is: "died", why: wake.why }, { stopping, overflowed });
        return false;
      case "aborted":
        stop(interrupted(signal));
        break;
      case "timer": {
        const now = performance.now();
        if (now >= killAt) {
          yield* end(
            watched,
            { is: "died", why: "the agent did not stop when it was asked to" },
            { stopping, overflowed },
          );
          return false;
        }
        const late = time.passed();
        if (late !== undefined) stop(late);
        break;
      }
    }
  }
}

const refused = (said: Said): TurnOutcome => outcomeOfRefusal({ ...said, text: wordsFor(said) });

const waitOf = ({ resetAt }: Said): number => (resetAt === undefined ? 0 : Math.max(0, resetAt - Date.now()));

const retryOf = (said: Said, attempt: number): AgentEvent => ({
  type: "retry",
  attempt,
  delayMs: Math.ceil(waitOf(said)),
  status: said.status,
});

/** What the agent says the turn came to: only of use where its requests were not seen. */
function takeUsage({ meter, launched }: Watched, result: Json): void {
  const usage = objectAt(result, "usage");
  const rows = listAt(objectAt(objectAt(result, "_meta"), "quota"), "model_usage");
  const [row] = rows;
  if (Object.keys(usage).length === 0) return;
  const model = rows.length === 1 && row !== undefined ? textAt(row, "model") : currentModel(launched);
  meter.told(model === "" ? undefined : model, {
    inputTokens: countAt(usage, "inputTokens"),
    outputTokens: countAt(usage, "outputTokens") + countAt(usage, "thoughtTokens"),
    cacheReadTokens: countAt(usage, "cachedReadTokens"),
    cacheWriteTokens: countAt(usage, "cachedWriteTokens"),
  });
}

async function* end(
  watched: Watched,
  answered: Answered,
  { stopping, overflowed }: { stopping: TurnOutcome | undefined; overflowed: boolean },
): AsyncGenerator<AgentEvent> {
  const { uuid, way, reader, meter, record, costBefore, answers } = watched;
  for (let event = watched.waiting.shift(); event !== undefined; event = watched.waiting.shift()) yield event;
  const outcome = stopping ?? outcomeOf({ answered, refusal: way.refusal(), overflowed });
  await way.end(answered.is === "died" ? 0 : SETTLE_MS);
  const { view } = reader;
  if (view.costUsd !== undefined && costBefore !== undefined) meter.toldCost(Math.max(0, view.costUsd - costBefore));
  yield* reader.flush();
  const usage = meter.usage();
  const done: TurnEnd = {
    type: "turn-end",
    outcome,
    usage,
    finalText: view.finalText,
    call: null,
    ...(answers && outcome.is === "done" ? { answer: answerIn(view.finalText) } : {}),
    messageId: usage.requests === 0 ? null : uuid,
    contextTokens: view.contextTokens,
  };
  record.write({ at: "end", end: done });
  yield done;
}

/** The whole text, or the one block of code that it is. */
function answerIn(text: string): Json | undefined {
  const inner = /^```(?:json)?\n([^]*)\n```$/.exec(text.trim())?.[1];
  return parsed(inner ?? text);
}
