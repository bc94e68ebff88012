/** Which of a tree's tests a check has written to, by the layer that it wrote into. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir, writeFiles } from "../../test/support/temp.ts";
import { rewrittenTests } from "./rewritten.ts";

const isTest = (path: string): boolean => path.startsWith("test/");
const FILES = { "test/add.test.js": "a", "test/deep/sub.test.py": "b", "test/data.json": "{}", "src/add.js": "c" };

async function found(written: Record<string, string>): Promise<string[]> {
  const [tree, layer] = [tempDir("tree"), tempDir("layer")];
  writeFiles(tree, FILES);
  writeFiles(layer, written);
  return await rewrittenTests(layer, { tree, isTest });
}

it("names tests that are other ones, and those that were written and put back", async () => {
  expect(await found({ "test/add.test.js": "other", "test/deep/sub.test.py": "b" })).toEqual([
    "test/add.test.js",
    "test/deep/sub.test.py",
  ]);
});

it("names a test that is gone, or has become something else", async () => {
  const [tree, layer] = [tempDir("tree"), tempDir("layer")];
  writeFiles(tree, FILES);
  writeFiles(layer, { "test/add.test.js/inside": "x" });
  symlinkSync("/dev/null", join(layer, "test/deep"));
  symlinkSync("/dev/null", join(layer, "src"));
  expect(await rewrittenTests(layer, { tree, isTest })).toEqual(["test/add.test.js", "test/deep/sub.test.py"]);
});

it("leaves product code, data, new files and what is not there alone", async () => {
  expect(
    await found({ "src/add.js": "x", "test/data.json": "[]", "test/new.test.js": "n", "build/test/add.js": "" }),
  ).toEqual([]);
  expect(await rewrittenTests(join(tempDir("layer"), "none"), { tree: tempDir("tree"), isTest })).toEqual([]);
});
