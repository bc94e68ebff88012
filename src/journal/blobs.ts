/**
 * Large things by their sha-256: prompts, logs, diffs. Written aside, flushed and renamed into place, so a name always
 * holds the whole content. Masked before they are named, so equal content is one file.
 */
import { hash } from "node:crypto";
import { mkdirSync, readdirSync, statSync, unlinkSync, utimesSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import { makePrivateDir, rename, syncDir } from "../platform/files.ts";
import type { Blobs } from "../ports.ts";
import { makeBlobWriter } from "./blob-writer.ts";
import type { Redactor } from "./redact.ts";
import { explain } from "./trouble.ts";

const HASH = /^[0-9a-f]{64}$/;
/** What a killed process left unfinished is removed after this long: nobody writes one blob for a day. */
const STALE_MS = 24 * 3_600_000;

export function makeBlobs({ dir, redact }: { dir: string; redact: Redactor }): Blobs {
  const unfinished = join(dir, "unfinished");
  const pathOf = (name: string) => join(dir, name.slice(0, 2), name.slice(2));
  let isReady = false;

  const makeReady = (): string => {
    if (!isReady) {
      makePrivateDir(unfinished);
      removeStale(unfinished);
      isReady = true;
    }
    return unfinished;
  };
  const place = (temporary: string, { name, bytes }: { name: string; bytes: number }): void => {
    const path = pathOf(name);
    if (statSync(path, { throwIfNoEntry: false })?.size === bytes) {
      unlinkSync(temporary);
      // Young again: it is about to be named by a fact.
      utimesSync(path, new Date(), new Date());
      return;
    }
    const shard = join(dir, name.slice(0, 2));
    if (mkdirSync(shard, { recursive: true, mode: 0o700 }) !== undefined) syncDir(dir);
    rename(temporary, path);
    syncDir(shard);
  };

  return {
    async put(content) {
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      const writer = makeBlobWriter({ makeReady, place, redact, maxBytes: Infinity });
      writer.write(bytes);
      const { hash, bytes: size } = await writer.end();
      return { hash, bytes: size };
    },
    writer: (maxBytes) => makeBlobWriter({ makeReady, place, redact, maxBytes }),
    async get(name) {
      if (!HASH.test(name)) return undefined;
      const content = await readFile(pathOf(name)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return undefined;
        throw explain(error, pathOf(name));
      });
      if (content !== undefined && hash("sha256", content) !== name) {
        throw new TerminalError(`the blob ${name} is not what was written`, {
          hint: "restore pawl's state directory from a backup",
        });
      }
      return content;
    },
  };
}

function removeStale(dir: string): void {
  const before = Date.now() - STALE_MS;
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && stat.mtimeMs < before) unlinkSync(path);
  }
}
