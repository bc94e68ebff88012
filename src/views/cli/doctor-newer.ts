/** Is there a newer pawl? Asked of npm, shortly, and never a reason for the doctor to fail. */
import type { Environment } from "../../compose.ts";
import { runProcess } from "../../platform/process.ts";
import { VERSION } from "../../version.ts";
import type { Finding } from "./doctor-checks.ts";

const LOOKUP_TIMEOUT_MS = 3_000;
const MAX_ANSWER_BYTES = 4_096;

export async function newerFinding(env: Environment, { offline }: { offline: boolean }): Promise<Finding> {
  const name = "pawl";
  if (offline) return { name, is: "ok", says: VERSION };
  const answer = await published(env);
  switch (answer.is) {
    case "silent":
      return { name, is: "ok", says: `${VERSION}, npm did not answer` };
    case "refused":
      return { name, is: "ok", says: `${VERSION}, npm answered ${answer.code}` };
    case "unknown":
      return { name, is: "ok", says: `${VERSION}, no release of it is in npm's registry` };
    case "version": {
      const { version } = answer;
      if (!isNewer(version, VERSION)) return { name, is: "ok", says: `${VERSION}, the newest` };
      return { name, is: "warn", says: `${VERSION}; ${version} is there`, fix: "npm install -g pawl@latest" };
    }
  }
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

type Answer =
  | { is: "version"; version: string }
  /** There is no such package. */
  | { is: "unknown" }
  /** By a word of npm's: E401, ENEEDAUTH, … */
  | { is: "refused"; code: string }
  | { is: "silent" };

/** Of npm's own words those that say that nobody was reached. */
const UNREACHED =
  /^(ECONN|ENOTFOUND|EAI_|ETIMEDOUT|ERR_SOCKET|EIDLETIMEOUT|FETCH_ERROR|ENOTCACHED|EHOSTUNREACH|ENETUNREACH)/;

async function published(env: Environment): Promise<Answer> {
  let said = "";
  try {
    const { exitCode } = await runProcess({
      command: "npm",
      args: ["view", "pawl", "version", "--json", "--loglevel=silent", "--no-update-notifier"],
      // Settings of a project are an agent's to write: whom to ask is the user's own.
      cwd: "/",
      env: { PATH: env["PATH"] ?? "", HOME: env["HOME"] ?? "" },
      timeoutMs: LOOKUP_TIMEOUT_MS,
      onOutput: (chunk) => {
        said = (said + Buffer.from(chunk).toString()).slice(0, MAX_ANSWER_BYTES);
      },
    });
    return exitCode === null ? { is: "silent" } : answerOf(said);
  } catch {
    return { is: "silent" };
  }
}

/** npm prints the version as JSON, or what went wrong. */
export function answerOf(said: string): Answer {
  let value: unknown;
  try {
    value = JSON.parse(said);
  } catch {
    return { is: "silent" };
  }
  if (typeof value === "string") return { is: "version", version: value };
  const { error } = (value ?? {}) as { error?: { code?: unknown } };
  const code = typeof error?.code === "string" ? error.code : "";
  if (code === "E404") return { is: "unknown" };
  return code === "" || UNREACHED.test(code) ? { is: "silent" } : { is: "refused", code };
}
