/** `pawl tasks`: the task list of a run; listing reads, everything else is a directive for its driver. */
import type { Command } from "commander";
import { EXIT, UsageError } from "../../../errors.ts";
import type { Directive } from "../../../events.ts";
import { MAX_TASKS, readTasks } from "../../../loop/task-list.ts";
import { mainLane, type RunState } from "../../../loop/state.ts";
import { oneLine } from "../../plain.ts";
import { steer, steering, type SteerOptions } from "../directive.ts";
import { columns } from "../format.ts";
import { note, print, printJson } from "../output.ts";
import { readRun, runAndWhat, withRun } from "../reading.ts";
import { taskCells, tasksOf, tasksWords, whichTask } from "../task-lines.ts";

const MAX_TEXT_CHARS = 2_000;
const MAX_SHOWN_CHARS = 200;

type Exit = (code: number) => void;
type Mark = Extract<Directive, { kind: "task-mark" }>["as"];

export function configure(command: Command, exit: Exit): void {
  list(command, exit);
  add(command, exit);
  mark(command, { name: "done", as: "done", about: "tick one, with its subtasks; without TASK the current one", exit });
  mark(command, { name: "skip", as: "skipped", about: "leave one out; without TASK the current one", exit });
  mark(command, { name: "todo", as: "todo", about: "take a tick or a skip back, or put a lost task back", exit });
  mark(command, { name: "remove", as: "removed", about: "take one out of the file, with its subtasks", exit });
  command.addHelpText("after", EXAMPLES);
}

function list(parent: Command, exit: Exit): void {
  parent
    .command("list")
    .description("every task with its number, as last seen")
    .argument("[run]", "without it the newest of this repository")
    .option("--json", "one object a line on stdout")
    .action(async (asked: string | undefined, { json = false }: { json?: boolean }) => {
      await withRun(asked, async (opened) => {
        const view = tasksOf((await readRun(opened)).folded);
        if (json) view.list.forEach((line) => printJson({ v: 1, ...line }));
        else if (view.list.length > 0) print(columns(view.list.map(taskCells)));
        note(`${opened.row.run}: ${view.file}: ${tasksWords(view)}`);
        for (const { iteration, text } of view.suspicions)
          note(`noticed in iteration ${iteration}: ${oneLine(text, { max: MAX_SHOWN_CHARS })}`);
      });
      exit(EXIT.ok);
    });
}

function add(parent: Command, exit: Exit): void {
  steering(
    parent
      .command("add")
      .description("put one at the end")
      .argument("<words...>", "[RUN] TEXT")
      .usage("[options] [RUN] TEXT"),
  ).action(async (words: string[], options: SteerOptions) => {
    const { asked, what } = runAndWhat(words);
    const text = checked(what);
    exit(
      await steer(
        asked,
        ({ folded }) => {
          const { list: tasks } = tasksOf(folded);
          if (tasks.length >= MAX_TASKS)
            throw new UsageError(`there are ${tasks.length} tasks already, the most there can be`);
          sayWhen(folded);
          return { kind: "task-add", text };
        },
        options,
      ),
    );
  });
}

interface MarkCommand {
  name: string;
  as: Mark;
  about: string;
  exit: Exit;
}

function mark(parent: Command, { name, as, about, exit }: MarkCommand): void {
  const isNamed = as === "todo" || as === "removed";
  const task = isNamed ? "TASK" : "[TASK]";
  steering(
    parent
      .command(name)
      .description(about)
      .argument(isNamed ? "<words...>" : "[words...]", `[RUN] ${task}`)
      .usage(`[options] [RUN] ${task}`),
  ).action(async (words: string[], options: SteerOptions) => {
    const { asked, what } = runAndWhat(words);
    if (isNamed && what === undefined)
      throw new UsageError("which task? its number or the beginning of its text is missing", {
        hint: "`pawl tasks list` numbers them",
      });
    exit(await steer(asked, ({ folded }) => marking(folded, { as, what }), options));
  });
}

function marking(folded: RunState, { as, what }: { as: Mark; what: string | undefined }): Directive {
  const view = tasksOf(folded);
  const found = what === undefined ? view.list.find(({ current }) => current) : whichTask(view, what);
  if (found === undefined) throw new UsageError("there is no current task: all are settled");
  note(`task ${found.n}: ${oneLine(found.text, { max: MAX_SHOWN_CHARS })}`);
  sayWhen(folded);
  return { kind: "task-mark", as, task: found.id };
}

/** The file is the agent's while it works. */
function sayWhen(folded: RunState): void {
  const { open, iteration, decision } = mainLane(folded);
  if (open !== undefined || (iteration > 0 && decision === undefined))
    note(`iteration ${iteration} is under way: the file is changed when it is closed`);
}

function checked(text: string | undefined): string {
  const said = (text ?? "").trim().replaceAll(/\s+/g, " ");
  if (said === "") throw new UsageError("no text for the task", { hint: 'pawl tasks add [RUN] "what to do"' });
  if (said.length > MAX_TEXT_CHARS)
    throw new UsageError(`the task has ${said.length} characters; at most ${MAX_TEXT_CHARS}`, {
      hint: "write the details into a file in the repository and name the file",
    });
  if (readTasks(`- [ ] ${said}\n`).length === 1) return said;
  throw new UsageError(`${JSON.stringify(oneLine(said, { max: MAX_SHOWN_CHARS }))} cannot be a task`);
}

const EXAMPLES = `
TASK is a number of \`pawl tasks list\` or the beginning of the task's text. The
task file is changed by the run's driver, never during an iteration; without a
driver the change waits for \`pawl resume\`. [ ] to do, [/] begun, [x] done,
[-] skipped, [?] an open task that the agent took out of the file: it still
counts until it is put back or removed.

Examples:
  pawl tasks list
  pawl tasks add "write the changelog"
  pawl tasks skip
  pawl tasks done r-20261115-k3f 3
  pawl tasks remove "update the doc" --wait
`;
