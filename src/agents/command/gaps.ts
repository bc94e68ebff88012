/** What a command cannot do, from its entry: shown to people and used by the contract suite. Pure. */
import type { Gap } from "../../ports.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { hasPlaceholder } from "./words.ts";

/** Whatever its entry says. */
export const COMMAND_GAPS: readonly Gap[] = [
  { cannot: "say-now", reason: "a process per turn, which reads nothing after its prompt" },
  { cannot: "switch-model-now", reason: "a process per turn, which was started with its model" },
  { cannot: "rewind", reason: "a command has no common way back to an earlier message" },
  { cannot: "ask", reason: "nobody can be asked while a command runs" },
  { cannot: "done-call", reason: "a command has no tool of pawl's; the promise in its last words counts" },
];

export function commandGaps(entry: CommandEntry): Gap[] {
  const cost = costGap(entry);
  return [
    ...COMMAND_GAPS,
    ...(hasPlaceholder(entry, "session")
      ? []
      : [{ cannot: "resume", reason: "it remembers nothing; each turn begins with the first prompt again" } as const]),
    ...(hasPlaceholder(entry, "model")
      ? []
      : [{ cannot: "switch-model", reason: "its command has no place for a model" } as const]),
    ...(cost === undefined ? [] : [{ cannot: "report-cost", reason: cost } as const]),
  ];
}

function costGap({ output, gateway }: CommandEntry): string | undefined {
  const counted = output.format === "jsonl" ? output.rules.flatMap(({ usage }) => usage ?? []) : [];
  if (counted.length === 0)
    return gateway === undefined
      ? "it does not tell what it used; the cost is unknown"
      : "it does not tell what it used; pawl takes what its model says, where it understands that, and the list price";
  if (counted.some(({ cost }) => cost !== undefined)) return undefined;
  return "it tells tokens but no price; pawl takes the list price";
}
