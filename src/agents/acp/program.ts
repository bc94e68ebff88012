/** Where an ACP agent's program is, and what else must be readable for it to run. Starts nothing. */
import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, sep } from "node:path";
import { UsageError } from "../../errors.ts";
import { programPath, type Environment } from "../programs.ts";
import type { AcpOptions } from "./options.ts";

const PACKAGES = `${sep}node_modules${sep}`;

/** Absolute. Throws UsageError when there is no such program. */
export function acpProgram({ command: [program] }: Pick<AcpOptions, "command">, env: Environment): string {
  const found = programPath(program, env);
  if (found !== undefined) return found;
  throw new UsageError(`the ACP agent's program ${JSON.stringify(program)} is not there, or is no program`, {
    hint: "install it, write its path in --agent 'acp:/path/to/agent --acp', or name it with --agent-bin",
  });
}

/** What must be readable for it to run; [] when there is no such program. */
export function acpFolders({ command }: Pick<AcpOptions, "command">, env: Environment): string[] {
  const [program, ...args] = command;
  const words = args.filter((word) => isAbsolute(word) && existsSync(word));
  const programs = [programPath(program, env), ...words].filter((path) => path !== undefined);
  return [...new Set(programs.flatMap((path) => [path, realpathSync(path)]).flatMap((path) => [folderOf(path), path]))];
}

/** A script of a package needs the packages beside it. */
function folderOf(path: string): string {
  const at = path.indexOf(PACKAGES);
  if (at >= 0) return path.slice(0, at + PACKAGES.length - 1);
  return statSync(path).isDirectory() ? path : dirname(path);
}
