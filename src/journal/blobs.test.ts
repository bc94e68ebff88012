/** What the SQLite-free part of the state must do: bounded, whole or not at all, damage noticed. */
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makePlace } from "../../test/contracts/journal-samples.ts";
import { watchHeld } from "../../test/support/held-memory.ts";
import { TerminalError } from "../errors.ts";
import { makeBlobs } from "./blobs.ts";
import { makeRedact } from "./redact.ts";

const MB = 1024 * 1024;
const blobsIn = (dir: string, environment: Record<string, string> = {}) =>
  makeBlobs({ dir, redact: makeRedact({ environment }) });

describe("blobs", () => {
  test("what is too long keeps its beginning and its end and says what is left out", async () => {
    using place = makePlace();
    const blobs = blobsIn(place.dir);
    const lines = Array.from({ length: 10_000 }, (_, n) => `line ${n}\n`).join("");
    const writer = blobs.writer(2_001);
    for (let at = 0; at < lines.length; at += 777) writer.write(Buffer.from(lines.slice(at, at + 777)));
    const { hash, bytes, dropped } = await writer.end();
    const text = Buffer.from((await blobs.get(hash)) ?? []).toString();
    const marker = `\n[${dropped} bytes are left out here]\n`;
    expect(text).toBe(lines.slice(0, 1_001) + marker + lines.slice(-1_000));
    expect(dropped).toBe(lines.length - 2_001);
    expect(bytes).toBe(text.length);
  });

  test("what just fits is kept as it is", async () => {
    using place = makePlace();
    const blobs = blobsIn(place.dir);
    const writer = blobs.writer(1_001);
    writer.write(Buffer.from("a".repeat(1_001)));
    expect(await writer.end()).toMatchObject({ bytes: 1_001, dropped: 0 });
  });

  test("64 MB through a writer do not raise memory, and a secret across pieces is masked (F13, A6)", async () => {
    using place = makePlace();
    const secret = "tr0ub4dor&3-and-more";
    const blobs = blobsIn(place.dir, { ANY_PASSWORD: secret });
    const piece = Buffer.alloc(MB, "all work and no play makes a dull log line\n");
    const writer = blobs.writer(4 * MB);
    writer.write(Buffer.from(`begin ${secret.slice(0, 9)}`));
    writer.write(Buffer.from(`${secret.slice(9)} `));
    const held = watchHeld(4 * MB);
    for (let n = 0; n < 64; n += 1) {
      writer.write(piece);
      held.saw(piece.length);
    }
    const { hash, dropped } = await writer.end();
    expect(dropped).toBeGreaterThan(59 * MB);
    expect(held.mostMb()).toBeLessThan(16);
    const text = Buffer.from((await blobs.get(hash)) ?? []).toString();
    expect(text.startsWith("begin *** all work")).toBe(true);
  });

  test("a changed blob is noticed and an unfinished one is never seen", async () => {
    using place = makePlace();
    const blobs = blobsIn(place.dir);
    const { hash } = await blobs.put("content");
    writeFileSync(join(place.dir, hash.slice(0, 2), hash.slice(2)), "contenT");
    await expect(blobs.get(hash)).rejects.toThrow(TerminalError);
    blobs.writer(10).write(Buffer.from("left behind by a crash"));
    expect(readdirSync(place.dir).toSorted()).toEqual([hash.slice(0, 2), "unfinished"].toSorted());
  });

  test("what a crash left unfinished goes away after a day", async () => {
    using place = makePlace();
    await blobsIn(place.dir).put("content");
    const old = join(place.dir, "unfinished", "old");
    writeFileSync(old, "half");
    writeFileSync(join(place.dir, "unfinished", "young"), "half");
    const longAgo = Date.now() / 1000 - 2 * 86_400;
    utimesSync(old, longAgo, longAgo);
    await blobsIn(place.dir).put("more");
    expect(readdirSync(join(place.dir, "unfinished"))).toEqual(["young"]);
  });

  test("a place that cannot be written rejects at the end, not while writing", async () => {
    using place = makePlace();
    writeFileSync(place.dir, "a file where the directory should be");
    const writer = blobsIn(place.dir).writer(1_000);
    for (let n = 0; n < 100; n += 1) writer.write(Buffer.alloc(10_000, "x"));
    await expect(writer.end()).rejects.toThrow(TerminalError);
  });
});
