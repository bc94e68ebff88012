/**
 * What the stand-in model says: a script file, a function, or steps inside a prompt. One form:
 *
 *   marker: "Iteration \\d+"      # optional: steps are counted from the first prompt with the newest such text
 *   models: [claude-opus-5-5]     # optional: any other model is answered with 404
 *   rules:                        # optional: the first that matches gives the steps
 *     - when: { promptIncludes: "Iteration 2" }
 *       steps: [{ tools: [{ name: Write, input: { file_path: a.txt, content: hi } }] }, { text: done }]
 *   steps: [{ text: done }]       # when no rule matches
 *
 * The n-th step answers the n-th request after a prompt. Faults (an error status, a hang, a cut) give no answer, so
 * they take no number: they stand before the step they delay, `times` requests long, without `times` for ever.
 */
import { readFileSync } from "node:fs";
import { LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { UsageError } from "../errors.ts";
import { executeSchema } from "./execute.ts";
import type { StandinRequest } from "./request.ts";

const count = z.int().nonnegative();
const ms = z.number().nonnegative();

const stepSchema = z.strictObject({
  /** Several texts are several blocks. */
  text: z.union([z.string(), z.array(z.string())]).optional(),
  thinking: z.string().optional(),
  tools: z
    .array(z.strictObject({ name: z.string().min(1), input: z.record(z.string(), z.json()).optional() }))
    .optional(),
  /** Code that the model runs in its provider's sandbox, before its last text; left out where that is not offered. */
  execute: z.array(executeSchema).optional(),
  /** The container that the request names is gone: it is refused, and answered when it is sent without. */
  expireContainer: z.boolean().optional(),
  /** In the form that the request asks for: as its text, or as the input of the tool that it has to call. */
  answer: z.json().optional(),
  /** Told where the request has `context_management`. */
  appliedEdits: z.array(z.json()).optional(),
  /** The conversation is summed up in these words, at this cost beside that of the answer; where that was asked for. */
  compaction: z.strictObject({ summary: z.string().nullable(), input: count, output: count }).optional(),
  /** In the words of the Messages protocol: end_turn, tool_use, max_tokens, refusal, … */
  stopReason: z.string().optional(),
  /** Tokens to report and bill instead of the counted ones. */
  usage: z
    .strictObject({
      input: count.optional(),
      output: count.optional(),
      cacheRead: count.optional(),
      cacheWrite: count.optional(),
    })
    .optional(),
  /** Added to the response. */
  headers: z.record(z.string(), z.string()).optional(),
  /** Before the first byte. */
  delayMs: ms.optional(),
  /** Between the chunks of a stream. */
  chunkMs: ms.optional(),
  /** The last answer goes on for ever. */
  repeat: z.boolean().optional(),

  /** Answers with this HTTP error. */
  status: z.int().min(200).max(599).optional(),
  message: z.string().optional(),
  /** The error's own name for what is wrong, where the protocol has one: OpenAI's `context_length_exceeded`, … */
  code: z.string().min(1).optional(),
  retryAfterS: z.number().nonnegative().optional(),
  /** When the limit ends: epoch seconds, or seconds from the request. */
  resetAt: z.number().nonnegative().optional(),
  resetInS: z.number().nonnegative().optional(),
  /** The subscription's limit, e.g. "You've hit your limit": as a 429, or with `status: 200` as the model's text. */
  usageLimitText: z.string().min(1).optional(),
  /** Part of the stream, then silence until the client leaves. */
  stopMidStream: z.boolean().optional(),
  /** The connection ends with no response, or in the middle of it. */
  cutSocket: z.enum(["before", "mid"]).optional(),
  /** Never answers. */
  hang: z.boolean().optional(),
  /** A fault ends after this many requests of a conversation. */
  times: z.int().positive().optional(),
});
export type Step = z.infer<typeof stepSchema>;

const stepsSchema = z.array(stepSchema).superRefine((steps, context) => {
  for (const [at, step] of steps.entries()) {
    const fault = isFault(step);
    const issue = (message: string): void => context.addIssue({ code: "custom", path: [at], message });
    if (step.times !== undefined && !fault)
      issue("times is for faults: status, usageLimitText, hang, stopMidStream, cutSocket");
    if (fault && step.times === undefined && at < steps.length - 1)
      issue("this fault has no `times`, so it never ends and the steps after it are never reached");
    if (step.repeat === true && at < steps.length - 1) issue("repeat is for the last step");
  }
});

const ruleSchema = z.strictObject({
  /** All that are given must hold. */
  when: z.strictObject({
    /** The prompt being worked on. */
    promptIncludes: z.string().optional(),
    firstUserIncludes: z.string().optional(),
    /** What was said since the model last answered, tool results included. */
    lastUserIncludes: z.string().optional(),
    model: z.string().optional(),
    /** Names of tools, all of which are offered; an empty list: no tool is. */
    toolsOffered: z.array(z.string()).optional(),
  }),
  steps: stepsSchema,
});

const scriptSchema = z
  .strictObject({
    marker: z.string().min(1).refine(isPattern, "not a regular expression").optional(),
    models: z.array(z.string()).optional(),
    rules: z.array(ruleSchema).optional(),
    steps: stepsSchema.optional(),
  })
  .refine((script) => script.rules !== undefined || script.steps !== undefined, "needs `steps` or `rules`");

export type Rule = z.infer<typeof ruleSchema>;
export type ScriptFile = z.infer<typeof scriptSchema>;
/** `attempt`: how many requests of this conversation asked for this very step before; a function has no `times`. */
type ScriptFunction = (request: StandinRequest, step: number, attempt: number) => Step | Promise<Step>;
export type Script = ScriptFile | ScriptFunction;

function isPattern(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp;
  } catch {
    return false;
  }
}

/** True when the conversation has no answer of the model in it afterwards. */
export function isFault(step: Step): boolean {
  if (step.hang === true || step.stopMidStream === true || step.cutSocket !== undefined) return true;
  return (step.status ?? 200) !== 200 || (step.usageLimitText !== undefined && step.status !== 200);
}

/** Reads and checks a JSON or YAML script; what is wrong is told with file and line. */
export function loadScript(path: string): ScriptFile {
  let source: string;
  try {
    source = readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read the script ${path}: ${(error as Error).message}`, {
      hint: "Give --script the path of a JSON or YAML file; its form is in docs/standin.md.",
      cause: error,
    });
  }
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines });
  const broken = document.errors[0];
  if (broken !== undefined)
    throw badScript(`${path}:${lines.linePos(broken.pos[0]).line}`, broken.message.split("\n")[0] ?? "");
  const result = scriptSchema.safeParse(document.toJS() ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const where = issue?.path ?? [];
  const node: unknown = where.length === 0 ? document.contents : document.getIn(where, true);
  const offset = (node as { range?: [number, number, number] } | undefined)?.range?.[0] ?? 0;
  throw badScript(
    `${path}:${lines.linePos(offset).line}`,
    `${where.join(".")}${where.length === 0 ? "" : ": "}${issue?.message}`,
  );
}

function badScript(where: string, problem: string): UsageError {
  return new UsageError(`${where}: ${problem}`, { hint: "The form of a script is in docs/standin.md." });
}

/** The steps between `<<SCRIPT` and `SCRIPT>>`: JSON, JSON with escaped quotes, or base64 of JSON. */
export function stepsInside(text: string): Step[] | undefined {
  const raw = /<<SCRIPT\s+([\s\S]*?)\s+SCRIPT>>/.exec(text)?.[1];
  if (raw === undefined) return undefined;
  const readings = [
    () => raw,
    () => JSON.parse(`"${raw}"`) as string,
    () => Buffer.from(raw, "base64").toString("utf8"),
  ];
  for (const reading of readings) {
    const parsed = attempt(() => JSON.parse(reading()) as unknown);
    if (!Array.isArray(parsed)) continue;
    const result = stepsSchema.safeParse(parsed);
    if (result.success) return result.data;
    throw new UsageError(`the script in the prompt: ${z.prettifyError(result.error)}`);
  }
  throw new UsageError("the script in the prompt is neither JSON nor base64 of JSON");
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
