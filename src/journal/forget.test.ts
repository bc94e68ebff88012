import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { open } from "../../test/contracts/journal-sqlite.ts";
import { ABOUT, iteration, makePlace, NOW, ownerOf, runStart } from "../../test/contracts/journal-samples.ts";
import { UsageError } from "../errors.ts";
import type { JournalHandle } from "./open.ts";

const LONG_AGO = new Date(0);

async function begin({ journal, trace, inbox }: JournalHandle, run: string): Promise<void> {
  await journal.create(run, runStart(run), ABOUT);
  await inbox.put(run, { kind: "pause" }, { source: "test", key: "k" });
  trace.write(run, { at: 1, turn: 1, kind: "text", data: run });
  await trace.flush();
}

/** A prompt of the run's, from long ago. */
async function prompted(handle: JournalHandle, { run, dir }: { run: string; dir: string }): Promise<string> {
  const { hash } = await handle.blobs.put(`prompt of ${run}`);
  const path = join(dir, "blobs", hash.slice(0, 2), hash.slice(2));
  utimesSync(path, LONG_AGO, LONG_AGO);
  const owned = await handle.journal.own(run, ownerOf(process.pid));
  await owned.append([iteration(1, `see ${hash}`)], NOW);
  await owned.release();
  return path;
}

describe("a run that is forgotten", () => {
  it("is gone with its facts, inbox and trace; the others are whole, and its name is free", async () => {
    using place = makePlace();
    const handle = open(place.dir);
    for (const run of ["r-1", "r-2", "r-3"]) await begin(handle, run);
    handle.forget("r-2");
    handle.compact();
    expect((await handle.journal.runs()).map(({ run }) => run)).toEqual(["r-1", "r-3"]);
    await expect(handle.journal.read("r-2")).rejects.toThrow(UsageError);
    expect(await handle.trace.read("r-2")).toEqual([]);
    expect(() => handle.forget("r-2")).toThrow(UsageError);
    handle.forget("r-3");
    await begin(handle, "r-2");
    handle.close();
    const again = open(place.dir);
    for (const run of ["r-1", "r-2"]) {
      expect(await again.journal.read(run)).toHaveLength(1);
      expect(await again.inbox.queued(run)).toHaveLength(1);
      expect(await again.trace.read(run)).toHaveLength(1);
    }
    again.close();
  });

  it("is none that somebody drives", async () => {
    using place = makePlace();
    const handle = open(place.dir);
    await begin(handle, "r-1");
    const owned = await handle.journal.own("r-1", ownerOf(process.pid));
    expect(() => handle.forget("r-1")).toThrow(/is driven by process/);
    await owned.release();
    handle.forget("r-1");
    expect(await handle.journal.runs()).toEqual([]);
    handle.close();
  });

  it("takes its blobs along, but none that another run names or that is just being written", async () => {
    using place = makePlace();
    const handle = open(place.dir);
    for (const run of ["r-1", "r-2"]) await begin(handle, run);
    const [gone, stays] = [
      await prompted(handle, { run: "r-1", dir: place.dir }),
      await prompted(handle, { run: "r-2", dir: place.dir }),
    ];
    const young = await handle.blobs.put("of a run that is about to say so");
    expect(handle.sweepBlobs({ without: ["r-1"] })).toEqual({ files: 1, bytes: 13 });
    expect(existsSync(gone)).toBe(true);
    handle.forget("r-1");
    expect(handle.sweepBlobs()).toEqual({ files: 1, bytes: 13 });
    expect([existsSync(gone), existsSync(stays)]).toEqual([false, true]);
    expect(await handle.blobs.get(young.hash)).toBeDefined();
    handle.close();
  });
});
