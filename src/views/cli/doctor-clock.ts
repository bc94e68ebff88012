/** The clock, as far as a machine can judge its own: by date, by the files it writes, and by its monotonic clock. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Finding } from "./doctor-checks.ts";

/** A clock before this project began, or far ahead, is wrong. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);
const JOURNAL_SLACK_MS = 300_000;
/** Between the clock and the time a file gets; more means another machine stamps the files. */
const FILE_SLACK_MS = 5_000;
const LOOK_MS = 50;
/** Between the two clocks while we looked; more means somebody sets the clock right now. */
const JUMP_SLACK_MS = 500;

const SET = "set the clock, e.g. `timedatectl set-ntp true`";
const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1_000)} s`;

/** `newest`: when the newest fact was written, if there is one. */
export async function clockFinding(newest: number | undefined): Promise<Finding> {
  const [wall, mono] = [Date.now(), performance.now()];
  await sleep(LOOK_MS);
  const jumped = Date.now() - wall - (performance.now() - mono);
  const now = Date.now();
  const says = new Date(now).toISOString();
  const warn = (why: string, fix = SET): Finding => ({ name: "clock", is: "warn", says: `${says}, but ${why}`, fix });
  if (now < EARLIEST_MS || now > LATEST_MS)
    return { name: "clock", is: "fail", says: `${says} cannot be right`, fix: SET };
  if (newest !== undefined && newest > now + JOURNAL_SLACK_MS)
    return warn(`the journal goes on to ${new Date(newest).toISOString()}`);
  if (Math.abs(jumped) > JUMP_SLACK_MS)
    return warn(`it jumped by ${seconds(jumped)} just now`, "wait until the clock is set, then look again");
  const skew = fileSkew();
  if (skew !== undefined && Math.abs(skew) > FILE_SLACK_MS)
    return warn(
      `files are stamped ${seconds(skew)} ${skew > 0 ? "ahead" : "behind"}`,
      "use a local disk, or set both clocks",
    );
  return { name: "clock", is: "ok", says };
}

/** How far the time of a file just written is from the clock, ms. */
function fileSkew(): number | undefined {
  let dir: string | undefined;
  try {
    dir = mkdtempSync(join(tmpdir(), "pawl-doctor-"));
    const file = join(dir, "clock");
    const before = Date.now();
    writeFileSync(file, "");
    return statSync(file).mtimeMs - before;
  } catch {
    return undefined;
  } finally {
    if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
  }
}
