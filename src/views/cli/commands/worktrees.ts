/** `pawl worktrees`: those that `pawl run --worktree` made, and removing the ones whose work is safe. */
import type { Command } from "commander";
import { EXIT } from "../../../errors.ts";
import { openState } from "../../../compose.ts";
import { fold } from "../../../loop/fold.ts";
import { stateDir } from "../../../platform/paths.ts";
import { inspectRepository } from "../../../workspace/inspect.ts";
import { stateOf, type WorktreeState } from "../../../workspace/worktree-state.ts";
import { cleanWorktrees, listWorktrees, type Worktree, type WorktreePlace } from "../../../workspace/worktrees.ts";
import { oneLine } from "../../plain.ts";
import { columns } from "../format.ts";
import { note, print, printJson } from "../output.ts";
import { repositoriesOf } from "../run-id.ts";

const MAX_CELL_CHARS = 200;
const short = (text: string): string => oneLine(text, { max: MAX_CELL_CHARS });

type Exit = (code: number) => void;

export function configure(command: Command, exit: Exit): void {
  list(command, exit);
  clean(command, exit);
  command.addHelpText("after", EXAMPLES);
}

function list(parent: Command, exit: Exit): void {
  parent
    .command("list")
    .description("the worktrees of this repository's runs: run, branch, state, size")
    .option("--json", "one object a line on stdout")
    .action(async ({ json = false }: { json?: boolean }) => {
      const place = await placeHere();
      const worktrees = await listWorktrees(place);
      const rows = await withRuns(place, async (runs) =>
        Promise.all(
          worktrees.map(async (worktree) => ({
            ...worktree,
            ...(await stateOf(place, worktree)),
            ended: worktree.run === undefined ? undefined : await runs.outcome(worktree.run),
          })),
        ),
      );
      if (json) rows.forEach((row) => printJson({ v: 1, ...row }));
      else if (rows.length > 0) print(columns(rows.map(cells)));
      if (rows.length === 0) note("no worktrees");
      exit(EXIT.ok);
    });
}

type Row = Worktree & WorktreeState & { ended: string | undefined };

function cells({ name, run, branch, path, bytes, atLeast, ...state }: Row): string[] {
  const size = `${atLeast ? ">" : ""}${megabytes(bytes)}`;
  return [short(name), short(run ?? "-"), short(branch ?? "detached"), words(state), size, short(path)];
}

function words({ inUse, ended, unsaved, locked }: Pick<Row, "inUse" | "ended" | "unsaved" | "locked">): string {
  const run = inUse === undefined ? (ended ?? "no run") : `live (pid ${inUse})`;
  return [run, ...(unsaved === undefined ? [] : [`dirty: ${unsaved}`]), ...(locked ? ["locked"] : [])].join(", ");
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

interface Runs {
  /** How a run ended, or that it has not; undefined when the journal does not know it. */
  outcome(run: string): Promise<string | undefined>;
}

const NOT_ENDED = "not ended";

async function withRuns<T>({ environment }: WorktreePlace, work: (runs: Runs) => Promise<T>): Promise<T> {
  const state = openState(environment);
  const { journal } = state;
  try {
    const known = new Set((await journal.runs()).map(({ run }) => run));
    const outcome = async (run: string): Promise<string | undefined> =>
      known.has(run) ? (fold(await journal.read(run)).outcome?.is ?? NOT_ENDED) : undefined;
    return await work({ outcome });
  } finally {
    state.close();
  }
}

function clean(parent: Command, exit: Exit): void {
  parent
    .command("clean")
    .description("remove those whose run has ended and whose work is on a branch")
    .argument("[names...]", "only these")
    .option("--force", "also with unsaved work or a run that has not ended; never one in use")
    .option("--json", "one object on stdout")
    .action(async (names: string[], { force = false, json = false }: { force?: boolean; json?: boolean }) => {
      const only = names.length === 0 ? {} : { names };
      const place = await placeHere();
      const { removed, kept } = await withRuns(place, async (runs) => {
        const needed = async ({ run }: Worktree): Promise<string | undefined> =>
          run !== undefined && (await runs.outcome(run)) === NOT_ENDED
            ? `run ${run} has not ended: pawl resume ${run}`
            : undefined;
        return await cleanWorktrees({ ...place, ...only, force, needed });
      });
      if (json) printJson({ v: 1, removed, kept });
      else {
        for (const name of removed) print(`removed ${short(name)}`);
        for (const { name, why } of kept) print(`kept ${short(name)}: ${short(why)}`);
      }
      if (removed.length + kept.length === 0) note("no worktrees");
      // Whoever names one wants it gone.
      exit(names.length > 0 && kept.length > 0 ? EXIT.unverified : EXIT.ok);
    });
}

/** From inside a worktree the repository it belongs to is meant. */
async function placeHere(): Promise<WorktreePlace> {
  const environment = process.env;
  const { topLevel } = await inspectRepository(process.cwd(), { environment });
  return { repository: repositoriesOf(topLevel).at(-1) ?? topLevel, stateDir: stateDir(environment), environment };
}

const EXAMPLES = `
Examples:
  pawl worktrees list
  pawl worktrees clean
  pawl worktrees clean fix-login --force
`;
