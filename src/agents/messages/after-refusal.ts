/** The API said no, or broke off: what can be cured here at once is, everything else is the turn's outcome. */
import type { Asked } from "./ask.ts";
import { textBlock } from "./blocks.ts";
import { fallBack, tellModel, uploadsFor, type Course, type Next, type Playing } from "./course.ts";

const NEW_CONTAINER = "The container is a new one: the files are there again, everything else in it is gone.";
/** A container that is over was seen to be refused with each of these. */
const CONTAINER_REFUSALS: readonly (number | null)[] = [400, 404, 500];
const NOT_FOUND = 404;

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
  return CONTAINER_REFUSALS.includes(refusal.status) && (await isRebuilt(refusal.status === NOT_FOUND, about))
    ? "on"
    : outcome;
}

/** Once a turn: without the container, and where files are not found, with files that are uploaded again. */
async function isRebuilt(reload: boolean, { playing, course, container }: About): Promise<boolean> {
  const { sandbox, options, tell, signal } = playing;
  const hasFiles = reload && options.files.length > 0;
  if (sandbox === undefined || course.rebuilt || (container === undefined && !hasFiles)) return false;
  course.rebuilt = true;
  if (hasFiles) await sandbox.reload(signal);
  if (container === undefined) return true;
  sandbox.lost();
  tell({ type: "notice", text: "the container is gone; a new one is made" });
  tellModel([textBlock(NEW_CONTAINER), ...(await uploadsFor(playing))], playing);
  return true;
}
