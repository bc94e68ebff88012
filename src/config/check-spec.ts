/** From a check as it is written in `pawl.yaml` to what a run has frozen of it, with a name and words for people. */
import type { CheckSpec, Requirement } from "../spec.ts";
import type { CheckSetting } from "./settings/checks.ts";

const MAX_NAME_CHARS = 60;
const MAX_WORDS_CHARS = 600;
const DEFAULT_PASS_SCORE = 0.7;

/** What it is called when nobody named it. */
export function checkName(check: CheckSetting): string {
  if (check.name !== undefined) return check.name;
  return oneLine(plainName(check), MAX_NAME_CHARS);
}

function plainName(check: CheckSetting): string {
  if ("run" in check) return check.run;
  if ("requires" in check) return check.requires.map(({ file }) => file).join(", ");
  if ("guard" in check) return "guard";
  if ("judge" in check) return "judge";
  return check.metric.line ?? check.metric.json ?? check.metric.run;
}

export function checkSpec(check: CheckSetting, { timeoutMs }: { timeoutMs: number }): CheckSpec {
  const base = {
    name: checkName(check),
    required: ("required" in check ? check.required : undefined) ?? true,
    timeoutMs: ("timeout" in check ? check.timeout : undefined) ?? timeoutMs,
    ...("weight" in check && check.weight !== undefined ? { weight: check.weight } : {}),
  };
  if ("run" in check) {
    const reports = "reports" in check && check.reports !== undefined ? { reports: check.reports } : {};
    return { ...base, kind: "command", command: check.run, ...reports };
  }
  if ("requires" in check) {
    const require = check.requires.map(withoutNothing);
    return { ...base, kind: "requirement", command: sayRequirements(require), require };
  }
  if ("guard" in check) {
    const { guard: rules, maxLines, forbid } = check;
    const command = oneLine(`guard: ${rules.join(", ")}`, MAX_WORDS_CHARS);
    const more = {
      ...(maxLines === undefined ? {} : { maxLines }),
      ...(forbid === undefined ? {} : { paths: forbid }),
    };
    return { ...base, kind: "guard", command, rules, ...more };
  }
  if ("judge" in check) {
    const { judge: rubric, pass: passScore = DEFAULT_PASS_SCORE, model, files } = check;
    const command = oneLine(`judge, at least ${passScore}: ${rubric}`, MAX_WORDS_CHARS);
    const more = { ...(model === undefined ? {} : { model }), ...(files === undefined ? {} : { files }) };
    return { ...base, kind: "judge", command, rubric, passScore, ...more };
  }
  const { run: command, line, json = "", min, max } = check.metric;
  const range = { ...(min === undefined ? {} : { min }), ...(max === undefined ? {} : { max }) };
  return { ...base, kind: "metric", command, value: line === undefined ? { json } : { line }, ...range };
}

/** As the frozen specification has it: what is not asked is not there. */
function withoutNothing(requirement: object): Requirement {
  const inner = Object.entries(requirement).filter(([, value]) => value !== undefined);
  return Object.fromEntries(inner) as Requirement;
}

/** All of it, as far as there is room: the agent is told these words before it begins. */
function sayRequirements(require: readonly Requirement[]): string {
  const each = require.map((requirement) => {
    if (requirement.exists === false) return `no ${requirement.file}`;
    const asked = conditions(requirement);
    return asked.length === 0 ? requirement.file : `${requirement.file} (${asked.join("; ")})`;
  });
  return oneLine(`requires ${each.join(", ")}`, MAX_WORDS_CHARS);
}

function conditions({ matches, lacks, contains, without, words, number, schema }: Requirement): string[] {
  const listed = (how: string, texts: readonly string[] | undefined): string[] =>
    texts === undefined ? [] : [`${how} ${texts.map((text) => JSON.stringify(text)).join(", ")}`];
  return [
    ...(words === undefined ? [] : [`${range(words)} words`]),
    ...listed("with", contains),
    ...listed("without", without),
    ...listed("matching", matches),
    ...listed("not matching", lacks),
    ...(number === undefined ? [] : [`a number of ${range(number)} at ${JSON.stringify(number.pattern)}`]),
    ...(schema === undefined ? [] : ["fitting a JSON Schema"]),
  ];
}

function range({ min, max }: { min?: number | undefined; max?: number | undefined }): string {
  if (min === undefined) return max === undefined ? "any number" : `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}

function oneLine(text: string, max: number): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= max ? line : line.slice(0, max);
}
