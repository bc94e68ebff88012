/** Whether what was found can be run on this machine: its program, and what it needs beside that. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { commandExists } from "../../../checks/command-words.ts";
import { fault } from "../../../platform/faults.ts";
import type { Found } from "./detect.ts";

const PROBE_TIMEOUT_MS = 10_000;

interface Here {
  repository: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** What is missing, by name; undefined: nothing that can be told without running it. */
export function missingFor({ command, folder, needs = [] }: Found, { repository, env }: Here): string | undefined {
  const cwd = folder === undefined ? repository : join(repository, folder);
  const program = command.split(/\s/).find((word) => !/^\w+=/.test(word)) ?? command;
  if (!commandExists(command, { env, cwd })) return program;
  return needs.map((need) => missing(need, { cwd, env })).find((name) => name !== undefined);
}

function missing(need: string, { cwd, env }: { cwd: string; env: Here["env"] }): string | undefined {
  const [python, module] = need.split(":");
  if (python === undefined || module === undefined) return commandExists(need, { env, cwd }) ? undefined : need;
  return hasModule({ python, module }, { cwd, env }) ? undefined : module;
}

/** Looked for, not loaded. */
function hasModule(
  { python, module }: { python: string; module: string },
  { cwd, env }: { cwd: string; env: Here["env"] },
): boolean {
  fault("spawn");
  const code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)";
  const { status } = spawnSync(python.includes("/") ? join(cwd, python) : python, ["-c", code, module], {
    cwd,
    env: { ...env },
    stdio: "ignore",
    timeout: PROBE_TIMEOUT_MS,
  });
  return status === 0;
}
