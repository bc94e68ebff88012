/** Failure memory: which approaches led to which failures, and which are blocked. */
import type { MakePart } from "../../loop/actions.ts";
import { BLOCK_AFTER_FAILURES, type Lesson } from "../../loop/memory.ts";
import { lastJudgement } from "../../loop/prompt.ts";
import { mainLane } from "../../loop/state.ts";
import { isOpening, isReturning, KIB } from "./text.ts";

const MAX_LESSONS_SHOWN = 8;
const MAX_MESSAGE_CHARS = 200;

export const failures: MakePart = (state, turn) => {
  const all = [...state.memory.lessons.values()];
  const last = lastJudgement(mainLane(state), turn)?.iteration;
  const shown = chosen(all, { news: (lesson) => isOpening(turn) || isReturning(turn) || lesson.last === last });
  return {
    name: "failures",
    text: shown.length === 0 ? "" : `## What has been tried and failed\n\n${shown.map(lessonLine).join("\n")}`,
    ...(shown.length === 0 && all.length > 0 ? { silent: "nothing new" } : {}),
    capBytes: 8 * KIB,
  };
};

/** It is said every time. */
const isBinding = ({ pinned, failures: times }: Lesson): boolean => pinned || times >= BLOCK_AFTER_FAILURES;

/** A session that knows what went before is told of the rest only what the last iteration added. */
function chosen(all: readonly Lesson[], { news }: { news: (lesson: Lesson) => boolean }): Lesson[] {
  const binding = all.filter(isBinding).slice(-MAX_LESSONS_SHOWN);
  const others = all.filter((lesson) => !isBinding(lesson) && news(lesson));
  return [...binding, ...others.slice(Math.max(0, others.length + binding.length - MAX_LESSONS_SHOWN))];
}

function lessonLine({ id, summary, failures: times, last, message }: Lesson): string {
  const blocked = times >= BLOCK_AFTER_FAILURES ? " BLOCKED: do not do this again." : "";
  return `- ${id}: ${summary}; failed ${times}×, last in iteration ${last}: ${message.slice(0, MAX_MESSAGE_CHARS).replaceAll("\n", " ")}.${blocked}`;
}
