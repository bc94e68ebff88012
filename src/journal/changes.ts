/**
 * Waiting for a commit by any process. SQLite has no notification across processes, but a counter that costs
 * microseconds to read; it is polled by one timer per handle, and only while somebody waits. Commits of this handle
 * wake at once.
 */
import type { Store } from "./sqlite.ts";

export const POLL_MS = 25;

export interface Changes {
  /** Take it before looking; then nothing that happens after the look is missed. undefined: no file yet. */
  version(): number | undefined;
  /** Resolves when the version is another than `since`, or when aborted. Never rejects. */
  after(since: number | undefined, signal: AbortSignal): Promise<void>;
}

export function watchChanges(store: Store): Changes {
  const waiting = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  let stopListening: (() => void) | undefined;
  const version = () => store.existing()?.version();
  const wakeAll = () => waiting.forEach((wake) => wake());
  const start = (wake: () => void) => {
    waiting.add(wake);
    timer ??= setInterval(wakeAll, POLL_MS);
    stopListening ??= store.onCommit(wakeAll);
  };
  const stop = (wake: () => void) => {
    waiting.delete(wake);
    if (waiting.size > 0) return;
    clearInterval(timer);
    stopListening?.();
    timer = stopListening = undefined;
  };
  return {
    version,
    after: (since, signal) =>
      new Promise((resolve) => {
        const done = () => {
          stop(look);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const look = () => {
          if (signal.aborted || differs(version, since)) done();
        };
        signal.addEventListener("abort", done);
        start(look);
        look();
      }),
  };
}

/** A file that cannot be read any more counts as changed: who looks gets the error. */
function differs(version: () => number | undefined, since: number | undefined): boolean {
  try {
    return version() !== since;
  } catch {
    return true;
  }
}
