/** Ways out of the tree, planted by an agent: pawl reads nothing behind them and writes nothing through them (A3). */
import { spawn } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { countOf, figure } from "../../test/support/figure.ts";
import { treeHash } from "../../test/support/tree-hash.ts";

const AT = 1_700_000_000_000;
const CANARY = "bytes from outside the tree";
const PATHS = 200;
const SWAPS = countOf("PAWL_TEST_SWAPS", 1_000);
/** Rounds of so many swaps, at most: on a busy machine one round may pass without a restore that comes to its end. */
const MAX_ROUNDS = 20;
/** Against a hang alone: there a round takes half a minute. */
const RACES_LIMIT_MS = 900_000;
/** A restore after so many snapshots; until the first has come to its end, which one in four does, after each. */
const SNAPSHOTS_PER_RESTORE = 5;
/** Of each planted path below the root; any of them may become the link. */
const LEVELS = ["a", "b", "c", "file.txt"] as const;

let place: Scratch;
let outside: string;

beforeEach(() => {
  place = scratch();
  outside = join(place.root, "outside");
  put(join(outside, LEVELS.slice(1).join("/")));
  for (let level = 0; level < LEVELS.length; level += 1) put(join(outside, LEVELS.slice(level).join("/")));
});
afterEach(() => place.remove());

function put(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, CANARY);
}

/** The same place outside, written in five ways. */
const SPELLINGS: readonly ((target: string, from: string) => string)[] = [
  (target) => target,
  (target, from) => relative(from, target),
  (target) => `/proc/self/root${target}`,
  (target, from) => `./x/../${relative(from, target)}`,
  (target, from) => join(relative(from, place.repo), "hop", relative(place.root, target)),
];

/** Makes the n-th path lead out at one of its levels. */
function plant(n: number): string {
  const level = n % LEVELS.length;
  const link = join(place.repo, `p${n}`, ...LEVELS.slice(0, level + 1));
  const target = join(outside, ...(level === LEVELS.length - 1 ? LEVELS.slice(-1) : [LEVELS[level] ?? ""]));
  const spelling = SPELLINGS[Math.floor(n / LEVELS.length) % SPELLINGS.length] ?? SPELLINGS[0];
  rmSync(link, { recursive: true });
  symlinkSync(spelling?.(target, dirname(link)) ?? target, link);
  return link;
}

const stored = (): string => place.privateGit("cat-file", "--batch-all-objects", "--batch");

describe("ways out of the tree", () => {
  it(`of ${PATHS} planted paths none is read behind or written through (A3)`, async () => {
    for (let n = 0; n < PATHS; n += 1) place.write(`p${n}/${LEVELS.join("/")}`, `inside ${n}\n`);
    symlinkSync("..", join(place.repo, "hop"));
    place.git("add", "-A");
    place.git("commit", "-qm", "paths");
    const workspace = await openFor(place);
    await workspace.prepare();
    const links = Array.from({ length: PATHS }, (_, n) => plant(n));
    // The plants work: whoever follows them arrives outside.
    expect(readFileSync(join(place.repo, "p0", ...LEVELS), "utf8")).toBe(CANARY);
    expect(readFileSync(join(place.repo, "p16", ...LEVELS), "utf8")).toBe(CANARY);
    const before = treeHash(outside);
    const taken = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    const verify = await workspace.verifyTree(taken.judged);
    for (const link of links) {
      expect(lstatSync(join(verify.path, relative(place.repo, link))).isSymbolicLink()).toBe(true);
    }
    await verify.release();
    await workspace.accept({ tree: taken.judged, message: "m", at: AT, snapshot: 1 });
    await workspace.restore(0, { salvage: "1", at: AT });
    for (let n = 0; n < PATHS; n += 1) {
      expect(readFileSync(join(place.repo, `p${n}`, ...LEVELS), "utf8")).toBe(`inside ${n}\n`);
    }
    const again = await workspace.verifyTree((await workspace.snapshot(2, { parent: 1, message: "m", at: AT })).judged);
    expect(readFileSync(join(again.path, "p0", ...LEVELS), "utf8")).toBe("inside 0\n");
    await workspace.close();
    expect(treeHash(outside)).toBe(before);
    expect(stored()).not.toContain(CANARY);
  });

  it(
    `swapped for files and back ${SWAPS} times while snapshots and restores run, they give nothing away (A3)`,
    { timeout: RACES_LIMIT_MS },
    async () => {
      for (const name of ["kept", "swapped"]) place.write(`${name}/file.txt`, "inside\n");
      place.git("add", "-A");
      place.git("commit", "-qm", "files");
      const workspace = await openFor(place);
      await workspace.prepare();
      const before = treeHash(outside);
      let taken = 0;
      let rounds = 0;
      let restored = 0;
      const modes = new Set<string>();
      const allMet = (): boolean => restored > 0 && modes.size > 1;
      while (rounds === 0 || (rounds < MAX_ROUNDS && !allMet())) {
        rounds += 1;
        const swapper = startSwapper();
        do {
          taken += 1;
          place.write("kept/other.txt", `${taken}\n`);
          const parent = taken === 1 ? null : taken - 1;
          const { judged } = await workspace.snapshot(taken, { parent, message: "m", at: AT });
          modes.add(place.privateGit("ls-tree", judged, "kept/file.txt").slice(0, 6));
          if (restored > 0 && taken % SNAPSHOTS_PER_RESTORE !== 0) continue;
          const back = workspace.restore(0, { salvage: `s${taken}`, at: AT });
          await back.then(
            () => (restored += 1),
            () => undefined,
          );
        } while (swapper.isRunning());
        expect(swapper.exitCode()).toBe(0);
      }
      await workspace.close();
      // It was a race: links and files were both met, and a restore came to its end.
      expect(restored).toBeGreaterThan(0);
      expect(modes).toEqual(new Set(["100644", "120000"]));
      expect(treeHash(outside)).toBe(before);
      figure("A3", { paths: PATHS, swaps: rounds * SWAPS, snapshots: taken, leaks: stored().split(CANARY).length - 1 });
      expect(stored()).not.toContain(CANARY);
    },
  );
});

/** Its own process: it must race with git, not wait for it. */
function startSwapper(): { isRunning(): boolean; exitCode(): number | null } {
  const script = `
    const fs = require("node:fs");
    const [repo, outside, swaps] = process.argv.slice(1);
    const attempt = (act) => { try { act(); } catch {} };
    for (let n = 0; n < Number(swaps); n += 1) {
      attempt(() => fs.renameSync(repo + "/swapped", repo + "/.git/aside"));
      attempt(() => fs.symlinkSync(outside, repo + "/swapped"));
      attempt(() => fs.symlinkSync(outside + "/file.txt", repo + "/link"));
      attempt(() => fs.renameSync(repo + "/link", repo + "/kept/file.txt"));
      const until = performance.now() + (n % 7) / 4;
      while (performance.now() < until);
      attempt(() => fs.unlinkSync(repo + "/swapped"));
      attempt(() => fs.renameSync(repo + "/.git/aside", repo + "/swapped"));
      attempt(() => fs.writeFileSync(repo + "/plain", "inside\\n"));
      attempt(() => fs.renameSync(repo + "/plain", repo + "/kept/file.txt"));
    }`;
  const child = spawn(process.execPath, ["-e", script, place.repo, outside, String(SWAPS)], { stdio: "ignore" });
  return { isRunning: () => child.exitCode === null && child.signalCode === null, exitCode: () => child.exitCode };
}
