/**
 * The settings: one table for the schema of `pawl.yaml`, the names of flags and environment variables, the defaults and
 * the help. A setting `max-cost` is the key `max-cost`, the flag `--max-cost` and the variable PAWL_MAX_COST.
 */
import { z } from "zod";
import { rungSchema } from "../spec.ts";
import { bytes, count, duration, durationOrNone, money } from "./units.ts";

const text = z.string("must be text").trim().min(1, "must not be empty");
const yes = z.union([z.boolean(), z.string()], "must be true or false").transform((given, context) => {
  if (typeof given === "boolean") return given;
  if (/^(1|true|yes|on)$/i.test(given)) return true;
  if (/^(0|false|no|off|)$/i.test(given)) return false;
  context.addIssue({ code: "custom", message: "must be true or false" });
  return z.NEVER;
});

/** A list may also be one text: separated by commas, or by lines where commas mean something. */
const listOf = <T extends z.ZodType>(item: T, separator: RegExp) =>
  z.preprocess(
    (given) =>
      typeof given === "string"
        ? given
            .split(separator)
            .map((word) => word.trim())
            .filter((word) => word !== "")
        : given,
    z.array(item, "must be a list"),
  );
const names = listOf(text, /[,\s]+/);
const lines = listOf(text, /\n/);

/** `npm test`, `tests=npm test`, or with everything said. */
const check = z.union(
  [
    text.transform((given) => {
      const named = /^([A-Za-z][\w.-]*)=(?!=)\s*(\S[^]*)$/.exec(given);
      // `A=1 npm test` sets a variable; a name of a check is written in small letters.
      const isName = named !== null && /[a-z]/.test(named[1] ?? "");
      return isName ? { name: named[1], run: named[2] as string } : { run: given };
    }),
    z.strictObject({
      name: text.optional(),
      run: text,
      timeout: duration.optional(),
      required: z.boolean("must be true or false").optional(),
    }),
  ],
  "must be a command, or have `run` and perhaps `name`, `timeout`, `required`",
);

const choice = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, `must be one of: ${words.join(", ")}`);

export interface Setting {
  schema: z.ZodType;
  /** Of the flag; none for a switch. */
  argument?: string;
  /** Given several times on the command line. */
  repeated?: true;
  /** The flag, where it is not the setting's own name; null for none. */
  flag?: string | null;
  about: string;
  group: "goal" | "limits" | "agent" | "git" | "patience";
}

const of = <S extends Setting>(setting: S): S => setting;

export const SETTINGS = {
  checks: of({
    schema: listOf(check, /\n/),
    argument: "[NAME=]COMMAND",
    repeated: true,
    flag: "check",
    group: "goal",
    about: "a command that must exit 0 (may be repeated)",
  }),
  "until-green": of({ schema: yes, group: "goal", about: "passing checks end the run, without the agent's claim" }),
  "trust-promise": of({ schema: yes, group: "goal", about: "exit 0 for `claimed` too" }),
  promise: of({
    schema: text.max(200, "must have at most 200 characters").regex(/^[^<>\n]+$/, "must be one line without < and >"),
    argument: "TEXT",
    group: "goal",
    about: "the agent's word for done, asked for as <promise>TEXT</promise>",
  }),
  "min-iterations": of({
    schema: count,
    argument: "N",
    group: "goal",
    about: "iterations before a claim counts (1; without a check 2)",
  }),
  "check-timeout": of({
    schema: duration,
    argument: "TIME",
    group: "goal",
    about: "of one check; then it could not judge",
  }),

  "max-iterations": of({ schema: count, argument: "N", group: "limits", about: "iterations" }),
  "max-turns": of({ schema: count, argument: "N", group: "limits", about: "turns taken by the agent, retries too" }),
  "max-tool-calls": of({ schema: count, argument: "N", group: "limits", about: "tool calls of the agent" }),
  "max-tokens": of({ schema: count, argument: "N", group: "limits", about: "tokens of all kinds, e.g. 2M" }),
  "max-cost": of({ schema: money, argument: "USD", group: "limits", about: "US dollars" }),
  "max-turn-cost": of({ schema: money, argument: "USD", group: "limits", about: "US dollars of one turn" }),
  "max-time": of({
    schema: duration,
    argument: "TIME",
    group: "limits",
    about: "driven time, e.g. 1h30m; plain numbers are seconds",
  }),
  "max-calls-per-hour": of({ schema: count, argument: "N", group: "limits", about: "turns started in an hour" }),
  "max-errors": of({ schema: count, argument: "N", group: "limits", about: "failed turns in a row" }),

  agent: of({ schema: choice(["claude"]), argument: "NAME", group: "agent", about: "who works: claude" }),
  model: of({ schema: text, argument: "NAME", group: "agent", about: "the agent's own default otherwise" }),
  "fallback-model": of({
    schema: text,
    argument: "NAME",
    group: "agent",
    about: "stronger model for when the first one is stuck",
  }),
  context: of({
    schema: choice(["persistent", "fresh", "auto"]),
    argument: "HOW",
    group: "agent",
    about: "persistent, fresh in each iteration, or auto",
  }),
  "context-limit": of({
    schema: count,
    argument: "TOKENS",
    group: "agent",
    about: "of context, after which auto starts a fresh session",
  }),
  tools: of({ schema: names, argument: "LIST", group: "agent", about: "the agent's tools, by name" }),
  "agent-max-turns": of({
    schema: count,
    argument: "N",
    group: "agent",
    about: "the agent's own limit: model requests in one turn",
  }),
  permissions: of({ schema: text, argument: "MODE", group: "agent", about: "the agent's permission mode" }),
  plugin: of({
    schema: lines,
    argument: "PATH",
    repeated: true,
    group: "agent",
    about: "plugin for the agent (may be repeated)",
  }),
  mcp: of({
    schema: lines,
    argument: "FILE",
    repeated: true,
    group: "agent",
    about: "MCP servers for the agent (may be repeated)",
  }),
  effort: of({ schema: text, argument: "LEVEL", group: "agent", about: "how hard the model thinks" }),
  "agent-bin": of({ schema: text, argument: "PATH", group: "agent", about: "the agent's program" }),
  "agent-args": of({
    schema: z.array(z.string()),
    flag: null,
    group: "agent",
    about: "further arguments; on the command line all after --",
  }),
  env: of({
    schema: names,
    argument: "NAME",
    repeated: true,
    group: "agent",
    about: "pass this variable to the agent and the checks (may be repeated)",
  }),
  home: of({
    schema: choice(["private", "user"]),
    argument: "WHOSE",
    group: "agent",
    about: "HOME of the agent and the checks: private or user",
  }),
  "idle-timeout": of({
    schema: duration,
    argument: "TIME",
    group: "agent",
    about: "without a sign of life a turn is cut",
  }),
  "turn-timeout": of({ schema: duration, argument: "TIME", group: "agent", about: "of one turn" }),
  "completion-grace": of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "agent",
    about: "after its answer the agent may hold its output open so long",
  }),

  commit: of({
    schema: choice(["branch", "current", "none"]),
    flag: null,
    group: "git",
    about: "commit on a branch of its own, the current one, or not at all",
  }),
  branch: of({ schema: text, argument: "NAME", group: "git", about: "the run's branch (pawl/<words of the goal>)" }),
  "allow-dirty": of({
    schema: yes,
    group: "git",
    about: "start with uncommitted changes; they become the first commit",
  }),
  "max-snapshot-size": of({
    schema: bytes,
    argument: "SIZE",
    flag: null,
    group: "git",
    about: "new bytes in one iteration before a person is asked",
  }),
  "max-snapshot-files": of({
    schema: count,
    argument: "N",
    flag: null,
    group: "git",
    about: "new files in one iteration before a person is asked",
  }),

  patience: of({
    schema: count,
    argument: "N",
    flag: null,
    group: "patience",
    about: "iterations with a sign of struggle before something is done",
  }),
  "short-turn": of({
    schema: durationOrNone,
    argument: "TIME",
    flag: null,
    group: "patience",
    about: "a turn shorter than this, without progress, is such a sign",
  }),
  ladder: of({
    schema: listOf(rungSchema, /[,\s]+/),
    argument: "LIST",
    flag: null,
    group: "patience",
    about: "what is done, one after the other",
  }),
  backoff: of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "patience",
    about: "first wait after an error or a limit; doubles each time",
  }),
  "max-backoff": of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "patience",
    about: "longest of these waits",
  }),
  "limit-cap": of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "patience",
    about: "longest wait for a provider's reset",
  }),
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];
export type Settings = { [N in SettingName]?: z.infer<(typeof SETTINGS)[N]["schema"]> };

/** Others have none, or one that follows from the rest. */
export const DEFAULTS = {
  checks: [],
  "until-green": false,
  "trust-promise": false,
  promise: "COMPLETE",
  "check-timeout": 600_000,
  "max-iterations": 20,
  "max-errors": 3,
  agent: "claude",
  context: "auto",
  "context-limit": 120_000,
  env: [],
  home: "private",
  "idle-timeout": 600_000,
  "turn-timeout": 3_600_000,
  "completion-grace": 60_000,
  commit: "branch",
  "allow-dirty": false,
  "max-snapshot-size": 256 * 1024 * 1024,
  "max-snapshot-files": 20_000,
  patience: 3,
  "short-turn": 30_000,
  ladder: ["hint", "fresh-session", "other-agent", "restore-best", "stop"],
  backoff: 5_000,
  "max-backoff": 900_000,
  "limit-cap": 86_400_000,
} as const satisfies Settings;

export const flagOf = (name: SettingName): string | null => {
  const setting: Setting = SETTINGS[name];
  return setting.flag === undefined ? name : setting.flag;
};
export const variableOf = (name: SettingName): string => `PAWL_${name.toUpperCase().replaceAll("-", "_")}`;
