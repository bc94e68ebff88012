/** The settings as options of a command: the same table as `pawl.yaml`, so that a flag and a key never differ. */
import { Option, type Command } from "commander";
import { z } from "zod";
import {
  DEFAULTS,
  flagOf,
  SETTING_NAMES,
  SETTINGS,
  type Flags,
  type Setting,
  type SettingName,
} from "../../config/settings.ts";
import { agentNames } from "../../compose/command-agent.ts";
import { sayDuration } from "../../config/units.ts";
import { UsageError } from "../../errors.ts";

const GROUPS: Readonly<Record<Setting["group"], string>> = {
  goal: "When it is done:",
  prompt: "The prompt:",
  limits: "Limits:",
  agent: "The agent:",
  mix: "Several agents:",
  people: "When it needs a person:",
  fence: "The fence:",
  git: "Git:",
  patience: "Patience:",
  solve: "Code and answers:",
};

/** Said with switches of their own. */
const BY_SWITCH: ReadonlySet<SettingName> = new Set(["commit", "agent-args"]);
const isOfSolve = (name: SettingName): boolean => (SETTINGS[name] satisfies Setting as Setting).group === "solve";
/** Those `pawl run` has a flag for. */
export const RUN_SETTINGS = SETTING_NAMES.filter((name) => !BY_SWITCH.has(name) && !isOfSolve(name));
/** What may change on a run, of whatever recipe; everything else was frozen at its start. */
export const CHANGEABLE: readonly SettingName[] = [
  "max-iterations",
  "max-turns",
  "max-tool-calls",
  "max-tokens",
  "max-cost",
  "max-turn-cost",
  "max-time",
  "max-calls-per-hour",
  "model",
  "trust-promise",
];
/** Those of `pawl run` that say something of a run without a repository. */
const COMMON: ReadonlySet<SettingName> = new Set([
  ...CHANGEABLE,
  "checks",
  "check-timeout",
  "max-errors",
  "agent",
  "agents",
  "fallback-model",
  "fallback",
  "bench",
  "max-bench",
  "effort",
  "agent-bin",
  "agent-server",
  "prices",
  "env",
  "home",
  "idle-timeout",
  "turn-timeout",
  "completion-grace",
  "fence",
  "network",
  "allow-host",
  "max-memory",
  "max-processes",
  "max-file-size",
  "max-disk",
  "max-output",
  "max-snapshot-size",
  "max-snapshot-files",
  "backoff",
  "max-backoff",
  "limit-cap",
]);
/** What `pawl solve` has otherwise. */
export const SOLVE_DEFAULTS = { agent: "messages", "max-iterations": 10 } as const;
/** Those of `pawl solve`. */
export const SOLVE_SETTINGS = SETTING_NAMES.filter((name) => COMMON.has(name) || isOfSolve(name));

interface Shown {
  /** The heading in the help; otherwise the setting's own. */
  group?: string;
  hidden?: boolean;
  /** Where the command has others than most. */
  defaults?: Partial<Record<SettingName, unknown>>;
}

export function addSettings(
  command: Command,
  names: readonly SettingName[],
  { group, hidden = false, defaults = {} }: Shown = {},
): void {
  for (const name of names) {
    const setting: Setting = SETTINGS[name];
    const flag = flagOf(name);
    if (flag === null) continue;
    const argument = argumentOf(setting);
    const option = new Option(`--${flag}${argument}`, `${setting.about}${sayDefault(name, defaults[name])}`).helpGroup(
      group ?? GROUPS[setting.group],
    );
    if (setting.repeated === true)
      option.argParser((word: string, before: string[] | undefined) => [...(before ?? []), word]);
    command.addOption(hidden ? option.hideHelp() : option);
  }
}

function argumentOf({ argument, bare }: Setting): string {
  if (argument === undefined) return "";
  return bare === undefined ? ` <${argument}>` : ` [${argument}]`;
}

export function flagsOf(command: Command, names: readonly SettingName[]): Flags {
  const given: Record<string, unknown> = command.opts();
  return Object.fromEntries(
    names.flatMap((name) => {
      const flag = flagOf(name);
      const value = flag === null ? undefined : given[new Option(`--${flag}`).attributeName()];
      const { bare }: Setting = SETTINGS[name];
      refuseSwallowed(command, flag, value);
      return value === undefined ? [] : [[name, value === true && bare !== undefined ? bare : value]];
    }),
  );
}

/** `--check --max-cost 5` takes the flag for the command. */
function refuseSwallowed(command: Command, flag: string | null, value: unknown): void {
  const last: unknown = Array.isArray(value)
    ? value.find((one) => command.options.some(({ long }) => long === one))
    : value;
  if (typeof last !== "string" || !command.options.some(({ long }) => long === last)) return;
  throw new UsageError(`--${flag} needs a value, not ${last}`, { hint: `for example: --${flag} … ${last} …` });
}

function sayDefault(name: SettingName, own: unknown): string {
  const value: unknown = own ?? (DEFAULTS as Record<string, unknown>)[name];
  if (value === undefined || value === false || (Array.isArray(value) && value.length === 0)) return "";
  return ` (${sayValue(name, value)})`;
}

/** As a person would write it. */
export function sayValue(name: SettingName, value: unknown): string {
  const setting: Setting = SETTINGS[name];
  if (typeof value === "number" && setting.argument === "TIME") return value === 0 ? "0" : sayDuration(value);
  if (typeof value === "number" && setting.argument === "SIZE") return sayBytes(value);
  if (Array.isArray(value)) return value.map(sayOne).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** A check as it is written on the command line. */
function sayOne(one: unknown): string {
  if (typeof one === "string") return one;
  if ("checks" in (one as object)) return sayCriterion(one as { text: string; checks?: string[] });
  const { name, run, ...more } = one as { name?: string; run?: string };
  if (run === undefined || Object.keys(more).length > 0) return JSON.stringify(one);
  return name === undefined ? run : `${name}=${run}`;
}

const sayCriterion = ({ text, checks = [] }: { text: string; checks?: string[] }): string =>
  checks.length === 0 ? text : `${text} (check: ${checks.join(", ")})`;

const KIB = 1024;
function sayBytes(bytes: number): string {
  if (bytes % KIB ** 2 === 0) return `${bytes / KIB ** 2}MB`;
  return bytes % KIB === 0 ? `${bytes / KIB}KB` : String(bytes);
}

/** The words a flag takes, where they are fixed; else none. */
export function choicesOf(flag: string): string[] {
  if (flag === "agent" || flag === "review-agent") return agentNames();
  const name = SETTING_NAMES.find((one) => flagOf(one) === flag);
  const setting: Setting | undefined = name === undefined ? undefined : SETTINGS[name];
  if (setting?.schema instanceof z.ZodEnum) return setting.schema.options.map(String);
  return [];
}
