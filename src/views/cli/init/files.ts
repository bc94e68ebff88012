/** A folder as `detect` wants it: names, and small texts by path. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Files } from "./detect.ts";

const MAX_FILE_BYTES = 1024 * 1024;

export function filesOf(folder: string): Files {
  return {
    names: new Set(readdirSync(folder)),
    read(path) {
      const stats = statSync(join(folder, path), { throwIfNoEntry: false });
      return stats?.isFile() === true && stats.size <= MAX_FILE_BYTES
        ? readFileSync(join(folder, path), "utf8")
        : undefined;
    },
    within(path) {
      const inside = join(folder, path);
      return statSync(inside, { throwIfNoEntry: false })?.isDirectory() === true ? filesOf(inside) : undefined;
    },
  };
}
