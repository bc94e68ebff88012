/**
 * What keeps a driver small. Not for programs that use pawl as a library: it is their process. V8 refuses code that was
 * compiled under other flags, Node's own too, so each is set as late as it helps.
 */
import { setFlagsFromString } from "node:v8";

/** Where zod keeps its settings, whichever copy of it is loaded. Known before it is: only who drives loads it. */
const SCHEMA_SETTINGS = "__zod_globalConfig";

/**
 * Of Node's own, what every driver comes to load. Loaded before the first flag it takes half as long, because what Node
 * brings along compiled is refused afterwards: 14 ms of a start.
 */
const LOADED_BY_ALL = [
  "node:crypto",
  "node:fs/promises",
  "node:sqlite",
  "node:timers/promises",
  "node:zlib",
  "node:dns/promises",
  "node:perf_hooks",
  "node:http",
  "node:cluster",
  "node:worker_threads",
] as const;

/** Before most is loaded: what the heap has grown to it keeps. */
export function leanStart(): void {
  for (const name of LOADED_BY_ALL) process.getBuiltinModule(name);
  // A driver waits most of the time: a young generation that stays small saves some 15 MB.
  setFlagsFromString("--semi-space-growth-factor=1");
  // So small a generation is cleaned by one thread sooner than several have woken up: 2 % of reading a long journal.
  setFlagsFromString("--no-parallel-scavenge");
  // What runs hot here runs for half a second. The last of V8's compilers takes longer than it saves, and 7 MB.
  setFlagsFromString("--no-opt");
  // Of most schemas a few values are ever read: zod would compile each first. Read when a schema is made.
  Object.assign(globalThis, { [SCHEMA_SETTINGS]: { jitless: true } });
}

/** Once a driver has read its journal nothing runs hot any more: what the other compiler adds would be 4 MB. */
export function leanDriving(): void {
  setFlagsFromString("--no-maglev");
}
