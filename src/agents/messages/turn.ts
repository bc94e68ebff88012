/** One turn as its reader sees it: passes on what happens and ends it exactly once, by its end, a limit, an abort or a close. */
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent, TurnEnd, TurnLimits } from "../../ports.ts";
import type { Meter } from "../api-meter.ts";
import { deadlines } from "../deadlines.ts";
import { interrupted } from "../ending.ts";
import type { Waiting } from "../waiting.ts";
import { wakes } from "../wakes.ts";
import type { Played } from "./course.ts";

interface Told {
  is: "told";
  event: AgentEvent;
}

/** What a turn is played with. */
export interface Stage {
  tell: (event: AgentEvent) => void;
  seen: () => void;
  /** Aborted when the turn must end. */
  signal: AbortSignal;
}

interface Watched {
  uuid: string;
  waiting: Waiting;
  meter: Meter;
  limits: TurnLimits;
  signal: AbortSignal;
  /** Aborted with an outcome when the session is closed. */
  closing: AbortSignal;
  play(stage: Stage): Promise<Played>;
  /** What people should know before the turn ends. */
  notices(): string[];
}

export async function* watch(watched: Watched): AsyncGenerator<AgentEvent> {
  const { uuid, waiting, meter, limits, signal, closing } = watched;
  const inbox = wakes<Told>();
  const over = new AbortController();
  const time = deadlines({ limits, waiting });
  let stopping: TurnOutcome | undefined;
  const stop = (outcome: TurnOutcome): void => {
    stopping ??= outcome;
    over.abort(outcome);
  };
  const onClose = (): void => stop({ is: "cut", reason: "the session was closed" });
  waiting.begin(uuid, () => inbox.nudge());
  closing.addEventListener("abort", onClose, { once: true });
  const tell = (event: AgentEvent): void => {
    time.seen();
    inbox.put({ is: "told", event });
  };
  if (signal.aborted) stop(interrupted(signal));
  const playing = watched.play({ tell, seen: () => time.seen(), signal: over.signal }).finally(() => inbox.over(""));
  try {
    for (;;) {
      for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
      const deadline = time.next({ timed: stopping === undefined });
      const wake = await inbox.next({ deadline, signal: stopping === undefined ? signal : undefined });
      if (wake.is === "told") yield wake.event;
      else if (wake.is === "ended") break;
      else if (wake.is === "aborted") stop(interrupted(signal));
      else {
        // It may have shown a sign of life since that deadline was set.
        time.next({ timed: stopping === undefined });
        const late = time.passed();
        if (late !== undefined) stop(late);
      }
    }
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event;
    const end = endOf(await playing, { stopping, meter });
    for (const text of watched.notices()) yield { type: "notice", text };
    yield { type: "usage", usage: end.usage };
    yield end;
  } finally {
    closing.removeEventListener("abort", onClose);
    stop({ is: "cut", reason: "nobody reads on" });
    waiting.end();
    await playing;
  }
}

/** It may have been done before the interrupt reached it. */
function endOf(played: Played, { stopping, meter }: { stopping: TurnOutcome | undefined; meter: Meter }): TurnEnd {
  const outcome = stopping === undefined || played.outcome.is === "done" ? played.outcome : stopping;
  return { type: "turn-end", ...played, outcome, usage: meter.usage() };
}
