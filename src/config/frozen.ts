/**
 * What was frozen in a run, read back as settings, so that a flag given when it goes on can be compared with it. A flag
 * that says the same is welcome, any other is refused: the run would not be the one its journal tells of.
 */
import { entryName } from "../agent-entry.ts";
import { UsageError } from "../errors.ts";
import { REGISTRIES } from "../platform/egress-rules.ts";
import { spelledOut } from "../platform/glob.ts";
import { readTextFile } from "../platform/text-file.ts";
import type { AgentEntry, Criterion, RunSpec } from "../spec.ts";
import { toChecks } from "./run-spec.ts";
import { typedFlag, type SettingName, type Settings } from "./settings.ts";

const MAX_TEMPLATE_BYTES = 64 * 1024;

type Frozen = (spec: RunSpec) => unknown;
const option =
  (name: string): Frozen =>
  ({ agent }) =>
    agent.options[name];

/** By setting; lists of which a part is enough are compared by `includes`. */
const FROZEN: Partial<Record<SettingName, Frozen>> = {
  "until-green": ({ claim }) => !claim.required,
  setup: ({ setup }) => setup?.command,
  promise: ({ claim }) => claim.promise,
  "abort-promise": ({ claim }) => claim.abort,
  confirmations: ({ claim }) => claim.confirmations,
  "allow-test-changes": ({ protect }) => protect.testChanges === "allow",
  "min-iterations": ({ minIterations }) => minIterations,
  "require-all": ({ verdicts }) => verdicts.preExisting === "require",
  "leave-failing": ({ verdicts }) => verdicts.preExisting === "leave",
  reruns: ({ verdicts }) => verdicts.reruns,
  passes: ({ verdicts }) => verdicts.passes,
  control: ({ verdicts }) => verdicts.control,
  "require-control": ({ verdicts }) => verdicts.requireControl === true,
  combine: ({ verdicts }) => verdicts.combine,
  threshold: ({ verdicts }) => verdicts.threshold,
  "max-errors": ({ maxErrors }) => maxErrors,
  tasks: ({ tasks }) => tasks?.file,
  "task-promise": ({ tasks }) => tasks?.promise,
  "task-min-iterations": ({ tasks }) => tasks?.minIterations,
  notes: ({ notes }) => notes?.file,
  knowledge: ({ knowledge }) => knowledge?.file,
  fallback: ({ mix }) => entriesOf(mix?.fallback),
  rotate: ({ mix }) => entriesOf(mix?.rotate),
  review: ({ review }) => review?.prompt,
  "review-agent": ({ review }) => (review === undefined ? undefined : entryName(review.agent)),
  "native-goal": ({ agent }) => agent.options["nativeGoal"] !== undefined,
  "user-settings": ({ agent }) => agent.options["userSettings"] === true,
  "fallback-model": ({ agent }) => agent.fallbackModel,
  context: ({ agent }) => agent.context,
  "context-limit": ({ agent }) => agent.contextLimitTokens,
  "idle-timeout": ({ agent }) => agent.idleTimeoutMs,
  "turn-timeout": ({ agent }) => agent.turnTimeoutMs,
  "completion-grace": ({ agent }) => agent.completionGraceMs,
  "on-permission": ({ agent }) => agent.ask.permissions,
  questions: ({ agent }) => agent.ask.questions,
  "answer-timeout": ({ agent }) => agent.ask.timeoutMs,
  "on-errors": ({ onErrors }) => onErrors,
  tools: option("tools"),
  "agent-max-turns": option("maxTurns"),
  permissions: option("permissions"),
  plugin: option("plugins"),
  mcp: option("mcp"),
  effort: option("effort"),
  "agent-bin": option("bin"),
  "agent-server": option("server"),
  "agent-args": option("extra"),
  home: ({ environment }) => (Object.hasOwn(environment, "HOME") ? "user" : "private"),
  commit: ({ workspace }) => workspace.commit,
  branch: ({ workspace }) => workspace.branch,
  "allow-dirty": ({ workspace }) => workspace.allowDirty,
  "at-end": ({ atEnd }) => atEnd ?? "best",
  "max-memory": ({ fence }) => fence.memoryBytes,
  "max-processes": ({ fence }) => fence.processes,
  "max-file-size": ({ fence }) => fence.fileBytes,
  executor: ({ solve }) => solve?.executor,
  language: ({ solve }) => solve?.language,
  history: ({ solve }) => solve?.history,
  "request-tokens": ({ solve }) => solve?.requestTokens,
  repeats: ({ solve }) => solve?.repeats,
  parallel: ({ solve }) => solve?.parallel,
  "step-tries": ({ solve }) => solve?.stepTries,
  "code-time": ({ solve }) => solve?.limits.timeoutMs,
  "code-memory": ({ solve }) => solve?.limits.memoryBytes,
  "code-processes": ({ solve }) => solve?.limits.processes,
  "code-disk": ({ solve }) => solve?.limits.diskBytes,
  "code-output": ({ solve }) => solve?.limits.outputBytes,
};

const entriesOf = (entries: readonly AgentEntry[] = []): string[] | undefined =>
  entries.length === 0 ? undefined : entries.map(entryName);

/** What is written differently in the specification: how each differs, or undefined. */
const COMPARED: Partial<Record<SettingName, (given: never, spec: RunSpec) => Difference | undefined>> = {
  checks: (given: Resolved["checks"], spec) => {
    const timeout = spec.checks[0]?.timeoutMs ?? 1;
    const asked = toChecks({ checks: given, "check-timeout": timeout });
    const say = (checks: RunSpec["checks"]): string[] =>
      checks.map(({ name, command }) => (name === command ? command : `${name}=${command}`));
    const same = JSON.stringify(asked.map(withoutTime)) === JSON.stringify(spec.checks.map(withoutTime));
    return same ? undefined : { given: say(asked), has: say(spec.checks) };
  },
  // With its model, or without.
  agent: (given: string, { agent: { name, model } }) =>
    [name, entryName({ agent: name, ...(model === undefined ? {} : { model }) })].includes(given)
      ? undefined
      : { given, has: name },
  escalate: (given: readonly string[], { agent, mix }) => {
    const has = entriesOf(mix?.escalate) ?? [];
    const isSame = (text: string, at: number): boolean => [text, `${agent.name}:${text}`].includes(has[at] ?? "");
    return given.length === has.length && given.every(isSame) ? undefined : { given, has };
  },
  "check-timeout": (given: number, { checks }) =>
    checks.every(({ timeoutMs }) => timeoutMs === given) ? undefined : { given, has: checks[0]?.timeoutMs },
  criteria: (given: readonly Criterion[], { criteria }) => {
    const isThere = (one: Criterion): boolean =>
      criteria.some(({ text, checks }) => text === one.text && one.checks.every((name) => checks.includes(name)));
    const say = (list: readonly Criterion[]): string[] =>
      list.map(({ text, checks }) => (checks.length === 0 ? text : `${text} (check: ${checks.join(", ")})`));
    return given.every(isThere) ? undefined : { given: say(given), has: say(criteria) };
  },
  template: (given: string, { template }) =>
    template !== undefined && textOf(given) === template.trim()
      ? undefined
      : { given, has: template === undefined ? undefined : "another text" },
  protect: (given: readonly string[], { protect: { config } }) =>
    given.every((one) => config.includes(spelledOut(one))) ? undefined : { given, has: "what it found and was told" },
  unprotect: (given: readonly string[], { protect: { except } }) => {
    const same = JSON.stringify(given.map(spelledOut)) === JSON.stringify(except);
    return same ? undefined : { given, has: except };
  },
  // `auto` is whatever the run has.
  fence: (given: string, { fence }) =>
    given === "auto" || given === fence.kind ? undefined : { given, has: fence.kind },
  network: (given: string, { fence }) => {
    const has = networkOf(fence);
    return given === has ? undefined : { given, has };
  },
  "allow-host": (given: readonly string[], { fence: { hosts } }) =>
    given.every((host) => hosts.includes(host)) ? undefined : { given, has: hosts },
  env: (given: readonly string[], { environment }) =>
    given.every((name) => Object.hasOwn(environment, name)) ? undefined : { given, has: undefined },
};

function networkOf({ network, hosts }: RunSpec["fence"]): string {
  if (network === "open") return "open";
  return REGISTRIES.every((host) => hosts.includes(host)) ? "registries" : "off";
}

type Resolved = Required<Pick<Settings, "checks">>;
const withoutTime = ({ name, command, required }: RunSpec["checks"][number]): unknown => [name, command, required];

/** undefined for what no template could have been. */
function textOf(file: string): string | undefined {
  try {
    return readTextFile(file, { what: "the template", maxBytes: MAX_TEMPLATE_BYTES }).trim();
  } catch {
    return undefined;
  }
}

interface Difference {
  given: unknown;
  has: unknown;
}

/** Settings whose flags can be compared: a test holds that every flag of a run is among them or may change. */
export const COMPARABLE: ReadonlySet<string> = new Set([...Object.keys(FROZEN), ...Object.keys(COMPARED)]);

/** UsageError that names both values for the first that differs. `given` is parsed; `say` writes a value as a person would. */
export function refuseDifferences(
  given: Readonly<Partial<Record<SettingName, unknown>>>,
  { spec, say }: { spec: RunSpec; say: (name: SettingName, value: unknown) => string },
): void {
  for (const [key, value] of Object.entries(given)) {
    const name = key as SettingName;
    const difference = differs(name, { value, spec });
    if (difference === undefined) continue;
    const flag = typedFlag(name, given);
    if (name === "commit") throw differing(flag, COMMITS[spec.workspace.commit]);
    const shown = (one: unknown): string =>
      one === undefined || (Array.isArray(one) && one.length === 0) ? "none" : quoted(say(name, one));
    const asked = value === true ? flag : `${flag} ${shown(difference.given)}`;
    throw differing(asked, value === true ? "it off" : shown(difference.has));
  }
}

/** The setting `commit` is typed as switches. */
const COMMITS = { branch: "a branch of its own", current: "--current-branch", none: "--no-commit" } as const;

const differing = (asked: string, has: string): UsageError =>
  new UsageError(`${asked} differs: the run has ${has}`, {
    hint: "what a run is was fixed at its start; limits, the model and --trust-promise may change. For another, start a new run",
  });

function differs(name: SettingName, { value, spec }: { value: unknown; spec: RunSpec }): Difference | undefined {
  const compare = COMPARED[name];
  if (compare !== undefined) return compare(value as never, spec);
  const has = FROZEN[name]?.(spec);
  return JSON.stringify(has) === JSON.stringify(value) ? undefined : { given: value, has };
}

const quoted = (text: string): string => (/^[\d.]+\w*$/.test(text) ? text : JSON.stringify(text));
