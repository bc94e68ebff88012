/**
 * The turn itself: request, answer, tools, and again, until the model is done or something ends it. Every request and every
 * answer is on disk before what follows from it.
 */
import type { TurnRequest } from "../../ports.ts";
import { maxTurns } from "../ending.ts";
import { brief } from "../outcome.ts";
import { afterAnswer } from "./after-answer.ts";
import { afterRefusal } from "./after-refusal.ts";
import { ask, type Asked } from "./ask.ts";
import { overBudget } from "./budget.ts";
import { piecesOf, type Said } from "./blocks.ts";
import { sendable, withPrompt } from "./conversation.ts";
import { newCourse, OVER, uploadsFor, type Course, type Next, type Played, type Playing } from "./course.ts";
import { paramsOf } from "./params.ts";

/** Never rejects for what the model, the API or a tool does. */
export async function play(asked: TurnRequest, playing: Playing): Promise<Played> {
  const course = newCourse();
  const limit = playing.options.maxTurns ?? Infinity;
  try {
    if (playing.signal.aborted) return { ...course.end, outcome: OVER };
    await begin(asked, playing);
    for (let requests = 0; requests < limit; requests += 1) {
      const next = await round(playing, course);
      if (next !== "on") return { ...course.end, outcome: next };
    }
    return { ...course.end, outcome: maxTurns(limit) };
  } catch (error) {
    return { ...course.end, outcome: { is: "cut", reason: brief(String(error)) } };
  }
}

async function begin({ prompt, breaks }: TurnRequest, playing: Playing): Promise<void> {
  const { turn, transcript, said } = playing;
  // What is stable stays in front: files come and go with the container.
  const content = [...piecesOf(prompt, breaks), ...(await uploadsFor(playing))];
  transcript.write({ is: "prompt", turn, content });
  said.splice(0, said.length, ...withPrompt(said, content));
}

async function round(playing: Playing, course: Course): Promise<Next> {
  const container = playing.sandbox?.container();
  const asked = await request(playing, { course, container });
  return asked.is === "refused"
    ? await afterRefusal(asked, { playing, course, container })
    : await afterAnswer(asked.answer, { playing, course });
}

async function request(playing: Playing, about: { course: Course; container: string | undefined }): Promise<Asked> {
  const { options, system, tools, request: opened } = playing;
  const { fallbackModel, contextLimitTokens } = opened.agent;
  const model = (about.course.fallen ? fallbackModel : undefined) ?? playing.model();
  about.course.asked = model;
  const params = paramsOf({
    model,
    options,
    system,
    tools,
    said: currentSaid(playing),
    answer: opened.answer,
    container: about.container,
    contextLimitTokens,
    without: playing.extras.refusedBy(model),
  });
  const tooLong = await overBudget(params, playing);
  return tooLong ?? (await ask(params, playing));
}

function currentSaid({ said, sandbox }: Playing): readonly Said[] {
  const whole = sendable(said);
  if (sandbox === undefined) return whole;
  return whole.map((one) => ({ ...one, content: one.content.map((block) => sandbox.current(block)) }));
}
