/** `pawl diff`: what a run, or one of its iterations, changed, out of pawl's own repository. */
import type { Command } from "commander";
import { EXIT, UsageError } from "../../../errors.ts";
import type { Fact } from "../../../events.ts";
import { MAIN_LANE, mainLane } from "../../../loop/state.ts";
import { diffRun } from "../../../workspace/runs.ts";
import { oneLine, plain } from "../../plain.ts";
import { columns, counted } from "../format.ts";
import { iterationView } from "../iteration-view.ts";
import { note, print, printAsIs } from "../output.ts";
import { readRun, wholeNumber, withRun } from "../reading.ts";

const MAX_DIFF_BYTES = 32 * 1024 * 1024;
const MAX_PATH_CHARS = 200;

interface Options {
  iteration?: number;
  stat?: boolean;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[run]", "a run or the beginning of its name; without it the newest of this repository")
    .option("-i, --iteration <n>", "only what this iteration changed", wholeNumber("--iteration"))
    .option("--stat", "files and numbers of lines only")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, { iteration, stat = false }: Options) => {
      await withRun(asked, async (opened) => {
        const { folded, facts, row, state } = await readRun(opened);
        const { spec } = folded;
        const { head } = mainLane(folded);
        const whole = head === undefined ? {} : { to: head.snapshot };
        const between = iteration === undefined ? whole : snapshotsOf(facts, iteration);
        const place = { spec: spec.workspace, run: row.run, lane: MAIN_LANE, stateDir: state.dir };
        const diff = await diffRun({ ...place, ...between, maxBytes: MAX_DIFF_BYTES });
        // A patch must stay what it is for who pipes it on; on a terminal it is somebody else's text.
        if (!stat) printAsIs(process.stdout.isTTY ? plain(diff.text) : diff.text);
        else if (diff.files.length > 0) print(columns(diff.files.map(fileCells)));
        const more = diff.fileCount - diff.files.length;
        if (stat && more > 0) print(`and ${counted(more, "more file")}`);
        note(diff.fileCount === 0 ? "no change" : `${counted(diff.fileCount, "file")} +${diff.added} -${diff.removed}`);
      });
      exit(EXIT.ok);
    });
}

/** The snapshot an iteration left, and the one before it. */
function snapshotsOf(facts: readonly Fact[], n: number): { from: number; to: number } {
  const { change } = iterationView(facts, { n });
  if (change === null) {
    throw new UsageError(`iteration ${n} has no snapshot yet`, { hint: "it is taken when the turn has ended" });
  }
  const before = facts.findLast(
    (fact) => (fact.type === "change-recorded" || isPutBack(fact)) && fact.seq < change.seq,
  );
  const from =
    before?.type === "change-recorded" ? before.snapshot : before?.type === "change-restored" ? before.to : 0;
  return { from, to: change.snapshot };
}

const isPutBack = (fact: Fact): boolean => fact.type === "change-restored" && fact.failed === undefined;

function fileCells({ path, status, added, removed }: { path: string; status: string; added: number; removed: number }) {
  return [status, `+${added}`, `-${removed}`, oneLine(path, { max: MAX_PATH_CHARS })];
}

const EXAMPLES = `
Against the state before the run; also while it is driven, and after its branch
is gone.

Examples:
  pawl diff --stat
  pawl diff -i 3
  pawl diff r-20261115-k3f | git apply
`;
