/** Where a scripted turn plays: collects its events, and ends it by its answer, an abort or a limit. */
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent, TurnLimits } from "../../ports.ts";

/** Longest that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type Fate<T> = { value: T } | { error: unknown } | { outcome: TurnOutcome };

export interface Stage {
  readonly signal: AbortSignal;
  emit(event: AgentEvent): void;
  /** Ends the turn with this, whatever is being played. */
  force(outcome: TurnOutcome): void;
  sleep(ms: number): Promise<void>;
  /** The turn waits for a person until the returned function is called: that time counts for no limit. */
  hold(): () => void;
  /** Calls it now; a throw is a fate too. */
  run<T>(play: () => T | Promise<T>): Fate<T> | Promise<Fate<T>>;
  /** Yields what is emitted until the turn's fate is known, and returns what `end` makes of it. */
  events<T, E>(playing: Fate<T> | Promise<Fate<T>>, end: (fate: Fate<T>) => E): AsyncGenerator<AgentEvent, E>;
  close(): void;
}

/** An answer that is there at once costs no tick and no timer. */
export function stage(limits: TurnLimits, aborted: AbortSignal): Stage {
  const controller = new AbortController();
  const queue: AgentEvent[] = [];
  let wake: (() => void) | undefined;
  let idle: NodeJS.Timeout | undefined;
  let total: NodeJS.Timeout | undefined;
  let forced: TurnOutcome | undefined;
  let watching = false;
  let held = 0;
  /** Of the turn, not counting what was spent waiting for a person. */
  let leftMs = limits.turnTimeoutMs;
  let since = 0;

  const force = (outcome: TurnOutcome): void => {
    forced ??= outcome;
    controller.abort(outcome);
    wake?.();
  };
  const onAbort = (): void => force({ is: "interrupted", by: String(aborted.reason) });
  const watchIdle = (): void => {
    clearTimeout(idle);
    if (!watching || held > 0) return;
    const afterMs = limits.idleTimeoutMs;
    idle = setTimeout(() => force({ is: "timeout", which: "idle", afterMs }), Math.min(afterMs, MAX_TIMER_MS));
  };
  const watchTotal = (): void => {
    if (!watching || held > 0) return;
    const afterMs = limits.turnTimeoutMs;
    since = performance.now();
    total = setTimeout(() => force({ is: "timeout", which: "turn", afterMs }), Math.min(leftMs, MAX_TIMER_MS));
  };
  const watch = (): void => {
    watching = true;
    watchTotal();
    watchIdle();
    if (aborted.aborted) onAbort();
    else aborted.addEventListener("abort", onAbort, { once: true });
  };
  const hold = (): (() => void) => {
    held += 1;
    if (held === 1) {
      clearTimeout(idle);
      clearTimeout(total);
      if (watching) leftMs -= performance.now() - since;
    }
    let released = false;
    return () => {
      if (released) return;
      released = true;
      held -= 1;
      watchTotal();
      watchIdle();
    };
  };
  const close = (): void => {
    watching = false;
    clearTimeout(idle);
    clearTimeout(total);
    aborted.removeEventListener("abort", onAbort);
    controller.abort();
  };

  return {
    signal: controller.signal,
    force,
    hold,
    emit(event) {
      queue.push(event);
      watchIdle();
      wake?.();
    },
    sleep(ms) {
      return new Promise((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          controller.signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        controller.signal.addEventListener("abort", done, { once: true });
      });
    },
    run(play) {
      try {
        const value = play();
        if (!(value instanceof Promise)) return { value };
        return value.then(
          (found) => ({ value: found }),
          (error: unknown) => ({ error }),
        );
      } catch (error) {
        return { error };
      }
    },
    async *events(playing, end) {
      let fate = playing instanceof Promise ? undefined : playing;
      if (playing instanceof Promise) {
        watch();
        void playing.then((found) => {
          fate = found;
          wake?.();
        });
      }
      for (;;) {
        while (queue.length > 0) yield queue.shift() as AgentEvent;
        if (forced !== undefined) return end({ outcome: forced });
        if (fate !== undefined) return end(fate);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
    },
    close,
  };
}
