/** The prompt of a review: a session that knows nothing of the work is shown the goal and the change, and may mend it. */
import type { MakePart } from "../loop/actions.ts";
import { promiseTag, REJECTED } from "../loop/claim.ts";
import { criteria, goal } from "./parts/goal.ts";
import { KIB, quote } from "./parts/text.ts";

const reviewHeader: MakePart = (_, { iteration, attempt }) => ({
  name: "review-header",
  text: `Review of iteration ${iteration}${attempt > 1 ? ` (attempt ${attempt})` : ""}`,
  capBytes: 1 * KIB,
});

const reviewTask: MakePart = (state, { session }) => ({
  name: "review-task",
  text:
    session.mode === "continue"
      ? "Your last turn did not end: it was cut off. Look at what is done, and finish the review."
      : `## Your task\n\n${state.spec.review?.prompt ?? ""}`,
  capBytes: 8 * KIB,
});

const diff: MakePart = (_, { session }, { diff: text = "" }) => ({
  name: "diff",
  text:
    session.mode === "continue"
      ? ""
      : `## The change\n\nWhat another agent changed in this iteration; the files here are as they are after it:\n\n${quote(text)}`,
  capBytes: 192 * KIB,
});

const reviewRules: MakePart = (state) => {
  const checks = state.spec.checks.map(({ name, command }) => `- ${name}: \`${command}\``).join("\n");
  const judged = checks === "" ? "" : `\n\nAfter your turn pawl runs these itself:\n\n${checks}`;
  return {
    name: "review-rules",
    text: `## Rules\n\nMend what is wrong in the files yourself where that is a small, certain step; leave what is a matter of taste. Do not commit, switch branches or change git settings. Do not weaken, skip or delete tests. End with a short list of what you found and what you changed: the agent that goes on reads it.${judged}\n\nIf the change must not stay as it is and you could not mend it, end your final message with this line alone:\n\n${promiseTag(REJECTED)}`,
    capBytes: 6 * KIB,
  };
};

/** As they stand in the prompt, most important first. */
const PARTS: readonly MakePart[] = [reviewHeader, reviewTask, goal, criteria, reviewRules, diff];

export const reviewPrompt = (...about: Parameters<MakePart>): ReturnType<MakePart>[] =>
  PARTS.map((make) => make(...about));
