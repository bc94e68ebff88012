/** Code that the scripted model runs in its own sandbox: what a script says of it. */
import { z } from "zod";

const fileSchema = z.strictObject({
  /** Its name; folders are left out, as the real API does. */
  path: z.string().min(1),
  text: z.string().optional(),
  base64: z.string().optional(),
});

const resultSchema = z.strictObject({
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  exitCode: z.int().optional(),
  /** Instead of all else: unavailable, execution_time_exceeded, container_expired, … */
  error: z.string().min(1).optional(),
  /** Produced by it. */
  files: z.array(fileSchema).optional(),
});

export const executeSchema = z
  .strictObject({
    language: z.enum(["python", "shell"]),
    code: z.string().min(1),
    result: resultSchema.optional(),
    /** Really runs it, where the server was started with `runCode`. */
    run: z.boolean().optional(),
  })
  .refine(({ run, result }) => run !== true || result === undefined, "`run` and `result` exclude each other");

export type Execute = z.infer<typeof executeSchema>;
export type ExecuteResult = z.infer<typeof resultSchema>;
