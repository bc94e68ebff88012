import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { watchDisk } from "./disk.ts";

const MB = 1024 ** 2;

function watched(maxBytes: number) {
  const folder = tempDir("disk");
  const watch = watchDisk({ folders: [folder], maxBytes });
  onTestFinished(() => watch.close());
  return { folder, watch };
}

it("notices what is written while others delete more than that", async () => {
  const others = join(tempDir("others"), "large");
  writeFileSync(others, Buffer.alloc(64 * MB, 1));
  const { folder, watch } = watched(4 * MB);
  rmSync(others);
  writeFileSync(join(folder, "new"), Buffer.alloc(8 * MB, 1));
  expect(await watch.tooMuch).toBe("it wrote more than 4 MB (max-disk)");
});

it("does not hold against it what others write, nor what was there before", async () => {
  const { folder, watch } = watched(4 * MB);
  writeFileSync(join(tempDir("others"), "large"), Buffer.alloc(64 * MB, 1));
  writeFileSync(join(folder, "new"), Buffer.alloc(2 * MB, 1));
  const quiet = new Promise((resolve) => setTimeout(resolve, 3_500, "nothing"));
  expect(await Promise.race([watch.tooMuch, quiet])).toBe("nothing");
});
