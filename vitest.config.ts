import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { SlowFirst } from "./test/support/slow-first.ts";

/** For workers and what they start: each loads the same code. */
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, ".cache/compiled");

/** Where `scripts/test.sh` wants the counts. */
const report = process.env["PAWL_TEST_REPORT"];

/** Nothing of them stays in the process: they need no new one for every file, which takes longer than most of them. */
const PURE = ["src/{checks,config,journal,loop,recipes,standin,views}/**/*.test.ts", "test/laws/**/*.test.ts"];
/** They act through other programs: what they load stays the same from file to file. */
const E2E = ["test/e2e/**/*.test.ts"];
const ALL = ["src/**/*.test.ts", "test/**/*.test.ts"];

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: "apart", include: ALL, exclude: [...PURE, ...E2E] } },
      { extends: true, test: { name: "e2e", include: E2E, isolate: false } },
      { extends: true, test: { name: "pure", include: PURE, isolate: false } },
    ],
    // Against a hang alone: a busy machine may take ten times as long as a quiet one.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    globalSetup: ["test/support/build-programs.ts"],
    setupFiles: ["test/support/seeded.ts", "test/support/clean-up.ts"],
    sequence: { sequencer: SlowFirst },
    pool: "forks",
    // Most of a test here waits for programs: four keep two cores busy.
    maxWorkers: 4,
    maxConcurrency: 3,
    ...(report === undefined ? {} : { reporters: ["default", "json"], outputFile: { json: report } }),
  },
});
