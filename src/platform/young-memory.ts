/**
 * A driver waits for hours and allocates little at a time, but V8 doubles the room for young objects whenever some
 * survive, up to 128 MB, and never gives it back: memory seems to grow with every iteration.
 */
import { setFlagsFromString } from "node:v8";

/** For a process of pawl's own: the flag holds for all of it. Read by V8 each time it would grow. */
export function keepYoungMemorySmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}
