/**
 * As whoever it was started: commands whose process had waited, with a layer whose files are chosen later, a folder that is
 * made anew meanwhile, and a relay. Tells, for each command, what it printed and how its sandbox came to be.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeFolder } from "../../src/compose/fence-scratch.ts";
import { bwrapFence, programAt } from "../../src/platform/fence.ts";
import type { Inside } from "../../src/platform/fence/bwrap.ts";
import { USUAL_LIMITS, type FenceLimits } from "../../src/platform/fence/limits.ts";
import type { Place } from "../../src/platform/fence/places.ts";
import { PERL } from "../../src/platform/perl.ts";
import { runProcess } from "../../src/platform/process.ts";
import { signalAll, taggedProcesses } from "./processes.ts";
import { waitFor } from "./temp.ts";

const LIMIT_MS = 60_000;
/** More than one takes to be made on a busy machine; only that something waits is looked at, never when. */
const SETTLE_MS = 300;
const PORT = 3_128;
/** Commands that come ever later after the one before, through the whole time in which one is made. */
const HURRIED = 40;
const HURRIED_STEP_MS = 1;
const MANY_LAYERS = 20;

/** With `die` it is killed as soon as something waits. */
const [id = "r-waiting", how = "tell"] = process.argv.slice(2);
const root = mkdtempSync(join(tmpdir(), "pawl-waiting-"));
const folder = (name: string): string => {
  const path = join(root, name);
  mkdirSync(path, { recursive: true, mode: 0o755 });
  return path;
};
for (const name of ["one", "two"]) writeFileSync(join(folder(name), "which"), `${name}\n`);
const shared = folder("shared");
const at = folder("at");
const socket = join(folder("sockets"), "s");
const server = createServer((client) => client.end("answered\n"));
await new Promise<void>((resolve) => void server.listen(socket, resolve));

const fence = await bwrapFence({
  run: id,
  places: [{ path: root, access: "write" }],
  layers: { trial: folder("trial"), mounts: folder("mounts") },
});
if (fence === undefined) throw new Error("bubblewrap does not work here");

interface Given {
  relay?: boolean;
  /** When the next command comes. */
  settleMs?: number;
  limits?: FenceLimits;
  /** Folders below the one that is judged. */
  over?: string[];
  /** In the last moment before it is told. */
  begin?: () => void;
  /** A place that is shown in another, which commands can write to. */
  below?: boolean;
}
let n = 0;
function inside(tree: string, given: Given): Inside {
  const { relay = false, below = false, limits = USUAL_LIMITS, over = [] } = given;
  const places: Place[] = [
    { path: join(root, tree), access: "write", at, layer: { over, folder: folder(`layer-${(n += 1)}`) } },
    { path: shared, access: "write" },
    ...(below ? [{ path: join(root, "one"), access: "read", at: join(shared, "below") } as const] : []),
    ...(relay ? [{ path: join(root, "sockets"), access: "read", at: "/run/s" } as const] : []),
  ];
  const socat = programAt("socat") ?? "";
  const way = { socat, perl: programAt("perl"), port: PORT, socket: "/run/s/s", hostPorts: [] };
  const about = { cwd: at, places, hidden: [], network: "none", limits, isRepeated: true } as const;
  return { ...about, ...(relay ? { relay: way } : {}) };
}

async function run(script: string, tree: string, given: Given = {}) {
  let [way, written, output] = ["", [""], ""];
  const record = await runProcess({
    command: "/bin/sh",
    args: ["-c", script],
    cwd: at,
    env: { PATH: "/usr/bin:/bin" },
    timeoutMs: LIMIT_MS,
    confine(command, args) {
      const wrapped = fence?.wrap(command, args, inside(tree, given)) ?? { command, args: [], fds: [] };
      const { become, command: program } = wrapped;
      way = program === PERL ? "copy" : "bwrap";
      return {
        ...wrapped,
        become(request) {
          given.begin?.();
          const became = become?.(request);
          if (became !== undefined) way = "waited";
          return became;
        },
      };
    },
    onOutput: (chunk) => void (output += Buffer.from(chunk).toString()),
    onWritten: (where) => void (written = readdirSync(where)),
  });
  await sleep(given.settleMs ?? SETTLE_MS);
  return { way, output, written, code: record.exitCode, left: record.leftBehind };
}

/** What was mounted is gone; what is there now is another. */
async function remade() {
  rmSync(shared, { recursive: true });
  mkdirSync(shared);
  return await run(`echo kept > ${shared}/file; cat which`, "one");
}

async function hurried() {
  const done = [];
  for (let late = 0; late < HURRIED; late += 1) {
    const { way: _, ...one } = await run("cat which; echo new > made; ls", "two", { settleMs: late * HURRIED_STEP_MS });
    done.push(one);
  }
  return done;
}

/** Somebody ends what waits in the very moment in which it is to be told: the machine has no memory left, say. */
async function killed() {
  await waitFor(() => taggedProcesses("PAWL_RUN", id).length > 0, { what: "what waits" });
  const ended: number[] = [];
  const begin = (): void => {
    if (ended.length === 0) ended.push(...signalAll(taggedProcesses("PAWL_RUN", id)));
  };
  const { way: _, ...one } = await run("cat which", "two", { begin });
  return { ...one, ended: ended.length };
}

try {
  if (how === "die") {
    for (const tree of ["one", "two"]) await run("true", tree);
    process.kill(process.pid, "SIGKILL");
  }
  const told = {
    uid: process.getuid?.(),
    first: await run("cat which", "one"),
    second: await run("cat which", "one"),
    chosen: await run("cat which; echo new > made; rm which; ls", "two"),
    again: await run("ls; cat which; for one in /proc/[0-9]*; do echo process; done", "two"),
    locked: await run("touch /proc/self/x 2>/dev/null; umount . 2>/dev/null; cat which", "one"),
    anew: await remade(),
    relayed: await run(`bash -c 'exec 5<>/dev/tcp/127.0.0.1/${PORT}; cat <&5; ls /proc/self/fd'`, "two", {
      relay: true,
    }),
    hurried: await hurried(),
    killed: await killed(),
    below: await run(`cat ${shared}/below/which`, "two", { below: true }),
    limited: await run("cat which", "one", { limits: { ...USUAL_LIMITS, processes: 100 } }),
    manyLayers: await run("cat which", "one", {
      limits: { ...USUAL_LIMITS, processes: 100 },
      over: Array.from({ length: MANY_LAYERS }, (_, at) => folder(`over-${at}`)),
    }),
  };
  const kept = readFileSync(join(shared, "file"), "utf8");
  console.log(JSON.stringify({ ...told, kept, trees: ["one", "two"].map((name) => readdirSync(join(root, name))) }));
} finally {
  fence.close();
  server.close();
  await removeFolder(root);
}
