/** Settings with their values and where each comes from, for `config show` and `run --dry-run`. */
import type { Resolved } from "../../config.ts";
import { SETTING_NAMES } from "../../config/settings.ts";
import { plain } from "../plain.ts";
import { columns } from "./format.ts";
import { sayValue } from "./setting-options.ts";

export function settingsTable({ settings, origins }: Resolved, { origin }: { origin: boolean }): string {
  const rows = SETTING_NAMES.map((name) => {
    const value = settings[name];
    const unset = value === undefined || (Array.isArray(value) && value.length === 0);
    const cells = [name, unset ? "-" : plain(sayValue(name, value)).replaceAll("\n", " ")];
    return origin ? [...cells, origins[name]?.where ?? "default"] : cells;
  });
  return columns(rows);
}
