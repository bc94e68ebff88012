/**
 * As whoever it was started: sandboxes that were made ahead of time, with a layer whose files are chosen later, a folder
 * that is made anew meanwhile, and a relay. Tells, for each command, what it printed and whether its sandbox had waited.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { removeFolder } from "../../src/compose/fence-scratch.ts";
import { bwrapFence, programAt } from "../../src/platform/fence.ts";
import type { Inside } from "../../src/platform/fence/bwrap.ts";
import { USUAL_LIMITS } from "../../src/platform/fence/limits.ts";
import type { Place } from "../../src/platform/fence/places.ts";
import { runProcess } from "../../src/platform/process.ts";
import { waitFor } from "./temp.ts";

const LIMIT_MS = 60_000;
/** More than a sandbox takes to be made on a busy machine; only that something waits is looked at, never when. */
const SETTLE_MS = 300;
const PORT = 3_128;
const HURRIED = 5;

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
  /** The next command comes as soon as its sandbox is being made. */
  hurried?: boolean;
  /** A place that is shown in another, which commands can write to. */
  below?: boolean;
}
let n = 0;
function inside(tree: string, given: Given & { layer?: string } = {}): Inside {
  const { relay = false, below = false, layer = folder(`layer-${(n += 1)}`) } = given;
  const places: Place[] = [
    { path: join(root, tree), access: "write", at, layer: { over: [], folder: layer } },
    { path: shared, access: "write" },
    ...(below ? [{ path: join(root, "one"), access: "read", at: join(shared, "below") } as const] : []),
    ...(relay ? [{ path: join(root, "sockets"), access: "read", at: "/run/s" } as const] : []),
  ];
  const socat = programAt("socat") ?? "";
  const way = { socat, perl: programAt("perl"), port: PORT, socket: "/run/s/s", hostPorts: [] };
  return { cwd: at, places, hidden: [], network: "none", limits: USUAL_LIMITS, ...(relay ? { relay: way } : {}) };
}

let upcoming: Inside | undefined;
/** The next command's sandbox is made for another tree than it will be told. */
async function run(script: string, tree: string, given: Given = {}) {
  const layer = upcoming?.places[0]?.layer?.folder;
  upcoming = undefined;
  const wanted = inside(tree, { ...given, ...(layer === undefined ? {} : { layer }) });
  let [waited, written, output] = [false, [""], ""];
  const next = (): Inside => (upcoming = inside("one", given));
  const record = await runProcess({
    command: "/bin/sh",
    args: ["-c", script],
    cwd: at,
    env: { PATH: "/usr/bin:/bin" },
    timeoutMs: LIMIT_MS,
    confine(command, args) {
      const { become, ...wrapped } = fence?.wrap(command, args, { ...wanted, next }) ?? { command, args: [], fds: [] };
      return {
        ...wrapped,
        become(request) {
          const became = become?.(request);
          waited = became !== undefined;
          return became;
        },
      };
    },
    onOutput: (chunk) => void (output += Buffer.from(chunk).toString()),
    onWritten: (where) => void (written = readdirSync(where)),
  });
  await waitFor(() => upcoming !== undefined, { what: "the next one" });
  if (given.hurried !== true) await sleep(SETTLE_MS);
  return { waited, output, written, code: record.exitCode, left: record.leftBehind };
}

/** What was mounted is gone; what is there now is another. */
async function remade() {
  rmSync(shared, { recursive: true });
  mkdirSync(shared);
  return await run(`echo kept > ${shared}/file; cat which`, "one");
}

async function hurried() {
  const done = [await run("true", "one", { hurried: true })];
  while (done.length <= HURRIED) done.push(await run("cat which; echo new > made; ls", "two", { hurried: true }));
  return done.slice(1);
}

try {
  if (how === "die") {
    await run("true", "one");
    process.kill(process.pid, "SIGKILL");
  }
  const told = {
    uid: process.getuid?.(),
    first: await run("cat which", "one"),
    chosen: await run("cat which; echo new > made; rm which; ls", "two"),
    again: await run("ls; cat which; for one in /proc/[0-9]*; do echo process; done", "two"),
    locked: await run("touch /proc/self/x 2>/dev/null; umount . 2>/dev/null; cat which", "one"),
    anew: await remade(),
    unrelayed: await run("true", "one", { relay: true }),
    relayed: await run(`bash -c 'exec 5<>/dev/tcp/127.0.0.1/${PORT}; cat <&5; ls /proc/self/fd'`, "two", {
      relay: true,
    }),
    hurried: await hurried(),
    below: await run("true", "one", { below: true }),
    exposed: await run(`cat ${shared}/below/which`, "two", { below: true }),
  };
  const kept = readFileSync(join(shared, "file"), "utf8");
  console.log(JSON.stringify({ ...told, kept, trees: ["one", "two"].map((name) => readdirSync(join(root, name))) }));
} finally {
  fence.close();
  server.close();
  await removeFolder(root);
}
