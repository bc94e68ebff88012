/** What a check said, with the evidence that makes it repeatable. */
import { z } from "zod";
import { blob, count, ms, oid, usageSchema } from "./values.ts";

const failureSchema = z.strictObject({
  /** Stable across runs: test id or normalised line. */
  fingerprint: z.string(),
  /** For people and prompts, bounded. */
  message: z.string(),
  /** Where, relative to the tree. */
  file: z.string().optional(),
  line: count.optional(),
  expected: z.string().optional(),
  actual: z.string().optional(),
  /** The first frames that lie in the tree, bounded. */
  frames: z.array(z.string()).optional(),
});
export type Failure = z.infer<typeof failureSchema>;

const evidenceSchema = z.strictObject({
  tree: oid,
  command: z.string(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  durationMs: ms,
  log: blob.nullable(),
  logBytes: count,
  isolation: z.string(),
  suspicions: z.array(z.string()),
  /** Of a runner's report; null where there is none, so that only the exit code speaks. `ids`: blob, JSON by test id. */
  tests: z
    .strictObject({ ids: blob, passed: count, failed: count, skipped: count, broken: count.optional() })
    .nullable()
    .optional(),
  /** The command is one runner of tests and nothing else: its report has all that failed. */
  alone: z.literal(true).optional(),
  /** Tests of the base that are not there any more, in files that the change may touch. */
  testsChanged: z.array(z.string()).optional(),
  /** Tests that are skipped or expected to fail, and were not seen so on the base. */
  skips: z.array(z.string()).optional(),
  /** How often it was run for this verdict, where more than once. */
  runs: count.optional(),
  /** Tests whose failures were not counted: quarantined by a person. */
  quarantined: z.array(z.string()).optional(),
  /** A test that must fail was planted: whether the check saw it; `none`: none could be tried with this check. */
  control: z.enum(["seen", "not-seen", "none"]).optional(),
  /** Of `none`: where no failure could be planted, or none could be seen, in words. */
  uncontrolled: z.array(z.string()).optional(),
  /** What a model that judged cost. */
  usage: usageSchema.optional(),
  /** What a metric measured. */
  value: z.number().optional(),
});
export type Evidence = z.infer<typeof evidenceSchema>;

export const verdictSchema = z.discriminatedUnion("is", [
  z.strictObject({ is: z.literal("pass"), evidence: evidenceSchema, score: z.number().optional() }),
  z.strictObject({
    is: z.literal("fail"),
    evidence: evidenceSchema,
    failures: z.tuple([failureSchema], failureSchema),
    /** Tail of the log for the next prompt, bounded. */
    excerpt: z.string(),
    score: z.number().optional(),
  }),
  z.strictObject({
    is: z.literal("flaky"),
    evidence: evidenceSchema,
    failures: z.tuple([failureSchema], failureSchema),
    runs: count,
  }),
  z.strictObject({
    is: z.literal("unverifiable"),
    reason: z.string(),
    retryAfterMs: ms.optional(),
    /** What a model cost that came to no judgement. */
    usage: usageSchema.optional(),
  }),
  z.strictObject({ is: z.literal("skipped"), reason: z.string() }),
]);
export type Verdict = z.infer<typeof verdictSchema>;

/** What a pass is asked for before it ends a run: to come out the same again, and to see a failure that is planted. */
export const proofPartSchema = z.discriminatedUnion("is", [
  /** The n-th pass in a row, of so many. */
  z.strictObject({ is: z.literal("repetition"), n: count, of: count }),
  z.strictObject({ is: z.literal("control") }),
]);
export type ProofPart = z.infer<typeof proofPartSchema>;
