/** What a command cannot do, from its entry: shown to people and used by the contract suite. Pure. */
import type { Gap } from "../../ports.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { hasPlaceholder } from "./words.ts";

const ALWAYS: readonly Gap[] = [
  { cannot: "say-now", reason: "a process per turn, which reads nothing after its prompt" },
  { cannot: "rewind", reason: "a command has no common way back to an earlier message" },
  { cannot: "ask", reason: "nobody can be asked while a command runs" },
  { cannot: "done-call", reason: "a command has no tool of pawl's; the promise in its last words counts" },
];

export function commandGaps(entry: CommandEntry): Gap[] {
  return [
    ...ALWAYS,
    ...(hasPlaceholder(entry, "session")
      ? []
      : [{ cannot: "resume", reason: "it remembers nothing; each turn begins with the first prompt again" } as const]),
    ...(hasPlaceholder(entry, "model")
      ? []
      : [{ cannot: "switch-model", reason: "its command has no place for a model" } as const]),
    ...(countsTokens(entry)
      ? []
      : [{ cannot: "report-cost", reason: "it does not tell what it used; the cost is unknown" } as const]),
  ];
}

const countsTokens = ({ output }: CommandEntry): boolean =>
  output.format === "jsonl" && output.rules.some(({ usage }) => usage !== undefined);
