import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { watchHeld } from "../../test/support/held-memory.ts";
import { sleepersOf, taggedProcesses } from "../../test/support/processes.ts";
import { tempDir, waitFor, writeFiles } from "../../test/support/temp.ts";
import { runProcess } from "./process.ts";
import type { ProcessRequest } from "./process.ts";
import { sweep } from "./sweep.ts";

const PATH = process.env["PATH"] ?? "/usr/bin:/bin";
const LONG_MS = 60_000;
/** Of four pipes that are made ahead of time together: there at one look, and not yet at another. */
const SPARE_FDS = 8;
const cwd = tempDir("process");

function sh(script: string, given: Partial<ProcessRequest> & { run?: string } = {}) {
  const env = { PATH, PAWL_RUN: given.run ?? "r-process" };
  return runProcess({ command: "/bin/sh", args: ["-c", script], cwd, env, timeoutMs: LONG_MS, graceMs: 200, ...given });
}

async function outputOf(script: string, given: Partial<ProcessRequest> = {}): Promise<string> {
  const chunks: Uint8Array[] = [];
  await sh(script, { ...given, onOutput: (chunk) => void chunks.push(chunk) });
  return Buffer.concat(chunks).toString();
}

const newRun = () => `r-${randomUUID()}`;

describe("runProcess", () => {
  it("records exit code, signal and bytes", async () => {
    expect(await sh("printf 12345; exit 3")).toMatchObject({
      exitCode: 3,
      signal: null,
      outputBytes: 5,
      leftBehind: 0,
    });
    expect(await sh("kill -USR1 $$")).toMatchObject({ exitCode: null, signal: "SIGUSR1" });
  });

  it("gives input, and an empty one when there is none", async () => {
    expect(await outputOf("cat", { input: "héllo" })).toBe("héllo");
    expect(await outputOf("cat; echo end")).toBe("end\n");
    expect(await sh("exit 0", { input: Buffer.alloc(1 << 20) })).toMatchObject({ exitCode: 0 });
  });

  it("reads both outputs apart when asked to, and counts each by itself", async () => {
    const heard = ["", ""];
    const onOutput = (chunk: Uint8Array, from: number) => void (heard[from] += Buffer.from(chunk).toString());
    const script = "printf out; printf error >&2; printf more";
    expect(await sh(script, { apart: true, onOutput })).toMatchObject({ outputBytes: 12 });
    expect(heard).toEqual(["outmore", "error"]);
    const quiet = { apart: true, maxOutputBytes: 7 };
    expect((await sh(script, quiet)).limits).toEqual([]);
    expect((await sh("printf 12345678 >&2; sleep 30", quiet)).limits).toEqual(["more than 7 bytes of output"]);
  });

  it("passes arguments as they are, without a shell (A19)", async () => {
    const hostile = [
      "-rf",
      "$(touch pwned)",
      "`touch pwned`",
      "; touch pwned",
      "a\nb",
      "'",
      '"',
      "../x",
      "",
      "é€😀",
      "*",
    ];
    const names = hostile.flatMap((name) => [name, `--${name}`, `${name}=x`, `x ${name}`, `\t${name}`, `|${name}&`]);
    const chunks: Uint8Array[] = [];
    const script = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
    const args = ["-e", script, "--", ...names];
    const env = { PATH, PAWL_RUN: "r" };
    const onOutput = (chunk: Uint8Array) => void chunks.push(chunk);
    await runProcess({ command: process.execPath, args, cwd, env, timeoutMs: LONG_MS, onOutput });
    expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual(names);
    expect(readdirSync(cwd)).toEqual([]);
  });

  it("answers with a start error instead of throwing", async () => {
    const env = { PATH };
    const none = await runProcess({ command: "/no/such/program", cwd, env, timeoutMs: LONG_MS });
    expect(none.startError).toMatchObject({ code: "ENOENT" });
    const nowhere = await runProcess({ command: "/bin/sh", cwd: "/no/such/folder", env, timeoutMs: LONG_MS });
    expect(nowhere.startError?.message).toBe("no such folder: /no/such/folder");
    const file = await runProcess({ command: "/etc/passwd", cwd, env, timeoutMs: LONG_MS });
    expect(file.startError).toMatchObject({ code: "EACCES" });
    const nul = await runProcess({ command: "/bin/sh", args: ["a\0b"], cwd, env, timeoutMs: LONG_MS });
    expect(nul.startError).not.toBeNull();
  });

  it("ends the hanging, the dying and the deaf, each time, and none is left (F2)", async () => {
    const run = newRun();
    const scripts = ["exit 137", "sleep 60", "trap '' TERM; while :; do sleep 0.1; done"];
    const runs = Array.from({ length: 8 }, () =>
      scripts.map((script, at) => sh(script, { run, timeoutMs: at === 0 ? LONG_MS : 250 })),
    ).flat();
    const records = await Promise.all(runs);
    for (const [at, record] of records.entries()) {
      expect(record.timedOut).toBe(at % 3 === 0 ? null : "total");
      if (at % 3 === 0) expect(record.exitCode).toBe(137);
    }
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("ends a silent program after the idle time, but not one that talks", async () => {
    // Time enough for a busy machine to start a program; the one that talks does so for longer.
    const idleMs = 5_000;
    const talking = "i=0; while [ $i -lt 55 ]; do echo $i; sleep 0.1; i=$((i+1)); done";
    const [silent, talked] = await Promise.all([sh("echo a; sleep 60", { idleMs }), sh(talking, { idleMs })]);
    expect(silent).toMatchObject({ timedOut: "idle", outputBytes: 2 });
    expect(talked).toMatchObject({ timedOut: null, exitCode: 0 });
  });

  it("ends the whole tree when aborted, and does not start when aborted before", async () => {
    const run = newRun();
    const script = "setsid sh -c 'sleep 60 & setsid -f sleep 60' & sleep 60";
    const stop = new AbortController();
    const going = sh(script, { run, signal: stop.signal });
    await waitFor(() => taggedProcesses("PAWL_RUN", run).length >= 4, { what: "the tree" });
    stop.abort();
    expect(await going).toMatchObject({ aborted: true });
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
    expect(await sh("echo a", { signal: AbortSignal.abort() })).toMatchObject({ aborted: true, outputBytes: 0 });
  });

  it("finishes when a child keeps the output open after the end, and ends that child (F11, row 22)", async () => {
    const run = newRun();
    const ready = join(tempDir("ready"), "ready");
    const script = `echo result; (trap '' TERM HUP; sleep 60) & setsid sh -c 'sleep 60 & : > "${ready}"; sleep 60' &
      until [ -e "${ready}" ]; do sleep 0.01; done; exit 4`;
    const record = await sh(script, { run });
    expect(record).toMatchObject({ exitCode: 4, timedOut: null });
    expect(record.leftBehind).toBeGreaterThanOrEqual(3);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("waits for children that end by themselves at once, and keeps what they print", async () => {
    expect(await outputOf("echo early; (sleep 0.02; echo late) &")).toBe("early\nlate\n");
  });

  it("keeps everything that a Node program printed before process.exit()", async () => {
    const dir = tempDir("print");
    writeFiles(dir, {
      "print.mjs": "for (let i = 0; i < 2500; i++) console.log(`line ${i} of many`); process.exit(1);",
    });
    const printed = await outputOf(`"${process.execPath}" "${join(dir, "print.mjs")}"`);
    expect(printed.trimEnd().split("\n")).toHaveLength(2500);
  });

  it("lets a slow reader slow the program instead of filling memory (F13)", async () => {
    const held = watchHeld(4 * 2 ** 20);
    let bytes = 0;
    let inFlight = 0;
    const record = await sh("head -c 33554432 /dev/zero", {
      async onOutput(chunk) {
        inFlight += 1;
        expect(inFlight).toBe(1);
        bytes += chunk.length;
        held.saw(chunk.length);
        await new Promise((resolve) => setImmediate(resolve));
        inFlight -= 1;
      },
    });
    expect(record).toMatchObject({ exitCode: 0, outputBytes: 33_554_432 });
    expect(bytes).toBe(33_554_432);
    expect(held.mostMb()).toBeLessThan(8);
  });

  it("rejects with the reader's own error, after ending the tree", async () => {
    const run = newRun();
    const onOutput = () => Promise.reject(new Error("disk full"));
    await expect(sh("echo a; sleep 60", { run, onOutput })).rejects.toThrow("disk full");
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("keeps no file descriptors and no listeners over many runs (F20)", async () => {
    const { signal } = new AbortController();
    const fds = () => readdirSync("/proc/self/fd").length;
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on("warning", note);
    for (let at = 0; at < 3; at += 1) await sh("echo a", { signal });
    const before = fds();
    for (let at = 0; at < 40; at += 1) await sh("echo a", { signal });
    process.off("warning", note);
    expect(fds()).toBeLessThanOrEqual(before + 2 + SPARE_FDS);
    expect(warnings).toEqual([]);
  });

  it("leaves a tree that the sweep can find when its driver is killed (F11)", async () => {
    const run = newRun();
    const source = JSON.stringify(join(import.meta.dirname, "process.ts"));
    const script = `import(${source}).then((m) => m.runProcess({ command: "/bin/sh", cwd: "/", timeoutMs: 99999,
      args: ["-c", "setsid sh -c 'sleep 60 & setsid -f sleep 60' & sleep 60"], env: { PATH: ${JSON.stringify(PATH)}, PAWL_RUN: "${run}" } }))`;
    const driver = spawn(process.execPath, ["-e", script], { stdio: "inherit" });
    await waitFor(() => sleepersOf(run).length === 3, { what: "the tree" });
    driver.kill("SIGKILL");
    expect(await sweep(run)).toBeGreaterThanOrEqual(4);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });
});
