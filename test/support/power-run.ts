/**
 * Power loss, for real: a run whose state and repository lie on a file system of their own in a file. Whatever was not
 * synced is in memory only; a copy of that file, made while everything stands still, is the disk as it would be found.
 * Each copy is mounted again, looked at, and the run on it is driven to its end.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { allProcesses, type ProcessInfo } from "../../src/platform/process-table.ts";
import { freezeAll, withDescendants } from "../../src/platform/process-tree.ts";
import { signalAll } from "./processes.ts";
import { isMissing } from "./programs.ts";

const PROGRAM = join(import.meta.dirname, "power-program.ts");
/** Programs of the administrator are not on every PATH. */
const SYSTEM_PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;
const DISK_MB = 96;
const POLL_MS = 10;
const LOOK_LIMIT_MS = 240_000;
const RUN_LIMIT_MS = 240_000;
/** Nothing reaches the disk by itself for long, and no file system guesses what a program forgot to sync. */
const MOUNT =
  'mount -o loop,noauto_da_alloc,commit=300 "$1" "$2" && TMPDIR="$2" && export TMPDIR && shift 2 && exec "$@"';

export interface PowerReport {
  cuts: number;
  /** Facts that were on the disk, of each cut. */
  facts: number[];
  /** Kinds of them, over all cuts. */
  types: Set<string>;
  wrongs: string[];
}

/** Words for why it cannot be tried here. */
export function noPowerDisk(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root may mount";
  if (isMissing(`PATH="${SYSTEM_PATH}" mkfs.ext4 -V`)) return "no file system can be made here";
  const root = mkdtempSync(join(tmpdir(), "pawl-power-"));
  try {
    return inDisk(makeDisk(root), ["true"]).status === 0 ? undefined : "no file system can be mounted here";
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Disk {
  disk: string;
  mounted: string;
}

function makeDisk(root: string): Disk {
  const [disk, mounted] = [join(root, "disk"), join(root, "mounted")];
  mkdirSync(mounted);
  writeFileSync(disk, "");
  truncateSync(disk, DISK_MB * 1024 ** 2);
  execFileSync("mkfs.ext4", ["-q", "-F", disk], { stdio: "ignore", env: { ...process.env, PATH: SYSTEM_PATH } });
  return { disk, mounted };
}

/** With processes of its own: what goes by a run's name on this machine is not meant. */
const wordsIn = ({ disk, mounted }: Disk, command: readonly string[]): string[] => [
  "-mpf",
  "--mount-proc",
  "--kill-child",
  "sh",
  "-c",
  MOUNT,
  "power",
  disk,
  mounted,
  ...command,
];

function inDisk(disk: Disk, command: readonly string[]) {
  return spawnSync("unshare", wordsIn(disk, command), { encoding: "utf8", timeout: LOOK_LIMIT_MS });
}

/** Before the power goes: until so many facts are told, and then for so long. */
export interface Cut {
  facts: number;
  thenMs: number;
}

/** One run, cut at each of these. */
export async function powerRun(cuts: readonly Cut[]): Promise<PowerReport> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-power-")));
  try {
    const place = makeDisk(root);
    const { images, ...run } = await cutRun(place, { cuts, root });
    const wrongs = run.wrongs;
    const facts: number[] = [];
    const types = new Set<string>();
    for (const { image, told } of images) {
      const look = inDisk({ ...place, disk: image }, [process.execPath, PROGRAM, "look", run.root]);
      const found = lastLine(look.stdout) as { wrongs: string[]; facts: string[] } | undefined;
      if (found === undefined) wrongs.push(`${image}: ${look.stderr.slice(-500)}`);
      const seen = found?.facts ?? [];
      facts.push(seen.length);
      for (const fact of seen) types.add((JSON.parse(fact) as { type: string }).type);
      if (seen.length < told) wrongs.push(`${told} facts were told, ${seen.length} are on the disk`);
      if (seen.some((fact, at) => fact !== run.facts[at]))
        wrongs.push("the journal is not the beginning of what was written");
      wrongs.push(...(found?.wrongs ?? []));
      rmSync(image);
    }
    return { cuts: images.length, facts, types, wrongs };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Cutting {
  cuts: readonly Cut[];
  root: string;
}

interface Image {
  image: string;
  /** Facts that anybody could read in that moment. */
  told: number;
}

async function cutRun(place: Disk, { cuts, root }: Cutting) {
  const child = spawn("unshare", wordsIn(place, [process.execPath, PROGRAM, "make"]), {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: RUN_LIMIT_MS,
  });
  const lines: string[] = [];
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints = (complaints + chunk.toString()).slice(-2_000)));
  const reader = createInterface({ input: child.stdout });
  const begun = new Promise<void>((resolve) =>
    reader.on("line", (line) => {
      lines.push(line);
      resolve();
    }),
  );
  const over = new Promise<void>((resolve) => child.on("close", () => resolve()));
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null || lines.length > 1;
  await Promise.race([begun, over]);
  const images: Image[] = [];
  const { root: made = "" } = JSON.parse(lines[0] ?? "{}") as { root?: string };
  const counter = openCounter(child.pid ?? 0, made);
  for (const { facts, thenMs } of cuts) {
    while (!isOver() && (await counter.told()) < facts) await Promise.race([sleep(POLL_MS), over]);
    await Promise.race([sleep(thenMs), over]);
    if (isOver()) break;
    const image = join(root, `cut-${images.length}`);
    await whileStopped(child.pid ?? 0, async () => {
      execFileSync("cp", ["--sparse=always", "--", place.disk, image]);
      images.push({ image, told: await counter.told() });
    });
  }
  counter.close();
  await over;
  const [first, last] = [lines[0], lines[1]].map((line) => (line === undefined ? {} : (JSON.parse(line) as object)));
  const { root: inner = "" } = first as { root?: string };
  const { status = -1, said = complaints, facts = [] } = last as { status?: number; said?: string; facts?: string[] };
  return { images, root: inner, facts, wrongs: status === 0 ? [] : [`the run itself failed: ${said}`] };
}

/** Asks how many facts anybody can read now: a process beside the run, on the same disk, which stands still with nobody. */
function openCounter(pid: number, root: string): { told(): Promise<number>; close(): void } {
  const inside = processesBelow(pid).find((info) => info.pid !== pid);
  const beside = [`--mount=/proc/${inside?.pid}/ns/mnt`, process.execPath, PROGRAM, "count", root];
  const child = spawn("nsenter", beside, { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.on("error", () => undefined);
  return {
    async told() {
      child.stdin.write("\n");
      return Number((await answers.next()).value ?? 0);
    },
    close: () => void child.kill("SIGKILL"),
  };
}

function processesBelow(pid: number): ProcessInfo[] {
  const table = allProcesses().filter((info) => !info.zombie);
  return withDescendants(
    table.filter((info) => info.pid === pid),
    { table, spare: new Set() },
  );
}

async function whileStopped(pid: number, work: () => Promise<void>): Promise<void> {
  const stopped = new Set<number>();
  const below = (): ProcessInfo[] => {
    const found = processesBelow(pid);
    for (const info of found) stopped.add(info.pid);
    return found;
  };
  freezeAll(below);
  try {
    await work();
  } finally {
    signalAll([...stopped], "SIGCONT");
  }
}

function lastLine(text: string): unknown {
  const line = text.trim().split("\n").at(-1);
  try {
    return line === undefined ? undefined : (JSON.parse(line) as unknown);
  } catch {
    return undefined;
  }
}
