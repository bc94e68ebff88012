/** Limits from inside, with bounded bombs; each breach has a name afterwards. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { figure } from "../../../test/support/figure.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { bwrapFence, type Fence } from "../fence.ts";
import { runProcess, type ProcessRecord } from "../process.ts";
import { findGroups } from "./groups.ts";
import { mostIn, within, type FenceLimits } from "./limits.ts";
import type { Place } from "./places.ts";

const MB = 1024 ** 2;
/** Against a hang alone: none of the scripts gets to its end. */
const LIMIT_MS = 120_000;
const LIMITS: FenceLimits = { memoryBytes: 128 * MB, processes: 64, fileBytes: 8 * MB, diskBytes: 24 * MB };
const groups = findGroups("limits-probe");
const isGrouped = groups !== undefined;
let fence: Fence;
let work: string;
let places: Place[];

beforeAll(async () => {
  work = join(tempDir("limits"), "work");
  mkdirSync(work);
  places = [{ path: work, access: "write" }];
  const opened = await bwrapFence({ run: "r-limits", places });
  if (opened === undefined) throw new Error("bubblewrap does not work here: install it with scripts/install-system.sh");
  fence = opened;
});
afterAll(() => (fence.close(), groups?.sweep()));

/** Also how late the driver's events were meanwhile, for the campaign. */
async function run(script: string, more: { maxOutputBytes?: number } = {}): Promise<ProcessRecord> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const record = await bounded(script, more);
  delay.disable();
  const p99Ms = Math.round(delay.percentile(99) / 1e5) / 10;
  figure("A17", { what: record.limits.join(", "), p99Ms, tookMs: Math.round(record.durationMs) });
  return record;
}

const bounded = (script: string, more: { maxOutputBytes?: number }): Promise<ProcessRecord> =>
  runProcess({
    command: "/bin/sh",
    args: ["-c", script],
    cwd: work,
    env: { PATH: "/usr/bin:/bin" },
    timeoutMs: LIMIT_MS,
    ...more,
    confine: (command, args) =>
      fence.wrap(command, args, { cwd: work, places, hidden: [], network: "none", limits: LIMITS }),
  });

it.skipIf(!isGrouped).for([
  ["private", "python3 -c 'x = bytearray(600 * 1024 * 1024)'"],
  [
    "of many processes",
    "for n in 1 2 3 4 5 6; do (python3 -c 'import time; x = bytearray(60 * 1024 * 1024); time.sleep(100)' || : > killed) & done; until [ -e killed ]; do sleep 0.05; done; exit 1",
  ],
  [
    "shared",
    "head -c 400000000 /dev/zero > /dev/shm/a; head -c 8000000 /dev/shm/a > /dev/null; for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do head -c 8000000 /dev/zero > /dev/shm/$n; done; exit 1",
  ],
  [
    "without a name",
    "python3 -c \"import os\nfor n in range(50):\n  f = os.memfd_create('x'); os.write(f, bytes(8 * 1024 * 1024 - 1))\"",
  ],
] as const)("a memory bomb, %s, is ended and named (A17)", async ([, script], { expect }) => {
  const { limits, exitCode } = await run(script);
  expect(limits).toEqual(["killed: memory limit of 128 MB"]);
  expect(exitCode).not.toBe(0);
});

it.skipIf(!isGrouped)("a fork bomb meets its limit, and that is named (A17)", async () => {
  const { limits } = await run("n=0; while [ $n -lt 300 ]; do sleep 100 & n=$((n+1)); done; exit 1");
  expect(limits).toEqual(["limit of 64 processes met"]);
});

it("a disk filler is ended and named, also with many small files (A17)", async () => {
  const { limits, timedOut } = await run(
    'n=0; while [ $n -lt 64 ]; do head -c 1048576 /dev/zero > "f$n"; n=$((n+1)); [ $n -lt 40 ] || sleep 0.3; done; sleep 100',
  );
  expect(limits).toEqual(["it wrote more than 24 MB (max-disk)"]);
  expect(timedOut).toBeNull();
});

it("too large a file is named", async () => {
  const { limits, exitCode } = await run("head -c 20000000 /dev/zero > big; exit $?");
  expect([exitCode, limits]).toEqual([153, ["a file met its limit of 8 MB"]]);
});

it("endless output is ended and named", async () => {
  const { limits } = await run("yes", { maxOutputBytes: 4 * MB });
  expect(limits).toEqual(["more than 4 MB of output"]);
});

it("what meets no limit has none named, and no control group is left of any (F11)", async () => {
  // Where groups are made, whatever this machine's hierarchies are.
  const folders = groups?.make(LIMITS).doors.map((door) => join(door, "../..")) ?? [];
  const left = (): string[] =>
    folders.flatMap((folder) => readdirSync(folder).filter((name) => name.startsWith("pawl-r-limits-")));
  expect((await run("echo hello; exit 3")).limits).toEqual([]);
  expect(left().length).toBeGreaterThanOrEqual(folders.length);
  fence.close();
  expect(left()).toEqual([]);
});

describe("limits that whoever started pawl was given himself", () => {
  const text = [
    "Limit                     Soft Limit           Hard Limit           Units     ",
    "Max data size             unlimited            unlimited            bytes     ",
    "Max processes             100                  1500                 processes ",
    "Max file size             1000                 1000                 bytes     ",
  ].join("\n");
  const wanted = { memoryBytes: 2 ** 33, mappedBytes: 2 ** 34, processes: 2_048, fileBytes: 4 * 1024 ** 3 };

  it("are the most that can be given, files in whole blocks", () => {
    expect(within(wanted, mostIn(text))).toEqual({ ...wanted, processes: 1500, fileBytes: 512 });
    const few = { ...wanted, processes: 10, fileBytes: 512 };
    expect(within(few, mostIn(text))).toEqual(few);
  });

  it("leave no more than they are for memory and what is mapped", () => {
    const { memoryBytes, mappedBytes } = within(wanted, { ...mostIn(text), data: 2 ** 33 + 5 });
    expect([memoryBytes, mappedBytes]).toEqual([2 ** 33, 5]);
    expect(within(wanted, { ...mostIn(text), data: 7 })).toMatchObject({ memoryBytes: 7, mappedBytes: 0 });
  });

  it("are none where they are not told", () => {
    expect(within(wanted, mostIn(""))).toEqual(wanted);
  });
});
