import { defineConfig } from "vitest/config";
import { SlowFirst } from "./test/support/slow-first.ts";

/** Where `scripts/test.sh` wants the counts. */
const report = process.env["PAWL_TEST_REPORT"];

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    setupFiles: ["test/support/seeded.ts"],
    sequence: { sequencer: SlowFirst },
    pool: "forks",
    // Most of a test here waits for programs: three keep two cores busy.
    maxWorkers: 3,
    maxConcurrency: 3,
    ...(report === undefined ? {} : { reporters: ["default", "json"], outputFile: { json: report } }),
  },
});
