/** From settings to the frozen specification of a run. */
import { UsageError } from "../errors.ts";
import { NOTHING_PROTECTED } from "../verdict-defaults.ts";
import {
  runSpecSchema,
  type AgentEntry,
  type AgentSpec,
  type CheckSpec,
  type FenceSpec,
  type HookSpec,
  type Limits,
  type ProtectSpec,
  type Rung,
  type RunSpec,
  type VerdictSpec,
} from "../spec.ts";
import type { Resolved } from "../config.ts";
import { checkSpec } from "./check-spec.ts";
import { criteriaIn, criterionOf, joined, refuseUnknownChecks } from "./criteria.ts";
import { hookNames } from "./hooks.ts";
import { toMix } from "./mix.ts";
import { DEFAULTS, SETTINGS, type Settings } from "./settings.ts";

export interface RunAbout {
  run: string;
  goal: string;
  repository: string;
  /** Where the agent works. */
  path: string;
  branch: string | undefined;
  /** What the setting comes to on this machine. */
  fence: FenceSpec["kind"];
  /** Reachable beside the model. */
  hosts: string[];
  /** What the agent may not change, as it was detected; without it nothing. */
  protect?: ProtectSpec;
  /** What a program brings itself: names of its agents, and which of them works. */
  own?: { agents: readonly string[]; agent?: string | undefined };
  /** Names of commands that may be agents. */
  commands?: readonly string[];
  /** The text of the template, frozen. */
  template?: string;
  environment: RunSpec["environment"];
}

export function toRunSpec(resolved: Pick<Resolved, "settings"> & Partial<Resolved>, about: RunAbout): RunSpec {
  const { settings: s } = resolved;
  const { own, ...mix } = toMix(resolved, {
    agents: [...(about.own?.agents ?? []), ...(about.commands ?? [])],
    agent: about.own?.agent,
  });
  const checks = toChecks(s);
  const criteria = joined([...criteriaIn(about.goal).map(criterionOf), ...s.criteria]);
  refuseUnknownChecks(
    criteria,
    checks.map(({ name }) => name),
  );
  const spec = {
    run: about.run,
    recipe: "run",
    goal: about.goal,
    workspace: {
      repository: about.repository,
      path: about.path,
      commit: s.commit,
      ...(about.branch === undefined ? {} : { branch: about.branch }),
      ...(s["commit-title"] === undefined ? {} : { commitTitle: s["commit-title"] }),
      allowDirty: s["allow-dirty"],
      memos: [s.tasks, s.notes, s.knowledge].filter((file) => file !== undefined),
      maxSnapshotBytes: s["max-snapshot-size"],
      maxSnapshotFiles: s["max-snapshot-files"],
    },
    agent: toAgent(s, { ...own, goal: about.goal }),
    ...mix,
    fence: {
      kind: about.fence,
      network: s.network === "open" ? "open" : about.hosts.length > 0 ? "hosts" : "off",
      hosts: about.hosts,
      memoryBytes: s["max-memory"],
      processes: s["max-processes"],
      fileBytes: s["max-file-size"],
      diskBytes: s["max-disk"],
      outputBytes: s["max-output"],
    },
    checks,
    claim: {
      promise: s.promise,
      required: !s["until-green"],
      ...(s["abort-promise"] === undefined ? {} : { abort: s["abort-promise"] }),
      confirmations: s.confirmations,
    },
    criteria,
    protect: about.protect ?? NOTHING_PROTECTED,
    verdicts: toVerdicts(s),
    ...toSetup(s),
    ...(s.tasks === undefined
      ? {}
      : { tasks: { file: s.tasks, promise: s["task-promise"], minIterations: s["task-min-iterations"] } }),
    ...memoFile("notes", s),
    ...memoFile("knowledge", s),
    ...(about.template === undefined ? {} : { template: about.template }),
    rules: [...s.rules],
    hooks: toHooks(s),
    onErrors: s["on-errors"],
    minIterations: s["min-iterations"] ?? Math.min(checks.length === 0 ? 2 : 1, s["max-iterations"]),
    maxErrors: s["max-errors"],
    limits: toLimits(s),
    struggle: { patience: s.patience, shortTurnMs: s["short-turn"], ladder: toLadder(s) },
    atEnd: s["at-end"],
    waits: { backoffBaseMs: s.backoff, backoffMaxMs: s["max-backoff"], limitCapMs: s["limit-cap"] },
    environment: about.environment,
  };
  const result = runSpecSchema.safeParse(spec);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new UsageError(`these settings make no run: ${issue?.path.join(".")}: ${issue?.message}`);
}

function toSetup(s: Resolved["settings"]): Pick<Partial<RunSpec>, "setup" | "checkGit"> {
  const { setup: command, "setup-keys": keys, "setup-timeout": timeoutMs, "check-git": checkGit } = s;
  return {
    ...(command === undefined ? {} : { setup: { command, keys: [...keys], timeoutMs } }),
    ...(checkGit ? { checkGit } : {}),
  };
}

const HOOK_TIMEOUT_MS = 30_000;

/** Where people may be asked, they are before it is given up; a ladder of one's own is left alone. */
function toLadder({ questions, ladder }: Resolved["settings"]): Rung[] {
  if (questions !== "ask" || ladder !== DEFAULTS.ladder) return [...ladder];
  return ladder.flatMap((rung) => (rung === "stop" ? ["ask" as const, rung] : [rung]));
}

function toHooks(s: Resolved["settings"]): HookSpec[] {
  const names = hookNames([...s.hooks]);
  return s.hooks.map(({ on, run, policy, prompt, timeout }, at) => ({
    name: names[at] ?? "",
    on: [...on],
    command: run,
    policy: policy ?? "warn",
    toPrompt: prompt ?? false,
    timeoutMs: timeout ?? HOOK_TIMEOUT_MS,
  }));
}

function memoFile(name: "notes" | "knowledge", s: Resolved["settings"]): Pick<Partial<RunSpec>, "notes" | "knowledge"> {
  // Who pauses after errors says why in the notes.
  const needed = name === "notes" && s["on-errors"] === "pause" ? SETTINGS.notes.bare : undefined;
  const file = s[name] ?? needed;
  return file === undefined ? {} : { [name]: { file, maxBytes: s["memo-size"] } };
}

export function toChecks(s: Pick<Resolved["settings"], "checks" | "check-timeout">): CheckSpec[] {
  return s.checks.map((check) => checkSpec(check, { timeoutMs: s["check-timeout"] }));
}

function toVerdicts(s: Resolved["settings"]): VerdictSpec {
  return {
    combine: s.combine,
    threshold: s.threshold,
    preExisting: s["require-all"] ? "require" : s["leave-failing"] ? "leave" : "ask",
    reruns: s.reruns,
    passes: s.passes,
    control: s.control,
    ...(s["require-control"] ? { requireControl: true } : {}),
    quarantine: [...s.quarantine],
  };
}

/** Only what is given: also the change that `resume` and `budget` make. */
export function toLimits(s: Settings): Limits {
  const limits = {
    iterations: s["max-iterations"],
    turns: s["max-turns"],
    toolCalls: s["max-tool-calls"],
    tokens: s["max-tokens"],
    usd: s["max-cost"],
    drivenMs: s["max-time"],
    callsPerHour: s["max-calls-per-hour"],
    turnUsd: s["max-turn-cost"],
  };
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

function toAgent(s: Resolved["settings"], { agent, model, goal }: AgentEntry & { goal: string }): AgentSpec {
  const options = {
    tools: s.tools,
    maxTurns: s["agent-max-turns"],
    permissions: s.permissions,
    plugins: s.plugin,
    mcp: s.mcp,
    effort: s.effort,
    bin: s["agent-bin"],
    server: s["agent-server"],
    extra: s["agent-args"],
    nativeGoal: s["native-goal"] ? goal : undefined,
    userSettings: s["user-settings"] ? true : undefined,
  };
  return {
    name: agent,
    ...(model === undefined ? {} : { model }),
    ...(s["fallback-model"] === undefined ? {} : { fallbackModel: s["fallback-model"] }),
    context: s.context,
    contextLimitTokens: s["context-limit"],
    idleTimeoutMs: s["idle-timeout"],
    turnTimeoutMs: s["turn-timeout"],
    completionGraceMs: s["completion-grace"],
    ask: { permissions: s["on-permission"], questions: s.questions, timeoutMs: s["answer-timeout"] },
    options: Object.fromEntries(
      Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  };
}
