/** Any program that takes a prompt and prints: called as an entry of `agents` in pawl.yaml, or a preset, says. */
import type { Agent } from "../ports.ts";
import type { CommandEntry } from "../spec/command-agent.ts";
import { commandGaps } from "./command/gaps.ts";
import { folderOf, inspectRecord } from "./command/record.ts";
import { commandSession } from "./command/session.ts";

interface CommandSetup {
  name: string;
  entry: CommandEntry;
  /** The user's own: login and address of the model are taken from it, by the names that the entry gives. */
  userEnvironment: Readonly<Record<string, string | undefined>>;
}

export function command({ name, entry, userEnvironment }: CommandSetup): Agent {
  return {
    name,
    gaps: commandGaps(entry),
    open: (request) => Promise.resolve(commandSession(request, { entry, user: userEnvironment })),
    inspect: ({ home }, { uuid }) =>
      Promise.resolve(inspectRecord(folderOf(home, name), uuid, { counts: entry.gateway !== undefined })),
  };
}
