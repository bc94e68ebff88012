/**
 * The settings: one table for the schema of `pawl.yaml`, the names of flags and environment variables, the defaults and
 * the help. A setting `max-cost` is the key `max-cost`, the flag `--max-cost` and the variable PAWL_MAX_COST.
 */
import type { z } from "zod";
import { SETUP_KEYS } from "../verdict-defaults.ts";
import { AGENT_SETTINGS } from "./settings/agent.ts";
import { FENCE_SETTINGS } from "./settings/fence.ts";
import { GIT_SETTINGS } from "./settings/git.ts";
import { GOAL_SETTINGS } from "./settings/goal.ts";
import type { Setting } from "./settings/kinds.ts";
import { LIMITS_SETTINGS } from "./settings/limits.ts";
import { MIX_SETTINGS } from "./settings/mix.ts";
import { PATIENCE_SETTINGS } from "./settings/patience.ts";
import { VERDICT_SETTINGS } from "./settings/verdicts.ts";
import { SETUP_SETTINGS } from "./settings/setup.ts";
import { SOLVE_SETTINGS } from "./settings/solve.ts";

export type { Setting } from "./settings/kinds.ts";

export const SETTINGS = {
  ...GOAL_SETTINGS,
  ...VERDICT_SETTINGS,
  ...SETUP_SETTINGS,
  ...LIMITS_SETTINGS,
  ...AGENT_SETTINGS,
  ...MIX_SETTINGS,
  ...FENCE_SETTINGS,
  ...GIT_SETTINGS,
  ...PATIENCE_SETTINGS,
  ...SOLVE_SETTINGS,
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingName = keyof typeof SETTINGS;

/** What was typed, by setting; parsed and checked with all other sources later. */
export type Flags = Partial<Record<SettingName, unknown>>;
export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];
export type Settings = { [N in SettingName]?: z.infer<(typeof SETTINGS)[N]["schema"]> };

/** Others have none, or one that follows from the rest. */
export const DEFAULTS = {
  checks: [],
  "until-green": false,
  "trust-promise": false,
  promise: "COMPLETE",
  confirmations: 1,
  criteria: [],
  "require-all": false,
  "leave-failing": false,
  reruns: 2,
  passes: 3,
  control: "auto",
  "require-control": false,
  combine: "veto",
  threshold: 0.7,
  quarantine: [],
  protect: [],
  unprotect: [],
  "allow-test-changes": false,
  "task-promise": "READY_FOR_NEXT_TASK",
  "task-min-iterations": 1,
  "memo-size": 16 * 1024,
  rules: [],
  "check-timeout": 600_000,
  "setup-keys": [...SETUP_KEYS],
  "setup-timeout": 1_800_000,
  "check-git": false,
  "max-iterations": 20,
  "max-errors": 3,
  agent: "claude",
  context: "auto",
  "context-limit": 120_000,
  bench: 300_000,
  "max-bench": 3_600_000,
  "native-goal": false,
  "user-settings": false,
  env: [],
  home: "private",
  "idle-timeout": 600_000,
  "turn-timeout": 3_600_000,
  "completion-grace": 60_000,
  "on-permission": "allow",
  questions: "deny",
  "answer-timeout": 3_600_000,
  "on-errors": "fail",
  hooks: [],
  fence: "auto",
  network: "off",
  "allow-host": [],
  "max-memory": 8 * 1024 ** 3,
  "max-processes": 2_048,
  "max-file-size": 4 * 1024 ** 3,
  "max-disk": 20 * 1024 ** 3,
  "max-output": 1024 ** 3,
  commit: "branch",
  "branch-prefix": "pawl/",
  "allow-dirty": false,
  "at-end": "best",
  "max-snapshot-size": 256 * 1024 * 1024,
  "max-snapshot-files": 20_000,
  patience: 3,
  "short-turn": 30_000,
  ladder: ["hint", "fresh-session", "other-agent", "restore-best", "stop"],
  backoff: 5_000,
  "max-backoff": 900_000,
  "limit-cap": 86_400_000,
  executor: "local",
  history: "pruned",
  "request-tokens": 60_000,
  repeats: 2,
  parallel: 2,
  "step-tries": 6,
  "code-time": 60_000,
  "code-memory": 1024 ** 3,
  "code-processes": 128,
  "code-disk": 256 * 1024 * 1024,
  "code-output": 4 * 1024 * 1024,
} as const satisfies Settings;

export const flagOf = (name: SettingName): string | null => {
  const setting: Setting = SETTINGS[name];
  return setting.flag === undefined ? name : setting.flag;
};
export const variableOf = (name: SettingName): string => `PAWL_${name.toUpperCase().replaceAll("-", "_")}`;

/** As it was typed: the setting `commit` has switches instead of a flag of its own. */
export function typedFlag(name: SettingName, flags: Readonly<Partial<Record<SettingName, unknown>>>): string {
  if (name === "commit") return flags.commit === "none" ? "--no-commit" : "--current-branch";
  return `--${flagOf(name) ?? name}`;
}
