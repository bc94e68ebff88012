/**
 * The frozen specification of a run: written once into `run-start`, never changed afterwards. What may change on a
 * live run (limits, model) changes by facts of its own. Times are milliseconds, money is US dollars.
 */
import { z } from "zod";

export const limitsSchema = z.strictObject({
  iterations: z.int().positive().optional(),
  turns: z.int().positive().optional(),
  toolCalls: z.int().positive().optional(),
  tokens: z.int().positive().optional(),
  usd: z.number().positive().optional(),
  /** Driven time: waiting for a dead driver to come back does not count. */
  drivenMs: z.int().positive().optional(),
  callsPerHour: z.int().positive().optional(),
  /** Cap of one turn's reserve. */
  turnUsd: z.number().positive().optional(),
});
export type Limits = z.infer<typeof limitsSchema>;

const checkSpecSchema = z.strictObject({
  name: z.string().min(1),
  /** `custom`: judged by an object of the program that drives; `command` is words for people then. */
  kind: z.enum(["command", "custom"]),
  command: z.string().min(1),
  required: z.boolean(),
  timeoutMs: z.int().positive(),
});
export type CheckSpec = z.infer<typeof checkSpecSchema>;

export const rungSchema = z.enum(["hint", "fresh-session", "other-agent", "restore-best", "ask", "stop"]);
export type Rung = z.infer<typeof rungSchema>;

const struggleSpecSchema = z.strictObject({
  /** Iterations in a row with a signal before a rung of the ladder is climbed. */
  patience: z.int().positive(),
  shortTurnMs: z.int().nonnegative(),
  ladder: z.array(rungSchema),
});

/** Backoff after errors and limits without a reset time: base, doubled each time in a row, up to max. */
const waitSpecSchema = z.strictObject({
  backoffBaseMs: z.int().positive(),
  backoffMaxMs: z.int().positive(),
  /** Longest single wait for a provider's reset time. */
  limitCapMs: z.int().positive(),
});

/** What happens when the agent or the loop needs a person. */
const askSpecSchema = z.strictObject({
  permissions: z.enum(["allow", "deny", "ask"]),
  /** `deny`: the agent is told to decide itself; what only a person can settle ends the run. */
  questions: z.enum(["deny", "ask"]),
  /** How long a person has, driven time; then as with `deny`. */
  timeoutMs: z.int().positive(),
});
export type AskSpec = z.infer<typeof askSpecSchema>;

export const hookEventSchema = z.enum([
  "run-start",
  "iteration-start",
  "iteration-end",
  "run-end",
  "resume",
  "stall",
  "error",
]);
export type HookEvent = z.infer<typeof hookEventSchema>;

const hookSpecSchema = z.strictObject({
  name: z.string().min(1),
  on: z.array(hookEventSchema).min(1),
  command: z.string().min(1),
  /** On failure: `warn` tells, `block` ends the run, `suspend` waits for a person. */
  policy: z.enum(["warn", "block", "suspend"]),
  /** Its output stands in the next prompt. */
  toPrompt: z.boolean(),
  timeoutMs: z.int().positive(),
});
export type HookSpec = z.infer<typeof hookSpecSchema>;

/** A file of the workspace that goes from iteration to iteration, cut to `maxBytes` in the prompt. */
const memoFileSchema = z.strictObject({ file: z.string().min(1), maxBytes: z.int().positive() });

export const MAX_TASK_CHARS = 2_000;
const tasksSpecSchema = z.strictObject({
  /** Relative to the workspace. */
  file: z.string().min(1),
  /** The agent's word for "this task is done, on to the next". */
  promise: z.string().min(1),
  /** Iterations a task must have had before it counts as done. */
  minIterations: z.int().positive(),
});

/** A prompt part in every n-th iteration. */
const ruleSpecSchema = z.strictObject({ every: z.int().positive(), text: z.string().min(1) });

const agentSpecSchema = z.strictObject({
  name: z.string().min(1),
  model: z.string().optional(),
  /** Stronger model for the `other-agent` rung. */
  fallbackModel: z.string().optional(),
  context: z.enum(["persistent", "fresh", "auto"]),
  /** `auto`: tokens of context after which the next turn starts a fresh session. */
  contextLimitTokens: z.int().positive(),
  idleTimeoutMs: z.int().positive(),
  turnTimeoutMs: z.int().positive(),
  /** How long after its final answer an agent's process may hold its output open. */
  completionGraceMs: z.int().positive(),
  ask: askSpecSchema,
  /** What only the named adapter understands: tools, permissions, effort, plugins, extra arguments. */
  options: z.record(z.string(), z.json()),
});
export type AgentSpec = z.infer<typeof agentSpecSchema>;

const fenceSpecSchema = z.strictObject({
  kind: z.enum(["bwrap", "docker", "seatbelt", "none"]),
  /** `hosts`: through a proxy that knows them; `open`: the machine's own network. */
  network: z.enum(["off", "hosts", "open"]),
  hosts: z.array(z.string()),
  memoryBytes: z.int().positive(),
  processes: z.int().positive(),
  fileBytes: z.int().positive(),
  /** What the agent's process, or a check, may add to the disk. */
  diskBytes: z.int().positive(),
  /** What a check may print. */
  outputBytes: z.int().positive(),
});
export type FenceSpec = z.infer<typeof fenceSpecSchema>;

const workspaceSpecSchema = z.strictObject({
  /** The user's repository (its top level) and the directory where the agent works; they differ with a worktree. */
  repository: z.string(),
  path: z.string(),
  /** `branch`: pawl's own; `current`: the user's; `none`: nothing is committed, work stays in the tree. */
  commit: z.enum(["branch", "current", "none"]),
  branch: z.string().optional(),
  /** First line of commits, with {{iteration}}, {{goal}}, {{verdict}} and {{run}}. */
  commitTitle: z.string().optional(),
  allowDirty: z.boolean(),
  /** Files of the loop itself (tasks, notes, knowledge): that they are not committed is no reason to refuse. */
  memos: z.array(z.string()),
  maxSnapshotBytes: z.int().positive(),
  maxSnapshotFiles: z.int().positive(),
});
export type WorkspaceSpec = z.infer<typeof workspaceSpecSchema>;

export const runSpecSchema = z.strictObject({
  run: z.string().min(1),
  recipe: z.literal("run"),
  goal: z.string().min(1),
  workspace: workspaceSpecSchema,
  agent: agentSpecSchema,
  fence: fenceSpecSchema,
  checks: z.array(checkSpecSchema),
  /** The agent's word for "done"; with `required` a pass alone does not end the run. */
  claim: z.strictObject({
    promise: z.string().min(1),
    required: z.boolean(),
    /** The agent's word for "it cannot be done": ends the run `failed`. */
    abort: z.string().min(1).optional(),
    /** Claims in a row, each on a green tree, before it counts. */
    confirmations: z.int().positive(),
  }),
  /** What the goal lists as its acceptance criteria. */
  criteria: z.array(z.string()),
  tasks: tasksSpecSchema.optional(),
  notes: memoFileSchema.optional(),
  knowledge: memoFileSchema.optional(),
  /** Instead of pawl's own prompt; variables in docs/prompts.md. */
  template: z.string().optional(),
  rules: z.array(ruleSpecSchema),
  hooks: z.array(hookSpecSchema),
  /** After `maxErrors` failed turns in a row. */
  onErrors: z.enum(["fail", "pause"]),
  minIterations: z.int().positive(),
  maxErrors: z.int().positive(),
  limits: limitsSchema,
  struggle: struggleSpecSchema,
  waits: waitSpecSchema,
  /** PATH and environment names, frozen at the start, that checks and agents get. */
  environment: z.record(z.string(), z.string()),
});
export type RunSpec = z.infer<typeof runSpecSchema>;
