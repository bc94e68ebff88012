/** Lines of a stream, each of bounded length: one that is longer is passed over, and counted. */

/** More than any message with a tool's whole output has. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;
const NEWLINE = 10;

interface LineOptions {
  maxBytes?: number;
  /** Empty lines are given, too. */
  keepEmpty?: boolean;
  onTooLong?: (bytes: number) => void;
}

export interface Lines {
  take(chunk: Buffer): void;
  /** What follows the last newline is a line, too. */
  end(): void;
  /** Lines that were too long, since the start. */
  dropped(): number;
}

export function lines(
  onLine: (line: string) => void,
  { maxBytes = MAX_LINE_BYTES, keepEmpty = false, onTooLong }: LineOptions = {},
): Lines {
  let parts: Buffer[] = [];
  let bytes = 0;
  let dropped = 0;

  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else parts = [];
  };

  const flush = (): void => {
    const [whole, length] = [parts, bytes];
    parts = [];
    bytes = 0;
    if (length > maxBytes) {
      dropped += 1;
      onTooLong?.(length);
    } else if (length > 0 || keepEmpty) onLine(Buffer.concat(whole).toString("utf8"));
  };

  return {
    take(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        flush();
        from = at + 1;
      }
      add(chunk.subarray(from));
    },
    end: () => bytes > 0 && flush(),
    dropped: () => dropped,
  };
}
