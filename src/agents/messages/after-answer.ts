/** The model has answered: what it ran and called for is done, and by why it stopped the turn goes on or ends. */
import type { TurnOutcome } from "../../events.ts";
import { contextOf } from "../api-meter.ts";
import { failed } from "../ending.ts";
import { brief } from "../outcome.ts";
import { readAnswer } from "./answer.ts";
import { callsIn, fieldText, lastText, textBlock } from "./blocks.ts";
import { fallBack, isRebuilt, OVER, tellModel, type Course, type Next, type Playing } from "./course.ts";
import { producedBy } from "./produced.ts";
import type { Answer } from "./stream.ts";
import { useTools } from "./use-tools.ts";

/** So often an answer that does not fit its form is sent back. */
const MAX_MISFITS = 2;
/** So often in a turn an answer that was too long is gone on with. */
const MAX_TOO_LONG = 1;
/** So often in a turn the provider may put off the end of an answer; each time is paid for. */
const MAX_PAUSES = 50;
const GO_ON = "Continue from where you left off.";
const WINDOW_FULL: TurnOutcome = {
  is: "failed",
  kind: "context",
  message: "the conversation fills the model's window",
};

interface About {
  playing: Playing;
  course: Course;
}

export async function afterAnswer(answer: Answer, about: About): Promise<Next> {
  const isRefusal = answer.stop === "refusal";
  note(answer, { ...about, isRefusal });
  const isGone = await tellExecutions(answer, about);
  if (isRefusal) return fallBack("the model refused", about) ? "on" : refused(answer);
  if (callsIn(answer.blocks).length > 0) return await afterCalls(answer, about);
  if (answer.stop === "model_context_window_exceeded") return WINDOW_FULL;
  if (isGone && (await isRebuilt(about))) return "on";
  if (answer.stop === "pause_turn") return afterPause(about);
  return afterText(answer, about);
}

/** Nothing of a refusal is told to a model again. */
function note(answer: Answer, { playing, course, isRefusal }: About & { isRefusal: boolean }): void {
  const { id, model, blocks: content, stop, usage, cleared } = answer;
  const { turn, transcript, said, meter, tell } = playing;
  transcript.write({ is: "answer", turn, id, model, content, stop, usage, ...(isRefusal ? { dropped: true } : {}) });
  for (const block of content)
    if (block.type === "server_tool_use") meter.tool(fieldText(block, "id"), fieldText(block, "name"));
  course.end.contextTokens = contextOf(usage);
  tell({ type: "message", id });
  if (cleared > 0) tell({ type: "notice", text: `the provider left ${cleared} tokens of old results out` });
  if (isRefusal || content.length === 0) return;
  course.end.messageId = id;
  said.push({ role: "assistant", content, id });
}

/** True: the code was told that its container is gone. */
async function tellExecutions(answer: Answer, { playing, course }: About): Promise<boolean> {
  const { sandbox, tell, turn, transcript } = playing;
  if (sandbox === undefined) return false;
  const { container } = answer;
  let isGone = false;
  if (container !== undefined) sandbox.used(container);
  for (const ran of course.executions.take(answer)) {
    const execution = await producedBy(ran, { ...playing, sandbox, container });
    transcript.write({ is: "ran", turn, execution });
    tell({ type: "execution", ...execution });
    if (ran.gone) sandbox.lost();
    isGone = ran.gone;
  }
  return isGone;
}

function afterPause({ course }: About): Next {
  course.pauses += 1;
  return course.pauses <= MAX_PAUSES ? "on" : failed(`it was paused ${course.pauses} times, and came to no end`);
}

async function afterCalls({ blocks }: Answer, { playing, course }: About): Promise<Next> {
  const results = await useTools(callsIn(blocks), { ...playing, onCall: (call) => (course.end.call = call) });
  tellModel([...results, ...playing.says.take()], playing);
  return playing.signal.aborted ? OVER : "on";
}

function afterText({ blocks, stop, torn }: Answer, { playing, course }: About): Next {
  const { says, request, options } = playing;
  const text = course.carried + lastText(blocks);
  course.end.finalText = text;
  course.carried = "";
  if (stop === "max_tokens") {
    if (course.tooLong >= MAX_TOO_LONG)
      return failed(`its answer is longer than ${options.maxTokens} tokens, and what followed was, too`);
    course.tooLong += 1;
    course.carried = torn.length === 0 ? text : "";
    tellModel([textBlock(GO_ON), ...says.take()], playing);
    return "on";
  }
  const misfit = request.answer === undefined ? undefined : misfitOf(text, { schema: request.answer, course });
  if (misfit !== undefined && course.misfits > MAX_MISFITS)
    return failed(`its answer does not fit the form that was asked for: ${misfit}`);
  const again = `That does not fit the form that was asked for: ${misfit}. Answer again, in that form.`;
  const more = [...(misfit === undefined ? [] : [textBlock(again)]), ...says.take()];
  if (more.length > 0) {
    tellModel(more, playing);
    return "on";
  }
  // Nothing is said between the look and this: both are in one step of the program.
  says.close();
  return { is: "done" };
}

interface Form {
  schema: Readonly<Record<string, unknown>>;
  course: Course;
}

/** Why it does not fit; undefined: it does, and is the turn's answer. */
function misfitOf(text: string, { schema, course }: Form): string | undefined {
  const read = readAnswer(text, schema);
  if (read.is === "fits") {
    course.end.answer = read.value;
    return undefined;
  }
  course.misfits += 1;
  return read.why;
}

function refused({ stopDetails }: Answer): TurnOutcome {
  const { explanation } = (stopDetails ?? {}) as { explanation?: unknown };
  const why = typeof explanation === "string" ? `: ${explanation}` : "";
  return { is: "failed", kind: "refused", message: brief(`the model refused${why}`) };
}
