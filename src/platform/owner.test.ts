import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../test/support/temp.ts";
import { currentOwner, isAlive, isSuspended } from "./owner.ts";
import { allProcesses, lastPid, parsePsLine, parseStat, processInfo, variableOfEach } from "./process-table.ts";

describe("an owner", () => {
  it("is alive while its process is", () => {
    expect(currentOwner()).toMatchObject({ pid: process.pid });
    expect(isAlive(currentOwner())).toBe(true);
  });

  it("is dead when its pid belongs to another process now, or the machine was started again", () => {
    expect(isAlive({ ...currentOwner(), startedAt: "1" })).toBe(false);
    expect(isAlive({ ...currentOwner(), boot: "another" })).toBe(false);
  });

  it("counts as alive on another host: nobody here can know", () => {
    expect(isAlive({ ...currentOwner(), host: "elsewhere.example", boot: "another" })).toBe(true);
  });

  it("is dead as soon as it is killed, also as a zombie", async () => {
    const child = spawn("/bin/sh", ["-c", "sh -c 'echo $$; exec sleep 60' & exec sleep 60"], { detached: true });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const grandchild = Number(line.toString());
    const startedAt = processInfo(grandchild)?.startedAt as string;
    const owner = { ...currentOwner(), pid: grandchild, startedAt };
    expect(isAlive(owner)).toBe(true);
    // Its parent, a sleep, never waits for it.
    process.kill(grandchild, "SIGKILL");
    await waitFor(() => processInfo(grandchild)?.zombie === true);
    expect(isAlive(owner)).toBe(false);
    child.kill("SIGKILL");
    await once(child, "exit");
    const gone = { ...owner, pid: child.pid as number };
    expect(isAlive(gone)).toBe(false);
  });
});

describe("a process that a signal stopped", () => {
  it("is alive and suspended until it goes on", async () => {
    const child = spawn("/bin/sleep", ["60"]);
    await once(child, "spawn");
    const pid = child.pid as number;
    const owner = { ...currentOwner(), pid, startedAt: processInfo(pid)?.startedAt as string };
    expect(isSuspended(owner)).toBe(false);
    child.kill("SIGSTOP");
    await waitFor(() => isSuspended(owner));
    expect(isAlive(owner)).toBe(true);
    child.kill("SIGCONT");
    await waitFor(() => !isSuspended(owner));
    expect(isSuspended({ ...owner, host: "elsewhere.example" })).toBe(false);
    child.kill("SIGKILL");
    await once(child, "exit");
  });
});

describe("the process table", () => {
  it("knows this process, its parent and its environment", () => {
    expect(processInfo(process.pid)).toMatchObject({ pid: process.pid, ppid: process.ppid, zombie: false });
    expect(allProcesses().some((info) => info.pid === process.pid)).toBe(true);
    expect(lastPid()).toBeGreaterThan(0);
    expect(variableOfEach("PATH").get(process.pid)).toBe(process.env["PATH"]);
    expect(processInfo(2 ** 22 + 1)).toBeUndefined();
  });

  it("reads a program's name with spaces and parentheses", () => {
    const rest = "S 7 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 1000 1 2 3";
    expect(parseStat(`99 (a) b) (c d) ${rest}`)).toEqual({
      pid: 99,
      ppid: 7,
      group: 42,
      zombie: false,
      suspended: false,
      startedAt: "123456",
    });
    expect(parseStat(`99 (x) ${rest.replace("S", "Z")}`)?.zombie).toBe(true);
    expect(parseStat("")).toBeUndefined();
  });

  it("reads the lines of ps, for systems without /proc", () => {
    expect(parsePsLine("  501     1   501 Ss   Sun Nov 15 23:12:01 2026   ")).toEqual({
      pid: 501,
      ppid: 1,
      group: 501,
      zombie: false,
      suspended: false,
      startedAt: "Sun Nov 15 23:12:01 2026",
    });
    expect(parsePsLine("  PID  PPID")).toBeUndefined();
  });
});
