/** `pawl memory`: the failed approaches a run remembers; listing reads, pinning and clearing are directives. */
import type { Command } from "commander";
import { EXIT, UsageError } from "../../../errors.ts";
import { BLOCK_AFTER_FAILURES, type Lesson } from "../../../loop/memory.ts";
import type { RunState } from "../../../loop/state.ts";
import { oneLine, plain } from "../../plain.ts";
import { steer, steering, type SteerOptions } from "../directive.ts";
import { columns, counted } from "../format.ts";
import { note, print, printJson } from "../output.ts";
import { readRun, runAndWhat, withRun } from "../reading.ts";

const MAX_CELL_CHARS = 80;

type Exit = (code: number) => void;

export function configure(command: Command, exit: Exit): void {
  for (const add of [list, show, pin, clear]) add(command, exit);
  command.addHelpText("after", EXAMPLES);
}

function list(parent: Command, exit: Exit): void {
  parent
    .command("list")
    .description("every approach that failed")
    .argument("[run]", "without it the newest of this repository")
    .option("--json", "one object a line on stdout")
    .action(async (asked: string | undefined, { json = false }: { json?: boolean }) => {
      await withRun(asked, async (opened) => {
        const lessons = [...(await readRun(opened)).folded.memory.lessons.values()];
        if (json) lessons.forEach((lesson) => printJson({ v: 1, ...lesson, blocked: isBlocked(lesson) }));
        else if (lessons.length > 0) print(columns(lessons.map(cells)));
        if (lessons.length === 0) note(`run ${opened.row.run} remembers no failure`);
      });
      exit(EXIT.ok);
    });
}

function show(parent: Command, exit: Exit): void {
  parent
    .command("show")
    .description("one of them, whole")
    .argument("<words...>", "[RUN] ID")
    .usage("[options] [RUN] ID")
    .option("--json", "one object on stdout")
    .action(async (words: string[], { json = false }: { json?: boolean }) => {
      const { asked, what } = runAndWhat(words);
      await withRun(asked, async (opened) => {
        const lesson = lessonOf((await readRun(opened)).folded, what);
        if (json) printJson({ v: 1, ...lesson, blocked: isBlocked(lesson) });
        else print(whole(lesson));
      });
      exit(EXIT.ok);
    });
}

function pin(parent: Command, exit: Exit): void {
  steering(
    parent
      .command("pin")
      .description("keep one for good")
      .argument("<words...>", "[RUN] ID")
      .usage("[options] [RUN] ID"),
  ).action(async (words: string[], options: SteerOptions) => {
    const { asked, what } = runAndWhat(words);
    exit(await steer(asked, ({ folded }) => ({ kind: "memory", op: "pin", id: lessonOf(folded, what).id }), options));
  });
}

function clear(parent: Command, exit: Exit): void {
  steering(
    parent
      .command("clear")
      .description("forget one, or all that are not pinned")
      .argument("[words...]", "[RUN] [ID]")
      .usage("[options] [RUN] [ID]")
      .option("--all", "all that are not pinned"),
  ).action(async (words: string[], options: SteerOptions & { all?: boolean }) => {
    const { asked, what } = options.all === true ? { asked: words[0], what: undefined } : runAndWhat(words);
    if (options.all === true && words.length > 1)
      throw new UsageError("an ID and --all at once", { hint: "give one of them" });
    const id = (folded: RunState): string => (options.all === true ? "all" : lessonOf(folded, what).id);
    exit(await steer(asked, ({ folded }) => ({ kind: "memory", op: "clear", id: id(folded) }), options));
  });
}

/** By its id or the beginning of it. */
function lessonOf({ memory, run }: RunState, asked: string | undefined): Lesson {
  if (asked === undefined || asked === "") {
    throw new UsageError("which one? the ID is missing", { hint: "`pawl memory list` shows them" });
  }
  const found = [...memory.lessons.values()].filter(({ id }) => id.startsWith(asked));
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new UsageError(
    found.length === 0
      ? `run ${run} remembers nothing as ${JSON.stringify(asked)}`
      : `${JSON.stringify(asked)} is the beginning of ${found.length} ids`,
    { hint: `\`pawl memory list ${run}\` shows them` },
  );
}

const isBlocked = ({ failures }: Lesson): boolean => failures >= BLOCK_AFTER_FAILURES;

function stateWords(lesson: Lesson): string {
  return (
    [isBlocked(lesson) ? "blocked" : "", lesson.pinned ? "pinned" : ""].filter((word) => word !== "").join(", ") ||
    "noted"
  );
}

function cells(lesson: Lesson): string[] {
  const { id, failures, first, last, summary, message } = lesson;
  return [
    id,
    stateWords(lesson),
    `failed ${counted(failures, "time")}`,
    first === last ? `iteration ${first}` : `iterations ${first} to ${last}`,
    oneLine(summary, { max: MAX_CELL_CHARS }),
    oneLine(message, { max: MAX_CELL_CHARS }),
  ];
}

function whole(lesson: Lesson): string {
  const { id, failures, first, last, summary, message, fingerprints } = lesson;
  return [
    `${id}: ${plain(summary)}`,
    `${stateWords(lesson)}; failed ${counted(failures, "time")}, first in iteration ${first}, last in ${last}`,
    ...(message === "" ? [] : ["", plain(message)]),
    "",
    counted(fingerprints.length, "fingerprint"),
    ...fingerprints.map((fingerprint) => `  ${plain(fingerprint)}`),
  ].join("\n");
}

const EXAMPLES = `
An approach is the shape of a change. One that failed ${BLOCK_AFTER_FAILURES}
times is blocked: the agent is told, and a change of that shape is put back.
Pinning and clearing go to the driver like all steering; without one they wait
for \`pawl resume\`.

Examples:
  pawl memory list
  pawl memory show 3fa9
  pawl memory pin r-20261115-k3f 3fa91c0de245
  pawl memory clear --all
`;
