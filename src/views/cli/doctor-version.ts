/** What a program says its version is, for `pawl doctor`. */
import type { Environment } from "../../compose.ts";
import { runProcess } from "../../platform/process.ts";

const VERSION_TIMEOUT_MS = 10_000;
const MAX_VERSION_BYTES = 4_096;

/** The first line it prints; undefined when it cannot be started or fails. */
export async function versionOf(
  command: string,
  { args, env }: { args: readonly string[]; env: Environment },
): Promise<string | undefined> {
  let said = "";
  const { exitCode } = await runProcess({
    command,
    args,
    cwd: process.cwd(),
    env: { PATH: env["PATH"] ?? "" },
    timeoutMs: VERSION_TIMEOUT_MS,
    onOutput: (chunk) => {
      said = (said + Buffer.from(chunk).toString()).slice(0, MAX_VERSION_BYTES);
    },
  });
  return exitCode === 0 ? (said.split("\n")[0] ?? "").trim() : undefined;
}
