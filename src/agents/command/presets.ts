/** Well-known programs as entries of the command agent: data only, each from its public documentation. */
import { DOCUMENTED } from "./presets/documented.ts";
import type { Preset } from "./presets/shared.ts";
import { TRIED } from "./presets/tried.ts";

export const PRESETS: Readonly<Record<string, Preset>> = { ...TRIED, ...DOCUMENTED };
