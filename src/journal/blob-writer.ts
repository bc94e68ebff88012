/**
 * One blob being written. The first half of what may be kept goes to the file as it comes, the last half is kept in
 * memory until the end; between them a line says how much is left out.
 */
import { createHash, randomUUID } from "node:crypto";
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { BlobWriter } from "../ports.ts";
import { makeLastBytes } from "../platform/last-bytes.ts";
import type { Redactor } from "./redact.ts";
import { explain } from "./trouble.ts";

/** Worked through at once, however large a piece is. */
const SLICE_BYTES = 65_536;

interface WriterParts {
  /** The directory for what is not finished, made when it is first needed. */
  makeReady: () => string;
  /** Gives a finished file its name. */
  place: (temporary: string, blob: { name: string; bytes: number }) => void;
  redact: Redactor;
  maxBytes: number;
}

export function makeBlobWriter({ makeReady, place, redact, maxBytes }: WriterParts): BlobWriter {
  const headRoom = Math.ceil(maxBytes / 2);
  // Bytes travel through the masking as Latin-1 text, one character each: any content survives it.
  const stream = redact.stream();
  const digest = createHash("sha256");
  const tail = makeLastBytes(Math.floor(maxBytes / 2));
  let file: { fd: number; path: string } | undefined;
  let kept = 0;
  // Used again and again: a fresh buffer for each piece would be garbage faster than it is collected.
  let scratch = Buffer.alloc(0);
  let failure: unknown;

  const attempt = (work: () => void): void => {
    if (failure !== undefined) return;
    try {
      work();
    } catch (error) {
      failure = error;
    }
  };
  const store = (bytes: Uint8Array): void => {
    file ??= openFile(makeReady());
    for (let done = 0; done < bytes.length;) done += writeSync(file.fd, bytes, done);
    digest.update(bytes);
    kept += bytes.length;
  };
  const accept = (text: string): void => {
    if (text === "") return;
    if (scratch.length < text.length) scratch = Buffer.allocUnsafe(text.length);
    const bytes = scratch.subarray(0, scratch.write(text, "latin1"));
    const room = Math.max(0, headRoom - kept);
    if (room > 0) store(bytes.subarray(0, room));
    if (bytes.length > room) tail.push(bytes.subarray(room));
  };
  const finish = () => {
    accept(stream.end());
    const { dropped } = tail;
    if (dropped > 0) store(Buffer.from(`\n[${dropped} bytes are left out here]\n`));
    tail.parts().forEach(store);
    store(new Uint8Array(0));
    const { fd, path } = file as NonNullable<typeof file>;
    fsyncSync(fd);
    closeSync(fd);
    file = undefined;
    const name = digest.digest("hex");
    place(path, { name, bytes: kept });
    return { hash: name, bytes: kept, dropped };
  };

  return {
    write(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
      for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
        const slice = bytes.toString("latin1", at, Math.min(bytes.length, at + SLICE_BYTES));
        attempt(() => accept(stream.push(slice)));
      }
    },
    async end() {
      try {
        if (failure !== undefined) throw failure;
        return finish();
      } catch (error) {
        if (file !== undefined) discard(file);
        throw explain(error, "blobs");
      }
    },
  };
}

function openFile(dir: string): { fd: number; path: string } {
  const path = join(dir, randomUUID());
  return { path, fd: openSync(path, "wx", 0o600) };
}

function discard({ fd, path }: { fd: number; path: string }): void {
  try {
    closeSync(fd);
    unlinkSync(path);
  } catch {
    // What caused the discarding is the error to tell; a leftover is removed after a day.
  }
}
