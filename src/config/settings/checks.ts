/** The checks of `pawl.yaml`: a command, or what else can be asked of a change, each by the key that names its kind. */
import { z } from "zod";
import { schemaProblem } from "../../platform/json-schema.ts";
import { stepsOf } from "../../platform/json-path.ts";
import { guardRuleSchema, type GuardRule } from "../../spec.ts";
import { nearest } from "../nearest.ts";
import { count, duration } from "../units.ts";
import { check, checkText, insideFile, listOf, text, weight } from "./kinds.ts";

const yesNo = z.boolean("must be true or false");
const number = z.number("must be a number");
const common = {
  name: text.optional(),
  timeout: duration.optional(),
  required: yesNo.optional(),
  weight: weight.optional(),
};

const range = <T extends z.ZodType<number>>(one: T) => ({ min: one.optional(), max: one.optional() });
const isRange = ({ min, max }: { min?: number | undefined; max?: number | undefined }): boolean =>
  min === undefined || max === undefined || min <= max;
const NO_RANGE = "has a min above its max";

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "m") instanceof RegExp;
  } catch {
    return false;
  }
}
const pattern = z
  .string("must be a regular expression")
  .min(1, "must not be empty")
  .refine(isPattern, "must be a regular expression");

/** One, or a list of them. */
const some = <T extends z.ZodType>(one: T) =>
  z.union([one.transform((only) => [only]), z.array(one).min(1, "must not be empty")], {
    error: ({ input }) => {
      const issue = (Array.isArray(input) ? input : [input]).map((each) => one.safeParse(each).error?.issues[0]);
      return issue.find((found) => found !== undefined)?.message ?? "must be one or a list of them";
    },
  });

const words = z.int("must be a whole number").nonnegative("must be a whole number");
const jsonSchema = z.record(z.string(), z.json(), "must be a JSON Schema").superRefine((schema, context) => {
  const problem = schemaProblem(schema);
  if (problem !== undefined) context.addIssue({ code: "custom", message: `cannot be used: ${problem}` });
});

const requirement = z
  .strictObject(
    {
      file: insideFile,
      exists: yesNo.optional(),
      matches: some(pattern).optional(),
      lacks: some(pattern).optional(),
      contains: some(text).optional(),
      without: some(text).optional(),
      words: z.strictObject(range(words), "must have min or max").refine(isRange, NO_RANGE).optional(),
      number: z
        .strictObject({ pattern, ...range(number) }, "must have a pattern, and min or max")
        .refine(isRange, NO_RANGE)
        .optional(),
      schema: jsonSchema.optional(),
    },
    "must be a file, or have `file` and what is asked of it",
  )
  .refine(
    ({ exists, ...rest }) => exists !== false || Object.keys(rest).every((key) => key === "file"),
    "asks something of a file that must not exist",
  );

const requires = z.strictObject({
  ...common,
  requires: z.union(
    [
      insideFile.transform((file) => [{ file }]),
      requirement.transform((one) => [one]),
      z
        .array(z.union([insideFile.transform((file) => ({ file })), requirement], { error: requirementError }))
        .min(1, "must not be empty"),
    ],
    { error: requirementError },
  ),
});

function requirementError({ input }: { input?: unknown }): string {
  const one: unknown = Array.isArray(input) ? input.find((each) => firstIssue(requirementOrFile(each), each)) : input;
  return firstIssue(requirementOrFile(one), one) ?? "must be a file, or have `file` and what is asked of it";
}
const requirementOrFile = (given: unknown): z.ZodType => (typeof given === "string" ? insideFile : requirement);

/** What makes a number look better without making anything better, and keys that nobody wants in a diff. */
const DEFAULT_RULES: readonly GuardRule[] = [
  "tests-deleted",
  "tests-skipped",
  "tests-emptied",
  "suppressions",
  "secrets",
];

const RULE_WORDS = [...guardRuleSchema.options, "default"] as const;
const rule = z.enum(RULE_WORDS, {
  error: ({ input }) => {
    const meant = typeof input === "string" ? nearest(input, RULE_WORDS) : undefined;
    return meant === undefined
      ? `must be of: ${RULE_WORDS.join(", ")}`
      : `has no rule ${String(input)}; did you mean ${meant}?`;
  },
});
const guard = z
  .strictObject({
    ...common,
    guard: listOf(rule, /[,\s]+/),
    "max-lines": count.optional(),
    forbid: listOf(text, /[,\n]/).optional(),
  })
  .transform(({ guard: asked, "max-lines": maxLines, forbid, ...rest }, context) => {
    const rules: GuardRule[] = asked.flatMap((one) => (one === "default" ? DEFAULT_RULES : [one]));
    if (maxLines !== undefined) rules.push("diff-size");
    if (forbid !== undefined && forbid.length > 0) rules.push("forbidden-paths");
    const wrong = (message: string): unknown => context.addIssue({ code: "custom", path: ["guard"], message });
    if (rules.length === 0) wrong("must not be empty");
    if (rules.includes("diff-size") && maxLines === undefined) wrong("diff-size needs max-lines");
    if (rules.includes("forbidden-paths") && (forbid ?? []).length === 0) wrong("forbidden-paths needs forbid");
    return {
      ...rest,
      guard: [...new Set(rules)],
      ...(maxLines === undefined ? {} : { maxLines }),
      ...(forbid === undefined ? {} : { forbid }),
    };
  });

const judge = z.strictObject({
  ...common,
  judge: text,
  pass: number.min(0, "must be from 0 to 1").max(1, "must be from 0 to 1").optional(),
  model: text.optional(),
  files: listOf(text, /[,\n]/).optional(),
});

const metric = z.strictObject({
  ...common,
  metric: z
    .strictObject(
      { run: text, line: text.optional(), json: text.optional(), ...range(number) },
      "must have `run`, and `line` or `json`",
    )
    .refine(({ line, json }) => (line === undefined) !== (json === undefined), "must have either `line` or `json`")
    .refine(({ json }) => json === undefined || stepsOf(json) !== undefined, {
      path: ["json"],
      message: "must be a path such as a.b[0].c",
    })
    .refine(isRange, NO_RANGE),
});

const KINDS: Readonly<Record<string, z.ZodType>> = { run: check, requires, guard, judge, metric };

export const anyCheck = z.union([check, requires, guard, judge, metric], { error: ({ input }) => whatIsWrong(input) });
export type CheckSetting = z.output<typeof anyCheck>;
export type CheckGiven = z.input<typeof anyCheck>;

/** Of the kind that was meant: a list of what every kind would have wanted helps nobody. */
function whatIsWrong(given: unknown): string {
  const kinds = Object.keys(KINDS);
  const says = `must be a command, or have one of: ${kinds.join(", ")}`;
  if (typeof given === "string" && given.trim() !== "") return firstIssue(checkText, given) ?? says;
  if (typeof given !== "object" || given === null || Array.isArray(given)) return says;
  const [kind, other] = kinds.filter((name) => Object.hasOwn(given, name));
  if (kind === undefined) {
    const [wrong, meant] =
      Object.keys(given)
        .map((key) => [key, nearest(key, kinds)])
        .find(([, name]) => name !== undefined) ?? [];
    return meant === undefined ? says : `has no key ${wrong}; did you mean ${meant}?`;
  }
  if (other !== undefined) return `must be one kind of check, not ${kind} and ${other}`;
  return firstIssue(KINDS[kind], given) ?? says;
}

/** Its path and words; undefined when there is none. */
function firstIssue(schema: z.ZodType | undefined, given: unknown): string | undefined {
  const issue = schema?.safeParse(given).error?.issues[0];
  if (issue === undefined) return undefined;
  const unknown = issue.code === "unrecognized_keys" ? `has an unknown key ${issue.keys.join(", ")}` : issue.message;
  return [issue.path.join("."), unknown].filter((part) => part !== "").join(" ");
}
