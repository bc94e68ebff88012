/**
 * Small things that take long to find out, kept for the next start beside the compiled code, in a folder of the user's
 * own. They may vanish at any time; a program that uses pawl as a library and has no such folder keeps nothing.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { join } from "node:path";

export interface Kept {
  /** undefined when there is none, or one that is too old or not JSON. */
  read(): unknown;
  /** Never throws. */
  keep(value: unknown): void;
}

/** `of` is everything that it depends on; another one is another thing. */
export function kept(what: string, of: unknown, { maxAgeMs = Infinity }: { maxAgeMs?: number } = {}): Kept {
  const folder = getCompileCacheDir();
  if (folder === undefined) return { read: () => undefined, keep: () => undefined };
  const file = join(folder, `${what}-${createHash("sha256").update(JSON.stringify(of)).digest("hex")}.json`);
  return {
    read() {
      try {
        if (Math.abs(Date.now() - statSync(file).mtimeMs) > maxAgeMs) return undefined;
        return JSON.parse(readFileSync(file, "utf8"));
      } catch {
        return undefined;
      }
    },
    keep(value) {
      const whole = `${file}.${process.pid}`;
      try {
        writeFileSync(whole, JSON.stringify(value), { mode: 0o600 });
        renameSync(whole, file);
      } catch {
        // Found out again the next time.
      }
    },
  };
}
