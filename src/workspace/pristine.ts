/**
 * Dependency folders in the verify tree: brought back to the copy made before the first turn whenever something in them
 * has changed. A check runs the agent's code; what that writes into node_modules must not judge the next change.
 */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { copyFolder, removeAround } from "./dependencies.ts";

export interface PristineFolders {
  bring(): Promise<void>;
}

export function pristineFolders(about: { from: string; to: string; folders: readonly string[] }): PristineFolders {
  const { from, to, folders } = about;
  /** As they were when this driver copied them; what an earlier one left is not believed. */
  const stamps = new Map<string, string>();
  return {
    async bring() {
      for (const folder of folders) {
        const target = join(to, folder);
        const stamp = stampOf(target);
        if (stamp !== undefined && stamps.get(folder) === stamp) continue;
        stamps.delete(folder);
        removeAround(Buffer.from(target), []);
        await copyFolder({ from, to, folder });
        stamps.set(folder, stampOf(target) ?? "");
      }
    },
  };
}

/** Changes with anything below the path: the time of an inode's last change cannot be set by a program. */
function stampOf(path: string): string | undefined {
  const hash = createHash("sha256");
  const folders = [Buffer.from(path)];
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  for (let dir = folders.pop(); dir !== undefined; dir = folders.pop()) {
    hash.update(dir).update(described(dir));
    for (const entry of readdirSync(dir, { withFileTypes: true, encoding: "buffer" })) {
      const child = Buffer.concat([dir, Buffer.from("/"), entry.name]);
      if (entry.isDirectory()) folders.push(child);
      else hash.update(child).update(described(child));
    }
  }
  return hash.digest("hex");
}

function described(path: Buffer): string {
  const { ino, mode, size, ctimeNs } = lstatSync(path, { bigint: true });
  return `\0${ino} ${mode} ${size} ${ctimeNs}\0`;
}
