/** The process that waits for the next command, in a real fence: what is inside must not be able to tell. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isRunning, shownOf, taggedProcesses } from "../../../test/support/processes.ts";
import { tempDir, waitFor } from "../../../test/support/temp.ts";
import { bwrapFence, type Fence } from "../fence.ts";
import { allProcesses, processInfo } from "../process-table.ts";
import { runProcess, start, type Confine } from "../process.ts";
import { USUAL_LIMITS } from "./limits.ts";
import type { Place } from "./places.ts";

const READY_TRIES = 100;
const BETWEEN_MS = 20;
let fence: Fence;
let work: string;

beforeAll(async () => {
  work = join(tempDir("ready"), "work");
  mkdirSync(work);
  const opened = await bwrapFence({ run: "r-ready", places: [{ path: work, access: "write" }] });
  if (opened === undefined) throw new Error("bubblewrap does not work here: install it with scripts/install-system.sh");
  fence = opened;
});
afterAll(() => fence.close());

interface How {
  /** False: a waiting process is left out. */
  use?: boolean;
  of?: Fence;
}

/** `became`: the process that waited, of the last command; 0 when none did. */
function confining({ use = true, of = fence }: How = {}): { confine: Confine; became: () => number } {
  const places: Place[] = [{ path: work, access: "write" }];
  const inside = { cwd: work, places, hidden: [], network: "none", limits: USUAL_LIMITS } as const;
  let pid = 0;
  const confine: Confine = (command, args) => {
    const { become, ...plain } = of.wrap(command, args, inside);
    if (become === undefined || !use) return plain;
    return {
      ...plain,
      become(request) {
        const child = become(request);
        pid = child?.pid ?? 0;
        return child;
      },
    };
  };
  return { confine, became: () => pid };
}

async function run(script: string, how: How = {}) {
  const { confine, became } = confining(how);
  let output = "";
  const record = await runProcess({
    command: "/bin/sh",
    args: ["-c", script, "it's", 'a "word"\n', "ü", ""],
    cwd: work,
    env: { PATH: "/usr/bin:/bin", EMPTY: "", TWO: "a\nb=c" },
    timeoutMs: 20_000,
    confine,
    onOutput: (chunk) => void (output += Buffer.from(chunk).toString()),
  });
  return { ...record, output, waited: became() !== 0, pid: became() };
}

/** By a process that waited; the first commands of a fence are not. */
async function ready(script: string, of = fence) {
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    const done = await run(script, { of });
    if (done.waited) return done;
    await sleep(BETWEEN_MS);
  }
  throw new Error("nothing ever waited");
}

const children = (): number[] => allProcesses().flatMap(({ pid, ppid }) => (ppid === process.pid ? [pid] : []));
const groupOf = (pid: number | "self"): string => readFileSync(`/proc/${pid}/cgroup`, "utf8");

/** The process that waits for the next command, once it is in its group. */
async function theWaiting(): Promise<number> {
  await ready("true");
  const isGrouped = fence.level.includes("limits on the whole");
  const isIt = (pid: number): boolean =>
    shownOf(pid).includes("$doors, $spaces") && (groupOf(pid) !== groupOf("self")) === isGrouped;
  return waitFor(() => children().find(isIt), { what: "a process that waits" });
}

it("a command finds the same inside whether its process waited or not: variables, words, rights, limits, files", async () => {
  const look = `env | grep -vE '^(PAWL_|SHLVL)'; for word in "$0" "$@"; do echo "<$word>"; done; id; pwd; ls -A . /
    grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|Threads)' /proc/self/status; cat /proc/self/limits; ls /proc/self/fd
    cat /proc/self/cgroup | sed 's/[0-9]*$//'; cat /proc/self/stat | cut -d' ' -f1-8; readlink /proc/self/fd/0; umask; trap`;
  const [waited, plain] = [await ready(look), await run(look, { use: false })];
  expect(waited.output).toBe(plain.output);
  expect(waited.output).toContain('<a "word"\n>\n<ü>\n<>\n');
  expect(waited.exitCode).toBe(0);
});

it("its output and errors come in order, its exit code is told, and nothing of it is left", async () => {
  const done = await ready("echo one; echo two >&2; echo three; sleep 30 & exit 7");
  expect([done.output, done.exitCode, done.leftBehind]).toEqual(["one\ntwo\nthree\n", 7, 0]);
  expect(processInfo(done.pid)).toBeUndefined();
});

it("a program that talks through pipes is started anew, in the group of the process that waited", async () => {
  const waiting = await theWaiting();
  const group = groupOf(waiting);
  const { confine, became } = confining();
  const { child, held } = start("cat", [], { confine, stdio: ["pipe", "pipe", "pipe"], cwd: work, env: {} });
  child.stdin?.write("said");
  expect(String((await once(child.stdout as Readable, "data"))[0])).toBe("said");
  expect([became(), groupOf(child.pid ?? 0)]).toEqual([0, group]);
  await expect.poll(() => processInfo(waiting)).toBeUndefined();
  child.stdin?.end();
  if (child.exitCode === null) await once(child, "exit");
  held?.release();
  expect(child.exitCode).toBe(0);
});

it.each(["still enters", "has entered"])(
  "a command that is ended while its process %s leaves nothing",
  async (when) => {
    const waiting = await theWaiting();
    const over = new AbortController();
    const mark = randomUUID();
    const { confine, became } = confining();
    const going = runProcess({
      command: "/bin/sleep",
      args: ["30"],
      cwd: work,
      env: { PATH: "/usr/bin:/bin", READY_MARK: mark },
      timeoutMs: 20_000,
      graceMs: 100,
      confine,
      signal: over.signal,
    });
    if (when === "has entered")
      await waitFor(() => taggedProcesses("READY_MARK", mark).length > 0, { what: "the command" });
    else await new Promise(setImmediate);
    expect([became(), isRunning(waiting)]).toEqual([waiting, true]);
    over.abort();
    expect(await going).toMatchObject({ aborted: true, timedOut: null });
    expect([isRunning(waiting), taggedProcesses("READY_MARK", mark)]).toEqual([false, []]);
  },
);

it("what waits goes with the fence", async () => {
  const before = new Set(children());
  const other = await bwrapFence({ run: "r-ready-2", places: [{ path: work, access: "write" }] });
  if (other === undefined) throw new Error("it worked before");
  await ready("true", other);
  await sleep(BETWEEN_MS);
  const added = children().filter((pid) => !before.has(pid));
  expect(added).not.toEqual([]);
  other.close();
  await expect.poll(() => children().filter((pid) => added.includes(pid))).toEqual([]);
});
