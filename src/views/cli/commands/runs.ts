/** `pawl runs`: the runs of this repository, or all. */
import type { Command } from "commander";
import { EXIT, TerminalError } from "../../../errors.ts";
import { fold } from "../../../loop/fold.ts";
import { mainLane } from "../../../loop/state.ts";
import type { RunRow } from "../../../ports.ts";
import type { State } from "../../../compose.ts";
import { oneLine } from "../../plain.ts";
import { columns, cost, moment } from "../format.ts";
import { note, print, printJson } from "../output.ts";
import { withState } from "../reading.ts";
import { repositoriesOf, runsHere } from "../run-id.ts";
import { phaseOf } from "../status-phase.ts";

const MAX_GOAL_CHARS = 60;

interface Line {
  v: 1;
  run: string;
  createdAt: number;
  repository: string;
  goal: string;
  state: string;
  iteration: number;
  cost: string;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .option("--all", "also runs of other repositories")
    .option("--json", "one object a line on stdout")
    .addHelpText("after", EXAMPLES)
    .action(async ({ all = false, json = false }: { all?: boolean; json?: boolean }) => {
      await withState(async (state) => {
        const rows = await state.journal.runs();
        const here = all || repositoriesOf(process.cwd()).length === 0 ? rows : runsHere(rows, process.cwd());
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

/** One run that cannot be read does not hide the others. */
async function lineOf({ journal }: State, row: RunRow): Promise<Line> {
  const { run, createdAt, repository, goal } = row;
  const facts = await journal.read(run).catch((error: unknown) => {
    if (error instanceof TerminalError) return undefined;
    throw error;
  });
  if (facts === undefined)
    return { v: 1, run, createdAt, repository, goal, state: "damaged", iteration: 0, cost: "unknown" };
  const folded = fold(facts);
  const phase = phaseOf(folded, { facts, driven: row.owner !== undefined });
  return {
    v: 1,
    run,
    createdAt,
    repository,
    goal,
    state: phase.is === "ended" ? phase.outcome.is : phase.is === "not-driven" ? "not driven" : phase.is,
    iteration: mainLane(folded).iteration,
    cost: cost(folded.spent),
  };
}

function cells(line: Line): string[] {
  return [
    line.run,
    moment(line.createdAt, { now: Date.now() }),
    line.state,
    `iteration ${line.iteration}`,
    line.cost,
    oneLine(line.goal, { max: MAX_GOAL_CHARS }),
  ];
}

const EXAMPLES = `
Inside a repository its own runs are listed, elsewhere all.

Examples:
  pawl runs
  pawl runs --all --json | jq -r 'select(.state == "not driven").run'
`;
