/** Perl, for system calls that have no command: it is there wherever git is. */
import { existsSync } from "node:fs";

export const PERL = "/usr/bin/perl";

const NUMBERS = {
  SYS_ACCESS: { x64: 269, arm64: 48 },
  SYS_CAPSET: { x64: 126, arm64: 91 },
  SYS_CLOSE: { x64: 3, arm64: 57 },
  SYS_EXIT: { x64: 231, arm64: 94 },
  SYS_MOUNT: { x64: 165, arm64: 40 },
  SYS_PRCTL: { x64: 157, arm64: 167 },
  SYS_PRLIMIT: { x64: 302, arm64: 261 },
  SYS_SETFSGID: { x64: 123, arm64: 152 },
  SYS_SETFSUID: { x64: 122, arm64: 151 },
  SYS_SETGROUPS: { x64: 116, arm64: 159 },
  SYS_SETNS: { x64: 308, arm64: 268 },
  SYS_SETRESGID: { x64: 119, arm64: 149 },
  SYS_SETRESUID: { x64: 117, arm64: 147 },
  SYS_SETSID: { x64: 112, arm64: 157 },
  SYS_UMOUNT: { x64: 166, arm64: 39 },
  SYS_UNSHARE: { x64: 272, arm64: 97 },
} as const;
/** The newest have one number everywhere. */
const EVERYWHERE = {
  SYS_OPEN_TREE: 428,
  SYS_MOVE_MOUNT: 429,
  SYS_FSOPEN: 430,
  SYS_FSCONFIG: 431,
  SYS_FSMOUNT: 432,
  SYS_FACCESSAT2: 439,
  SYS_MOUNT_SETATTR: 442,
} as const;

/** With numbers in place of the names. undefined: no Perl, or a processor whose numbers are not known here. */
export function withCalls(script: string): string | undefined {
  const { arch, platform } = process;
  if (platform !== "linux" || (arch !== "x64" && arch !== "arm64") || !existsSync(PERL)) return undefined;
  return script.replaceAll(/\bSYS_[A-Z_0-9]+/g, (name) =>
    String(name in NUMBERS ? NUMBERS[name as keyof typeof NUMBERS][arch] : EVERYWHERE[name as keyof typeof EVERYWHERE]),
  );
}
