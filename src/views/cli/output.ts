/** Results go to stdout, words about them to stderr. A reader that leaves early (`| head`) is no error. */
import { EXIT } from "../../errors.ts";

let isHeeded = false;

/** Only in who prints: a module may be loaded with others, and a driver outlives its readers (outlive-readers.ts). */
function heedReaders(): void {
  if (isHeeded) return;
  isHeeded = true;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(EXIT.ok);
      if (stream === process.stdout)
        process.stderr.write(`pawl: what was asked for cannot be written: ${error.message}\n`);
      process.exit(EXIT.failed);
    });
  }
}

function write(stream: NodeJS.WriteStream, text: string): void {
  heedReaders();
  stream.write(text);
}

/** Without an end of line of its own. */
export function printAsIs(text: string): void {
  write(process.stdout, text);
}

export function print(text: string): void {
  write(process.stdout, text.endsWith("\n") ? text : `${text}\n`);
}

/** One object, one line. */
export function printJson(value: unknown): void {
  write(process.stdout, `${JSON.stringify(value)}\n`);
}

export function note(text: string): void {
  write(process.stderr, text.endsWith("\n") ? text : `${text}\n`);
}
