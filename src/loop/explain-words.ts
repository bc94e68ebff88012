/** Words about failures: paths of the place where code ran made short, and fingerprints. Pure. */
import { PROGRAM_NAME, type Code } from "../ports/executor.ts";

export interface Shorten {
  (text: string): string;
  /** A frame's own. */
  file(path: string): string;
}

/** What the file of the program is called in front of the model and of people. */
const SHOWN_NAME = "solution";
/** Of a path elsewhere, from its end. */
const KEPT_SEGMENTS = 2;
const MAX_FINGERPRINT_CHARS = 200;
/** Of the folder. */
const MAX_PATH_CHARS = 4_096;
const PATH_BEFORE = /\/[^/\s"'():,][^\s"'():,]*\/$/;

/** By the program's own path, which is in what it prints about its errors: the folder before it means nothing to anyone. */
export function shortener(printed: string, { language }: Pick<Code, "language">): Shorten {
  const folder = folderIn(printed);
  const short = (text: string): string => {
    const inner =
      folder === undefined || folder === "/"
        ? text
        : text.replaceAll(`file://${folder}`, "").replaceAll(folder, "").replaceAll(folder.slice(0, -1), ".");
    return inner.replaceAll(PROGRAM_NAME, SHOWN_NAME);
  };
  const file = (path: string): string => {
    // Where code was given on standard input, as other sandboxes do.
    if (path === "<stdin>" && language === "python") return `${SHOWN_NAME}.py`;
    if (path === "[stdin]" && language === "javascript") return `${SHOWN_NAME}.js`;
    const inner = short(path.replace(/^file:\/\//, ""));
    return inner.startsWith("/") ? inner.split("/").slice(-KEPT_SEGMENTS).join("/") : inner;
  };
  return Object.assign(short, { file });
}

function folderIn(printed: string): string | undefined {
  const at = printed.indexOf(`/${PROGRAM_NAME}.`) + 1;
  if (at === 0) return undefined;
  // From the last blank or quote on: a pattern alone would try every beginning.
  const before =
    printed
      .slice(Math.max(0, at - MAX_PATH_CHARS), at)
      .split(/[\s"'():,]/)
      .at(-1) ?? "";
  return PATH_BEFORE.exec(before)?.[0];
}

/** Addresses, uuids, hashes; then times and dates; then any number. */
const HEX = /\b0x[0-9a-f]+\b|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b/gi;
const NUMBER = /\d+(?:[.,:T/-]\d+)*/g;
const FOLDERS = /(?<![\w.\-/])\/(?:[^\s/:'"()]+\/)*/g;

/** The same for the same failure, whatever lines, addresses and times are in it. */
export function fingerprintOf(parts: readonly string[]): string {
  const text = parts
    .map((part) =>
      part.replaceAll(HEX, "<hex>").replaceAll(FOLDERS, "").replaceAll(NUMBER, "#").replaceAll(/\s+/g, " ").trim(),
    )
    .filter((part) => part !== "")
    .join("|");
  if (text.length <= MAX_FINGERPRINT_CHARS) return text;
  const mark = `~${hashed(text)}`;
  return `${text.slice(0, MAX_FINGERPRINT_CHARS - mark.length)}${mark}`;
}

const FNV_START = 0x811c9dc5;
const FNV_FACTOR = 0x01000193;

/** FNV-1a: tells long ones apart, nothing hangs on it. */
function hashed(text: string): string {
  let hash = FNV_START;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FNV_FACTOR) >>> 0;
  return hash.toString(16).padStart(8, "0");
}
