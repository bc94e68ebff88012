/** Lines of a stream, one at a time: a slow reader slows the program, and a line that is too long is passed over. */
import type { Readable } from "node:stream";

const MAX_LINE_BYTES = 32 * 1024 * 1024;
const NEWLINE = 0x0a;

export type Line = { is: "line"; text: string } | { is: "too-long"; bytes: number };

/** Characters that arrive in pieces are put together. What follows the last newline is a line, too. */
export async function* linesOf(stream: Readable, maxBytes = MAX_LINE_BYTES): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const flush = (): Line => {
    const line: Line =
      bytes > maxBytes ? { is: "too-long", bytes } : { is: "line", text: Buffer.concat(parts).toString("utf8") };
    parts = [];
    bytes = 0;
    return line;
  };
  const add = (part: Buffer): void => {
    bytes += part.length;
    if (bytes > maxBytes) parts = [];
    else parts.push(part);
  };
  const chunks = stream.iterator()[Symbol.asyncIterator]();
  for (;;) {
    // A broken pipe is the end of the output.
    const next = await chunks.next().catch(() => undefined);
    if (next === undefined || next.done === true) break;
    const chunk = next.value as Buffer;
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, end));
      from = end + 1;
      yield flush();
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  if (bytes > 0) yield flush();
}
