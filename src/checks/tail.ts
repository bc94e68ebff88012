/** The end of an output of any length as text, and text as it is shown. */
import { stripVTControlCharacters } from "node:util";
import { makeLastBytes } from "../platform/last-bytes.ts";

export interface Tail {
  write(chunk: Uint8Array): void;
  text(): string;
}

export function tailOf(maxBytes: number): Tail {
  const last = makeLastBytes(maxBytes);
  return {
    write: (chunk) => last.push(chunk),
    text() {
      const bytes = Buffer.concat(last.parts());
      // The cut may be inside a character of up to four bytes.
      let start = 0;
      while (last.dropped > 0 && start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
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
