/**
 * Power loss, for real: a run whose state and repository lie on a file system of their own in a file. Whatever was not
 * synced is in memory only; a copy of that file, made while everything stands still, is the disk as it would be found.
 * Each copy is mounted again, looked at, and the run on it is driven to its end.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { allProcesses, type ProcessInfo } from "../../src/platform/process-table.ts";
import { freezeAll, withDescendants } from "../../src/platform/process-tree.ts";
import { isMissing } from "./programs.ts";

const PROGRAM = join(import.meta.dirname, "power-program.ts");
/** Programs of the administrator are not on every PATH. */
const SYSTEM_PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;
const DISK_MB = 96;
const LOOK_LIMIT_MS = 240_000;
const RUN_LIMIT_MS = 240_000;
const POLL_MS = 5;
/** Nothing reaches the disk by itself for long, and no file system guesses what a program forgot to sync. */
const MOUNT =
  'mount -o loop,noauto_da_alloc,commit=300 "$1" "$2" && TMPDIR="$2" && export TMPDIR && shift 2 && exec "$@"';

export interface PowerReport {
  cuts: number;
  /** Facts that were on the disk, over all cuts. */
  facts: number;
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

/** One run, cut `cuts` times; `pauses` are the milliseconds before each. */
export async function powerRun(pauses: () => number, cuts: number): Promise<PowerReport> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-power-")));
  try {
    const place = makeDisk(root);
    const { images, ...run } = await cutRun(place, { pauses, cuts, root });
    const wrongs = run.wrongs;
    let facts = 0;
    for (const image of images) {
      const look = inDisk({ ...place, disk: image }, [process.execPath, PROGRAM, "look", run.root]);
      const found = lastLine(look.stdout) as { wrongs: string[]; facts: string[] } | undefined;
      if (found === undefined) wrongs.push(`${image}: ${look.stderr.slice(-500)}`);
      const seen = found?.facts ?? [];
      facts += seen.length;
      if (seen.some((fact, at) => fact !== run.facts[at]))
        wrongs.push("the journal is not the beginning of what was written");
      wrongs.push(...(found?.wrongs ?? []));
      rmSync(image);
    }
    return { cuts: images.length, facts, wrongs };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

interface Cutting {
  pauses: () => number;
  cuts: number;
  root: string;
}

async function cutRun(place: Disk, { pauses, cuts, root }: Cutting) {
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
  const { root: inner = "" } = JSON.parse(lines[0] ?? "{}") as { root?: string };
  // Through the processes' own mounts; the driver takes its time to start.
  const hasJournal = (): boolean => existsSync(join(`/proc/${child.pid}/root`, inner, "state/journal.db"));
  const images: string[] = [];
  while (!isOver() && images.length < cuts) {
    // One cut may come before there is anything to lose.
    while (images.length > 0 && !isOver() && !hasJournal()) await sleep(POLL_MS);
    await Promise.race([sleep(pauses()), over]);
    if (isOver()) break;
    images.push(join(root, `cut-${images.length}`));
    whileStopped(child.pid ?? 0, () => execFileSync("cp", ["--sparse=always", "--", place.disk, images.at(-1) ?? ""]));
  }
  await over;
  const last = JSON.parse(lines[1] ?? "{}") as { status?: number; said?: string; facts?: string[] };
  const { status = -1, said = complaints, facts = [] } = last;
  return { images, root: inner, facts, wrongs: status === 0 ? [] : [`the run itself failed: ${said}`] };
}

function whileStopped(pid: number, work: () => void): void {
  const stopped = new Set<number>();
  const below = (): ProcessInfo[] => {
    const table = allProcesses().filter((info) => !info.zombie);
    const found = withDescendants(
      table.filter((info) => info.pid === pid),
      { table, spare: new Set() },
    );
    for (const info of found) stopped.add(info.pid);
    return found;
  };
  freezeAll(below);
  try {
    work();
  } finally {
    for (const one of stopped) tryContinue(one);
  }
}

function tryContinue(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch {
    // It has ended.
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
