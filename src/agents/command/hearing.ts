/** What a turn hears of its process: line by line, held where the reader is slow; its end comes after the last of them. */
import { lines } from "../lines.ts";
import type { Piped } from "../piped.ts";
import { wakes, type Wakes } from "../wakes.ts";
import type { Line } from "./view.ts";

/** Lines that may wait for the reader before the output is held, and how few let it go on. */
const QUEUE_HIGH = 512;
const QUEUE_LOW = 64;

export interface LineWake {
  is: "line";
  line: Line;
}

export interface Hearing extends Pick<Wakes<LineWake>, "next" | "nudge"> {
  /** When it last said something on its error output, monotonic ms. */
  heardAt(): number;
}

export function hearing({ stdout, stderr, exit }: Pick<Piped, "stdout" | "stderr" | "exit">): Hearing {
  let heardAt = 0;
  const inbox = wakes<LineWake>((waiting) => {
    if (waiting > QUEUE_HIGH) stdout.pause();
    else if (waiting < QUEUE_LOW && stdout.isPaused()) stdout.resume();
  });
  const reader = lines((text) => inbox.put({ is: "line", line: { is: "line", text } }), {
    keepEmpty: true,
    onTooLong: (bytes) => inbox.put({ is: "line", line: { is: "too-long", bytes } }),
  });
  stderr.on("data", () => {
    heardAt = performance.now();
  });
  stdout.on("data", (chunk: Buffer) => reader.take(chunk));
  // A broken pipe is the end of the output.
  stdout.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => {
    stdout.once("close", () => {
      reader.end();
      resolve();
    });
  });
  void Promise.all([closed, exit]).then(() => inbox.over("it ended"));
  return { next: (options) => inbox.next(options), nudge: () => inbox.nudge(), heardAt: () => heardAt };
}
