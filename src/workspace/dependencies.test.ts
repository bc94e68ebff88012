import { existsSync, mkdirSync, unlink, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { removeAround } from "./dependencies.ts";

const FILES = 2000;

it("a folder is removed also while somebody else removes what is in it", async () => {
  const folder = join(tempDir("removed"), "folder");
  mkdirSync(folder);
  const files = Array.from({ length: FILES }, (_, n) => join(folder, String(n)));
  for (const file of files) writeFileSync(file, "");
  const others = files.map((file) => new Promise<void>((done) => unlink(file, () => done())));
  removeAround(Buffer.from(folder), []);
  expect(existsSync(folder)).toBe(false);
  await Promise.all(others);
});
