import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { removeAround } from "./dependencies.ts";

const FILES = 2000;
/** Tells that it has begun, and at the end how many it removed itself. */
const REMOVER = `
const { unlinkSync } = require("node:fs");
const { parentPort, workerData: files } = require("node:worker_threads");
let removed = 0;
for (const file of files) {
  try { unlinkSync(file); removed += 1; } catch {}
  if (file === files[0]) parentPort.postMessage("begun");
}
parentPort.postMessage(removed);`;

it("a folder is removed also while somebody else removes what is in it", async () => {
  const folder = join(tempDir("removed"), "folder");
  mkdirSync(folder);
  const files = Array.from({ length: FILES }, (_, n) => join(folder, String(n)));
  for (const file of files) writeFileSync(file, "");
  const other = new Worker(REMOVER, { eval: true, workerData: files });
  await once(other, "message");
  removeAround(Buffer.from(folder), []);
  expect(existsSync(folder)).toBe(false);
  const [removed] = (await once(other, "message")) as [number];
  // More than the first, or they were not at it together; not all, or there was nothing left to remove here.
  expect(removed).toBeGreaterThan(1);
  expect(removed).toBeLessThan(FILES);
});
