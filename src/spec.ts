/**
 * The frozen specification of a run: written once into `run-start`, never changed afterwards. What may change on a
 * live run (limits, model) changes by facts of its own. Times are milliseconds, money is US dollars.
 */
import { z } from "zod";
import { commandEntrySchema } from "./spec/command-agent.ts";
import { solveSpecSchema } from "./spec/solve.ts";

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

const checkBase = {
  name: z.string().min(1),
  /** What it does, in words for people; for a `command` the command itself. */
  command: z.string().min(1),
  required: z.boolean(),
  timeoutMs: z.int().positive(),
  /** Its share where verdicts are weighed. */
  weight: z.number().positive().optional(),
};

/** One condition on one file of the judged tree; without any the file has to exist. */
const requirementSchema = z.strictObject({
  file: z.string().min(1),
  exists: z.boolean().optional(),
  /** Regular expressions, tried on the whole text, multi-line. */
  matches: z.array(z.string()).optional(),
  lacks: z.array(z.string()).optional(),
  /** Plain texts. */
  contains: z.array(z.string()).optional(),
  without: z.array(z.string()).optional(),
  words: z.strictObject({ min: z.int().nonnegative().optional(), max: z.int().nonnegative().optional() }).optional(),
  /** The number that the pattern's first group finds. */
  number: z.strictObject({ pattern: z.string(), min: z.number().optional(), max: z.number().optional() }).optional(),
  /** A JSON Schema that the file, as JSON, has to satisfy. */
  schema: z.json().optional(),
});
export type Requirement = z.infer<typeof requirementSchema>;

export const guardRuleSchema = z.enum([
  "protected-paths",
  "tests-deleted",
  "tests-skipped",
  "tests-emptied",
  "suppressions",
  "secrets",
  "diff-size",
  "forbidden-paths",
]);
export type GuardRule = z.infer<typeof guardRuleSchema>;

const checkSpecSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    ...checkBase,
    kind: z.literal("command"),
    /** Report files it writes, as globs in the tree; known runners are asked for theirs without. */
    reports: z.array(z.string()).optional(),
  }),
  /** Judged by an object of the program that drives. */
  z.strictObject({ ...checkBase, kind: z.literal("custom") }),
  z.strictObject({ ...checkBase, kind: z.literal("requirement"), require: z.array(requirementSchema).min(1) }),
  z.strictObject({
    ...checkBase,
    kind: z.literal("guard"),
    rules: z.array(guardRuleSchema).min(1),
    /** For `diff-size`: lines added and removed since the base. */
    maxLines: z.int().positive().optional(),
    /** For `forbidden-paths`: globs. */
    paths: z.array(z.string()).optional(),
  }),
  z.strictObject({
    ...checkBase,
    kind: z.literal("judge"),
    rubric: z.string().min(1),
    /** Of the run's agent, when not its own. */
    model: z.string().optional(),
    /** 0 to 1; what it must give at least. */
    passScore: z.number().min(0).max(1),
    /** Files of the judged tree it is shown whole, as globs; without, the diff since the base. */
    files: z.array(z.string()).optional(),
  }),
  z.strictObject({
    ...checkBase,
    kind: z.literal("metric"),
    /** How the number is found in what the command prints: a line `NAME: 12.5`, or a path into its JSON. */
    value: z.union([z.strictObject({ line: z.string().min(1) }), z.strictObject({ json: z.string().min(1) })]),
    min: z.number().optional(),
    max: z.number().optional(),
  }),
]);
export type CheckSpec = z.infer<typeof checkSpecSchema>;
export type CheckSpecOf<K extends CheckSpec["kind"]> = Extract<CheckSpec, { kind: K }>;

/** What a command comes down to: where a failure can be planted, and where none can. */
const plantSpecSchema = z.strictObject({
  /** Scripts of the base, in the order they are run; `must`: a failure of it is one of the command. */
  scripts: z.array(z.strictObject({ path: z.string(), must: z.boolean() })),
  /** Programs that run code of the repository and take no plant, in words. */
  others: z.array(z.string()),
  /** How many runners of tests there are: a failure is planted in the tests. */
  runners: z.int().nonnegative(),
  /** Something in it may run tests, too: a script that starts others, a loop over files. */
  isOpen: z.boolean(),
});
export type PlantSpec = z.infer<typeof plantSpecSchema>;

/** What the agent may not change, as globs; frozen at the start. */
const protectSpecSchema = z.strictObject({
  /** Tests: the base's are put back; new ones stay, and are run after the base's. */
  tests: z.array(z.string()),
  /** Configuration of runners and CI: the base's is put back, what the base lacks is taken out. */
  config: z.array(z.string()),
  /** Keys of JSON files that are put back, as `package.json: ["scripts", "jest"]`. */
  keys: z.record(z.string(), z.array(z.string())),
  /** Files that only tests name, though the product is told apart from them: a change of nothing else looks odd. */
  doubtful: z.array(z.string()).optional(),
  /** Never protected, whatever the others say. */
  except: z.array(z.string()),
  /** `allow`: tests that the change touches are judged in their new form, and listed. */
  testChanges: z.enum(["undo", "allow"]),
  /** Of runs that began before there was `plants`: by the command of a check, the one script of the base that it runs. */
  scripts: z.record(z.string(), z.string()).optional(),
  /** By the command of a check. */
  plants: z.record(z.string(), plantSpecSchema).optional(),
});
export type ProtectSpec = z.infer<typeof protectSpecSchema>;

const verdictSpecSchema = z.strictObject({
  /** `veto`: every deterministic check must pass, a judge can only say no. */
  combine: z.enum(["veto", "all", "weighted", "quorum"]),
  /** Share of the weights that must pass, for `weighted`. */
  threshold: z.number().min(0).max(1),
  /**
   * Failures that the base has too. `require`: they must go; `leave`: they do not count; `ask`: the agent is sent back
   * once, then a person decides.
   */
  preExisting: z.enum(["ask", "require", "leave"]),
  /** How often what has passed before is run again when it fails. */
  reruns: z.int().nonnegative(),
  /** Passes in a row before a run ends verified, where that does not take too long, and wherever a check was flaky. */
  passes: z.int().positive(),
  /** `auto`: before the end a test that must fail is planted, where the layout is known; the check has to see it. */
  control: z.enum(["auto", "off"]),
  /** Where none could be planted, a person has to look. */
  requireControl: z.boolean().optional(),
  /** Tests whose failures do not count until the day (ISO date) is over. */
  quarantine: z.array(z.strictObject({ test: z.string().min(1), until: z.iso.date() })),
});
export type VerdictSpec = z.infer<typeof verdictSpecSchema>;

/** Makes the dependencies of a tree that is to be judged; run again only when one of `keys` changes. */
const setupSpecSchema = z.strictObject({
  command: z.string().min(1),
  /** Files whose content decides: lockfiles and manifests, as globs. */
  keys: z.array(z.string()).min(1),
  timeoutMs: z.int().positive(),
});
export type SetupSpec = z.infer<typeof setupSpecSchema>;

const criterionSchema = z.strictObject({
  text: z.string().min(1),
  /** Names of the checks that prove it; none: nothing does. */
  checks: z.array(z.string()),
});
export type Criterion = z.infer<typeof criterionSchema>;

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

/** Who takes turns, and with which model; without one the agent's own default. */
const agentEntrySchema = z.strictObject({ agent: z.string().min(1), model: z.string().min(1).optional() });
export type AgentEntry = z.infer<typeof agentEntrySchema>;

/** Several agents in one run (docs/mixing.md). */
const mixSpecSchema = z.strictObject({
  /** Who goes on, in this order, while those before cannot. */
  fallback: z.array(agentEntrySchema),
  /** One per iteration, in this order; the first is the run's own agent. Empty: that one alone. */
  rotate: z.array(agentEntrySchema),
  /** Who goes on when the work is stuck, one after the other, until there is progress. */
  escalate: z.array(agentEntrySchema),
  /** How long an agent is left alone after a crash or a hang: doubled each time in a row, up to max. */
  benchMs: z.int().positive(),
  benchMaxMs: z.int().positive(),
});
export type MixSpec = z.infer<typeof mixSpecSchema>;

/** A second agent looks at each change before it is judged, and may mend it. */
const reviewSpecSchema = z.strictObject({ agent: agentEntrySchema, prompt: z.string().min(1) });

/** US dollars per million tokens; what the cache takes costs as input unless said. */
const priceSpecSchema = z.strictObject({
  input: z.number().nonnegative(),
  output: z.number().nonnegative(),
  cacheRead: z.number().nonnegative().optional(),
  cacheWrite: z.number().nonnegative().optional(),
});
export type PriceSpec = z.infer<typeof priceSpecSchema>;

/** The run that this one was made from, and the point of its conversation, where there was one. */
const forkSpecSchema = z.strictObject({
  run: z.string().min(1),
  snapshot: z.int().nonnegative(),
  iteration: z.int().nonnegative(),
  mark: z.strictObject({ agent: z.string(), ref: z.string(), messageId: z.string() }).optional(),
  /** What was suspicious about that snapshot. */
  suspicions: z.array(z.string()).optional(),
  /** Fingerprints of what failed in each check before the other run's first turn; undefined: it is begun from there. */
  redBefore: z.record(z.string(), z.array(z.string())).optional(),
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
  /** Made by pawl for this run alone: ignore files that come to lie in it hide nothing. */
  scratch: z.literal(true).optional(),
});
export type WorkspaceSpec = z.infer<typeof workspaceSpecSchema>;

export const runSpecSchema = z.strictObject({
  run: z.string().min(1),
  recipe: z.enum(["run", "solve"]),
  goal: z.string().min(1),
  workspace: workspaceSpecSchema,
  agent: agentSpecSchema,
  mix: mixSpecSchema.optional(),
  review: reviewSpecSchema.optional(),
  /** How those of its agents are called that are commands, by name. */
  commands: z.record(z.string(), commandEntrySchema).optional(),
  /** By model, for turns whose cost nobody reports. */
  prices: z.record(z.string(), priceSpecSchema).optional(),
  fork: forkSpecSchema.optional(),
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
  criteria: z.array(criterionSchema),
  protect: protectSpecSchema,
  verdicts: verdictSpecSchema,
  setup: setupSpecSchema.optional(),
  /** Checks get a throw-away repository with the judged tree as its one commit. */
  checkGit: z.boolean().optional(),
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
  /** What a run leaves that ends without `verified`; without it the best state. */
  atEnd: z.enum(["best", "last"]).optional(),
  waits: waitSpecSchema,
  /** Of the recipe `solve`. */
  solve: solveSpecSchema.optional(),
  /** PATH and environment names, frozen at the start, that checks and agents get. */
  environment: z.record(z.string(), z.string()),
});
export type RunSpec = z.infer<typeof runSpecSchema>;
