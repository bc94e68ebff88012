/** Lines of a stream, each of bounded length: one that is longer is passed over, and counted. */

/** More than any message with a tool's whole output has. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;
const NEWLINE = 10;

export interface Lines {
  take(chunk: Buffer): void;
  /** Lines that were too long, since the start. */
  dropped(): number;
}

export function lines(onLine: (line: string) => void, maxBytes = MAX_LINE_BYTES): Lines {
  let parts: Buffer[] = [];
  let bytes = 0;
  let dropped = 0;

  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else parts = [];
  };

  return {
    take(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        if (bytes > maxBytes) dropped += 1;
        else if (bytes > 0) onLine(Buffer.concat(parts).toString("utf8"));
        parts = [];
        bytes = 0;
        from = at + 1;
      }
      add(chunk.subarray(from));
    },
    dropped: () => dropped,
  };
}
