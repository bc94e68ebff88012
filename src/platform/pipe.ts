/**
 * A real pipe for a child's output. Node gives its children a socket, which takes some 500 short writes where a pipe
 * takes 64 KiB; a Node program that prints and calls process.exit() then loses the rest: the names of failing tests.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
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
/** By one program, which takes no longer for them than for one. */
const MADE_AT_ONCE = 8;
const spares: Pipe[] = [];
let making: Promise<number> | undefined;

/** Undefined when the system refuses one; then Node's own sockets must do. */
export async function takePipe(): Promise<Pipe | undefined> {
  // Others may wait for the same ones.
  while (spares.length === 0) if ((await more()) === 0) return undefined;
  return spares.pop();
}

/** Makes the next ones ahead of time: it takes about as long as starting a program, so not while one is starting. */
export function prepareSparePipe(): void {
  if (spares.length > 0) return;
  setTimeout(() => {
    if (spares.length === 0) void more();
  }, SPARE_DELAY_MS).unref();
}

/** Returns how many there are more. */
function more(): Promise<number> {
  making ??= makePipes().finally(() => {
    making = undefined;
  });
  return making;
}

/** Opens named pipes and removes the names, so that nothing of them stays on disk. */
async function makePipes(): Promise<number> {
  const before = spares.length;
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "pawl-pipe-"));
    const paths = Array.from({ length: MADE_AT_ONCE }, (_, n) => join(folder ?? "", String(n)));
    fault("spawn");
    // Inside a fence it may be another uid that opens /dev/stderr; nobody else can come by the name.
    const child = spawn(MKFIFO, ["-m", "622", ...paths], {
      stdio: "ignore",
      detached: true,
      env: { PATH: SYSTEM_PATH },
    });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code === 0) for (const path of paths) spares.push(openPipe(path));
  } catch {
    // As many as there are.
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
  return spares.length - before;
}

function openPipe(path: string): Pipe {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return { reader, writer: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}
