/** What was asked for beside the question: a schema, a plan, an expected answer; read and checked before anything begins. */
import { parse as parseYaml } from "yaml";
import { UsageError } from "../../errors.ts";
import { planProblem, readSteps } from "../../loop/solve-plan.ts";
import { ANSWER_FILE, ANSWER_JSON } from "../../loop/solve-answer.ts";
import { schemaProblem } from "../../platform/json-schema.ts";
import { readTextFile } from "../../platform/text-file.ts";
import { EXPECT_CHECK } from "../../recipes/solve/question.ts";
import type { CheckSpec, Requirement } from "../../spec.ts";
import type { PlanStep } from "../../spec/solve.ts";

const MAX_FILE_BYTES = 256 * 1024;
const SCHEMA_CHECK = "schema";

/** Also from a pipe, as `--plan <(command)` gives one. */
const textOf = (path: string, flag: string): string => readTextFile(path, { what: flag, maxBytes: MAX_FILE_BYTES });

type Json = NonNullable<Requirement["schema"]>;

/** Of a file, or as it is where it begins like an object. */
export function readSchema(given: string): Json {
  const text = given.trimStart().startsWith("{") ? given : textOf(given, "--schema");
  let schema: Json;
  try {
    schema = JSON.parse(text) as Json;
  } catch (cause) {
    throw new UsageError(`--schema: it is no JSON: ${(cause as Error).message}`, { cause });
  }
  const problem = typeof schema === "object" && !Array.isArray(schema) ? schemaProblem(schema) : "it is no object";
  if (problem !== undefined)
    throw new UsageError(`--schema: ${problem}`, { hint: 'a JSON Schema, such as {"type": "number"}' });
  return schema;
}

/** A list of steps, or an object with one, in YAML or JSON. */
export function readPlan(path: string): PlanStep[] {
  let given: unknown;
  try {
    given = parseYaml(textOf(path, "--plan"));
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`--plan ${path}: ${(cause as Error).message.split("\n")[0]}`, { cause });
  }
  const list = Array.isArray(given) ? given : (given as { steps?: unknown } | null)?.steps;
  const steps = readSteps(list);
  const problem = typeof steps === "string" ? steps : planProblem(steps);
  if (typeof steps === "string" || problem !== undefined)
    throw new UsageError(`--plan ${path}: ${problem}`, {
      hint: "steps: a list of {id, title, needs: [ids], expect}; `pawl solve --plan-only` prints one",
    });
  return steps;
}

const quoted = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");

/** As checks of the answer's files. */
export function answerChecks(
  { expect, schema }: { expect: string | undefined; schema: Json | undefined },
  { timeoutMs }: { timeoutMs: number },
): CheckSpec[] {
  if (expect?.trim() === "")
    throw new UsageError("--expect: it is empty, and no answer is", { hint: 'for example: --expect "42"' });
  const check = (name: string, command: string, require: Requirement): CheckSpec => ({
    name,
    kind: "requirement",
    command,
    required: true,
    timeoutMs,
    require: [require],
  });
  // The whole text, and not a line of it.
  const whole = (text: string): string => `(?<![\\s\\S])\\s*${quoted(text.trim())}\\s*(?![\\s\\S])`;
  return [
    ...(expect === undefined
      ? []
      : [check(EXPECT_CHECK, "the answer is the expected one", { file: ANSWER_FILE, matches: [whole(expect)] })]),
    ...(schema === undefined ? [] : [check(SCHEMA_CHECK, "the answer fits its schema", { file: ANSWER_JSON, schema })]),
  ];
}
