/** `pawl steer`: words for the agent, into the running turn or the next prompt; what became of them; taking them back. */
import type { Command } from "commander";
import { EXIT, UsageError } from "../../../errors.ts";
import type { Directive } from "../../../events.ts";
import { readTextFile, readTextStdin } from "../../../platform/text-file.ts";
import { steer, steering, type SteerOptions } from "../directive.ts";
import { directiveCells, directiveViews } from "../directive-view.ts";
import { columns } from "../format.ts";
import { note, print, printJson } from "../output.ts";
import { readRun, runAndWhat, withRun } from "../reading.ts";
import { looksLikeRun } from "../run-id.ts";

const MAX_TEXT_BYTES = 64 * 1024;
const ABOUT = { what: "the text", maxBytes: MAX_TEXT_BYTES };

interface Options extends SteerOptions {
  now?: true;
  next?: true;
  onlyNow?: true;
  file?: string;
  list?: true;
  cancel?: string;
}

export function configure(command: Command, exit: (code: number) => void): void {
  steering(
    command
      .argument("[words...]", "[RUN] TEXT")
      .usage("[options] [RUN] TEXT")
      .option("--now", "into the running turn, else in the next prompt (default)")
      .option("--next", "in the next prompt")
      .option("--only-now", "into the running turn or not at all")
      .option("-f, --file <FILE>", "the text from a file, `-` for stdin")
      .option("--list", "what was said and what became of it")
      .option("--cancel <ID>", "take words back that are not on their way yet"),
  )
    .addHelpText("after", EXAMPLES)
    .action(async (words: string[], options: Options) => {
      refuseContradictions(words, options);
      exit(options.list === true ? await list(words[0], options) : await tell(words, options));
    });
}

const WAYS = ["now", "next", "onlyNow", "list", "cancel"] as const;
const FLAGS = { now: "--now", next: "--next", onlyNow: "--only-now", list: "--list", cancel: "--cancel" };

function refuseContradictions(words: readonly string[], options: Options): void {
  const [first, second] = WAYS.filter((way) => options[way] !== undefined);
  if (first !== undefined && second !== undefined)
    throw new UsageError(`${FLAGS[first]} contradicts ${FLAGS[second]}`, { hint: "give one of them" });
  const other = options.list === true ? "--list" : options.cancel === undefined ? undefined : "--cancel";
  if (other === undefined) return;
  if (options.file !== undefined) throw new UsageError(`${other} contradicts --file`, { hint: "give one of them" });
  const [run, ...text] = words;
  if (run !== undefined && (text.length > 0 || !looksLikeRun(run)))
    throw new UsageError(`${other} takes no text, only a run`, {
      hint: `pawl steer [RUN] ${other}${other === "--cancel" ? " ID" : ""}`,
    });
}

async function tell(words: readonly string[], options: Options): Promise<number> {
  const { cancel } = options;
  if (cancel !== undefined)
    return steer(
      words[0],
      ({ folded, queued }) => taking(cancel, directiveViews(folded, { queued, all: true })),
      options,
    );
  const { asked, text } = await given(words, options);
  const when = options.next === true ? "next" : options.onlyNow === true ? "only-now" : "now";
  const say: Directive = { kind: "say", text: checked(text), when };
  return steer(
    asked,
    ({ driven, folded }) => {
      if (when === "only-now" && !driven)
        throw new UsageError(`nobody drives run ${folded.run}: there is no turn to say it into`, {
          hint: `say it with --next, or drive the run first: pawl resume ${folded.run}`,
        });
      return say;
    },
    options,
  );
}

function taking(id: string, all: ReturnType<typeof directiveViews>): Directive {
  const found = all.find((one) => one.id === id);
  if (found === undefined) {
    const says = all.filter(({ directive, receipt }) => directive.kind === "say" && receipt === "queued");
    throw new UsageError(`there is no directive ${JSON.stringify(id)}`, {
      hint: says.length === 0 ? "nothing waits to be said" : `waiting: ${says.map((one) => one.id).join(", ")}`,
    });
  }
  if (found.directive.kind !== "say")
    throw new UsageError(`${id} is no words for the agent (${found.directive.kind}): only words can be taken back`, {
      hint: "a pause or a stop is taken back by `pawl resume`, a limit by another `pawl budget`",
    });
  if (found.receipt !== "queued")
    throw new UsageError(`${id} is ${found.receipt} already: ${found.how ?? ""}`, {
      hint: 'say something else: pawl steer "…"',
    });
  return { kind: "cancel", directive: id };
}

async function list(asked: string | undefined, { json = false }: Options): Promise<number> {
  return withRun(asked, async (opened) => {
    const { folded, row, state } = await readRun(opened);
    const views = directiveViews(folded, { queued: await state.inbox.queued(row.run), all: true });
    if (json) views.forEach((view) => printJson({ v: 1, run: row.run, ...view }));
    else if (views.length > 0) print(columns(views.map(directiveCells)));
    if (views.length === 0) note(`nothing was said to run ${row.run}`);
    return EXIT.ok;
  });
}

async function given(
  words: readonly string[],
  { file }: Options,
): Promise<{ asked: string | undefined; text: string | undefined }> {
  if (file === undefined) {
    const { asked, what } = runAndWhat(words);
    return { asked, text: what };
  }
  const [asked, ...text] = words;
  if (text.length > 0 || (asked !== undefined && !looksLikeRun(asked)))
    throw new UsageError("a text and --file at once", { hint: "give one of them" });
  return { asked, text: file === "-" ? await readTextStdin(ABOUT) : readTextFile(file, ABOUT) };
}

function checked(text: string | undefined): string {
  if (text === undefined || text.trim() === "") {
    throw new UsageError("nothing to say: the text is missing", { hint: 'pawl steer [RUN] "your words"' });
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return text;
  throw new UsageError(`the text has ${bytes} bytes; at most ${MAX_TEXT_BYTES} can be said at once`, {
    hint: "write it to a file in the repository and name the file",
  });
}

const EXAMPLES = `
RUN may be left out: then it is the run of this repository that is driven now,
else its newest. Of two words the first is the run. A single word that begins
with "r-" is taken for a run without a text; say such a text with --file.

What is printed is the receipt: queued, delivered (the model was sent it) or
acknowledged (the model has answered since).

Examples:
  pawl steer "leave the public API as it is"
  pawl steer r-20261115-k3f "use the helper in src/date.ts" --next
  pawl steer --file notes.md --wait
  pawl steer --list
  pawl steer --cancel d3
`;
