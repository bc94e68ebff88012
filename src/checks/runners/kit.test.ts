/** What a check did to its listeners, no later check meets. */
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
import { openKits, OUT } from "./kit.ts";

const own = (file: string): string => readFileSync(join(import.meta.dirname, file), "utf8");

it("one that nobody touched serves again under a new name, without what was written to it", async () => {
  const root = tempDir("kits");
  const kits = openKits(root);
  const first = kits.take();
  writeFileSync(join(first.folder, OUT, "report.json"), "{}");
  await kits.giveBack(first);
  const second = kits.take();
  expect(second.name).not.toBe(first.name);
  expect(existsSync(first.folder)).toBe(false);
  expect(readdirSync(root)).toEqual([second.name]);
  expect(readdirSync(join(second.folder, OUT))).toEqual([]);
  expect(readFileSync(join(second.folder, "preload.cjs"), "utf8")).toBe(own("preload.cjs"));
});

const aside = (folder: string): string => `${folder}.aside`;
const tricks: Record<string, (folder: string) => void> = {
  "a listener with more in it": (folder) => appendFileSync(join(folder, "preload.cjs"), "process.exit(0);"),
  "a listener of the same length and age": (folder) => {
    const path = join(folder, "preload.cjs");
    writeFileSync(path, own("preload.cjs").replace("use strict", "use s1rict"));
    utimesSync(path, 0, 0);
  },
  "a file beside the listeners": (folder) => writeFileSync(join(folder, "package.json"), "{}"),
  "a listener that went and came back": (folder) => {
    renameSync(join(folder, "preload.cjs"), aside(folder));
    renameSync(aside(folder), join(folder, "preload.cjs"));
  },
  "a listener with a second name": (folder) => linkSync(join(folder, "preload.cjs"), aside(folder)),
  "a listener that is a link": (folder) => {
    renameSync(join(folder, "preload.cjs"), aside(folder));
    symlinkSync(aside(folder), join(folder, "preload.cjs"));
  },
  "a listener that is gone": (folder) => unlinkSync(join(folder, "preload.cjs")),
  "a place for reports that is a link": (folder) => {
    rmSync(join(folder, OUT), { recursive: true });
    mkdirSync(aside(folder));
    symlinkSync(aside(folder), join(folder, OUT));
  },
  "a place for reports that is closed": (folder) => chmodSync(join(folder, OUT), 0o500),
  "a folder where reports are": (folder) => mkdirSync(join(folder, OUT, "folder")),
  "nothing left at all": (folder) => rmSync(folder, { recursive: true }),
};

it.each(Object.entries(tricks))("%s: the next one is as new, whenever it was done", async (_, trick) => {
  const kits = openKits(tempDir("kits"));
  const first = kits.take();
  trick(first.folder);
  await kits.giveBack(first);
  const second = kits.take();
  expectNew(second.folder);
  await kits.giveBack(second);
  trick(second.folder);
  expectNew(kits.take().folder);
});

function expectNew(folder: string): void {
  const { folder: fresh } = openKits(tempDir("kits")).take();
  const names = readdirSync(fresh);
  expect(readdirSync(folder)).toEqual(names);
  for (const name of names) {
    const [is, asNew] = [folder, fresh].map((at) => lstatSync(join(at, name)));
    expect([is?.mode, is?.nlink]).toEqual([asNew?.mode, asNew?.nlink]);
    if (name !== OUT) expect(readFileSync(join(folder, name))).toEqual(readFileSync(join(fresh, name)));
  }
  expect(readdirSync(join(folder, OUT))).toEqual([]);
}
