import { expect, it, vi } from "vitest";
import { systemClock } from "./clock.ts";

it("sleeps at least as long as asked", async () => {
  for (const ms of [1, 7, 20]) {
    const before = systemClock.mono();
    await systemClock.sleep(ms, new AbortController().signal);
    expect(systemClock.mono() - before).toBeGreaterThanOrEqual(ms);
  }
});

it("does not sleep for nothing, a negative time or after an abort", async () => {
  const { signal } = new AbortController();
  await systemClock.sleep(0, signal);
  await systemClock.sleep(-5, signal);
  await systemClock.sleep(1e9, AbortSignal.abort());
});

it("sleeps beyond the longest timer, wakes when aborted and leaves no listener or timer (row 10)", async () => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const abort = new AbortController();
  let awake = false;
  const sleeping = systemClock.sleep(2 ** 40, abort.signal).then(() => (awake = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(timers.mock.lastCall?.[1]).toBe(2 ** 31 - 1);
  timers.mockRestore();
  expect(awake).toBe(false);
  abort.abort();
  await sleeping;
  expect(awake).toBe(true);
});

it("shows the wall clock beside one that cannot be set", () => {
  const before = Date.now();
  const wall = systemClock.wall();
  expect(wall).toBeGreaterThan(before - 1000);
  expect(wall).toBeLessThan(Date.now() + 1000);
  const [a, b] = [systemClock.mono(), systemClock.mono()];
  expect(b).toBeGreaterThanOrEqual(a);
});
