import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, afterEach, describe, expect, it } from "vitest";
import { scratch } from "../../test/fixtures/repository.ts";
import { holdIndex, type HeldIndex } from "./user-index.ts";

let place: ReturnType<typeof scratch>;
let gitDir: string;
beforeEach(() => {
  place = scratch();
  gitDir = join(place.repo, ".git");
  copyFileSync(join(gitDir, "index"), join(gitDir, "older"));
  place.write("mine.txt");
  place.git("add", "-A");
});
afterEach(() => place.remove());

const content = (name: string): Buffer => readFileSync(join(gitDir, name));
const leftovers = (): string[] => readdirSync(gitDir).filter((name) => name.startsWith("index."));
async function hold(): Promise<HeldIndex> {
  const held = await holdIndex(join(gitDir, "older"), { gitDir, workspace: place.repo, run: "r1" });
  expect(held).toBeDefined();
  return held as HeldIndex;
}

describe("the user's index, held", () => {
  it("can be staged into and committed from by nobody until it is let go, and is then the one that was put", async () => {
    const before = content("index");
    const held = await hold();
    place.write("more.txt");
    expect(() => place.git("add", "-A")).toThrow("index.lock");
    expect(() => place.git("commit", "-qm", "mine")).toThrow("index.lock");
    expect(content("index")).toEqual(before);
    expect(held.put()).toBe(true);
    expect(content("index")).toEqual(content("older"));
    expect(() => place.git("add", "-A")).toThrow("index.lock");
    held.letGo();
    expect(leftovers()).toEqual([]);
    expect(place.git("status", "--porcelain")).toContain("?? mine.txt");
  });

  it("is as it was when it is let go", async () => {
    const before = content("index");
    (await hold()).letGo();
    expect(content("index")).toEqual(before);
    expect(leftovers()).toEqual([]);
  });

  it("is put no more once it was let go, though another git holds it by then", async () => {
    const before = content("index");
    const held = await hold();
    held.letGo();
    writeFileSync(join(gitDir, "index.lock"), "another's");
    expect(held.put()).toBe(false);
    expect(content("index")).toEqual(before);
    expect(existsSync(join(gitDir, "index.lock"))).toBe(true);
  });

  it("is left alone when a person has removed the lock and another git has taken it", async () => {
    const before = content("index");
    const held = await hold();
    rmSync(join(gitDir, "index.lock"));
    writeFileSync(join(gitDir, "index.lock"), "half");
    expect(held.put()).toBe(false);
    held.letGo();
    expect(content("index")).toEqual(before);
    expect(leftovers()).toEqual(["index.lock"]);
  });

  it("is put though the one it is made of can be read only, and the one before too", async () => {
    for (const name of ["index", "older"]) chmodSync(join(gitDir, name), 0o444);
    const held = await hold();
    expect(held.put()).toBe(true);
    held.letGo();
    expect(statSync(join(gitDir, "index")).mode & 0o777).toBe(0o644);
  });

  it("is held though a link to nowhere lay where its lock goes", async () => {
    symlinkSync("nowhere", join(gitDir, "index.lock"));
    expect((await hold()).put()).toBe(true);
    expect(content("index")).toEqual(content("older"));
  });
});
