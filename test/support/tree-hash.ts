/** Everything below a folder in one word: names, kinds, modes, times and contents, so that no change goes unseen. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

export function treeHash(root: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(root, { recursive: true, encoding: "utf8" }).toSorted()) {
    const stats = lstatSync(join(root, name));
    hash.update(`${name} ${stats.mode} ${stats.mtimeMs}\n`);
    if (stats.isFile()) hash.update(readFileSync(join(root, name)));
    if (stats.isSymbolicLink()) hash.update(readlinkSync(join(root, name)));
  }
  return hash.digest("hex");
}
