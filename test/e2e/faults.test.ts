/** The n-th append, spawn or rename fails or is the last thing the process does (F1, F6). Every point: `npm run campaign`. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { crashEveryStage, FaultPlace, faultEvery, undisturbed } from "../support/fault-run.ts";

const LIMIT_MS = 600_000;
/** One red and one green: the campaign's runs have another red one, which comes by the same points again. */
const ITERATIONS = 2;
/** Of judging, that one iteration, its base and its control come by at least. */
const MIN_STAGES = 10;

describe("a fault at", () => {
  it.each([
    ["append", "kill", 5],
    ["append", "ENOSPC", 7],
    ["spawn", "kill", 11],
    ["spawn", "EMFILE", 15],
    ["rename", "kill", 9],
    ["rename", "EIO", 14],
  ] as const)(
    "%s (%s), every %i-th: no fact lost, no turn bought twice, no false end, driven again as if nothing had been (F1, F6, row 15)",
    async (point, how, step) => {
      const { points, wrongs } = await faultEvery(point, how, { step, iterations: ITERATIONS });
      expect(wrongs).toEqual([]);
      expect(points).toBeGreaterThan(2);
    },
    LIMIT_MS,
  );
});

describe("a fault of a fenced run at", () => {
  it.each([
    // The first three are the fence's own.
    ["spawn", "kill", 22, 1],
    ["spawn", "EAGAIN", 15, 2],
    ["spawn", "kill-after", 20, 3],
  ] as const)(
    "%s (%s), every %i-th from %i on: the same, also where the fence itself cannot be started (F1, F6)",
    async (point, how, step, first) => {
      const every = { step, first, fence: "bwrap", iterations: ITERATIONS } as const;
      const { points, wrongs } = await faultEvery(point, how, every);
      expect(wrongs).toEqual([]);
      expect(points).toBeGreaterThan(2);
    },
    LIMIT_MS,
  );
});

describe("a crash at every stage of judging", () => {
  it.each(["kill", "BUG"] as const)(
    "(%s) leaves a run that can be resumed to its end",
    async (how) => {
      const { stages, wrongs } = await crashEveryStage(how);
      expect(wrongs).toEqual([]);
      expect(stages).toBeGreaterThan(MIN_STAGES);
    },
    LIMIT_MS,
  );
});

describe("a full disk", () => {
  it.skipIf(process.getuid?.() !== 0)(
    "ends with exit 5 and one clear line, and goes on where it was once there is room (F6)",
    async () => {
      const calm = await undisturbed();
      let filled = 0;
      for (const kib of [160, 400, 640, 900]) {
        const disk = realpathSync(mkdtempSync(join(tmpdir(), "pawl-small-disk-")));
        execFileSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k`, "tmpfs", disk]);
        const place = new FaultPlace({ state: join(disk, "state") });
        try {
          const first = await place.drive();
          filled += first.status === 5 ? 1 : 0;
          expect([0, 5]).toContain(first.status);
          if (first.status === 5) expect(first.said).toMatch(/disk|space|full/i);
          execFileSync("mount", ["-o", "remount,size=64m", disk]);
          expect(await place.drive()).toMatchObject({ status: 0 });
          expect(await place.seen()).toEqual(calm);
          expect(await place.leftovers()).toEqual([]);
        } finally {
          place.remove();
          // Whoever happens to look at all that is mounted has it in use for a moment.
          execFileSync("umount", ["-l", disk]);
          rmdirSync(disk);
        }
      }
      expect(filled).toBeGreaterThan(0);
    },
    LIMIT_MS,
  );
});
