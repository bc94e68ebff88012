/**
 * Signals of a driver: the first Ctrl-C lets the iteration end, the second ends the turn, the third kills; a request to
 * terminate stops the driving in order. Each says how to go on.
 */
import { EXIT } from "../../errors.ts";
import type { Inbox } from "../../ports.ts";
import { sweep } from "../../platform/sweep.ts";

interface Watched {
  run: string;
  inbox: Inbox;
}

export interface SignalWatch {
  /** Aborted by SIGTERM and SIGHUP: stop driving, the run itself goes on later. */
  readonly stop: AbortSignal;
  /** The exit code the signal asks for, if one ended the driving. */
  exitCode(): number | undefined;
  close(): void;
}

export function watchSignals({ run, inbox }: Watched): SignalWatch {
  const controller = new AbortController();
  const goOn = `go on later with: pawl resume ${run}`;
  let presses = 0;
  let code: number | undefined;
  const put = (when: "now" | "after"): void => {
    inbox.put(run, { kind: "stop", when }, { source: "terminal" }).catch((error: unknown) => {
      note(`the stop could not be queued (${String(error)}); stopping the driver`);
      controller.abort("signal");
    });
  };
  const onInterrupt = (): void => {
    presses += 1;
    if (presses === 1) {
      put("after");
      note(`stopping after this iteration; Ctrl-C again ends the turn now; ${goOn}`);
    } else if (presses === 2) {
      put("now");
      note(`ending the turn and saving its work; Ctrl-C again kills; ${goOn}`);
    } else {
      note(`killed; ${goOn}`);
      void sweep(run).finally(() => process.exit(EXIT.sigint));
    }
  };
  const onTerminate = (): void => {
    if (code === undefined) note(`asked to end: the turn is cut, its work stays; ${goOn}`);
    code = EXIT.sigterm;
    controller.abort("signal");
  };
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  process.on("SIGHUP", onTerminate);
  return {
    stop: controller.signal,
    exitCode: () => code,
    close() {
      process.off("SIGINT", onInterrupt);
      process.off("SIGTERM", onTerminate);
      process.off("SIGHUP", onTerminate);
    },
  };
}

function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
