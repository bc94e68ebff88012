/** The real Codex against the stand-in model: what its tools are called with. */
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Step } from "../../src/standin/script.ts";

export const exec = (cmd: string): Step => ({ tools: [{ name: "exec_command", input: { cmd } }] });

/** A patch that makes one file. */
export function patch(path: string, content: string): Step {
  const added = content
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `+${line}`);
  const input = ["*** Begin Patch", `*** Add File: ${path}`, ...added, "*** End Patch", ""].join("\n");
  return { tools: [{ name: "apply_patch", input: { input } }] };
}

const POLL_MS = 20;
const LIMIT_MS = 20_000;

/**
 * A command that runs until the Codex that started it has been killed: its own sandbox keeps a command from killing it
 * by itself, so a child of this process, which is what Codex is here, is found above the command and ended.
 */
export function crash(run: (command: string) => Step = exec): Step {
  const mark = `crash-${randomUUID()}`;
  const until = performance.now() + LIMIT_MS;
  const timer = setInterval(() => {
    const victim = childAbove(mark);
    if (victim !== undefined) process.kill(victim, "SIGKILL");
    if (victim !== undefined || performance.now() > until) clearInterval(timer);
  }, POLL_MS);
  timer.unref();
  return run(`node -e 'setTimeout(() => {}, ${LIMIT_MS})' ${mark}`);
}

function childAbove(mark: string): number | undefined {
  const marked = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && hasWord(name, mark));
  for (const name of marked) {
    let pid = Number(name);
    for (let parent = parentOf(pid); parent !== undefined && parent > 1; parent = parentOf(pid)) {
      if (parent === process.pid) return pid;
      pid = parent;
    }
  }
  return undefined;
}

function hasWord(name: string, word: string): boolean {
  try {
    return readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0").includes(word);
  } catch {
    return false;
  }
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}
