/** Power loss: only what was synced is left, on a real file system; whatever the moment, nothing that was told is missing. */
import { describe, expect, it } from "vitest";
import { countOf, figure } from "../support/figure.ts";
import { mulberry } from "../support/kill-run.ts";
import { noPowerDisk, powerRun } from "../support/power-run.ts";

const CUTS = countOf("PAWL_TEST_POWER_CUTS", 6);
const SEED = countOf("PAWL_TEST_SEED", 11);
const CUTS_OF_A_RUN = 8;
const MAX_PAUSE_MS = 250;
const LIMIT_MS = 400_000;

const missing = noPowerDisk();
describe.skipIf(missing !== undefined)("a power loss in the middle of a run", () => {
  it(
    "leaves a journal that is a beginning, whole repositories with every commit it tells of, and a run that goes on (F3)",
    { timeout: LIMIT_MS * Math.ceil(CUTS / CUTS_OF_A_RUN) },
    async () => {
      const random = mulberry(SEED);
      const all = { cuts: 0, facts: 0, runs: 0 };
      while (all.cuts < CUTS) {
        const asked = Math.min(CUTS_OF_A_RUN, CUTS - all.cuts);
        const { cuts, facts, wrongs } = await powerRun(() => random() * MAX_PAUSE_MS, asked);
        expect(wrongs).toEqual([]);
        all.cuts += cuts;
        all.facts += facts;
        all.runs += 1;
      }
      // Power was lost after facts had been told, not before there was anything to lose.
      expect(all.facts).toBeGreaterThan(all.cuts);
      figure("F3", all);
    },
  );
});
