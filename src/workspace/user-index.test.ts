import { spawn } from "node:child_process";
import fs, {
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
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { beforeEach, afterEach, describe, expect, it } from "vitest";
import { openFor, scratch } from "../../test/fixtures/repository.ts";
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
async function hold(run = "r1"): Promise<HeldIndex> {
  const held = await holdIndex(join(gitDir, "older"), { gitDir, workspace: place.repo, run });
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

describe("what a killed driver left of its hold on the index", () => {
  // Nobody is believed dead while a git lives there.
  const beside = async (work: () => Promise<unknown>): Promise<void> => {
    const git = spawn("git", ["cat-file", "--batch"], { cwd: place.repo, stdio: ["pipe", "ignore", "ignore"] });
    await work();
    git.stdin.end();
  };

  it("is gone as soon as its run is driven on", async () => {
    const workspace = await openFor(place, { allowDirty: true });
    await workspace.prepare();
    await hold();
    await beside(async () => await (await openFor(place)).ready?.("between"));
    expect(leftovers()).toEqual([]);
  });

  it("is gone as soon as another run starts there", async () => {
    await hold("r0");
    await beside(async () => await (await openFor(place, { allowDirty: true })).prepare());
    expect(leftovers()).toEqual([]);
  });

  it("may be a living driver's for whoever only looks: it stays", async () => {
    await hold("r0");
    await (await openFor(place, { commit: "none", allowDirty: true })).prepare();
    expect(leftovers()).toEqual(["index.lock", "index.pawl-r0"]);
  });
});

describe("the user's index where files have one name and no modes (vfat, some network file systems)", () => {
  const names = ["linkSync", "chmodSync", "fchmodSync", "copyFileSync"] as const;
  const whole = Object.fromEntries(names.map((name) => [name, fs[name]]));
  beforeEach(() => {
    const refuse = (): never => {
      throw Object.assign(new Error("EPERM: operation not permitted"), { code: "EPERM" });
    };
    // `copyFileSync` gives the copy the mode of the original, and fails where it cannot.
    Object.assign(fs, Object.fromEntries(names.map((name) => [name, refuse])));
    syncBuiltinESMExports();
  });
  afterEach(() => {
    Object.assign(fs, whole);
    syncBuiltinESMExports();
  });

  it("is held, put and let go as anywhere", async () => {
    const held = await hold();
    expect(() => place.git("commit", "-qm", "mine")).toThrow("index.lock");
    expect(held.put()).toBe(true);
    expect(content("index")).toEqual(content("older"));
    expect(() => place.git("add", "-A")).toThrow("index.lock");
    held.letGo();
    expect(leftovers()).toEqual([]);
  });

  it("is left alone while another git holds it", async () => {
    const before = content("index");
    const git = spawn("git", ["cat-file", "--batch"], { cwd: place.repo, stdio: ["pipe", "ignore", "ignore"] });
    writeFileSync(join(gitDir, "index.lock"), "half");
    const about = { gitDir, workspace: place.repo, run: "r1" };
    expect(await holdIndex(join(gitDir, "older"), about)).toBeUndefined();
    git.stdin.end();
    expect(content("index.lock").toString()).toBe("half");
    expect(content("index")).toEqual(before);
    expect(leftovers()).toEqual(["index.lock"]);
  });

  it("is free again for the next driver of the run when one was killed, though a git lives there", async () => {
    await hold();
    const git = spawn("git", ["cat-file", "--batch"], { cwd: place.repo, stdio: ["pipe", "ignore", "ignore"] });
    (await hold()).letGo();
    git.stdin.end();
    expect(leftovers()).toEqual([]);
  });
});
