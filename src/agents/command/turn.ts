/**
 * One turn over one process: passes on what it prints and ends it exactly once, by its exit, its result, a limit, an
 * abort, or a model that says no for longer than a program should wait by itself.
 */
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent, TurnEnd, TurnLimits } from "../../ports.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { outcomeOfRefusal } from "../outcome.ts";
import type { Exit, Piped } from "../piped.ts";
import type { Hearing } from "./hearing.ts";
import type { Meter } from "./meter.ts";
import type { ModelWay } from "./model-way.ts";
import { modelSaid, outcomeOf, OVER_LIMIT } from "./outcome.ts";
import type { TurnRecord } from "./record.ts";
import type { Telling } from "./telling.ts";
import type { OutputReader } from "./view.ts";

/** How long an interrupted program may take to end by itself before it is killed. */
const INTERRUPT_GRACE_MS = 3_000;
/** How long the output may still deliver after the exit: a child may hold it open. */
const EXIT_DRAIN_MS = 1_000;
/** A wait longer than this is pawl's: it is journalled, shown and can be interrupted. */
const MAX_OWN_RETRY_WAIT_MS = 20_000;
/** So often in a row the model may say no before the program's own patience is cut short. */
const MAX_REFUSALS_IN_A_ROW = 4;

export interface Played {
  uuid: string;
  entry: CommandEntry;
  process: Piped;
  hearing: Hearing;
  reader: OutputReader;
  meter: Meter;
  way: ModelWay;
  telling: Telling;
  record: TurnRecord;
  limits: TurnLimits;
  signal: AbortSignal;
}

export async function* playTurn(played: Played): AsyncGenerator<AgentEvent> {
  const { entry, process, reader, telling, way } = played;
  try {
    const isNamed = entry.output.format === "jsonl" && entry.output.rules.some(({ session }) => session !== undefined);
    // Who says by itself how the conversation is called says it first.
    if (!isNamed) yield* telling.open();
    const { exit, stopping } = yield* watch(played);
    await process.end();
    yield* telling.tell(reader.flush());
    const end = endOf(played, { exit, stopping });
    yield* telling.open();
    if (end.outcome.is === "done") yield* telling.answering();
    if (end.outcome.is === "done" && reader.view.messageId === undefined) yield { type: "message", id: played.uuid };
    const limits = process.limits().map((met) => `the fence: ${met}`);
    for (const text of [...way.takeNotices(), ...limits]) yield { type: "notice", text };
    played.record.note({ is: "end", end, tools: played.meter.tools() });
    yield { type: "usage", usage: end.usage };
    yield end;
  } finally {
    await process.end();
    process.stdout.destroy();
  }
}

interface Ending {
  exit: Exit;
  /** Why it was ended from here. */
  stopping: TurnOutcome | undefined;
}

async function* watch(played: Played): AsyncGenerator<AgentEvent, Ending> {
  const { entry, process, hearing, reader, telling, way, limits, signal } = played;
  const { view } = reader;
  const startedAt = performance.now();
  let stopping: TurnOutcome | undefined;
  let exited: Exit | undefined;
  let heardAt = startedAt;
  const due = { idle: Infinity, turn: Infinity, kill: Infinity, completion: Infinity, drain: Infinity };
  void process.exit.then((exit) => {
    exited = exit;
    due.drain = performance.now() + EXIT_DRAIN_MS;
    hearing.nudge();
  });
  const stop = (outcome: TurnOutcome): void => {
    stopping ??= outcome;
    const asked = outcome.is === "interrupted" && entry.interrupt !== "SIGTERM";
    if (asked) process.signal(entry.interrupt);
    due.kill = Math.min(due.kill, performance.now() + (asked ? INTERRUPT_GRACE_MS : 0));
  };

  for (;;) {
    const isTimed = stopping === undefined && exited === undefined;
    const lastSign = Math.max(heardAt, view.retryUntil, way.usedAt(), hearing.heardAt());
    due.idle = isTimed ? lastSign + limits.idleTimeoutMs : Infinity;
    due.turn = isTimed ? startedAt + limits.turnTimeoutMs : Infinity;
    const wake = await hearing.next({
      deadline: Math.min(...Object.values(due)),
      signal: stopping === undefined ? signal : undefined,
    });
    const now = performance.now();
    if (wake.is === "ended") return { exit: await process.exit, stopping };
    if (wake.is === "line") {
      heardAt = now;
      // Also of a program that prints on and on after its exit was seen.
      if (exited !== undefined) due.drain = now + EXIT_DRAIN_MS;
      yield* telling.tell(reader.take(wake.line));
      if (view.ended) due.completion = Math.min(due.completion, now + limits.completionGraceMs);
    } else if (wake.is === "aborted") stop({ is: "interrupted", by: String(signal.reason) });
    else if (exited !== undefined && now >= due.drain) return { exit: exited, stopping };
    else if (now >= due.kill || now >= due.completion) {
      const text = "the agent answered but did not end; its processes were ended";
      if (stopping === undefined) yield { type: "notice", text };
      await process.end();
      return { exit: await process.exit, stopping };
    } else if (now >= due.turn) stop({ is: "timeout", which: "turn", afterMs: limits.turnTimeoutMs });
    else if (now >= due.idle) stop({ is: "timeout", which: "idle", afterMs: limits.idleTimeoutMs });
    if (way.answers() > 0) yield* [...telling.open(), ...telling.answering(), ...telling.metered()];
    const said = stopping === undefined ? overdue(way) : undefined;
    if (said !== undefined) stop(said);
  }
}

/** What the model says to the gateway, whatever the program makes of it. */
function overdue(way: ModelWay): TurnOutcome | undefined {
  if (way.isOverLimit()) return OVER_LIMIT;
  const said = way.refusal();
  if (said === undefined) return undefined;
  const waitMs = said.resetAt === undefined ? 0 : said.resetAt - Date.now();
  if (waitMs <= MAX_OWN_RETRY_WAIT_MS && said.times < MAX_REFUSALS_IN_A_ROW) return undefined;
  return outcomeOfRefusal({ ...said, text: modelSaid(said) });
}

function endOf({ uuid, entry, process, reader, meter, way, telling }: Played, { exit, stopping }: Ending): TurnEnd {
  const { view } = reader;
  const words = process.lastWords();
  const found = outcomeOf({ exit, view, refusal: way.refusal(), overLimit: way.isOverLimit(), words }, entry);
  const usage = telling.usage();
  return {
    type: "turn-end",
    // It may have been done before the interrupt reached it.
    outcome: stopping === undefined || (found.is === "done" && view.ended) ? found : stopping,
    usage,
    finalText: view.finalText,
    call: null,
    messageId: view.messageId ?? (usage.requests > 0 ? uuid : null),
    contextTokens: meter.contextTokens(),
  };
}
