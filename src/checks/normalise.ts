/** Takes out of a line what changes from run to run, so that the same failure has the same words. */

/** Addresses, uuids, hashes. */
export const HEX = /\b0x[0-9a-f]+\b|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b/gi;
const NUMBER = /\d+(?:[.,:]\d+)*(?:\s?(?:ns|µs|us|ms|s|sec|seconds?|m|min|kB|[KMG]i?B)\b)?/g;
/** Folders differ between verify trees; the file's own name says enough. */
const FOLDERS = /(?<![\w.\-/])(?:file:\/\/)?\/(?:[^\s/:'"()]+\/)*/g;

export const DURATION_AT_END =
  /\s*(?:[([]?\s*(?:duration[: ])?[\d.,]+\s*(?:ns|µs|us|ms|s|sec|seconds?|m|min)\b\s*[)\]]?\s*)+$/i;

/** Without folders, addresses, numbers, times, spacing. */
export function normalised(line: string): string {
  return line.replaceAll(HEX, "<hex>").replaceAll(FOLDERS, "").replaceAll(NUMBER, "#").replaceAll(/\s+/g, " ").trim();
}

/** For messages of tools that name what is wrong: only positions and addresses go, a count is part of what they say. */
export function withoutPositions(message: string): string {
  return message
    .replaceAll(HEX, "<hex>")
    .replaceAll(FOLDERS, "")
    .replaceAll(/(?<=[\w)]):\d+(?::\d+)?\b/g, "")
    .replaceAll(/\b(lines?|columns?|col) \d+/gi, "$1 #")
    .replaceAll(/\s+/g, " ")
    .trim();
}
