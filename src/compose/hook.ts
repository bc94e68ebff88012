/** Runs a hook's command: the user's own words from the frozen spec, in the workspace, with a fact on standard input. */
import { runProcess } from "../platform/process.ts";
import type { RunHook } from "../ports.ts";

const SHELL = "/bin/sh";
const SHELL_NAME = "pawl-hook";
const MAX_OUTPUT_BYTES = 4 * 1024;

interface Place {
  cwd: string;
  /** The whole environment the command gets. */
  environment: Readonly<Record<string, string>>;
}

export function hookRunner({ cwd, environment }: Place): RunHook {
  return async ({ command, name, timeoutMs }, input, signal) => {
    let output = "";
    try {
      const { exitCode, durationMs, timedOut } = await runProcess({
        command: SHELL,
        args: ["-c", command, SHELL_NAME],
        cwd,
        env: { ...environment, PAWL_HOOK: name },
        timeoutMs,
        signal,
        input,
        onOutput(chunk) {
          if (output.length < MAX_OUTPUT_BYTES) output += Buffer.from(chunk).toString();
        },
      });
      const late = timedOut === null ? "" : `\n[ended after ${timeoutMs / 1_000} s]`;
      return { ok: exitCode === 0, exitCode, durationMs, output: output.slice(0, MAX_OUTPUT_BYTES) + late };
    } catch (error) {
      return { ok: false, exitCode: null, durationMs: 0, output: `it could not be started: ${String(error)}` };
    }
  };
}
