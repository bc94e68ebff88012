/** How a question was solved, from the first attempt to the answer, as a text of its own. */
import { stringify } from "yaml";
import { solveOf, type Attempt, type PlanState, type StepState } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import type { Blobs } from "../../ports.ts";
import { whole, type SolveAnswer } from "./answer.ts";
import { counted } from "../cli/format.ts";

/** As `--plan` reads it. */
export function planYaml({ steps }: PlanState): string {
  return stringify({ steps: steps.map(({ id, title, needs, expect }) => ({ id, title, needs, expect })) });
}

const fenced = (text: string, language = ""): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
};

/** Its first line. */
export const title = ({ run }: RunState): string => `# ${run}`;

export async function transcript(
  state: RunState,
  { blobs, answer }: { blobs: Blobs; answer: SolveAnswer },
): Promise<string> {
  const { attempts, plan, forgotten } = solveOf(state);
  const told = await Promise.all(attempts.map((attempt) => attemptWords(attempt, blobs)));
  const { outcome, text } = answer;
  return [
    title(state),
    `## Question\n\n${state.spec.goal.trim()}`,
    ...(plan === undefined ? [] : [`## Plan\n\n${plan.steps.map(stepWords).join("\n")}`]),
    ...(forgotten === 0 ? [] : [`${forgotten} earlier attempts are only in the journal.`]),
    ...told,
    `## ${answer.settled ? "Answer" : "No answer; the last was"}\n\n${text === null ? "none" : fenced(text)}`,
    outcome === null ? "Not ended." : `${outcome.is} (${outcome.rule}): ${outcome.reason}`,
  ]
    .join("\n\n")
    .concat("\n");
}

const stepWords = ({ id, title, needs, is }: StepState): string =>
  `- ${id}${needs.length === 0 ? "" : ` (needs ${needs.join(", ")})`}: ${title}: ${is}`;

/** One attempt, whole. */
export async function attemptWords(attempt: Attempt, blobs: Blobs): Promise<string> {
  const { turn, lane, iteration, does, note, problem, code, answer, executed } = attempt;
  const where = lane === "main" ? `iteration ${iteration}` : `${lane}, try ${iteration}`;
  const ran = executed === undefined ? code : { language: executed.language, kept: executed.code };
  return [
    `## Attempt ${turn} (${where}): ${does}`,
    note,
    ...(problem === undefined ? [] : [`It could not be used: ${problem}.`]),
    ...(ran === undefined ? [] : [fenced(await whole(blobs, ran.kept), ran.language)]),
    ...(executed === undefined ? [] : [await resultWords(executed, blobs)]),
    ...(answer === undefined ? [] : [`Answer:\n\n${fenced(await whole(blobs, answer))}`]),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

async function resultWords(executed: NonNullable<Attempt["executed"]>, blobs: Blobs): Promise<string> {
  const { by, kind, end, durationMs, message, files } = executed;
  const [stdout, stderr] = [await whole(blobs, executed.stdout), await whole(blobs, executed.stderr)];
  const ended = end.is === "exit" ? `exit code ${end.code}` : end.is === "signal" ? end.signal : end.is;
  return [
    `${kind} (${ended}) after ${(durationMs / 1_000).toFixed(1)} s, run by ${by}`,
    ...(message === "" ? [] : [message]),
    ...(stdout.trim() === "" ? [] : [`stdout:\n\n${fenced(stdout)}`]),
    ...(stderr.trim() === "" ? [] : [`stderr:\n\n${fenced(stderr)}`]),
    ...(files.length === 0
      ? []
      : [`files: ${files.map(({ path, bytes }) => `${path} (${counted(bytes, "byte")})`).join(", ")}`]),
  ].join("\n\n");
}
