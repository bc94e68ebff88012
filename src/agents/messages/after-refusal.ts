/** The API said no, or broke off: what can be cured here at once is, everything else is the turn's outcome. */
import type { Asked } from "./ask.ts";
import { leavesOut } from "./extras.ts";
import { fallBack, isRebuilt, type Course, type Next, type Playing } from "./course.ts";

/** A container that is over was seen to be refused with each of these. */
const CONTAINER_REFUSALS: readonly (number | null)[] = [400, 404, 500];
const NOT_FOUND = 404;
const BAD_REQUEST = 400;

interface About {
  playing: Playing;
  course: Course;
  /** Of the request. */
  container: string | undefined;
}

export async function afterRefusal(asked: Extract<Asked, { is: "refused" }>, about: About): Promise<Next> {
  const { refusal, outcome } = asked;
  if (about.playing.signal.aborted) return outcome;
  if (outcome.is === "limited" && outcome.kind === "overloaded" && fallBack("the model is overloaded", about))
    return "on";
  if (CONTAINER_REFUSALS.includes(refusal.status) && (await isCured(refusal.status === NOT_FOUND, about))) return "on";
  const isWrong = refusal.status === BAD_REQUEST && outcome.is === "failed" && outcome.kind === "agent";
  return isWrong && leavesOut(about) ? "on" : outcome;
}

/** Without the container; and where something is not found, with files that are uploaded again. */
async function isCured(reload: boolean, about: About): Promise<boolean> {
  const { playing, course, container } = about;
  const { sandbox, options, signal } = playing;
  if (sandbox === undefined || course.rebuilt) return false;
  const hasFiles = reload && options.files.length > 0;
  if (hasFiles) await sandbox.reload(signal);
  if (container !== undefined) return await isRebuilt(about);
  course.rebuilt = hasFiles;
  return hasFiles;
}
