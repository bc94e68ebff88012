/** What an iteration's commit says: a title, the person's own where they have one, and trailers. Pure. */
import { iterationTitle, verdictOf, type HandOver, type RunState } from "./state.ts";
import { fill } from "./template.ts";

export const TITLE_VARIABLES = ["iteration", "goal", "verdict", "run"] as const;
const MAX_TITLE_CHARS = 200;
const MAX_GOAL_CHARS = 60;

export function commitMessage(state: RunState, { tree, iteration, title }: HandOver): string {
  const verdicts = state.spec.checks.map((c) => ({
    check: c.name,
    is: verdictOf(state, tree, c.name)?.is ?? "skipped",
  }));
  const green = verdicts.every(({ is }) => is === "pass");
  const word = verdicts.length === 0 ? "unchecked" : green ? "green" : "red";
  const detail = verdicts.map(({ check, is }) => `${check}: ${is}`).join(", ");
  const verdict = verdicts.length === 0 ? word : `${word} (${detail.replaceAll("\n", " ")})`;
  // Only an iteration's own: a restore and the user's change keep the titles that say so.
  const own = title === iterationTitle(iteration) ? ownTitle(state, { iteration, verdict: word }) : "";
  return `${own === "" ? title : own}\n\nPawl-Run: ${state.run}\nPawl-Iteration: ${iteration}\nPawl-Verdict: ${verdict}\n`;
}

function ownTitle({ spec, run }: RunState, { iteration, verdict }: { iteration: number; verdict: string }): string {
  const { commitTitle } = spec.workspace;
  if (commitTitle === undefined) return "";
  const goal = firstChars(oneLine(spec.goal.trim().split("\n")[0] ?? ""), MAX_GOAL_CHARS);
  const values: Record<(typeof TITLE_VARIABLES)[number], string> = { iteration: String(iteration), goal, verdict, run };
  const filled = fill(commitTitle, (name) => values[name as keyof typeof values] ?? "");
  return firstChars(oneLine(filled), MAX_TITLE_CHARS);
}

/** Without anything that could end the line or speak to a terminal. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ").trim();

function firstChars(text: string, max: number): string {
  const characters = Array.from(text);
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join("")}…`;
}
