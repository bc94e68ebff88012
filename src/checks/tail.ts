/** The last bytes of an output of any length, in memory of a fixed size. */
import { stripVTControlCharacters } from "node:util";

export interface Tail {
  write(chunk: Uint8Array): void;
  text(): string;
}

export function tailOf(maxBytes: number): Tail {
  const ring = Buffer.alloc(maxBytes);
  let written = 0;
  return {
    write(chunk) {
      const kept = chunk.subarray(-maxBytes);
      written += chunk.length - kept.length;
      const at = written % maxBytes;
      const first = kept.subarray(0, maxBytes - at);
      ring.set(first, at);
      ring.set(kept.subarray(first.length), 0);
      written += kept.length;
    },
    text() {
      if (written <= maxBytes) return ring.toString("utf8", 0, written);
      const at = written % maxBytes;
      const bytes = Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
      // The cut may be inside a character of up to four bytes.
      let start = 0;
      while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
      return bytes.toString("utf8", start);
    },
  };
}

/** Text that is safe in a prompt and a terminal: no colours, cursor movements, NULs or carriage returns. */
export function plain(text: string): string {
  return (
    stripVTControlCharacters(text)
      .replaceAll("\r\n", "\n")
      // oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
      .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")
  );
}

/** The end of a text, at most `maxBytes` of UTF-8, from the start of a line where there is one. */
export function endOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.trimEnd());
  if (bytes.length <= maxBytes) return bytes.toString();
  let start = bytes.length - maxBytes;
  while (((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const cut = bytes.toString("utf8", start);
  const line = cut.indexOf("\n");
  return line === -1 || line > cut.length / 2 ? cut : cut.slice(line + 1);
}
