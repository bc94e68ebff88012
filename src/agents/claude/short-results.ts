/**
 * What Claude Code's stream costs to read is bounded before whole lines of it are held and parsed. What tools returned is
 * shortened inside its line, so that the message keeps its shape; pawl shows the beginning only. Everything else is passed
 * on as it is: requests are answered with parts of them.
 */
import { Transform } from "node:stream";

/** 16,384 characters, which is what is kept of a tool's output, are never longer as JSON. */
const MAX_RESULT_STRING_BYTES = 128 * 1024;
/** More than a model can say in one message. The rest of a longer line is left out: it is no JSON then, and passed over. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

const RESULT = Buffer.from('{"type":"user"');
const MARK = Buffer.from("…");
const [NEWLINE, QUOTE, BACKSLASH, LETTER_U] = [0x0a, 0x22, 0x5c, 0x75];
const UNICODE_DIGITS = 4;

/** A byte inside a character of several. */
const isInside = (byte: number): boolean => (byte & 0xc0) === 0x80;

export function shortResults(): Transform {
  let line = newLine();
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let from = 0; from < chunk.length;) {
        const end = chunk.indexOf(NEWLINE, from);
        const part = chunk.subarray(from, end < 0 ? chunk.length : end);
        for (const kept of line.take(part)) this.push(kept);
        from += part.length;
        if (end < 0) continue;
        this.push(chunk.subarray(end, end + 1));
        from += 1;
        line = newLine();
      }
      done();
    },
  });
}

interface Line {
  /** What of the line's next bytes is passed on. */
  take(bytes: Buffer): Buffer[];
}

function newLine(): Line {
  let seen = 0;
  let passed = 0;
  // Until its first bytes have said something else.
  let isResult = true;
  const shorten = shortStrings();
  return {
    take(bytes) {
      for (let at = 0; isResult && seen < RESULT.length && at < bytes.length; at += 1, seen += 1)
        isResult = bytes[at] === RESULT[seen];
      const kept: Buffer[] = [];
      for (const part of isResult ? shorten(bytes) : [bytes]) {
        const room = Math.max(0, MAX_LINE_BYTES - passed);
        if (room > 0) kept.push(part.subarray(0, room));
        passed += part.length;
      }
      return kept;
    },
  };
}

/** Cuts each string of a JSON text that comes in pieces, never inside a character or an escape. */
function shortStrings(): (bytes: Buffer) => Buffer[] {
  let isString = false;
  let length = 0;
  /** Bytes of an escape that are still to come. */
  let escape = 0;
  let isCutting = false;

  /** Of the byte in a string: is it the first that is left out? */
  function goOn(byte: number): boolean {
    const isWhole = escape === 0 && !isInside(byte);
    if (escape > 0) escape = escape === 1 && byte === LETTER_U ? UNICODE_DIGITS : escape - 1;
    else if (byte === BACKSLASH) escape = 1;
    else if (byte === QUOTE) isString = false;
    length += 1;
    return isString && isWhole && length > MAX_RESULT_STRING_BYTES;
  }

  return (bytes) => {
    const kept: Buffer[] = [];
    let from = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at] ?? 0;
      if (!isString) {
        if (byte === QUOTE) [isString, length] = [true, 0];
        continue;
      }
      const isCut = goOn(byte);
      if (isCut && !isCutting) kept.push(bytes.subarray(from, at), MARK);
      if (!isString && isCutting) from = at;
      isCutting = isString && (isCutting || isCut);
    }
    if (!isCutting) kept.push(bytes.subarray(from));
    return kept;
  };
}
