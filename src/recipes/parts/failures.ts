/** Failure memory: which approaches led to which failures, and which are blocked. */
import type { MakePart } from "../../loop/actions.ts";
import { BLOCK_AFTER_FAILURES, type Lesson } from "../../loop/memory.ts";
import type { RunState } from "../../loop/state.ts";
import { KIB } from "./text.ts";

const MAX_LESSONS_SHOWN = 8;
const MAX_MESSAGE_CHARS = 200;

export const failures: MakePart = (state) => ({ name: "failures", text: lessons(state), capBytes: 8 * KIB });

function lessons(state: RunState): string {
  const all = [...state.memory.lessons.values()];
  const shown = all
    .filter((l) => l.pinned || l.failures >= BLOCK_AFTER_FAILURES)
    .concat(all.filter((l) => !l.pinned && l.failures < BLOCK_AFTER_FAILURES).slice(-MAX_LESSONS_SHOWN))
    .slice(-MAX_LESSONS_SHOWN);
  if (shown.length === 0) return "";
  return `## What has been tried and failed\n\n${shown.map(lessonLine).join("\n")}`;
}

function lessonLine({ id, summary, failures: times, last, message }: Lesson): string {
  const blocked = times >= BLOCK_AFTER_FAILURES ? " BLOCKED: do not do this again." : "";
  return `- ${id}: ${summary}; failed ${times}×, last in iteration ${last}: ${message.slice(0, MAX_MESSAGE_CHARS).replaceAll("\n", " ")}.${blocked}`;
}
