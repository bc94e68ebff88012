/** What is thrown at once of a start that Node tells of too late. */
import type { ChildProcess } from "node:child_process";

/**
 * A child that was just spawned. Where no file descriptor is left, Node gives one without streams and tells why later, by
 * an event that ends the process unless somebody listens: here it is thrown at once, like every other reason.
 */
export function begun<T extends ChildProcess>(child: T): T {
  // Node's types do not know of it.
  if ((child.stdio as unknown) !== undefined) return child;
  child.on("error", () => undefined);
  throw Object.assign(new Error(`${child.spawnfile} cannot be started: no file descriptor is left (ulimit -n)`), {
    code: "EMFILE",
  });
}
