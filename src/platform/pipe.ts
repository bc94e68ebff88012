/**
 * A real pipe for a child's output. Node gives its children a socket, which takes some 500 short writes where a pipe
 * takes 64 KiB; a Node program that prints and calls process.exit() then loses the rest: the names of failing tests.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SYSTEM_PATH } from "./environment.ts";
import { fault } from "./faults.ts";

/** File descriptors. Whoever takes them closes them. */
export interface Pipe {
  reader: number;
  /** For the child; to be closed here as soon as the child has it, else the reader never sees the end. */
  writer: number;
}

/** POSIX; Node has no call for it. */
const MKFIFO = "mkfifo";
const SPARE_DELAY_MS = 5;
let spare: Promise<Pipe | undefined> | undefined;

/** Undefined when the system refuses one; then Node's own sockets must do. */
export function takePipe(): Promise<Pipe | undefined> {
  const taken = spare ?? makePipe();
  spare = undefined;
  return taken;
}

/** Makes the next one ahead of time: it takes about as long as starting a program, so not while one is starting. */
export function prepareSparePipe(): void {
  setTimeout(() => {
    spare ??= makePipe();
  }, SPARE_DELAY_MS).unref();
}

/** Opens a named pipe and removes the name, so that nothing of it stays on disk. */
async function makePipe(): Promise<Pipe | undefined> {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "pawl-pipe-"));
    const path = join(folder, "pipe");
    fault("spawn");
    // Inside a fence it may be another uid that opens /dev/stderr; nobody else can come by the name.
    const child = spawn(MKFIFO, ["-m", "622", path], { stdio: "ignore", detached: true, env: { PATH: SYSTEM_PATH } });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code !== 0) return undefined;
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { reader, writer: openSync(path, constants.O_WRONLY) };
  } catch {
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
