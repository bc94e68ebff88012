/** How a run's agent is called, where it is a command: as it was when the run started, since pawl.yaml is the agent's to write. */
import type { AgentSpec } from "../spec.ts";
import type { CommandEntry } from "../spec/command-agent.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** undefined: the agent has an adapter of its own. */
export const frozenEntry = ({ entry }: AgentSpec["options"]): CommandEntry | undefined =>
  entry as CommandEntry | undefined;

/** What the program needs to read. */
export async function commandFolders(
  { command }: CommandEntry,
  { options: { bin }, env }: { options: AgentSpec["options"]; env: Environment },
): Promise<string[]> {
  const { programFolders, programPath } = await import("../agents/command/program.ts");
  const program = programPath(typeof bin === "string" ? bin : String(command[0]), env);
  return program === undefined ? [] : programFolders(program);
}
