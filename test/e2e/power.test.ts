/** Power loss: only what was synced is left, on a real file system; whatever the moment, nothing that was told is missing. */
import { describe, expect, it } from "vitest";
import { countOf, figure } from "../support/figure.ts";
import { mulberry } from "../support/mulberry.ts";
import { noPowerDisk, powerRun, type Cut } from "../support/power-run.ts";

const CUTS = countOf("PAWL_TEST_POWER_CUTS", 6);
const SEED = countOf("PAWL_TEST_SEED", 11);
const CUTS_OF_A_RUN = 8;
/** What a run tells until it ends, but for the last. */
const FACTS_OF_A_RUN = 35;
const MAX_PAUSE_MS = 60;
const LIMIT_MS = 400_000;

const missing = noPowerDisk();
describe.skipIf(missing !== undefined)("a power loss in the middle of a run", () => {
  it(
    "leaves a journal that is a beginning, whole repositories with every commit it tells of, and a run that goes on (F3)",
    { timeout: LIMIT_MS * Math.ceil(CUTS / CUTS_OF_A_RUN) },
    async () => {
      const random = mulberry(SEED);
      const all = { cuts: 0, facts: 0, runs: 0 };
      const types = new Set<string>();
      while (all.cuts < CUTS) {
        const asked = Array.from({ length: Math.min(CUTS_OF_A_RUN, CUTS - all.cuts) }, (): Cut => ({
          facts: Math.floor(random() * FACTS_OF_A_RUN),
          thenMs: random() * MAX_PAUSE_MS,
        }));
        const report = await powerRun(asked.toSorted((a, b) => a.facts - b.facts));
        expect(report.wrongs).toEqual([]);
        all.cuts += report.cuts;
        all.facts += report.facts.reduce((sum, n) => sum + n, 0);
        all.runs += 1;
        for (const type of report.types) types.add(type);
      }
      expect([...types]).toEqual(expect.arrayContaining(["change-recorded", "change-accepted", "check-end"]));
      figure("F3", all);
    },
  );
});
