/** Runs a hook's command: the user's own words from the frozen spec, in the workspace, with a fact on standard input. */
import { runProcess } from "../platform/process.ts";
import type { Redact, RunHook } from "../ports.ts";

const SHELL = "/bin/sh";
const SHELL_NAME = "pawl-hook";
const MAX_OUTPUT_CHARS = 4 * 1024;
/** More than is kept, so that no secret is cut in two before it is masked. */
const MAX_READ_BYTES = 64 * 1024;

interface Place {
  cwd: string;
  /** The whole environment the command gets. */
  environment: Readonly<Record<string, string>>;
  redact: Redact;
}

export function hookRunner({ cwd, environment, redact }: Place): RunHook {
  return async ({ command, name, timeoutMs }, input, signal) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    const { exitCode, durationMs, timedOut, startError } = await runProcess({
      command: SHELL,
      args: ["-c", command, SHELL_NAME],
      cwd,
      env: { ...environment, PAWL_HOOK: name },
      timeoutMs,
      signal,
      input,
      onOutput(chunk) {
        if (bytes < MAX_READ_BYTES) chunks.push(chunk.slice());
        bytes += chunk.length;
      },
    });
    const said = redact(Buffer.concat(chunks).toString());
    const kept = said.length > MAX_OUTPUT_CHARS ? `${said.slice(0, MAX_OUTPUT_CHARS)}\n[… cut]` : said;
    const late = timedOut === null ? "" : `${kept === "" ? "" : "\n"}[ended after ${timeoutMs / 1_000} s]`;
    const dead = startError === null ? "" : `it could not be started: ${startError.message}`;
    return { ok: exitCode === 0 && timedOut === null, exitCode, durationMs, output: `${kept}${late}${dead}` };
  };
}
