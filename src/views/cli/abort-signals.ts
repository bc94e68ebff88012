/** Signals of a command that judges: the first ends it in order, with what it has; a second does not wait for that. */
import { EXIT } from "../../errors.ts";
import { sweep } from "../../platform/sweep.ts";
import { note } from "./output.ts";

export interface AbortSignals {
  readonly signal: AbortSignal;
  /** The exit code that a signal asks for. */
  exitCode(): number | undefined;
  close(): void;
}

/** `run`: whose processes are ended when nobody waits any more. */
export function abortSignals(run: string): AbortSignals {
  const controller = new AbortController();
  let code: number | undefined;
  const end = (asked: number): void => {
    if (code !== undefined) {
      void sweep(run).finally(() => process.exit(asked));
      return;
    }
    code = asked;
    note("ending: the check that runs is stopped");
    controller.abort("signal");
  };
  const onInterrupt = (): void => end(EXIT.sigint);
  const onTerminate = (): void => end(EXIT.sigterm);
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  process.on("SIGHUP", onTerminate);
  return {
    signal: controller.signal,
    exitCode: () => code,
    close() {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
      process.off("SIGHUP", onTerminate);
    },
  };
}
