/** What grows with the number of iterations: nothing but the journal, and that by the same for each (F18, F20). */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { countOf, figure } from "../support/figure.ts";
import type { LongRun } from "../support/long-run.ts";

const ITERATIONS = countOf("PAWL_TEST_ITERATIONS", 1_200);
const MODE = process.env["PAWL_TEST_HISTORY"] ?? "simulated";
/** Against a hang alone: it takes twenty seconds, and on a busy machine many times that. */
const LIMIT_MS = countOf("PAWL_TEST_HISTORY_LIMIT_MS", 600_000);
const TOLERANCE = 0.05;
const MAX_SLOPE_BYTES = 1_024;
/** Looks at the open files, evenly over the run: the last of them against those before, without the first. */
const LATE = 5;
const WARM = 9;
/** Pipes of a process that is just being started. */
const IN_FLIGHT = 2;

/** Durable appends are slow on a busy disk, and nothing here depends on it; a long run would not fit. */
const MEMORY_DISK = "/dev/shm";
const FITS = 2_000;
const where = ITERATIONS <= FITS && existsSync(MEMORY_DISK) ? { TMPDIR: MEMORY_DISK } : {};

let long: LongRun;
beforeAll(() => {
  const program = join(import.meta.dirname, "../support/long-run.ts");
  const args = ["--expose-gc", program, String(ITERATIONS), MODE];
  long = JSON.parse(
    execFileSync(process.execPath, args, { encoding: "utf8", timeout: LIMIT_MS, env: { ...process.env, ...where } }),
  ) as LongRun;
  figure("F18, F20", {
    mode: MODE,
    ...long,
    factBytes: Object.values(long.factBytes),
    stateBytes: Object.values(long.stateBytes),
  });
}, LIMIT_MS);

describe(`a run of ${ITERATIONS} iterations`, () => {
  it("writes as many bytes of facts in a late iteration as in an early one (F18)", () => {
    expect(long.outcome).toBe("exhausted budget:iterations");
    expect(long.facts).toBeGreaterThan(ITERATIONS * 8);
    const { early, late } = long.factBytes;
    expect(Math.abs(late / early - 1)).toBeLessThanOrEqual(TOLERANCE);
  });

  it("keeps at most 1 KB of memory more with each, and no file open (F20)", () => {
    expect(long.heapSlopeBytes).toBeLessThanOrEqual(MAX_SLOPE_BYTES);
    expect(Math.max(...long.fds.slice(-LATE))).toBeLessThanOrEqual(
      Math.max(...long.fds.slice(WARM, -LATE)) + IN_FLIGHT,
    );
  });
});
