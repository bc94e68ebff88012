/** What a program prints, kept in bounded memory: all of it, or its first and its last part. */
import { makeLastBytes } from "../../platform/last-bytes.ts";
import type { Printed } from "../../ports/executor.ts";

/** Of each part. */
const KEPT_BYTES = 256 * 1024;

export interface Printing {
  write(chunk: Uint8Array): void;
  printed(): Printed;
}

export function makePrinted(keptBytes = KEPT_BYTES): Printing {
  const first: Uint8Array[] = [];
  const last = makeLastBytes(keptBytes);
  let room = keptBytes;
  let bytes = 0;
  return {
    write(chunk) {
      bytes += chunk.length;
      const head = chunk.subarray(0, room);
      room -= head.length;
      if (head.length > 0) first.push(head.slice());
      if (head.length < chunk.length) last.push(chunk.subarray(head.length));
    },
    printed() {
      const [head, tail] = [Buffer.concat(first), Buffer.concat(last.parts())];
      // Decoded as one where nothing is missing between: a letter may lie across.
      const text =
        last.dropped === 0
          ? Buffer.concat([head, tail]).toString()
          : `${head.toString()}\n[… ${last.dropped} bytes left out …]\n${tail.toString()}`;
      return last.dropped === 0 ? { text, bytes } : { text, bytes, isCut: true };
    },
  };
}
