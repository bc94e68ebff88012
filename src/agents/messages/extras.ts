/**
 * What helps where the provider offers it, and is done without where it refuses it: context editing, and the form of an
 * answer, which not every model takes beside code execution. Learned once for all sessions of an agent.
 */
import type { Course, Playing } from "./course.ts";
import type { Extra } from "./params.ts";

export interface Extras {
  refusedBy(model: string): ReadonlySet<Extra>;
  leaveOut(model: string, extra: Extra): void;
  /** It was not that. */
  takeBack(model: string, extra: Extra): void;
}

export function openExtras(): Extras {
  const refused = new Map<string, Set<Extra>>();
  const of = (model: string): Set<Extra> => {
    const known = refused.get(model) ?? new Set();
    refused.set(model, known);
    return known;
  };
  return {
    refusedBy: of,
    leaveOut: (model, extra) => void of(model).add(extra),
    takeBack: (model, extra) => void of(model).delete(extra),
  };
}

const WORDS: Readonly<Record<Extra, string>> = {
  "context-management": "the provider does not shorten this conversation; pawl does",
  format: "the model takes no form of an answer here; it is told in words",
};

interface About {
  playing: Playing;
  course: Course;
}

/** A request was called wrong, and nothing says by what: true where it is worth another try with less in it. */
export function leavesOut({ playing, course }: About): boolean {
  const { extras, options, request, tell } = playing;
  const refused = extras.refusedBy(course.asked);
  const inUse: Extra[] = [
    ...(options.contextEditing ? (["context-management"] as const) : []),
    ...(request.answer === undefined ? [] : (["format"] as const)),
  ];
  const next = inUse.find((extra) => !refused.has(extra));
  if (next === undefined) {
    for (const extra of course.leftOut.splice(0)) extras.takeBack(course.asked, extra);
    return false;
  }
  course.leftOut.push(next);
  extras.leaveOut(course.asked, next);
  tell({ type: "notice", text: WORDS[next] });
  return true;
}
