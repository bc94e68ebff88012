/** Settings with their values and where each comes from, for `config show` and `run --dry-run`. */
import type { Resolved } from "../../config.ts";
import { SETTING_NAMES } from "../../config/settings.ts";
import { plain } from "../plain.ts";
import { columns } from "./format.ts";
import { sayValue } from "./setting-options.ts";

/** What is longer than this is seldom, and has a line of its own. */
const MAX_WIDTH_CHARS = 40;

interface Shown {
  /** Where each comes from, too. */
  origin: boolean;
  /** Leave out what is at its default. */
  changed?: boolean;
}

export function settingsTable({ settings, origins }: Resolved, { origin, changed = false }: Shown): string {
  const names = SETTING_NAMES.filter((name) => !changed || (origins[name]?.from ?? "default") !== "default");
  const rows = names.map((name) => {
    const value = settings[name];
    const unset = value === undefined || (Array.isArray(value) && value.length === 0);
    const cells = [name, unset ? "-" : plain(sayValue(name, value)).replaceAll("\n", " ")];
    return origin ? [...cells, origins[name]?.where ?? "default"] : cells;
  });
  return columns(rows, { maxWidth: MAX_WIDTH_CHARS });
}
