/** An entry of the command agent as it is used: a preset, what the user's table says over it, or the table alone. */
import { UsageError } from "../../errors.ts";
import { commandEntrySchema, type CommandEntry, type CommandGiven } from "../../spec/command-agent.ts";
import { PRESETS } from "./presets.ts";

/** What stands under a name in `agents` of pawl.yaml. */
export type TableEntry = { [K in keyof CommandGiven]?: CommandGiven[K] | undefined } & { preset?: string | undefined };

/** The preset itself, with its defaults. */
export function presetEntry(name: string): CommandEntry {
  const { docs: _, tried: __, ...given } = knownPreset(name);
  return commandEntrySchema.parse(given);
}

/** Key by key: what is said replaces what the preset says. UsageError when something is missing. */
export function tableEntry(name: string, { preset, ...given }: TableEntry): CommandEntry {
  const base = preset === undefined ? {} : presetEntry(preset);
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const result = commandEntrySchema.safeParse({ ...base, ...said });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const missing = ["command", "output"].find((key) => !(key in base) && !(key in said));
  const says = missing === undefined ? `${issue?.path.join(".")} ${issue?.message}` : `it has no ${missing}`;
  throw new UsageError(`agent ${name}: ${says}`, {
    hint: "an entry has `command` and `output`, or a `preset`; docs/agents.md",
  });
}

function knownPreset(name: string): (typeof PRESETS)[string] {
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined;
  if (preset !== undefined) return preset;
  throw new UsageError(`there is no preset called ${name}`, { hint: `one of: ${Object.keys(PRESETS).join(", ")}` });
}
