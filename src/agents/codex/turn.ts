/**
 * One turn over a living app-server: passes on what happens and ends it exactly once, by its own end, a limit, an abort
 * or the death of the process.
 */
import { randomUUID } from "node:crypto";
import type { TurnOutcome, Usage } from "../../events.ts";
import type { AgentEvent, TurnEnd, TurnLimits } from "../../ports.ts";
import { deadlines, killTime } from "../deadlines.ts";
import { failed, hiddenIn, interrupted, maxTurns } from "../ending.ts";
import type { Waiting } from "../waiting.ts";
import type { Asks } from "./ask.ts";
import { within } from "./bounded.ts";
import { GO_ON_LIMIT_MS, type Goal } from "./goal.ts";
import type { Live } from "./live.ts";
import type { Meter } from "./meter.ts";
import type { ModelWay } from "./model-way.ts";
import { outcomeOf } from "./outcome.ts";
import { isObject, textAt, type Incoming, type Json } from "./protocol.ts";
import type { TurnReader } from "./reader.ts";

/** To end what the turn left running in the background. */
const CLEAN_LIMIT_MS = 2_000;
/** What Codex calls the end of a turn that nothing cut short. */
const COMPLETED = "completed";

export interface Watched {
  uuid: string;
  thread: string;
  /** Parameters of the request that starts the turn. */
  start: Json;
  live: Live;
  waiting: Waiting;
  asks: Asks;
  reader: TurnReader;
  meter: Meter;
  way: ModelWay;
  /** Its own loop, which goes on over several of its turns; undefined: the first end is the end. */
  goal: Goal | undefined;
  limits: TurnLimits;
  maxRequests: number | undefined;
  signal: AbortSignal;
  /** What its record says it cost, where the stream did not tell all. */
  recorded: () => Promise<Usage | undefined>;
  answers: boolean;
  /** Takes away what the turn left that is nobody's. */
  tidy: () => void;
}

export const textInput = (text: string): Json[] => [{ type: "text", text, text_elements: [] }];

/** Returns whether the process is still fit for another turn. */
export async function* watch(watched: Watched): AsyncGenerator<AgentEvent, boolean> {
  const { uuid, live, waiting, way, goal, maxRequests } = watched;
  let atLimit = false;
  waiting.begin(uuid, () => live.nudge());
  way.begin({
    uuid,
    limit: maxRequests,
    after: goal?.settled,
    onLimit() {
      atLimit = true;
      live.nudge();
    },
  });
  live.listen();
  try {
    return yield* watchLive(watched, () => atLimit);
  } finally {
    waiting.end();
    live.unlisten();
  }
}

async function* watchLive(watched: Watched, isAtLimit: () => boolean): AsyncGenerator<AgentEvent, boolean> {
  const { thread, live, waiting, reader, goal, limits, signal } = watched;
  const { view } = reader;
  const time = deadlines({ limits, waiting });
  let stopping: TurnOutcome | undefined;
  let killAt = Infinity;
  let interrupting: string | undefined;
  let goOnBy = Infinity;

  const interrupt = (): void => {
    if (view.turn === undefined || interrupting === view.turn) return;
    interrupting = view.turn;
    live.request("turn/interrupt", { threadId: thread, turnId: view.turn }).catch(() => undefined);
  };
  const stop = (outcome: TurnOutcome): void => {
    stopping = outcome;
    reader.refuse();
    killAt = killTime(outcome);
    interrupt();
    // A question that waits would hold the turn.
    waiting.end();
  };

  live.ask("turn/start", watched.start);
  for (;;) {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
    if (stopping === undefined && isAtLimit()) stop(maxTurns(watched.maxRequests));
    if (view.between && (stopping !== undefined || goal?.isActive() !== true || performance.now() >= goOnBy))
      return yield* finish(watched, stopping);
    const wake = await live.next({
      deadline: Math.min(time.next({ timed: stopping === undefined }), killAt, view.between ? goOnBy : Infinity),
      signal: stopping === undefined ? signal : undefined,
    });
    switch (wake.is) {
      case "answered": {
        const { turn } = wake.result;
        if (isObject(turn)) reader.started(textAt(turn, "id"));
        if (stopping !== undefined) interrupt();
        else goal?.set();
        break;
      }
      case "refused":
        yield* end(watched, { stopping: stopping ?? failed(wake.message), died: undefined });
        return false;
      case "note": {
        time.seen();
        yield* reader.take(wake.method, wake.params);
        if (goal !== undefined) yield* goal.take(wake.method, wake.params);
        if (stopping !== undefined) interrupt();
        if (view.status === undefined || view.between) break;
        if (stopping !== undefined || view.status !== COMPLETED || goal?.isActive() !== true)
          return yield* finish(watched, stopping);
        goOnBy = performance.now() + GO_ON_LIMIT_MS;
        yield* reader.goOn();
        break;
      }
      case "asked":
        time.seen();
        void answer(watched, wake);
        break;
      case "ended":
        yield* end(watched, { stopping, died: wake.why });
        return false;
      case "aborted":
        stop(interrupted(signal));
        break;
      case "timer": {
        const now = performance.now();
        if (now >= killAt) {
          // With a goal it might go on while nobody looks.
          if (goal !== undefined) await live.end();
          yield* end(watched, { stopping, died: undefined });
          return false;
        }
        const late = time.passed();
        if (late !== undefined) stop(late);
        break;
      }
    }
  }
}

async function answer(
  { thread, live, asks, reader }: Watched,
  asked: Extract<Incoming, { is: "asked" }>,
): Promise<void> {
  const { id, method, params } = asked;
  const turn = reader.view.turn;
  const explain = async (text: string): Promise<void> => {
    const steer = { threadId: thread, expectedTurnId: turn, clientUserMessageId: randomUUID(), input: textInput(text) };
    await live.request("turn/steer", steer).catch(() => undefined);
  };
  const result = await asks.answer({ method, params, item: reader.item(textAt(params, "itemId")) }, explain);
  if (result === undefined) live.refuse(id);
  else live.respond(id, result);
}

/** After the end of its turn. Returns whether the process is still fit for another. */
async function* finish(watched: Watched, stopping: TurnOutcome | undefined): AsyncGenerator<AgentEvent, boolean> {
  const { live, thread, goal } = watched;
  if (goal !== undefined) yield* goal.told();
  const fit = await letGo(watched);
  // Commands that were left running would change files that no iteration owns.
  if (fit) await within(CLEAN_LIMIT_MS, live.request("thread/backgroundTerminals/clean", { threadId: thread }));
  yield* end(watched, { stopping, died: undefined });
  return fit;
}

/** A goal that is not reached may have begun another turn by now: only the end of the process ends that for certain. */
async function letGo({ live, goal }: Watched): Promise<boolean> {
  if (goal === undefined) return true;
  if ((await goal.clear()) && !goal.isActive()) return true;
  await live.end();
  return false;
}

async function* end(
  { reader, meter, way, goal, recorded, answers, tidy }: Watched,
  { stopping, died }: { stopping: TurnOutcome | undefined; died: string | undefined },
): AsyncGenerator<AgentEvent> {
  reader.refuse();
  tidy();
  // It is in the conversation: said again, the model would read it twice.
  for (const [id, directive] of reader.unanswered()) if (way.carried(id)) yield { type: "delivered", directive };
  const { view } = reader;
  const found = outcomeOf({ status: view.status, error: view.error, refusal: way.refusal(), died });
  // It may have been done before the interrupt reached it.
  const wasDone = found.is === "done" && goal?.isActive() !== true;
  let outcome = stopping === undefined || wasDone ? found : stopping;
  const counted = meter.usage(way.requests());
  // Codex was seen to tell of fewer answers than it had asked for: what passed the gateway is in the record, too.
  const isTold = meter.responses() > 0 && meter.responses() >= way.requests();
  const record = outcome.is === "done" && isTold ? undefined : await recorded();
  const usage = record === undefined ? counted : larger(counted, record);
  const answered = answers && outcome.is === "done" ? answerIn(view.finalText) : undefined;
  if (answers && outcome.is === "done" && answered === undefined) outcome = failed("the answer is not JSON");
  yield { type: "usage", usage };
  yield {
    type: "turn-end",
    outcome: hiddenIn(outcome, (text) => way.hide(text)),
    usage,
    finalText: view.finalText,
    call: view.call,
    ...(answered === undefined ? {} : { answer: answered.value }),
    messageId: view.begun ? (view.turn ?? null) : null,
    contextTokens: view.contextTokens,
  } satisfies TurnEnd;
}

const tokensIn = (usage: Usage): number =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

function larger(counted: Usage, record: Usage): Usage {
  const tokens = tokensIn(record) > tokensIn(counted) ? record : counted;
  return {
    ...tokens,
    requests: Math.max(counted.requests, tokens.requests),
    toolCalls: Math.max(counted.toolCalls, tokens.toolCalls),
  };
}

function answerIn(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
