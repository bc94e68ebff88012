/**
 * A `sleep` that the test ends from outside: for checks and generated code, which see no file that a test could make. What
 * it ends is told from every other process by its own number.
 */
import { randomInt } from "node:crypto";
import { processesWith, signalAll } from "./processes.ts";
import { waitFor } from "./temp.ts";

/** By then a test that never opens it is to fail by what it asserts. */
const LONGEST_S = 50;
const OVER_LIMIT_MS = 150_000;

export interface HeldSleep {
  /** The argument of `sleep`. */
  readonly seconds: string;
  /** Opens it whenever it is there and `may` says so, until `over` is; as often as what holds it is started. */
  openUntil<T>(over: Promise<T>, may?: () => boolean): Promise<T>;
}

export function heldSleep(): HeldSleep {
  const seconds = `${LONGEST_S}.${randomInt(1e9)}`;
  return {
    seconds,
    async openUntil(over, may = () => true) {
      let isOver = false;
      const end = (): void => void (isOver = true);
      over.then(end, end);
      const look = (): boolean => {
        if (may()) signalAll(processesWith([seconds]));
        return isOver;
      };
      await waitFor(look, { what: "the end", limitMs: OVER_LIMIT_MS });
      return await over;
    },
  };
}
