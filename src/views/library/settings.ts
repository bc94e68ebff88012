/** The settings of `pawl.yaml` as a program writes them: the same table, names in camel case. */
import type { z } from "zod";
import { SETTING_NAMES, type SETTINGS, type SettingName, type Flags } from "../../config/settings.ts";
import { nearest } from "../../config/nearest.ts";
import { UsageError } from "../../errors.ts";

type Camel<S extends string> = S extends `${infer Head}-${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : S;

/** Lists may also be given as text in files; in a program they are lists. */
type Given<S extends z.ZodType> = unknown extends z.input<S> ? z.output<S> : z.input<S>;

/** `maxCost: 5`, `maxTime: "2h"`, `untilGreen: true`: every setting but those that have a form of their own here. */
export type RunSettings = {
  [N in Exclude<SettingName, "agent" | "agents" | "checks"> as Camel<N>]?: Given<(typeof SETTINGS)[N]["schema"]>;
};

/** By name, as under `agents` in pawl.yaml: how a program is called that works as an agent. */
export type CommandSettings = Given<(typeof SETTINGS)["agents"]["schema"]>;

const camel = (name: string): string => name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
const BY_CAMEL: ReadonlyMap<string, SettingName> = new Map(SETTING_NAMES.map((name) => [camel(name), name]));

/** UsageError for a name that is no setting: a misspelt limit must not be no limit. */
export function toFlags(settings: Readonly<Record<string, unknown>>): Flags {
  const flags: Flags = {};
  for (const [given, value] of Object.entries(settings)) {
    const name = BY_CAMEL.get(given);
    if (name === undefined) {
      const meant = nearest(given, [...BY_CAMEL.keys()]);
      throw new UsageError(`there is no option ${given}`, {
        hint: meant === undefined ? "docs/library.md lists them" : `did you mean ${meant}?`,
      });
    }
    if (value !== undefined) flags[name] = value;
  }
  return flags;
}
