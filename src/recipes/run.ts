/**
 * `run`: one lane, one agent, iterations until the checks pass and the agent says it is done. The prompt of a session's
 * first turn carries everything; later ones only what is new, so that the conversation's prefix stays cached.
 */
import type { PromptPart, Recipe, TurnAction } from "../loop/actions.ts";
import { promiseTag } from "../loop/claim.ts";
import { judged } from "../loop/decide.ts";
import { hookWords } from "../loop/hooks.ts";
import { iterate } from "../loop/iterate.ts";
import { BLOCK_AFTER_FAILURES, type Lesson } from "../loop/memory.ts";
import { lastJudgement } from "../loop/prompt.ts";
import { mainLane, MAX_SAID_BYTES, pendingSays, type Judgement, type LaneState, type RunState } from "../loop/state.ts";

const KIB = 1024;
const MAX_LESSONS_SHOWN = 8;
const MAX_FAILURES_SHOWN = 10;

export const runRecipe: Recipe = {
  name: "run",
  wanted: (state, now) => iterate(state, mainLane(state), now),
  prompt(state, turn) {
    const lane = mainLane(state);
    const opening = turn.session.mode !== "continue";
    const last = lastJudgement(lane, turn);
    return [
      { name: "directives", text: directives(state), capBytes: MAX_SAID_BYTES + 1 * KIB },
      { name: "header", text: header(state, turn), capBytes: 1 * KIB },
      { name: "interruption", text: interruption(lane, turn), capBytes: 1 * KIB },
      { name: "goal", text: `## Goal\n\n${state.spec.goal}`, capBytes: opening ? 32 * KIB : 2 * KIB },
      { name: "verdicts", text: verdicts(state, last), capBytes: 12 * KIB },
      { name: "decision", text: decision(last), capBytes: 2 * KIB },
      { name: "hooks", text: hookWords(state), capBytes: 8 * KIB },
      { name: "failure-memory", text: memory(state), capBytes: 8 * KIB },
      { name: "hand-off", text: opening ? handOff(state, lane) : "", capBytes: 6 * KIB },
      { name: "rules", text: opening ? rules(state) : reminder(state), capBytes: 4 * KIB },
    ] satisfies PromptPart[];
  },
};

function directives(state: RunState): string {
  const says = pendingSays(state).map(({ text }) => text);
  return says.length === 0 ? "" : `## Orchestrator directive (priority)\n\n${says.join("\n\n")}`;
}

function header(state: RunState, { iteration, attempt }: TurnAction): string {
  const max = state.limits.iterations;
  const of = max === undefined ? "" : ` of ${max}`;
  return `Iteration ${iteration}${of}${attempt > 1 ? ` (attempt ${attempt})` : ""}`;
}

function interruption(lane: LaneState, { attempt }: TurnAction): string {
  if (attempt === 1 || lane.ended === undefined) return "";
  return "The last turn did not end: it was cut off. Look at what is already done in the files, and go on from there.";
}

/** Of the last judged change, red ones with evidence. */
function verdicts(state: RunState, last: Judgement | undefined): string {
  if (last?.decision === undefined) return "";
  const lines = judged(state, last).map(({ check, verdict }) => {
    switch (verdict?.is) {
      case undefined:
        return `- ${check.name}: not run`;
      case "pass":
        return `- ${check.name}: pass`;
      case "skipped":
      case "unverifiable":
        return `- ${check.name}: ${verdict.is} (${verdict.reason})`;
      case "fail":
        return [
          `- ${check.name}: FAIL (\`${check.command}\` exited with ${verdict.evidence.exitCode})`,
          quote(verdict.excerpt),
        ].join("\n");
      case "flaky":
        return `- ${check.name}: flaky (${verdict.failures
          .slice(0, MAX_FAILURES_SHOWN)
          .map((f) => f.message)
          .join("; ")})`;
    }
  });
  return lines.length === 0
    ? ""
    : `## What the checks said after iteration ${last.iteration}\n\npawl ran these itself, on your change:\n\n${lines.join("\n")}`;
}

/** Output of programs is data: indented, so that nothing in it reads as a heading or a fence of the prompt. */
const quote = (text: string): string =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => `      ${line}`)
    .join("\n");

/** How a run ended before it was reopened is not the agent's business. */
function decision(last: Judgement | undefined): string {
  const made = last?.decision;
  if (made === undefined || made.rule === "continue" || made.outcome !== undefined) return "";
  if (made.rule === "green-unclaimed")
    return "All checks pass. If the goal is reached in full, say so as described; if not, go on.";
  return `## Decision\n\n${made.reason}`;
}

function memory(state: RunState): string {
  const lessons = [...state.memory.lessons.values()];
  const shown = lessons
    .filter((l) => l.pinned || l.failures >= BLOCK_AFTER_FAILURES)
    .concat(lessons.filter((l) => !l.pinned && l.failures < BLOCK_AFTER_FAILURES).slice(-MAX_LESSONS_SHOWN))
    .slice(-MAX_LESSONS_SHOWN);
  if (shown.length === 0) return "";
  return `## What has been tried and failed\n\n${shown.map(lessonLine).join("\n")}`;
}

function lessonLine({ id, summary, failures, last, message }: Lesson): string {
  const blocked = failures >= BLOCK_AFTER_FAILURES ? " BLOCKED: do not do this again." : "";
  return `- ${id}: ${summary}; failed ${failures}×, last in iteration ${last}: ${message.slice(0, 200).replaceAll("\n", " ")}.${blocked}`;
}

/** For a session that does not know what went before. */
function handOff(state: RunState, lane: LaneState): string {
  if (lane.iteration === 0) return "";
  const why = lane.stale === undefined ? "" : `\n\nWhy you start afresh: ${lane.stale.why}.`;
  const last = lane.lastText === "" ? "" : `\n\nThe last words of the one before you:\n\n${quote(lane.lastText)}`;
  const rounds = state.recent.map(
    (r) =>
      `- iteration ${r.n}: ${r.files} files changed, ${r.verdicts.map((v) => `${v.check} ${v.is}`).join(", ") || "no checks"}`,
  );
  return `## Hand-off\n\nEarlier iterations of this run worked on the files you see.${why}\n\n${rounds.join("\n")}${last}`;
}

function rules(state: RunState): string {
  const checks = state.spec.checks.map((c) => `- ${c.name}: \`${c.command}\``).join("\n");
  const judge =
    checks === ""
      ? "No check is configured."
      : `After your turn pawl runs these itself, on a copy of your files:\n\n${checks}`;
  return `## Rules

You work in a git repository, in a loop without a person watching. Work in small, complete steps. Do not commit, switch branches or change git settings: pawl commits for you. Do not weaken, skip or delete tests.

${judge}

When, and only when, the goal is reached in full and verified, end your final message with this line alone:

${promiseTag(state.spec.claim.promise)}

It is a claim, and it is checked. Do not write it otherwise.`;
}

const reminder = (state: RunState): string =>
  `When the goal is reached in full, end your final message with ${promiseTag(state.spec.claim.promise)} on a line of its own.`;
