/** What is frozen of a run that solves: where code runs and under which limits, what a request may hold, when it is enough. */
import { z } from "zod";
import { LANGUAGE_NAMES, MAX_STEPS, STEP_ID } from "./solve-names.ts";

const languageSchema = z.enum(LANGUAGE_NAMES);

const MAX_TITLE_CHARS = 500;

export const planStepSchema = z.strictObject({
  id: z.string().regex(STEP_ID),
  title: z.string().min(1).max(MAX_TITLE_CHARS),
  /** Steps whose results it builds on. */
  needs: z.array(z.string()),
  /** What its result shall be, in words. */
  expect: z.string().max(MAX_TITLE_CHARS),
});
export type PlanStep = z.infer<typeof planStepSchema>;

const solveFileSchema = z.strictObject({
  /** In the workspace. */
  path: z.string().min(1),
  bytes: z.int().nonnegative(),
  sha256: z.string(),
  /** How it begins, where it is text; bounded. */
  head: z.string(),
});
export type SolveFile = z.infer<typeof solveFileSchema>;

const executionLimitsSchema = z.strictObject({
  timeoutMs: z.int().positive(),
  memoryBytes: z.int().positive(),
  processes: z.int().positive(),
  diskBytes: z.int().positive(),
  outputBytes: z.int().positive(),
});

export const solveSpecSchema = z.strictObject({
  /** `local`: pawl runs the code in its own fence. `claude`: the model runs it in its provider's sandbox. */
  executor: z.enum(["local", "claude"]),
  /** Undefined: as the model likes. */
  language: languageSchema.optional(),
  files: z.array(solveFileSchema),
  history: z.enum(["pruned", "full"]),
  /** What pawl may put into one request to the model. */
  requestTokens: z.int().positive(),
  /** Identical successful outputs in a row that are taken for the answer. */
  repeats: z.int().positive(),
  /** Steps of a plan that run at the same time. */
  parallel: z.int().positive(),
  /** Turns that a step of a plan has for its result. */
  stepTries: z.int().positive(),
  limits: executionLimitsSchema,
  /** A person's; without one the model may make its own. */
  plan: z.array(planStepSchema).max(MAX_STEPS).optional(),
  /** The run ends when there is a plan. */
  planOnly: z.boolean(),
  /** Where what the code made, and the final program, shall be copied to at the end; absolute. */
  out: z.string().optional(),
  save: z.string().optional(),
});
export type SolveSpec = z.infer<typeof solveSpecSchema>;
