/** Asks people and hands on what they answer; runs the user's hooks. */
import { TerminalError } from "../errors.ts";
import type { FactOf, NewFact } from "../events.ts";
import type { Action } from "./actions.ts";
import type { Hands } from "./hands.ts";
import { asItStands } from "./perform-end.ts";
import { healthPause, pauseHeading } from "./health-pause.ts";
import { isForPrompt, replyTo, settled, TURN_OVER } from "./questions.ts";

const MAX_NOTES_BYTES = 1024 * 1024;
const MAX_ERROR_TURNS = 10;
const MAX_QUESTION_CHARS = 4_000;
const MAX_OPTIONS = 20;
const MAX_OPTION_CHARS = 200;

type Question = Pick<FactOf<"human-requested">, "kind" | "text" | "options" | "turn" | "untilElapsed"> & {
  lane: string;
  about?: string;
};

export function requested(hands: Hands, question: Question): Extract<NewFact, { type: "human-requested" }> {
  return {
    type: "human-requested",
    ...question,
    question: hands.questionId(),
    text: question.text.slice(0, MAX_QUESTION_CHARS),
    options: question.options.slice(0, MAX_OPTIONS).map((option) => option.slice(0, MAX_OPTION_CHARS)),
  };
}

export async function ask(action: Extract<Action, { do: "ask" }>, hands: Hands): Promise<void> {
  const { lane, kind, about, options, untilElapsed } = action;
  const trouble = kind === "errors" ? await hands.exclusively(() => writeNotes(hands, lane)) : undefined;
  const text = trouble === undefined ? action.text : `${action.text} (${trouble})`;
  await hands.run.append([requested(hands, { lane, kind, text, options, turn: null, untilElapsed, about })]);
}

/** Repeatable: a section that stands there already is not written again. Returns what kept it from the file. */
async function writeNotes({ run, ports }: Hands, lane: string): Promise<string | undefined> {
  const { spec, lanes } = run.state;
  const { file } = spec.notes ?? {};
  const last = lanes.get(lane)?.ended;
  if (file === undefined || last === undefined) return undefined;
  const facts = await ports.journal.read(spec.run);
  const ends = facts.filter((f): f is FactOf<"turn-end"> => f.type === "turn-end" && f.lane === lane);
  const before = await ports.workspace.read(file, MAX_NOTES_BYTES);
  if (before !== undefined && before.bytes > MAX_NOTES_BYTES) return `${file} is too large to write to`;
  if (before?.text.includes(pauseHeading(last)) === true) return undefined;
  const start = before === undefined || before.text.trim() === "" ? "" : `${before.text.trimEnd()}\n\n`;
  try {
    await ports.workspace.write(file, `${start}${healthPause(ends.slice(-MAX_ERROR_TURNS))}`);
    return undefined;
  } catch (error) {
    if (error instanceof TerminalError) return error.message;
    throw error;
  }
}

/** The answer is a fact before the agent has it: a driver that dies in between leaves a turn that is cut anyway. */
export async function answer(action: Extract<Action, { do: "answer" }>, hands: Hands): Promise<void> {
  const { run } = hands;
  const { lane, question: id, answer: given } = action;
  const asked = run.state.questions.get(id);
  if (asked === undefined || asked.answer !== undefined) return;
  await run.append([{ type: "human-answered", lane, question: id, ...given }]);
  const receipt = asked.turn === null ? { how: settled(given.text) } : await reply(action, hands);
  const directive = given.directive === undefined ? undefined : run.state.directives.get(given.directive);
  if (directive === undefined || directive.delivered !== undefined || isForPrompt(run.state, directive)) return;
  await run.append([{ type: "directive-delivered", lane, id: directive.id, ...receipt, turn: asked.turn }]);
}

async function reply(
  { lane, question, answer: given }: Extract<Action, { do: "answer" }>,
  hands: Hands,
): Promise<{ how: string; refused?: true }> {
  const running = hands.running.get(lane);
  const waiting = running?.asked.get(question);
  const asked = hands.run.state.questions.get(question);
  if (running === undefined || waiting === undefined || asked === undefined) return { how: TURN_OVER, refused: true };
  running.asked.delete(question);
  const said = replyTo({ kind: asked.kind, options: waiting.options }, given);
  const taken = running.session.reply?.(waiting.question, said) ?? Promise.resolve(false);
  const isTaken = await Promise.race([taken, running.ended.then(() => false)]);
  return isTaken
    ? { how: `given to the agent in turn ${running.turn}` }
    : { how: "the agent did not wait for it any more", refused: true };
}

/** At least once: one that was running when its driver died runs again; one that has ended never does. */
export async function hook(action: Extract<Action, { do: "hook" }>, hands: Hands, signal: AbortSignal): Promise<void> {
  const { run, ports } = hands;
  const { lane, hook: spec, on, occasion } = action;
  const fact = action.fact ?? (await ports.journal.read(run.state.run))[0];
  const ended = await hands.exclusively(async () => {
    // A hook that tells the world how a run ended must not be told more than is so.
    const outcome =
      action.outcome === undefined ? undefined : (await asItStands({ lane, outcome: action.outcome }, hands)).outcome;
    const input = `${JSON.stringify({ run: run.state.run, ...fact, ...(outcome === undefined ? {} : { outcome }) })}\n`;
    return await ports.hook(spec, input, signal);
  });
  if (signal.aborted) return;
  await run.append([{ type: "hook-end", lane, hook: spec.name, on, occasion, ...ended }]);
}
