/**
 * A limit on what a fenced command may add to the disk, which no kernel limit of an ordinary user's holds. The free
 * space is looked at often, because that costs nothing; when it has shrunk by as much as is allowed the files are
 * counted, so that what others write is not held against the command. They are counted now and then in any case: while
 * others delete as much, the free space tells nothing.
 */
import { statfsSync } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { sizeWords } from "./held.ts";

const LOOK_EVERY_MS = 500;
/** Until files are counted whatever the free space is; then after so many times as long as that took. */
const FIRST_COUNT_MS = 2_000;
const COUNT_REST = 50;
/** Below it nothing on the machine works well, pawl's journal neither, whoever it was. */
const MIN_FREE_BYTES = 128 * 1024 ** 2;
/** Times of files are coarser than the clock. */
const TIME_GRAIN_MS = 1_000;
const BLOCK_BYTES = 512;

interface Watched {
  /** Where the command can write. */
  folders: readonly string[];
  maxBytes: number;
}

export interface DiskWatch {
  readonly tooMuch: Promise<string>;
  close(): void;
}

export function watchDisk({ folders, maxBytes }: Watched): DiskWatch {
  const since = Date.now() - TIME_GRAIN_MS;
  const found = Promise.withResolvers<string>();
  const before = new Map(folders.map((folder) => [folder, freeBytes(folder)]));
  let looking = false;
  let closed = false;
  let countAt = performance.now() + FIRST_COUNT_MS;
  const tooMuch = `it wrote more than ${sizeWords(maxBytes)} (max-disk)`;

  async function count(): Promise<number> {
    const began = performance.now();
    const written = await writtenSince(since, folders);
    const ended = performance.now();
    countAt = ended + Math.max(FIRST_COUNT_MS, (ended - began) * COUNT_REST);
    return written;
  }

  async function look(): Promise<string | undefined> {
    for (const [folder, first] of before) {
      const free = freeBytes(folder);
      if (first - free <= Math.min(maxBytes, MIN_FREE_BYTES)) continue;
      if (free < MIN_FREE_BYTES) return `the disk is nearly full: under ${sizeWords(MIN_FREE_BYTES)} free`;
      if (first - free <= maxBytes) continue;
      const written = await count();
      if (written > maxBytes) return tooMuch;
      // The rest was somebody else's: counted again when it could be too much.
      before.set(folder, free + written);
    }
    return performance.now() >= countAt && (await count()) > maxBytes ? tooMuch : undefined;
  }

  const timer = setInterval(() => {
    if (looking) return;
    looking = true;
    look().then(
      (words) => {
        looking = false;
        if (words === undefined || closed) return;
        clearInterval(timer);
        found.resolve(words);
      },
      // A folder that is gone cannot be filled.
      () => (looking = false),
    );
  }, LOOK_EVERY_MS);
  timer.unref();
  return {
    tooMuch: found.promise,
    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return Infinity;
  }
}

/** Bytes on disk of files that were changed since; no link is followed, a folder that cannot be read is left out. */
async function writtenSince(since: number, folders: readonly string[]): Promise<number> {
  const left = [...folders];
  const seen = new Set<number>();
  let bytes = 0;
  for (let folder = left.pop(); folder !== undefined; folder = left.pop()) {
    const entries = await opendir(folder).catch(() => undefined);
    if (entries === undefined) continue;
    for await (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) left.push(path);
      if (!entry.isFile()) continue;
      const stats = await lstat(path).catch(() => undefined);
      if (stats === undefined || stats.ctimeMs < since || seen.has(stats.ino)) continue;
      seen.add(stats.ino);
      bytes += stats.blocks * BLOCK_BYTES;
    }
  }
  return bytes;
}
