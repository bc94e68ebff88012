/** The agents that are commands: which there are by name, and how each of a run is called, frozen in its specification. */
import { AGENT_NAMES, isKnown } from "../agent-entry.ts";
import type { TableEntry } from "../agents/command/preset-entry.ts";
import { PRESETS } from "../agents/command/presets.ts";
import { rosterOf } from "../loop/seats.ts";
import type { RunSpec } from "../spec.ts";

type Table = Readonly<Record<string, TableEntry>>;

/** The user's own first: they count before presets of the same name. */
export const commandNames = (table: Table = {}): string[] => [
  ...new Set([...Object.keys(table), ...Object.keys(PRESETS)]),
];

/** Of all agents that come with pawl and have a name. */
export const agentNames = (): string[] => [...AGENT_NAMES, ...commandNames()];

/** `own`: those that a program brings. UsageError when an entry is broken. */
export async function withCommands(
  spec: RunSpec,
  { table = {}, own }: { table: Table | undefined; own: readonly string[] },
): Promise<RunSpec> {
  const names = new Set(rosterOf(spec).map(({ agent }) => agent));
  const wanted = [...names].filter((name) => !isKnown(name, own));
  if (wanted.length === 0) return spec;
  const { presetEntry, tableEntry } = await import("../agents/command/preset-entry.ts");
  const entryOf = (name: string): NonNullable<RunSpec["commands"]>[string] => {
    const given = Object.hasOwn(table, name) ? table[name] : undefined;
    return given === undefined ? presetEntry(name) : tableEntry(name, given);
  };
  return { ...spec, commands: Object.fromEntries(wanted.map((name) => [name, entryOf(name)])) };
}
