/** The real clock. Deadlines use `mono`, which a change of the system time cannot move. */

/** setTimeout silently turns anything longer into 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock = {
  wall: (): number => Date.now(),
  mono: (): number => performance.now(),
  sleep,
};

/**
 * For what a program that has ended may still have printed. A process that stood still meanwhile had no chance to read
 * it: at least half of the time is given while this one is at work.
 */
export function afterReading(ms: number, act: () => void): void {
  setTimeout(() => setTimeout(act, ms / 2).unref(), ms / 2).unref();
}

/** A sleeping driver must not let the process end, so the timer holds it. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  const until = performance.now() + ms;
  for (let left = ms; left > 0 && !signal.aborted; left = until - performance.now()) {
    // A timer may fire a fraction early; rounding up keeps that from becoming a spin.
    await pause(Math.min(Math.ceil(left), MAX_TIMER_MS), signal);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}
