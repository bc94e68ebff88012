/**
 * The facts: everything that is shown, counted or resumed. A fact is small, says what happened, and needs no other
 * fact to be understood by a person. Types are `noun-verb`. Large things are blobs; facts hold their hash and a
 * bounded excerpt. Authors are checked strictly; readers skip types they do not know.
 */
import { z } from "zod";
import { executionShape, planShape, proposalShape, stepShape } from "./events/solve.ts";
import { blob, count, ms, oid, usageSchema } from "./events/values.ts";
import { proofPartSchema, verdictSchema } from "./events/verdict.ts";
import { hookEventSchema, limitsSchema, MAX_TASK_CHARS, runSpecSchema } from "./spec.ts";

export type { Kept } from "./events/solve.ts";
export { usageSchema, type Usage } from "./events/values.ts";
export { verdictSchema, type Evidence, type Failure, type ProofPart, type Verdict } from "./events/verdict.ts";

export const FACT_VERSION = 1;

export const turnOutcomeSchema = z.discriminatedUnion("is", [
  z.strictObject({ is: z.literal("done") }),
  /** pawl ended it on purpose: a directive, a budget, a stop. The session stays usable. */
  z.strictObject({ is: z.literal("interrupted"), by: z.string() }),
  /** It was cut by a crash of the agent, the connection or the driver. It can be gone on with. */
  z.strictObject({ is: z.literal("cut"), reason: z.string() }),
  /** The provider said no for now. Not an error of the work; no iteration is consumed. */
  z.strictObject({
    is: z.literal("limited"),
    kind: z.enum(["rate", "usage", "overloaded"]),
    resetAt: ms.optional(),
    message: z.string(),
  }),
  z.strictObject({ is: z.literal("timeout"), which: z.enum(["idle", "turn"]), afterMs: ms }),
  z.strictObject({
    is: z.literal("failed"),
    /** `fatal` kinds never heal by trying again: login, model name, billing, refused input. */
    kind: z.enum(["login", "model", "billing", "context", "max-turns", "refused", "agent"]),
    message: z.string(),
  }),
]);
export type TurnOutcome = z.infer<typeof turnOutcomeSchema>;

const outcomeSchema = z.strictObject({
  is: z.enum(["verified", "claimed", "exhausted", "stuck", "needs-human", "stopped", "failed"]),
  /** The rule that ended it, e.g. `budget:usd`. */
  rule: z.string(),
  reason: z.string(),
});
export type Outcome = z.infer<typeof outcomeSchema>;

/** The longest text of a directive, characters. */
const MAX_DIRECTIVE_CHARS = 65_536;

export const directiveSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("say"),
    text: z.string().min(1).max(MAX_DIRECTIVE_CHARS),
    /** `only-now`: into the running turn or not at all. */
    when: z.enum(["now", "next", "only-now"]),
  }),
  /** Takes back what has not reached the model yet. */
  z.strictObject({ kind: z.literal("cancel"), directive: z.string() }),
  z.strictObject({ kind: z.literal("interrupt") }),
  z.strictObject({ kind: z.literal("pause") }),
  z.strictObject({ kind: z.literal("resume") }),
  z.strictObject({ kind: z.literal("stop"), when: z.enum(["now", "after"]) }),
  z.strictObject({ kind: z.literal("model"), model: z.string().min(1) }),
  z.strictObject({ kind: z.literal("budget"), limits: limitsSchema }),
  z.strictObject({ kind: z.literal("memory"), op: z.enum(["pin", "clear"]), id: z.string() }),
  z.strictObject({ kind: z.literal("answer"), question: z.string(), text: z.string().max(MAX_DIRECTIVE_CHARS) }),
  z.strictObject({ kind: z.literal("task-add"), text: z.string().min(1).max(MAX_TASK_CHARS) }),
  /** `task` is a task's id; without it the current one. */
  z.strictObject({
    kind: z.literal("task-mark"),
    as: z.enum(["done", "skipped", "todo", "removed"]),
    task: z.string().optional(),
  }),
]);
export type Directive = z.infer<typeof directiveSchema>;

/** What the agent says of its own work: a promise as the last line, or a structured call. Never evidence. */
const claimSchema = z.strictObject({
  /** `task`: the current task only. `abort`: the goal cannot be reached. */
  is: z.enum(["done", "task", "abort"]),
  how: z.enum(["promise", "call"]),
  /** Its words for it, bounded. */
  text: z.string(),
});
export type Claim = z.infer<typeof claimSchema>;

/** A promise in the final text that is no claim where it stands, and its line. */
const misplacedSchema = z.strictObject({
  how: z.enum(["with-text", "not-last", "in-code", "other-word"]),
  line: z.string(),
});
export type Misplaced = z.infer<typeof misplacedSchema>;

const taskSchema = z.strictObject({
  /** Stable while its text is: hash of the text and of how often it stands above. */
  id: z.string(),
  text: z.string(),
  /** 0 for a task, more for its subtasks. */
  depth: count,
  /** `missing`: open when the agent took it out of the file; it still has to be done, or to be removed by a person. */
  is: z.enum(["todo", "doing", "done", "skipped", "missing"]),
});
export type Task = z.infer<typeof taskSchema>;

const taskAddSchema = z.strictObject({ kind: z.literal("task-add"), text: z.string().min(1).max(MAX_TASK_CHARS) });
const taskMarkSchema = z.strictObject({
  kind: z.literal("task-mark"),
  as: z.enum(["done", "skipped", "todo", "removed"]),
  task: z.string(),
});
/** A person's change of the list; the task is named by its id. */
const taskEditSchema = z.discriminatedUnion("kind", [taskAddSchema, taskMarkSchema]);
export type TaskEdit = z.infer<typeof taskEditSchema>;

const fileChangeSchema = z.strictObject({ path: z.string(), status: z.string(), added: count, removed: count });
export type FileChange = z.infer<typeof fileChangeSchema>;

const pathChangeSchema = z.strictObject({ path: z.string(), how: z.enum(["edited", "removed", "added"]) });
export type PathChange = z.infer<typeof pathChangeSchema>;

const sessionSchema = z.strictObject({
  ref: z.string(),
  mode: z.enum(["new", "continue", "rewind"]),
  at: z.string().optional(),
});

const envelope = {
  v: z.literal(FACT_VERSION),
  run: z.string(),
  lane: z.string(),
  seq: count,
  /** Wall clock, ms since 1970; for people only. */
  at: ms,
  /** Driven time of the run so far, ms. */
  elapsed: ms,
  /** Owner that wrote it. */
  epoch: count,
};
const fact = <T extends string, S extends z.core.$ZodShape>(type: T, shape: S) =>
  z.strictObject({ ...envelope, type: z.literal(type), ...shape });

export const factSchema = z.discriminatedUnion("type", [
  fact("run-start", {
    spec: runSpecSchema,
    pawl: z.string(),
    base: z.strictObject({ commit: oid.nullable(), tree: oid, branch: z.string().nullable(), detached: z.boolean() }),
  }),
  fact("run-reopened", { was: outcomeSchema, limits: limitsSchema, model: z.string().optional() }),
  /** `warnings`: what a person must know beside the outcome, such as work that is not in what was delivered. */
  fact("run-end", {
    outcome: outcomeSchema,
    warnings: z.array(z.string()).optional(),
    /** Its branch, which had no commit of its own, is gone again. */
    branchRemoved: z.literal(true).optional(),
  }),
  fact("lease-changed", { pid: count, startedAt: z.string(), boot: z.string(), host: z.string(), swept: count }),
  fact("lane-start", { why: z.string() }),
  fact("lane-end", { why: z.string() }),
  fact("iteration-start", { n: count, why: z.string() }),
  fact("turn-start", {
    turn: count,
    /** Given to the agent as the id of the user message, so that a transcript can be searched for it. */
    uuid: z.string(),
    iteration: count,
    attempt: count,
    session: sessionSchema,
    /** Who takes it; journals of before had one agent. */
    agent: z.string().optional(),
    /** Its entry among the run's agents, as `agent:model`; what a directive made of the model is in `model`. */
    seat: z.string().optional(),
    /** It looks at the change of another; without, it works. */
    role: z.literal("review").optional(),
    model: z.string().nullable(),
    /** The blob has its text and the list of its parts; `cut` names those that are not whole in it. */
    prompt: z.strictObject({ blob, bytes: count, cut: z.array(z.string()) }),
    reserve: z.strictObject({ usd: z.number().nullable(), tokens: count.nullable() }),
    directives: z.array(z.string()),
  }),
  fact("session-opened", { turn: count, ref: z.string(), model: z.string().nullable() }),
  fact("turn-end", {
    turn: count,
    outcome: turnOutcomeSchema,
    usage: usageSchema,
    /** Last text of the agent, bounded; the whole is in the trace. */
    text: z.string(),
    claim: claimSchema.nullable(),
    misplaced: misplacedSchema.optional(),
    tools: z.array(z.tuple([z.string(), count])),
    durationMs: ms,
    messageId: z.string().nullable(),
    contextTokens: count.nullable(),
    /** Most often that one tool was called with the same input. */
    repeatedCalls: count,
    /** Taken from the transcript by a later driver. */
    foundOut: z.boolean(),
    /** Hashes of notes and knowledge at its end: what the session knows of them. */
    memos: z.record(z.string(), z.string()).optional(),
  }),
  /** Others go on while it is not asked. `until`: wall clock, of a provider's reset; `untilElapsed`: driven time. */
  fact("agent-benched", {
    seat: z.string(),
    turn: count,
    reason: z.string(),
    until: ms.nullable(),
    untilElapsed: ms,
  }),
  fact("change-recorded", {
    iteration: count,
    snapshot: count,
    commit: oid,
    tree: oid,
    /** What checks see and what is delivered. */
    judged: oid,
    by: z.enum(["agent", "user"]),
    files: z.array(fileChangeSchema),
    fileCount: count,
    added: count,
    removed: count,
    warnings: z.array(z.string()),
    /** The judged tree without the tests that the base lacks, where that is another tree. */
    baseTests: oid.optional(),
    /** What of the agent's change was undone because it is protected; `kept` is the ref with the agent's own version. */
    protected: z.array(pathChangeSchema).optional(),
    kept: z.string().optional(),
    /** Tests of the base that differ in this tree, where the run allows it. */
    testsChanged: z.array(pathChangeSchema).optional(),
    /** Protected files that somebody changed between turns: they are protected as they are now. */
    followed: z.array(pathChangeSchema).optional(),
    /** Tests are among these. */
    testsFollowed: z.literal(true).optional(),
    /** Files of this change that programs on the user's machine act on by themselves. */
    flagged: z.array(z.string()).optional(),
    /** A cap was passed, and by what; the work is on disk alone. */
    refused: z.string().optional(),
  }),
  /** A check's verdict on the tree before the first turn. `note`: what it means together with those of the others. */
  fact("baseline-recorded", { check: z.string(), tree: oid, verdict: verdictSchema, note: z.string().optional() }),
  fact("check-start", { check: z.string(), tree: oid, iteration: count }),
  fact("check-end", { check: z.string(), tree: oid, iteration: count, verdict: verdictSchema }),
  /** Parts of a proof run side by side; what they come to together is the next check-end. */
  fact("proof-start", { check: z.string(), tree: oid, iteration: count, part: proofPartSchema }),
  /** `verdict`: what the check comes to by this part alone. */
  fact("proof-end", { check: z.string(), tree: oid, iteration: count, part: proofPartSchema, verdict: verdictSchema }),
  fact("failure-recorded", {
    iteration: count,
    /** Normalised shape of the change that led to it, and words for people. */
    approach: z.string(),
    summary: z.string(),
    fingerprints: z.array(z.string()),
    messages: z.array(z.string()),
  }),
  fact("decision-made", {
    iteration: count,
    rule: z.string(),
    next: z.enum(["continue", "fresh-session", "other-agent", "restore", "ask", "end"]),
    /** Words for the next prompt and for people. */
    reason: z.string(),
    numbers: z.record(z.string(), z.number()),
    restoreTo: count.optional(),
    outcome: outcomeSchema.optional(),
  }),
  fact("effect-intended", {
    effect: z.string(),
    kind: z.enum(["commit", "restore"]),
    iteration: count,
    tree: oid,
    message: z.string(),
  }),
  fact("change-accepted", {
    iteration: count,
    tree: oid,
    commit: oid.nullable(),
    branch: z.string().nullable(),
    adopted: z.array(oid),
    warnings: z.array(z.string()),
    /** It could not be handed over: the work is under this salvage ref. */
    conflict: z.string().optional(),
    conflictReason: z.string().optional(),
  }),
  fact("change-restored", {
    iteration: count,
    to: count,
    tree: oid,
    salvage: z.string(),
    why: z.string(),
    /** The run's end put the best state back; `failed`: it could not, and nothing was done. */
    atEnd: z.literal(true).optional(),
    failed: z.string().optional(),
  }),
  fact("directive-received", { id: z.string(), directive: directiveSchema, source: z.string(), queuedAt: ms }),
  /** `refused`: it came to nothing; `how` says why. */
  fact("directive-delivered", {
    id: z.string(),
    how: z.string(),
    turn: count.nullable(),
    refused: z.literal(true).optional(),
  }),
  fact("directive-acknowledged", { id: z.string(), turn: count }),
  fact("human-requested", {
    question: z.string(),
    kind: z.enum(["permission", "question", "unverifiable", "ladder", "errors", "hook"]),
    text: z.string(),
    /** Answers that are offered; a person may also write another where the kind allows it. */
    options: z.array(z.string()),
    /** The turn that waits for it; null when the run does. */
    turn: count.nullable(),
    /** Driven time after which policy answers; null: it waits for a person. */
    untilElapsed: ms.nullable(),
    /** The point of the loop that waits for it, so that it is asked once; a turn's own questions have none. */
    about: z.string().optional(),
  }),
  fact("human-answered", {
    question: z.string(),
    text: z.string(),
    /** `turn-ended`: the turn that waited is over. */
    by: z.enum(["person", "policy", "timeout", "turn-ended"]),
    /** Whose words they are. */
    directive: z.string().optional(),
  }),
  /** The task file as it was after a turn, a person's change or a restore; not repeated while it stays the same. */
  fact("tasks-recorded", {
    iteration: count,
    /** Who changed it; `pawl` put an older state back. */
    by: z.enum(["agent", "person", "pawl"]),
    tasks: z.array(taskSchema),
    /** Ticked without work, vanished: said, never silently honoured. */
    suspicions: z.array(z.string()),
    /** What a person asked for, where it was by directive. */
    edit: taskEditSchema.optional(),
  }),
  fact("hook-end", {
    hook: z.string(),
    on: hookEventSchema,
    /** What it ran for, so that it runs once: the iteration, the epoch, … */
    occasion: z.string(),
    ok: z.boolean(),
    exitCode: z.int().nullable(),
    durationMs: ms,
    /** Bounded. */
    output: z.string(),
  }),
  fact("wait-start", {
    wait: z.string(),
    reason: z.string(),
    /** Wall clock; only for provider reset times. */
    until: ms.nullable(),
    /** Driven time at which it ends, for backoff. */
    untilElapsed: ms.nullable(),
  }),
  fact("wait-end", { wait: z.string(), why: z.string() }),
  fact("proposal-made", proposalShape),
  fact("execution-recorded", executionShape),
  fact("plan-made", planShape),
  fact("step-end", stepShape),
]);

export type Fact = z.infer<typeof factSchema>;
export type FactType = Fact["type"];
export type FactOf<T extends FactType> = Extract<Fact, { type: T }>;
type Envelope = keyof typeof envelope;
type WithoutEnvelope<F> = F extends Fact ? Omit<F, Envelope> & { lane?: string } : never;
/** What an author gives; the journal adds the envelope. */
export type NewFact = WithoutEnvelope<Fact>;
