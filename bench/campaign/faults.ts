/** A fault at every append, spawn and rename that pawl makes: "fail at n = 1, 2, …" until none is met any more. */
import { faultEvery } from "../../test/support/fault-run.ts";
import { runTests, type Part } from "./part.ts";

const POINTS = ["append", "spawn", "rename"] as const;
const ERRNOS = { append: "ENOSPC", spawn: "EMFILE", rename: "EIO" } as const;

export const faults: Part = {
  name: "faults",
  about: "the n-th append, spawn or rename of a run fails, or is the last thing the process does",
  shows: "F1, F6, row 15",
  counts: { step: 1 },
  async run({ step = 1 }) {
    const points: Record<string, number> = {};
    const wrongs: string[] = [];
    for (const point of POINTS) {
      for (const how of ["kill", ERRNOS[point]]) {
        const found = await faultEvery(point, how, { step });
        points[`${point} ${how}`] = found.points;
        wrongs.push(...found.wrongs);
        console.error(`${point} ${how}: ${found.points} points, ${found.wrongs.length} wrong`);
      }
    }
    return { points, wrongs };
  },
};

export const git: Part = {
  name: "git",
  about: "the same inside the workspace alone; gits of the agent killed half-way; links swapped during snapshots",
  shows: "F1, F6, F10, A3",
  counts: { full: 1, kills: 200, swaps: 20_000 },
  run: ({ full = 1, kills = 200, swaps = 20_000 }) =>
    runTests(["src/workspace/crash.test.ts", "src/workspace/half-done.test.ts", "src/workspace/escape.test.ts"], {
      ...(full === 1 ? { PAWL_CAMPAIGN: "full" } : {}),
      PAWL_TEST_GIT_KILLS: String(kills),
      PAWL_TEST_SWAPS: String(swaps),
    }),
};
