/**
 * Who drives: enough to tell a dead owner from a living one across reboots and reused pids, so that a dead one's lock
 * or lease can be taken over and a living one's never.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { fault } from "./faults.ts";
import { processInfo } from "./process-table.ts";

interface Owner {
  pid: number;
  startedAt: string;
  boot: string;
  host: string;
}

const SYSCTL_TIMEOUT_MS = 5_000;
let self: Owner | undefined;

/** This process. */
export function currentOwner(): Owner {
  const pid = process.pid;
  self ??= { pid, startedAt: processInfo(pid)?.startedAt ?? "unknown", boot: bootId(), host: hostname() };
  return { ...self };
}

/** An owner on another host counts as alive: nobody here can know, and a living one must never be robbed. */
export function isAlive(owner: Owner): boolean {
  const here = currentOwner();
  if (owner.host !== here.host) return true;
  if (owner.boot !== here.boot) return false;
  const info = processInfo(owner.pid);
  return info !== undefined && !info.zombie && info.startedAt === owner.startedAt;
}

/** It lives, but a signal has stopped it. Of an owner on another host nobody here can know. */
export function isSuspended(owner: Owner): boolean {
  return owner.host === currentOwner().host && isAlive(owner) && processInfo(owner.pid)?.suspended === true;
}

function bootId(): string {
  try {
    if (process.platform === "linux") return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    fault("spawn");
    const text = execFileSync("sysctl", ["-n", "kern.boottime"], { encoding: "utf8", timeout: SYSCTL_TIMEOUT_MS });
    return text.trim();
  } catch {
    // Without it a reused pid with the same start time after a reboot would be taken for the old owner: safe.
    return "unknown";
  }
}
