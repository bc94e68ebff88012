/** Control groups of a run: as many as there are commands at once, and none when it is over. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { waitFor } from "../../../test/support/temp.ts";
import { findGroups, type Group } from "./groups.ts";

const LIMITS = { memoryBytes: 256 * 1024 ** 2, processes: 20, fileBytes: 2 ** 30 };
const groups = findGroups(`r-groups-${process.pid}`);
const doorsOf = ({ doors }: Group): string => doors.join(" ");

async function sleeperIn({ doors }: Group): Promise<() => Promise<void>> {
  const child = spawn("sleep", ["300"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  for (const door of doors) writeFileSync(door, String(child.pid));
  return async () => {
    child.kill("SIGKILL");
    await once(child, "close");
  };
}

describe.skipIf(groups === undefined)("a control group", () => {
  const { make, sweep } = groups ?? { make: () => expect.fail(), sweep: () => undefined };

  it("is taken over by the next command, and never shared by two", async () => {
    const first = make(LIMITS);
    const second = make(LIMITS);
    expect(doorsOf(second)).not.toBe(doorsOf(first));
    const end = await sleeperIn(first);
    first.release();
    // Not while something of the one before is in it.
    const third = make(LIMITS);
    expect([doorsOf(first), doorsOf(second)]).not.toContain(doorsOf(third));
    await end();
    const fourth = await waitFor(() => {
      const group = make(LIMITS);
      return doorsOf(group) === doorsOf(first) ? group : undefined;
    });
    // Whoever lets go twice gives away nothing that is another's.
    first.release();
    expect(doorsOf(make(LIMITS))).not.toBe(doorsOf(fourth));
  });

  it("tells of limits that its own command met, not of those before it", async () => {
    const first = make({ ...LIMITS, processes: 1 });
    const shell = spawn("sh", ["-c", "read x; (true); (true)"], { stdio: ["pipe", "ignore", "ignore"] });
    for (const door of first.doors) writeFileSync(door, String(shell.pid));
    shell.stdin.end("\n");
    await once(shell, "close");
    expect(first.breaches()).toEqual(["limit of 1 processes met"]);
    first.release();
    const next = make(LIMITS);
    expect([doorsOf(next), next.breaches()]).toEqual([doorsOf(first), []]);
    next.release();
  });

  it("is gone when the run is over", async () => {
    const group = make(LIMITS);
    const [door = ""] = group.doors;
    expect(existsSync(door)).toBe(true);
    group.release();
    sweep();
    expect(existsSync(dirname(door))).toBe(false);
    expect(make(LIMITS).doors.every((one) => existsSync(one))).toBe(true);
    sweep();
  });
});
