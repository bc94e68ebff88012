/**
 * Settings with their origin: flag over environment (PAWL_*) over the project's `pawl.yaml` over the user's file over
 * the default. Configuration is data, never code: an agent can write the workspace.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type * as Yaml from "yaml";
import { UsageError } from "./errors.ts";
import { checkName } from "./config/check-spec.ts";
import { refuseHooks } from "./config/hooks.ts";
import { nearest } from "./config/nearest.ts";
import {
  DEFAULTS,
  flagOf,
  typedFlag,
  SETTING_NAMES,
  SETTINGS,
  variableOf,
  type SettingName,
  type Settings,
} from "./config/settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface Origin {
  from: "flag" | "environment" | "project" | "user" | "default";
  /** `--max-cost`, `PAWL_MAX_COST`, the path of a file, or "default". */
  where: string;
}
export interface Resolved {
  settings: Settings & Required<Pick<Settings, keyof typeof DEFAULTS>>;
  /** Of every setting that has a value. */
  origins: Readonly<Partial<Record<SettingName, Origin>>>;
}

export interface Sources {
  /** As typed, by name of the setting. */
  flags?: Readonly<Partial<Record<SettingName, unknown>>>;
  env: Environment;
  /** Top level of the repository, where `pawl.yaml` lies. */
  repository: string | undefined;
  /** Directory of the user's `config.yaml`; undefined: it does not count. */
  userDir: string | undefined;
}

export const PROJECT_FILE = "pawl.yaml";
const USER_FILE = "config.yaml";
const MAX_CONFIG_BYTES = 1024 * 1024;
/** pawl's own variables that are no settings. */
const NOT_SETTINGS: ReadonlySet<string> = new Set(["PAWL_HOME", "PAWL_FAULT", "PAWL_RUN", "PAWL_PROC", "PAWL_HOOK"]);

interface Layer {
  from: Origin["from"];
  where: (name: SettingName) => string;
  values: Readonly<Partial<Record<SettingName, unknown>>>;
}

export function resolveSettings({ flags = {}, env, repository, userDir }: Sources): Resolved {
  const layers: Layer[] = [
    { from: "default", where: () => "default", values: DEFAULTS },
    ...(userDir === undefined ? [] : [fileLayer("user", join(userDir, USER_FILE))]),
    ...(repository === undefined ? [] : [fileLayer("project", join(repository, PROJECT_FILE))]),
    { from: "environment", where: variableOf, values: readEnvironment(env) },
    { from: "flag", where: (name) => typedFlag(name, flags), values: flags },
  ];
  const settings: Record<string, unknown> = {};
  const origins: Partial<Record<SettingName, Origin>> = {};
  for (const { from, where, values } of layers) {
    for (const name of SETTING_NAMES) {
      if (values[name] === undefined) continue;
      settings[name] = from === "default" ? values[name] : parse(name, values[name], where(name));
      origins[name] = { from, where: where(name) };
    }
  }
  const resolved = { settings: settings as Resolved["settings"], origins };
  refuseContradictions(resolved);
  return resolved;
}

/** Flags alone, each read and checked, with nothing of any other source. */
export function parsedFlags(flags: NonNullable<Sources["flags"]>): Settings {
  const given = Object.entries(flags) as [SettingName, unknown][];
  return Object.fromEntries(given.map(([name, value]) => [name, parse(name, value, `--${flagOf(name) ?? name}`)]));
}

const fileLayer = (from: "user" | "project", path: string): Layer => ({
  from,
  where: () => path,
  values: readFile(path),
});

function parse(name: SettingName, given: unknown, where: string): unknown {
  const result = SETTINGS[name].schema.safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const { inside, what } = placeOf(given, issue?.path ?? []);
  const unknown = issue?.code === "unrecognized_keys" ? `has an unknown key ${issue.keys.join(", ")}` : issue?.message;
  const label = where.startsWith("--") || where.startsWith("PAWL_") ? where : `${name} in ${where}`;
  throw new UsageError(`${label}${inside} ${unknown}, not ${shorten(what)}`, { hint: SETTINGS[name].about });
}

/** Which part of what was given is meant, in words: of a list the one thing that is wrong. */
function placeOf(given: unknown, path: readonly PropertyKey[]): { inside: string; what: unknown } {
  const [first, ...rest] = path.map(String);
  const isList = Array.isArray(given) && first !== undefined && /^\d+$/.test(first);
  const words = isList ? [...(given.length > 1 ? [`number ${Number(first) + 1}`] : []), ...rest] : path.map(String);
  const what: unknown = isList ? given[Number(first)] : given;
  return { inside: words.length === 0 ? "" : ` (${words.join(".")})`, what };
}

const MAX_SHOWN_CHARS = 60;
function shorten(given: unknown): string {
  const text = JSON.stringify(given) ?? String(given);
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
}

function readFile(path: string): Layer["values"] {
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return {};
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  if (source.length > MAX_CONFIG_BYTES) throw new UsageError(`${path} is larger than 1 MiB`);
  // Loaded only where there is a file: the parser takes longer to load than everything else here.
  const { parseDocument } = createRequire(import.meta.url)("yaml") as typeof Yaml;
  const document = parseDocument(source);
  const broken = document.errors[0];
  if (broken !== undefined) throw new UsageError(`${path} is not YAML: ${broken.message.split("\n")[0]}`);
  const value: unknown = document.toJS() ?? {};
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${path} must have settings by name`, { hint: "for example: `max-cost: 5`" });
  }
  for (const key of Object.keys(value))
    knownOr(key, SETTING_NAMES, `${path} has an unknown key ${JSON.stringify(key)}`);
  return Object.fromEntries(Object.entries(value).filter(([, given]) => given !== null));
}

function readEnvironment(env: Environment): Layer["values"] {
  const byVariable = new Map(SETTING_NAMES.map((name) => [variableOf(name), name]));
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith("PAWL_") || NOT_SETTINGS.has(variable) || value === undefined || value === "") continue;
    const name = byVariable.get(variable);
    if (name === undefined) knownOr(variable, [...byVariable.keys()], `${variable} is not a setting of pawl`);
    else values[name] = name === "agent-args" ? value.split("\n") : value;
  }
  return values;
}

function knownOr(word: string, known: readonly string[], says: string): void {
  if (known.includes(word)) return;
  const meant = nearest(word, known);
  throw new UsageError(says, {
    hint: meant === undefined ? "`pawl config show` lists the settings" : `did you mean ${meant}?`,
  });
}

/** What cannot be meant together; each names both and where they come from. */
function refuseContradictions({ settings: s, origins }: Resolved): void {
  const refuse = (a: SettingName, b: SettingName, says: string): never => {
    throw new UsageError(says, {
      hint: `${a}: ${origins[a]?.where ?? "default"}; ${b}: ${origins[b]?.where ?? "default"}`,
    });
  };
  const above = (a: SettingName, b: SettingName): void => {
    const [x, y] = [s[a], s[b]];
    if (typeof x === "number" && typeof y === "number" && x > y)
      refuse(a, b, `${a} is more than ${b} (${x} and ${y}): the limits contradict each other`);
  };
  above("min-iterations", "max-iterations");
  above("max-turn-cost", "max-cost");
  above("backoff", "max-backoff");
  above("bench", "max-bench");
  if (s["require-all"] && s["leave-failing"])
    refuse(
      "require-all",
      "leave-failing",
      "require-all contradicts leave-failing: old failures have to go, or do not count",
    );
  if (s["require-control"] && s.control === "off")
    refuse("require-control", "control", "require-control contradicts control off: no failure would be planted");
  if (s["until-green"] && s.checks.length === 0) refuse("until-green", "checks", "until-green needs a check");
  if (s.branch !== undefined && s.commit !== "branch")
    refuse(
      "branch",
      "commit",
      `branch ${s.branch} contradicts ${s.commit === "none" ? "no commits" : "committing on the current branch"}`,
    );
  for (const [a, b] of [
    ["notes", "knowledge"],
    ["notes", "tasks"],
    ["knowledge", "tasks"],
  ] as const)
    if (s[a] !== undefined && s[a] === s[b]) refuse(a, b, `${a} and ${b} are the same file, ${s[a]}`);
  refuseHooks(s.hooks);
  refuseSameWords(s, refuse);
  if (s.tasks !== undefined) above("task-min-iterations", "max-iterations");
  if (s["until-green"] && s.confirmations > 1)
    refuse(
      "until-green",
      "confirmations",
      "until-green contradicts confirmations: without claims there are none to confirm",
    );
  const twice = s.checks.map(checkName).find((name, at, all) => all.indexOf(name) !== at);
  if (twice !== undefined)
    throw new UsageError(`two checks are called ${twice}`, { hint: "name them: --check name=COMMAND" });
}

/** One word cannot say two things. */
function refuseSameWords(
  s: Resolved["settings"],
  refuse: (a: SettingName, b: SettingName, says: string) => never,
): void {
  const words = [
    "promise" as const,
    "abort-promise" as const,
    ...(s.tasks === undefined ? [] : ["task-promise" as const]),
  ];
  // As claims are read: letter case and blanks make no difference.
  const plain = (name: (typeof words)[number]): string | undefined =>
    s[name]?.trim().replaceAll(/\s+/g, " ").toLowerCase();
  for (const [at, a] of words.entries()) {
    const same = words.slice(at + 1).find((b) => plain(a) !== undefined && plain(a) === plain(b));
    if (same !== undefined)
      refuse(a, same, `${a} and ${same} are the same word, ${shorten(s[a])}: one could not be told from the other`);
  }
}
