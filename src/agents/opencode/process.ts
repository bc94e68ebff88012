/** One opencode server: started by pawl in its own group, and ended with everything it started. */
import { startPiped, type Piped, type Wanted } from "../piped.ts";

const MAX_WORDS_CHARS = 4_096;
/** What it prints once it can be asked. */
const READY = "listening on";

export interface ServerProcess extends Pick<Piped, "exited" | "lastWords" | "limits" | "end"> {
  /** Resolves when it can be asked; also when it has exited instead. */
  readonly ready: Promise<void>;
}

/** Throws when it cannot be started at all. */
export function startServer(wanted: Wanted): ServerProcess {
  const process = startPiped(wanted);
  process.stdin.end();
  const ready = Promise.withResolvers<void>();
  let printed = "";
  process.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    printed = (printed + chunk).slice(-MAX_WORDS_CHARS);
  });
  const words = (): string => [process.lastWords(), printed.trim()].filter((text) => text !== "").join("; ");
  for (const stream of [process.stdout, process.stderr])
    stream.on("data", () => words().includes(READY) && ready.resolve());
  void process.exited.then(() => ready.resolve());
  return {
    ready: ready.promise,
    exited: process.exited,
    limits: () => process.limits(),
    end: () => process.end(),
    lastWords: () =>
      words()
        .split("\n")
        .filter((line) => !line.includes(READY))
        .join("\n"),
  };
}
