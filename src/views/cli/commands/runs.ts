/** `pawl runs`: the runs of this repository, or all; and clearing what old ones keep. */
import { Option, type Command } from "commander";
import { EXIT, TerminalError, UsageError } from "../../../errors.ts";
import { fold } from "../../../loop/fold.ts";
import { answerable } from "../../../loop/questions.ts";
import { mainLane } from "../../../loop/state.ts";
import { isSuspended } from "../../../platform/owner.ts";
import type { RunRow } from "../../../ports.ts";
import type { State } from "../../../compose.ts";
import { oneLine } from "../../plain.ts";
import type { CleanedBranch } from "../clean-branches.ts";
import type { Cleaned } from "../clean-runs.ts";
import { columns, cost, counted, moment } from "../format.ts";
import { note, print, printJson } from "../output.ts";
import { withState } from "../reading.ts";
import { repositoriesOf, resolveRun, runsHere } from "../run-id.ts";
import { phaseOf } from "../status-phase.ts";

const MAX_GOAL_CHARS = 60;
const MAX_WHY_CHARS = 200;
const MINUTE_MS = 60_000;
const UNIT_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1_440 * MINUTE_MS };
const DEFAULT_AGE_MS = 30 * 1_440 * MINUTE_MS;

interface Line {
  v: 1;
  run: string;
  createdAt: number;
  repository: string;
  goal: string;
  state: string;
  /** What waits for a person. */
  questions: string[];
  iteration: number;
  cost: string;
}

type Exit = (code: number) => void;

export function configure(command: Command, exit: Exit): void {
  // Else the options of `clean` would be taken for those of the list.
  command.enablePositionalOptions();
  list(command, exit);
  clean(command, exit);
  command.addHelpText("after", EXAMPLES);
}

function list(command: Command, exit: Exit): void {
  command
    .option("--all", "also runs of other repositories")
    .option("--json", "one object a line on stdout")
    .action(async ({ all = false, json = false }: { all?: boolean; json?: boolean }) => {
      await withState(async (state) => {
        const rows = await state.journal.runs();
        const here = asked(rows, { all });
        const lines: Line[] = [];
        for (const row of here) lines.push(await lineOf(state, row));
        if (json) lines.forEach((line) => printJson(line));
        else if (lines.length > 0) print(columns(lines.map(cells)));
        if (lines.length === 0)
          note(rows.length === 0 ? "no runs yet" : "no runs in this repository; --all shows the others");
      });
      exit(EXIT.ok);
    });
}

/** Inside a repository its own, elsewhere all. */
const asked = (rows: readonly RunRow[], { all }: { all: boolean }): readonly RunRow[] =>
  all || repositoriesOf(process.cwd()).length === 0 ? rows : runsHere(rows, process.cwd());

interface CleanOptions {
  olderThan: number;
  dryRun?: boolean;
  all?: boolean;
  branches?: boolean;
  json?: boolean;
}

function clean(parent: Command, exit: Exit): void {
  parent
    .command("clean")
    .summary("clear what ended runs keep in pawl's state folder")
    .description(CLEAN)
    .argument("[runs...]", "only these, also young ones and ones that have not ended")
    .addOption(
      new Option("--older-than <TIME>", "only runs in which nothing has happened for so long")
        .argParser(time)
        .default(DEFAULT_AGE_MS, "30d"),
    )
    .option("--all", "also runs of other repositories")
    .option("--branches", "also branches of ended runs, of any age, that are merged or have no commit of their own")
    .option("--dry-run", "say what would go; remove nothing")
    .option("--json", "one object on stdout")
    .addHelpText("after", CLEAN_EXAMPLES)
    .action(async (names: string[], options: CleanOptions) => {
      const { olderThan, dryRun = false, all = false, json = false } = options;
      await withState(async (state) => {
        const rows = await state.journal.runs();
        const named = await Promise.all(
          names.map(async (name) => await resolveRun(state.journal, { asked: name, cwd: process.cwd() })),
        );
        const { cleanRuns } = await import("../clean-runs.ts");
        const meant =
          names.length > 0 ? [...new Map(named.map((row) => [row.run, row])).values()] : asked(rows, { all });
        const about = { rows: meant, dryRun, environment: process.env };
        // What is known of a branch goes with the run.
        const { cleanBranches } = await import("../clean-branches.ts");
        const branches = options.branches === true ? await cleanBranches(state, about) : [];
        const cleaned = await cleanRuns(state, {
          ...about,
          named: names.length > 0,
          before: Date.now() - olderThan,
        });
        if (json) printJson({ v: 1, dryRun, ...cleaned, branches });
        else say(cleaned, { dryRun, branches });
        // Whoever names one wants it gone.
        exit(names.length > 0 && cleaned.kept.length > 0 ? EXIT.unverified : EXIT.ok);
      });
    });
}

function say(
  { removed, kept, bytes, blobs }: Cleaned,
  { dryRun, branches }: { dryRun: boolean; branches: readonly CleanedBranch[] },
): void {
  for (const { is, branch, why } of branches) {
    const word = is === "kept" ? "kept" : dryRun ? "would remove" : "removed";
    print(oneLine(`${word} branch ${branch}: ${why}`, { max: MAX_WHY_CHARS }));
  }
  for (const one of removed) print(`${dryRun ? "would remove" : "removed"} ${one.run} (${megabytes(one.bytes)})`);
  for (const { run, why } of kept) print(`kept ${run}: ${oneLine(why, { max: MAX_WHY_CHARS })}`);
  const what = `${counted(removed.length, "run")}, ${counted(blobs, "blob")}`;
  if (removed.length === 0 && branches.length === 0) note("nothing to clean");
  else if (removed.length === 0) return;
  else note(`${dryRun ? "would free" : "freed"} ${megabytes(bytes)}: ${what}`);
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

function time(text: string): number {
  const [, amount, unit = ""] = /^(\d{1,6})\s*([mhd])$/.exec(text.trim().toLowerCase()) ?? [];
  const ms = UNIT_MS[unit];
  if (amount !== undefined && ms !== undefined) return Number(amount) * ms;
  throw new UsageError(`--older-than is a time, not ${JSON.stringify(text)}`, { hint: "for example 30d, 12h or 0d" });
}

/** One run that cannot be read does not hide the others. */
async function lineOf({ journal }: State, row: RunRow): Promise<Line> {
  const { run, createdAt, repository, goal } = row;
  const facts = await journal.read(run).catch((error: unknown) => {
    if (error instanceof TerminalError) return undefined;
    throw error;
  });
  if (facts === undefined)
    return { v: 1, run, createdAt, repository, goal, state: "damaged", questions: [], iteration: 0, cost: "unknown" };
  const folded = fold(facts);
  const driven = row.owner !== undefined;
  const suspended = row.owner !== undefined && isSuspended(row.owner) ? row.owner.pid : undefined;
  const phase = phaseOf(folded, { facts, driven, suspended });
  const questions = answerable(folded, { driven }).map(({ question }) => question);
  return {
    v: 1,
    run,
    createdAt,
    repository,
    goal,
    state: phase.is === "ended" ? phase.outcome.is : phase.is === "not-driven" ? "not driven" : phase.is,
    questions,
    iteration: mainLane(folded).iteration,
    cost: cost(folded.spent),
  };
}

function cells(line: Line): string[] {
  return [
    line.run,
    moment(line.createdAt, { now: Date.now() }),
    line.questions.length === 0 ? line.state : `${line.state}, waits for you: ${line.questions.join(", ")}`,
    `iteration ${line.iteration}`,
    line.cost,
    oneLine(line.goal, { max: MAX_GOAL_CHARS }),
  ];
}

const CLEAN = `Clear what ended runs keep in pawl's state folder: homes of the agents, verify trees, snapshots, blobs, trace and journal. Worktrees stay as they are, and so do branches unless --branches is given.`;

const CLEAN_EXAMPLES = `
A run that is driven is never touched. Without a name neither is one that has
not ended, nor one whose work is on no branch. Afterwards such a run cannot be
looked at, restored or resumed any more.

Examples:
  pawl runs clean --dry-run
  pawl runs clean --older-than 7d
  pawl runs clean --branches
  pawl runs clean r-20261115-k3f
`;

const EXAMPLES = `
Inside a repository its own runs are listed, elsewhere all.

Examples:
  pawl runs
  pawl runs --all --json | jq -r 'select(.state == "not driven").run'
  pawl runs clean --older-than 30d
`;
