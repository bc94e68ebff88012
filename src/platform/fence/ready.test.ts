/** The process that waits for the next command, in a real fence: what is inside must not be able to tell. */
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tempDir } from "../../../test/support/temp.ts";
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

/** `use` false: a waiting process is left out. */
async function run(script: string, { use = true, of = fence }: { use?: boolean; of?: Fence } = {}) {
  const places: Place[] = [{ path: work, access: "write" }];
  const inside = { cwd: work, places, hidden: [], network: "none", limits: USUAL_LIMITS } as const;
  let waited = false;
  let pid = 0;
  const confine: Confine = (command, args) => {
    const { become, ...plain } = of.wrap(command, args, inside);
    if (become === undefined || !use) return plain;
    return {
      ...plain,
      become(request) {
        const child = become(request);
        waited = child !== undefined;
        pid = child?.pid ?? 0;
        return child;
      },
    };
  };
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
  return { ...record, output, waited, pid, confine };
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

it("a program that talks through pipes is started anew, in the same group", async () => {
  const { confine } = await ready("true");
  await sleep(BETWEEN_MS);
  const { child, held } = start("cat", [], { confine, stdio: ["pipe", "pipe", "pipe"], cwd: work, env: {} });
  child.stdin?.end("said");
  expect(await text(child.stdout as Readable)).toBe("said");
  if (child.exitCode === null) await once(child, "exit");
  held?.release();
  expect(child.exitCode).toBe(0);
});

it("a command that is ended while its process still enters leaves nothing", async () => {
  await ready("true");
  await sleep(BETWEEN_MS);
  const over = new AbortController();
  const { confine } = await run("true");
  const going = runProcess({
    command: "/bin/sleep",
    args: ["30"],
    cwd: work,
    env: { PATH: "/usr/bin:/bin" },
    timeoutMs: 20_000,
    graceMs: 100,
    confine,
    signal: over.signal,
  });
  setImmediate(() => over.abort());
  expect(await going).toMatchObject({ aborted: true, timedOut: null });
});

it("what waits goes with the fence", async () => {
  const children = (): number[] => allProcesses().flatMap(({ pid, ppid }) => (ppid === process.pid ? [pid] : []));
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
