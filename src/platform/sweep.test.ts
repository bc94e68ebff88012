import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { isRunning, sleepersOf, taggedProcesses } from "../../test/support/processes.ts";
import { tempDir, waitFor, writeFiles } from "../../test/support/temp.ts";
import { sweep } from "./sweep.ts";

const PATH = process.env["PATH"] ?? "/usr/bin:/bin";
const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) {
    try {
      process.kill(-(child.pid as number), "SIGKILL");
    } catch {
      // The sweep did its work.
    }
  }
});

/** A driver that dies and leaves `script` behind: nothing of it is our child any more. */
async function leaveBehind(script: string, { run, expected }: { run: string; expected: number }): Promise<void> {
  const env = { PATH, PAWL_RUN: run };
  const child = spawn("/bin/sh", ["-c", script], { env, stdio: "ignore", detached: true });
  started.push(child);
  await waitFor(() => taggedProcesses("PAWL_RUN", run).length >= expected, { what: `${expected} processes` });
}

const newRun = () => `r-${randomUUID()}`;

describe("sweep", () => {
  it("finds nothing to do where nothing was left", async () => {
    expect(await sweep(newRun())).toBe(0);
  });

  it("ends a process that ignores SIGTERM, and one that is stopped (F2)", async () => {
    const run = newRun();
    await leaveBehind(
      "trap '' TERM HUP INT; (kill -STOP $(sh -c 'echo $PPID'); sleep 60) & while :; do sleep 0.2; done",
      {
        run,
        expected: 2,
      },
    );
    expect(await sweep(run)).toBeGreaterThanOrEqual(2);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("ends three levels with setsid and double forks, whose parents are long gone (F11)", async () => {
    const run = newRun();
    const script = "setsid sh -c 'sleep 60 & (setsid sh -c \"sleep 60 & sleep 60\" &) & setsid -f sleep 60' & exit";
    await leaveBehind(script, { run, expected: 5 });
    await waitFor(() => sleepersOf(run).length === 4, { what: "the last of them" });
    expect(await sweep(run)).toBeGreaterThanOrEqual(5);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("ends a child that dropped the environment while its parent lives", async () => {
    const run = newRun();
    const mark = `PAWL_TEST_MARK=${run}`;
    await leaveBehind(`env -i ${mark} /bin/sleep 60 & exec sleep 60`, { run, expected: 1 });
    await waitFor(() => taggedProcesses("PAWL_TEST_MARK", run).length === 1);
    await sweep(run);
    expect(taggedProcesses("PAWL_TEST_MARK", run)).toEqual([]);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("catches a program that forks away in a new session again and again while it is swept", async () => {
    const run = newRun();
    const dir = tempDir("hop");
    const hop = join(dir, "hop.sh");
    writeFiles(dir, {
      "hop.sh": `trap '' TERM\n[ "$1" -gt 4000 ] && exit\nsleep 0.05\nsetsid sh "${hop}" $(($1 + 1)) &\n`,
    });
    await leaveBehind(`sh "${hop}" 0 & sh "${hop}" 0 & sleep 60`, { run, expected: 3 });
    await sweep(run);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("leaves other runs, the excepted and what is below them alone", async () => {
    const [run, other] = [newRun(), newRun()];
    await leaveBehind("sleep 60 & exec sleep 60", { run: other, expected: 2 });
    // Below a process of the swept run lives one of another run.
    await leaveBehind(`PAWL_RUN=${other}x sleep 60 & exec sleep 60`, { run, expected: 1 });
    // Until it has become another program it is one of the swept run's.
    await waitFor(() => taggedProcesses("PAWL_RUN", `${other}x`).length === 1, { what: "the process of another run" });
    await leaveBehind("sleep 60 & exec sleep 60", { run, expected: 3 });
    // In the middle of becoming one, a process shows nobody whose it is.
    await waitFor(() => sleepersOf(other).length === 2 && sleepersOf(run).length === 3, { what: "all to sleep" });
    const excepted = started.at(-1)?.pid as number;
    await sweep(run, { except: [excepted] });
    expect(taggedProcesses("PAWL_RUN", other)).toHaveLength(2);
    expect(taggedProcesses("PAWL_RUN", `${other}x`)).toHaveLength(1);
    expect(taggedProcesses("PAWL_RUN", run)).toHaveLength(2);
    expect(isRunning(excepted)).toBe(true);
    await Promise.all([sweep(run), sweep(other), sweep(`${other}x`)]);
    expect([run, other, `${other}x`].flatMap((each) => taggedProcesses("PAWL_RUN", each))).toEqual([]);
  });

  it("does not end the process that sweeps, nor its ancestors, when they carry the tag themselves", async () => {
    const run = newRun();
    const source = join(import.meta.dirname, "sweep.ts");
    const script = `import(${JSON.stringify(source)}).then(async (m) => console.log("swept", await m.sweep("${run}")))`;
    const args = ["-c", `sleep 60 & "${process.execPath}" -e '${script}'; echo still here`];
    const child = spawn("/bin/sh", args, { env: { PATH, PAWL_RUN: run }, stdio: ["ignore", "pipe", "inherit"] });
    started.push(child);
    let printed = "";
    for await (const chunk of child.stdout) printed += String(chunk);
    expect(printed).toBe("swept 1\nstill here\n");
  });
});
