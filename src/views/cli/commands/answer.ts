/** `pawl answer`: what waits for a person, and the answer to it. */
import type { Command } from "commander";
import { EXIT, UsageError } from "../../../errors.ts";
import type { Directive } from "../../../events.ts";
import { answerable, isNoOption, permissionOf, type QuestionState } from "../../../loop/questions.ts";
import type { RunState } from "../../../loop/state.ts";
import { oneLine } from "../../plain.ts";
import { answerCommand, answerForms, leftMs, questionText } from "../../question-words.ts";
import { drivenNow } from "../driven-time.ts";
import { steer, steering, type SteerOptions } from "../directive.ts";
import { note, print, printJson } from "../output.ts";
import { readRun, withRun, type Read } from "../reading.ts";

const QUESTION = /^q\d+$/i;
const MAX_TEXT_BYTES = 64 * 1024;
const MAX_OPTION_CHARS = 80;

export function configure(command: Command, exit: (code: number) => void): void {
  steering(command.argument("[words...]", "[RUN] [QUESTION] [TEXT]").usage("[options] [RUN] [QUESTION [TEXT…]]"))
    .addHelpText("after", EXAMPLES)
    .action(async (words: string[], options: SteerOptions) => {
      const { asked, question, text } = given(words);
      if (question === undefined || text === "")
        return exit(await list(asked, { question, json: options.json === true }));
      exit(await steer(asked, (read) => answer(read, { question, text }), options));
    });
}

/** The run may be left out: a question's name cannot be a run's. */
function given(words: readonly string[]): { asked: string | undefined; question: string | undefined; text: string } {
  const [first, ...rest] = words;
  if (first !== undefined && QUESTION.test(first))
    return { asked: undefined, question: first.toLowerCase(), text: rest.join(" ").trim() };
  // Nearly a question, and no run begins so.
  if (first !== undefined && /^q\d/i.test(first)) throw noQuestion(first, undefined);
  const [question, ...text] = rest;
  if (question !== undefined && !QUESTION.test(question)) {
    throw noQuestion(question, first);
  }
  return { asked: first, question: question?.toLowerCase(), text: text.join(" ").trim() };
}

const noQuestion = (word: string, run: string | undefined): UsageError =>
  new UsageError(`${JSON.stringify(word)} is not the name of a question`, {
    hint: `they are called q1, q2, …; \`pawl answer${run === undefined ? "" : ` ${run}`}\` lists them`,
  });

function answer(
  { folded, driven }: { folded: RunState; driven: boolean },
  { question, text }: { question: string; text: string },
): Directive {
  const open = openOne(folded, { question, driven });
  if (open.kind === "permission" && permissionOf(text) === undefined) {
    throw new UsageError(`${question} asks for a permission: ${JSON.stringify(text)} is neither allow nor deny`, {
      hint: `pawl answer ${folded.run} ${question} ${answerForms(open)}`,
    });
  }
  refuseNoOption(open, text);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_TEXT_BYTES)
    throw new UsageError(`the answer has ${bytes} bytes; at most ${MAX_TEXT_BYTES} can be given`);
  return { kind: "answer", question, text };
}

/** Whoever types a number means an option: as words it would tell the agent nothing. */
function refuseNoOption({ question, options, ...open }: QuestionState, text: string): void {
  if (!isNoOption({ ...open, options }, text)) return;
  const offered = options.map((option, at) => `${at + 1} ${oneLine(option, { max: MAX_OPTION_CHARS })}`);
  throw new UsageError(`${question} has no option ${text}`, {
    hint: `there is: ${offered.join(", ")}; or words of your own`,
  });
}

function openOne(state: RunState, { question, driven }: { question: string; driven: boolean }): QuestionState {
  const open = answerable(state, { driven });
  const names = open.map((one) => one.question).join(", ");
  const hint = names === "" ? "no question is open" : `open: ${names}`;
  const known = state.questions.get(question);
  if (known === undefined) throw new UsageError(`run ${state.run} has no question ${question}`, { hint });
  if (known.answer === undefined && !open.includes(known)) {
    throw new UsageError(`${question} is closed: its turn ended with its driver`, {
      hint: `go on with \`pawl resume ${state.run}\``,
    });
  }
  if (known.answer === undefined) return known;
  throw new UsageError(`${question} is closed: ${closedBy(known.answer.by)}`, { hint });
}

function closedBy(by: NonNullable<QuestionState["answer"]>["by"]): string {
  switch (by) {
    case "person":
      return "it has been answered";
    case "policy":
      return "the run did not wait for it any more";
    case "timeout":
      return "its time was over";
    case "turn-ended":
      return "its turn has ended";
  }
}

/** What is open, or one of it in full. */
async function list(
  asked: string | undefined,
  { question, json }: { question: string | undefined; json: boolean },
): Promise<number> {
  return withRun(asked, async (opened) => {
    const read = await readRun(opened);
    const { folded } = read;
    const driven = read.row.owner !== undefined;
    const open = question === undefined ? answerable(folded, { driven }) : [openOne(folded, { question, driven })];
    if (json) printJson({ v: 1, run: folded.run, questions: open.map((one) => viewOf(read, one)) });
    else if (open.length === 0) note(`${folded.run}: no question is open`);
    else print(open.map((one) => questionText(folded.run, one, { left: leftOf(read, one) })).join("\n"));
    return EXIT.ok;
  });
}

const leftOf = ({ folded, row }: Read, open: QuestionState): number | null =>
  leftMs(folded, open, drivenNow(folded, { driven: row.owner !== undefined, now: Date.now() }));

const viewOf = (read: Read, open: QuestionState): object => {
  const { question, kind, text, options, turn } = open;
  return {
    question,
    kind,
    text,
    options,
    turn,
    leftMs: leftOf(read, open),
    answer: answerCommand(read.folded.run, open),
  };
};

const EXAMPLES = `
RUN may be left out: then it is the run of this repository that is driven now,
else its newest.
A permission is answered with allow or deny, a question with the number or name
of an option or with your own words.
Where the run itself waits: "go on" (or retry) goes on, stop ends it, anything
else goes on and is told to the agent.

Examples:
  pawl answer                                  what waits for a person
  pawl answer q1 allow
  pawl answer r-20261115-k3f q2 deny not on this machine
  pawl answer q3 "use the second schema"
`;
