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
  kind: z.literal("command"),
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
  /** What only the named adapter understands: tools, permissions, effort, plugins, extra arguments. */
  options: z.record(z.string(), z.json()),
});
export type AgentSpec = z.infer<typeof agentSpecSchema>;

const workspaceSpecSchema = z.strictObject({
  /** The user's repository (its top level) and the directory where the agent works; they differ with a worktree. */
  repository: z.string(),
  path: z.string(),
  /** `branch`: pawl's own; `current`: the user's; `none`: nothing is committed, work stays in the tree. */
  commit: z.enum(["branch", "current", "none"]),
  branch: z.string().optional(),
  allowDirty: z.boolean(),
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
  checks: z.array(checkSpecSchema),
  /** The agent's word for "done"; with `required` a pass alone does not end the run. */
  claim: z.strictObject({ promise: z.string().min(1), required: z.boolean() }),
  minIterations: z.int().positive(),
  maxErrors: z.int().positive(),
  limits: limitsSchema,
  struggle: struggleSpecSchema,
  waits: waitSpecSchema,
  /** PATH and environment names, frozen at the start, that checks and agents get. */
  environment: z.record(z.string(), z.string()),
});
export type RunSpec = z.infer<typeof runSpecSchema>;
