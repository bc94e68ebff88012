/**
 * The last step outside a fence: the shell that becomes its first program puts itself into a control group and closes
 * what this process was given by whoever started it; an open folder from outside would be a way out.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileLimitSteps, type FenceLimits } from "./limits.ts";

const CLOSED_ON_EXEC = 0o2000000;
const LAST_STANDARD_FD = 2;
const LAST_OF_PLAIN_SHELL = 9;

/** Open here and passed on to every child, which Node itself never does. */
export function inheritedFds(): number[] {
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((fd) => fd > LAST_STANDARD_FD && isPassedOn(fd));
  } catch {
    return [];
  }
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    return false;
  }
}

interface Step {
  /** Files that take the number of a process that enters. */
  doors: readonly string[];
  close: readonly number[];
  /** The only shell that closes numbers of two digits. */
  bash: string | undefined;
  /** To be set here, which spares a program inside. */
  limits: FenceLimits | undefined;
}

/** Before a command; empty when there is nothing to do. A group that cannot be entered ends it. */
export function outerWords({ doors, close, bash, limits }: Step): string[] {
  if (doors.length === 0 && close.length === 0) return [];
  const isPlain = close.every((fd) => fd <= LAST_OF_PLAIN_SHELL);
  if (!isPlain && bash === undefined) throw new Error("without bash the files given to this process cannot be closed");
  const shut = close.map((fd) => `exec ${fd}>&-`);
  const enter = doors.map((_, n) => `echo $$ > "$${n + 1}" || exit 125`);
  const limit = limits === undefined ? [] : [fileLimitSteps(limits)];
  const script = [...shut, ...enter, ...limit, `shift ${doors.length}`, 'exec "$@"'].join("; ");
  return [
    isPlain ? "/bin/sh" : (bash ?? ""),
    ...(isPlain ? [] : ["--norc", "--posix", "-p"]),
    "-c",
    script,
    "pawl-fence",
    ...doors,
  ];
}
