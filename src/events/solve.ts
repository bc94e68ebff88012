/** Facts of a run that solves: what the model proposed, what came of running it, the plan and its steps. */
import { z } from "zod";
import { LANGUAGE_NAMES, MAX_STEPS } from "../spec/solve-names.ts";
import { planStepSchema } from "../spec/solve.ts";
import { blob, count, ms } from "./values.ts";

/** A text whole as a blob, and bounded for who only reads facts. */
const keptSchema = z.strictObject({ blob, bytes: count, text: z.string() });
export type Kept = z.infer<typeof keptSchema>;

/** Cut: of the blob, too, the middle is missing. */
const printedSchema = keptSchema.extend({ isCut: z.literal(true).optional() });

const language = z.enum(LANGUAGE_NAMES);

export const proposalShape = {
  turn: count,
  iteration: count,
  /** `nothing`: what came was no proposal; `problem` says why. */
  do: z.enum(["plan", "run", "answer", "nothing"]),
  note: z.string(),
  language: language.optional(),
  code: keptSchema.optional(),
  /** Of a step of a plan: what the code prints is the step's result. */
  final: z.literal(true).optional(),
  answer: keptSchema.optional(),
  problem: z.string().optional(),
};

const endSchema = z.discriminatedUnion("is", [
  z.strictObject({ is: z.literal("exit"), code: z.int() }),
  z.strictObject({ is: z.literal("signal"), signal: z.string() }),
  z.strictObject({ is: z.literal("timeout"), afterMs: ms }),
  z.strictObject({
    is: z.literal("limit"),
    which: z.enum(["memory", "processes", "disk", "output"]),
    message: z.string(),
  }),
  z.strictObject({ is: z.literal("unavailable"), reason: z.string() }),
]);

const fileSchema = z.strictObject({ path: z.string(), bytes: count, fileId: z.string().optional() });

const exceptionSchema = z.strictObject({
  type: z.string(),
  message: z.string(),
  /** Of the generated code, the most recent call last. */
  frames: z.array(
    z.strictObject({
      file: z.string(),
      line: count.nullable(),
      function: z.string().nullable(),
      text: z.string().nullable(),
    }),
  ),
  causes: z.array(z.string()),
});

export const executionShape = {
  turn: count,
  iteration: count,
  /** Whose sandbox it ran in. */
  by: z.string(),
  language,
  code: keptSchema,
  end: endSchema,
  stdout: printedSchema,
  stderr: printedSchema,
  files: z.array(fileSchema),
  durationMs: ms,
  /** What it comes to: `ok`, `exception`, `timeout`, … */
  kind: z.string(),
  exception: exceptionSchema.nullable(),
  /** Of a failure: the same for the same failure, whatever line it is in. */
  fingerprint: z.string().nullable(),
  /** What the model is told of it. */
  message: z.string(),
  container: z.strictObject({ id: z.string(), expiresAt: ms }).optional(),
};

export const planShape = {
  revision: count,
  by: z.enum(["agent", "person"]),
  steps: z.array(planStepSchema).min(1).max(MAX_STEPS),
  /** The turn that made it; null: none did. */
  turn: count.nullable(),
};

export const stepShape = {
  step: z.string(),
  is: z.enum(["done", "failed", "skipped"]),
  /** Of a step that is done, its result; else why it is not. */
  result: keptSchema,
};
