/** Is there a newer pawl? Asked of npm, shortly, and never a reason for the doctor to fail. */
import type { Environment } from "../../compose.ts";
import { runProcess } from "../../platform/process.ts";
import { VERSION } from "../../version.ts";
import type { Finding } from "./doctor-checks.ts";

const LOOKUP_TIMEOUT_MS = 3_000;
const MAX_ANSWER_BYTES = 4_096;

export async function newerFinding(env: Environment, { offline }: { offline: boolean }): Promise<Finding> {
  const newest = offline ? undefined : await published(env);
  if (newest === undefined || !isNewer(newest, VERSION)) {
    const says = newest === undefined ? `${VERSION}${offline ? "" : ", npm did not answer"}` : `${VERSION}, the newest`;
    return { name: "pawl", is: "ok", says };
  }
  return { name: "pawl", is: "warn", says: `${VERSION}; ${newest} is there`, fix: "npm install -g pawl@latest" };
}

/** By the three numbers; what is no release is never newer. */
export function isNewer(one: string, other: string): boolean {
  const numbers = (text: string): number[] | undefined =>
    /^(\d+)\.(\d+)\.(\d+)$/.exec(text.trim())?.slice(1).map(Number);
  const [a, b] = [numbers(one), numbers(other)];
  if (a === undefined || b === undefined) return false;
  const at = a.findIndex((part, i) => part !== b[i]);
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}

async function published(env: Environment): Promise<string | undefined> {
  let said = "";
  try {
    const { exitCode } = await runProcess({
      command: "npm",
      args: ["view", "pawl", "version", "--loglevel=silent", "--no-update-notifier"],
      // Settings of a project are an agent's to write: whom to ask is the user's own.
      cwd: "/",
      env: { PATH: env["PATH"] ?? "", HOME: env["HOME"] ?? "" },
      timeoutMs: LOOKUP_TIMEOUT_MS,
      onOutput: (chunk) => {
        said = (said + Buffer.from(chunk).toString()).slice(0, MAX_ANSWER_BYTES);
      },
    });
    return exitCode === 0 && /^\d+\.\d+\.\d+$/.test(said.trim()) ? said.trim() : undefined;
  } catch {
    return undefined;
  }
}
