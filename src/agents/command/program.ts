/** What a command's program has to be able to read to run inside a fence. */
import type { AgentSpec } from "../../spec.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { programPath, readableForFound, type Environment } from "../programs.ts";

/** What the program of a run needs to read. */
export function commandFolders(
  { command }: CommandEntry,
  { options: { bin }, env }: { options: AgentSpec["options"]; env: Environment },
): string[] {
  const program = programPath(typeof bin === "string" ? bin : String(command[0]), env);
  return program === undefined ? [] : readableForFound(program);
}
