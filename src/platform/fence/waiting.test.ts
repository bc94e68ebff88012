/** The sandbox that waits for the next command, in a real fence: what is inside must not be able to tell. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRunning, shownOf, taggedProcesses } from "../../../test/support/processes.ts";
import { isRoot, programAs, WHO } from "../../../test/support/program-as.ts";
import { tempDir, waitFor } from "../../../test/support/temp.ts";
import { bwrapFence, type Fence } from "../fence.ts";
import { allProcesses, processInfo } from "../process-table.ts";
import { runProcess, start, type Confine } from "../process.ts";
import type { Inside } from "./bwrap.ts";
import { USUAL_LIMITS } from "./limits.ts";
import type { Place } from "./places.ts";

const READY_TRIES = 100;
const BETWEEN_MS = 20;
const FENCES = 60;
const STEP_MS = 0.4;
/** Against a hang alone. */
const LIMIT_MS = 120_000;
let fence: Fence;
let root: string;
let work: string;

/** With layers there is one for an ordinary user, too. */
function about(run: string) {
  const layers = { trial: join(root, randomUUID(), "trial"), mounts: join(root, randomUUID()) };
  for (const path of [work, ...Object.values(layers)]) mkdirSync(path, { recursive: true });
  return { run, places: [{ path: root, access: "write" } as const], layers };
}

beforeAll(async () => {
  root = tempDir("ready");
  work = join(root, "work");
  const opened = await bwrapFence(about("r-ready"));
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
  const inside: Inside = { cwd: work, places, hidden: [], network: "none", limits: USUAL_LIMITS, isRepeated: true };
  let pid = 0;
  const confine: Confine = (command, args) => {
    const { become, ...plain } = of.wrap(command, args, inside);
    if (become === undefined || !use) return plain;
    return {
      ...plain,
      become(request) {
        const became = become(request);
        pid = became?.child.pid ?? 0;
        return became;
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
    timeoutMs: LIMIT_MS,
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

/** The first process of what waits for the next command, once it is in its group. */
async function theWaiting(): Promise<number> {
  await ready("true");
  const isGrouped = fence.level.includes("limits on the whole");
  const isIt = (pid: number): boolean =>
    shownOf(pid).includes("open(my $line") && (groupOf(pid) !== groupOf("self")) === isGrouped;
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
  await waitFor(() => processInfo(waiting) === undefined, { what: "the end of what waited" });
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
      args: ["300"],
      cwd: work,
      env: { PATH: "/usr/bin:/bin", READY_MARK: mark },
      timeoutMs: LIMIT_MS,
      graceMs: 100,
      confine,
      signal: over.signal,
    });
    if (when === "has entered")
      await waitFor(() => taggedProcesses("READY_MARK", mark).length > 0, { what: "the command" });
    else while (became() === 0) await new Promise(setImmediate);
    expect([became(), isRunning(waiting)]).toEqual([waiting, true]);
    over.abort();
    expect(await going).toMatchObject({ aborted: true, timedOut: null });
    expect([isRunning(waiting), taggedProcesses("READY_MARK", mark)]).toEqual([false, []]);
  },
);

it("what waits goes with the fence, however far it has been made", async () => {
  const run = `r-ready-${randomUUID()}`;
  for (let n = 0; n < FENCES; n += 1) {
    const other = await bwrapFence(about(run));
    if (other === undefined) throw new Error("it worked before");
    await ready("true", other);
    await waitFor(() => taggedProcesses("PAWL_RUN", run).length > 0, { what: "what waits" });
    // Each time at another step of its making.
    const until = performance.now() + n * STEP_MS;
    while (performance.now() < until);
    other.close();
  }
  await waitFor(() => taggedProcesses("PAWL_RUN", run).length === 0, { what: "the end of all that waited" });
});

describe.each(WHO)("as %s", (who) => {
  it("what waited sees the files that were chosen afterwards, alone, and writes beside them", () => {
    const { stdout, stderr } = programAs(who, "waiting-program.ts");
    expect(stderr).toBe("");
    const { uid, kept, trees, ...commands } = toldBy(stdout);
    expect(uid === 0).toBe(isRoot && who === "self");
    const well = { code: 0, left: 0, way: "waited", written: [] };
    expect(commands).toEqual({
      first: { ...well, way: "bwrap", output: "one\n" },
      second: { ...well, way: "copy", output: "one\n" },
      chosen: { ...well, output: "two\nmade\n", written: ["made", "which"] },
      // It is alone with what holds the namespace.
      again: { ...well, output: "which\ntwo\nprocess\nprocess\n" },
      locked: { ...well, output: "one\n" },
      // A folder of its places was removed and made again meanwhile.
      anew: { ...well, output: "one\n" },
      // Nothing is open in it but what it opened itself.
      relayed: { ...well, output: "answered\n0\n1\n2\n3\n5\n" },
      // Also where it was told while it was being made.
      hurried: Array.from({ length: 40 }, () => ({
        code: 0,
        left: 0,
        output: "two\nmade\nwhich\n",
        written: ["made"],
      })),
      killed: { code: 0, left: 0, output: "two\n", written: [], ended: 1 },
      below: { ...well, output: "one\n" },
      // Another limit than it was started with.
      limited: { ...well, way: "copy", output: "one\n" },
      // Too many folders for a copy to mount by itself.
      manyLayers: { ...well, output: "one\n" },
    });
    expect({ kept, trees }).toEqual({ kept: "kept\n", trees: [["which"], ["which"]] });
  });

  it("what waits does not outlive a killed driver", async () => {
    const run = `r-waiting-${randomUUID()}`;
    expect(programAs(who, "waiting-program.ts", run, "die").signal).toBe("SIGKILL");
    await waitFor(() => taggedProcesses("PAWL_RUN", run).length === 0, { what: "the end of what waited" });
  });
});

interface Told extends Record<string, unknown> {
  uid: number;
  kept: string;
  trees: string[][];
}
const toldBy = (text: string): Told => JSON.parse(text) as Told;
