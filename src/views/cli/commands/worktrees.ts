/** `pawl worktrees`: those that \`pawl run --worktree\` made, and removing the ones whose work is safe. */
import type { Command } from "commander";
import { EXIT } from "../../../errors.ts";
import { stateDir } from "../../../platform/paths.ts";
import { inspectRepository } from "../../../workspace/inspect.ts";
import { cleanWorktrees, listWorktrees, type WorktreePlace } from "../../../workspace/worktrees.ts";
import { oneLine } from "../../plain.ts";
import { columns } from "../format.ts";
import { note, print, printJson } from "../output.ts";
import { repositoriesOf } from "../run-id.ts";

const MAX_CELL_CHARS = 200;
const SHORT_OID_CHARS = 10;
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
    .description("the worktrees beside this repository")
    .option("--json", "one object a line on stdout")
    .action(async ({ json = false }: { json?: boolean }) => {
      const worktrees = await listWorktrees(await placeHere());
      if (json) worktrees.forEach((worktree) => printJson({ v: 1, ...worktree }));
      else if (worktrees.length > 0) {
        print(
          columns(
            worktrees.map(({ name, branch, commit, path }) => [
              short(name),
              short(branch ?? "detached"),
              commit.slice(0, SHORT_OID_CHARS),
              short(path),
            ]),
          ),
        );
      }
      if (worktrees.length === 0) note("no worktrees");
      exit(EXIT.ok);
    });
}

function clean(parent: Command, exit: Exit): void {
  parent
    .command("clean")
    .description("remove those with nothing uncommitted and nobody in them")
    .argument("[names...]", "only these")
    .option("--force", "also with uncommitted changes or commits on no branch")
    .option("--json", "one object on stdout")
    .action(async (names: string[], { force = false, json = false }: { force?: boolean; json?: boolean }) => {
      const only = names.length === 0 ? {} : { names };
      const { removed, kept } = await cleanWorktrees({ ...(await placeHere()), ...only, force });
      if (json) printJson({ v: 1, removed, kept });
      else {
        for (const name of removed) print(`removed ${short(name)}`);
        for (const { name, why } of kept) print(`kept ${short(name)}: ${short(why)}`);
      }
      if (removed.length + kept.length === 0) note("no worktrees");
      exit(EXIT.ok);
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
