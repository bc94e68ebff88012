/** Memory that is held, not what only waits to be collected: how much that is depends on the machine and on chance. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heldBytes(): number {
  collect();
  // Buffers that were found unused by the first are let go by the second at the latest.
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The most that is held beyond what is held now, as far as it is looked at: after every so many bytes of a stream. */
export function watchHeld(everyBytes: number): { saw(bytes: number): void; mostMb(): number } {
  const before = heldBytes();
  let most = 0;
  let unseen = 0;
  return {
    saw(bytes) {
      unseen += bytes;
      if (unseen < everyBytes) return;
      unseen = 0;
      most = Math.max(most, heldBytes() - before);
    },
    mostMb: () => most / 2 ** 20,
  };
}
