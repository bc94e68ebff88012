import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { removeAround } from "./dependencies.ts";

const FILES = 2000;
/** Until two were at it together: either may be held up while the other does it all. */
const MAX_ROUNDS = 100;
/** Tells that it has begun, and counts what it removed itself. */
const REMOVER = `
const { unlinkSync } = require("node:fs");
const { parentPort, workerData: { files, removed } } = require("node:worker_threads");
for (const file of files) {
  try { unlinkSync(file); Atomics.add(removed, 0, 1); } catch {}
  if (file === files[0]) parentPort.postMessage("begun");
}`;

/** How many files the other one removed. */
async function removedTogether(): Promise<number> {
  const folder = join(tempDir("removed"), "folder");
  mkdirSync(folder);
  const files = Array.from({ length: FILES }, (_, n) => join(folder, String(n)));
  for (const file of files) writeFileSync(file, "");
  const removed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const other = new Worker(REMOVER, { eval: true, workerData: { files, removed } });
  const ended = once(other, "exit");
  await once(other, "message");
  removeAround(Buffer.from(folder), []);
  expect(existsSync(folder)).toBe(false);
  await ended;
  return Atomics.load(removed, 0);
}

it("a folder is removed also while somebody else removes what is in it", async () => {
  let removed = 0;
  // More than the first, or they were not at it together; not all, or there was nothing left to remove here.
  for (let n = 0; n < MAX_ROUNDS && (removed <= 1 || removed >= FILES); n += 1) removed = await removedTogether();
  expect(removed).toBeGreaterThan(1);
  expect(removed).toBeLessThan(FILES);
});
