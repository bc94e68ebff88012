/** Reads a child's output piece by piece: a slow reader slows the program, nothing is kept. */
import type { Readable } from "node:stream";
import { systemClock } from "./clock.ts";

/** `from`: which stream, where they are read apart; else 0. */
export type OnOutput = (chunk: Uint8Array, from: number) => void | Promise<void>;

export interface Output {
  bytes(): number;
  /** Resolves when the program has closed its output; rejects when `onOutput` does. */
  readonly done: Promise<void>;
  /** Resolves after this long without a byte, or when aborted. */
  silent(ms: number, signal: AbortSignal): Promise<void>;
  /** Resolves once there were more bytes than this; `apart`, in one stream. */
  over(maxBytes: number): Promise<void>;
  /** Waits for the rest, at most `limitMs`; then lets go of the streams, whoever holds their other end. */
  finish(limitMs: number): Promise<void>;
}

export function readOutput(
  streams: readonly Readable[],
  { onOutput, apart = false }: { onOutput?: OnOutput | undefined; apart?: boolean | undefined },
): Output {
  let bytes = 0;
  const ofEach = streams.map(() => 0);
  let heardAt = performance.now();
  let letGo = false;
  let cap = { bytes: Infinity, passed: (): void => undefined };

  async function read(stream: Readable, from: number): Promise<void> {
    // A broken pipe is the end of the output; only the reader's own errors are errors.
    const chunks = stream.iterator()[Symbol.asyncIterator]();
    for (;;) {
      const next = await chunks.next().catch(() => undefined);
      if (next === undefined || next.done === true || letGo) return;
      const chunk = next.value as Uint8Array;
      bytes += chunk.length;
      const own = (ofEach[from] ?? 0) + chunk.length;
      ofEach[from] = own;
      heardAt = performance.now();
      if ((apart ? own : bytes) > cap.bytes) cap.passed();
      await onOutput?.(chunk, apart ? from : 0);
    }
  }

  function release(): void {
    letGo = true;
    for (const stream of streams) stream.destroy();
  }

  const done = Promise.all(streams.map(read)).then(() => undefined);
  done.catch(release);

  return {
    bytes: () => bytes,
    done,
    async silent(ms, signal) {
      for (let left = ms; left > 0 && !signal.aborted; left = heardAt + ms - performance.now()) {
        await systemClock.sleep(left, signal);
      }
    },
    over: (maxBytes) =>
      new Promise((resolve) => {
        cap = { bytes: maxBytes, passed: resolve };
      }),
    async finish(limitMs) {
      const over = new AbortController();
      await Promise.race([done, systemClock.sleep(limitMs, over.signal)]).finally(() => over.abort());
      release();
      await done;
    },
  };
}
