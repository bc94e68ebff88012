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
/** Made at once: to start the program costs far more than what it does. */
const PIPES_AT_ONCE = 4;
const spares: Pipe[] = [];
let making: Promise<void> | undefined;

/** Undefined when the system refuses one; then Node's own sockets must do. */
export async function takePipe(): Promise<Pipe | undefined> {
  if (spares.length === 0) await makeSpares();
  return spares.pop();
}

/** Makes the next ones ahead of time: it takes about as long as starting a program, so not while one is starting. */
export function prepareSparePipe(): void {
  setTimeout(() => {
    if (spares.length === 0) void makeSpares();
  }, SPARE_DELAY_MS).unref();
}

/** Several who want one at the same time wait for the same. */
function makeSpares(): Promise<void> {
  making ??= makePipes()
    .then((made) => void spares.push(...made))
    .finally(() => (making = undefined));
  return making;
}

/** Opens named pipes and removes the names, so that nothing of them stays on disk. */
async function makePipes(): Promise<Pipe[]> {
  let folder: string | undefined;
  const made: Pipe[] = [];
  try {
    folder = mkdtempSync(join(tmpdir(), "pawl-pipe-"));
    const at = folder;
    const paths = Array.from({ length: PIPES_AT_ONCE }, (_, n) => join(at, String(n)));
    fault("spawn");
    // Inside a fence it may be another uid that opens /dev/stderr; nobody else can come by the name.
    const words = ["-m", "622", ...paths];
    const child = spawn(MKFIFO, words, { stdio: "ignore", detached: true, env: { PATH: SYSTEM_PATH } });
    const [code] = (await once(child, "exit")) as [number | null];
    if (code === 0) for (const path of paths) made.push(opened(path));
  } catch {
    // What could be made is used.
  }
  try {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  } catch {
    // No descriptor to look into it with: names of pipes that nobody else can come by stay.
  }
  return made;
}

function opened(path: string): Pipe {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: openSync(path, constants.O_WRONLY) };
}
