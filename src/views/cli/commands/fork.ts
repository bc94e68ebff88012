/** `pawl fork`: a new run from a snapshot of another, in a worktree of its own; the other one is left as it is. */
import type { Command } from "commander";
import { openDriverState } from "../../../compose.ts";
import { forkRun } from "../../../compose/fork.ts";
import { UsageError } from "../../../errors.ts";
import { fold } from "../../../loop/fold.ts";
import { currentOwner } from "../../../platform/owner.ts";
import { lockWorkspace } from "../../../workspace/lock.ts";
import { oneLine } from "../../plain.ts";
import { driveHere } from "../drive.ts";
import { header } from "../header.ts";
import { loudnessOf } from "../loudness.ts";
import { printFact } from "../print-fact.ts";
import { makeRunId, resolveRun } from "../run-id.ts";
import { begin, refuseFullDisk } from "../start-run.ts";
import { refuseUnwritable } from "../state-place.ts";

const MAX_WARNING_CHARS = 300;

interface Options {
  at?: string;
  model?: string;
  say?: string;
  json?: true;
  quiet?: true;
  verbose?: true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[run]", "a run or the beginning of its name; without it the newest of this repository")
    .option("--at <n>", "the snapshot to begin with; `pawl restore RUN --list` shows them")
    .option("--model <NAME>", "another model than the run had")
    .option("--say <TEXT>", "words for the agent, in its first prompt")
    .option("--json", "facts as JSON lines on stdout")
    .option("-q, --quiet", "only the summary")
    .option("-v, --verbose", "every fact, and what the agent thinks")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: Options) => exit(await fork(asked, options)));
}

async function fork(asked: string | undefined, options: Options): Promise<number> {
  const { env } = process;
  const at = snapshotNumber(options.at);
  const say = wordsOf(options.say, "--say");
  const model = wordsOf(options.model, "--model");
  const state = await openDriverState(env);
  try {
    const row = await resolveRun(state.journal, { asked, cwd: process.cwd() });
    const facts = await state.journal.read(row.run);
    const folded = fold(facts);
    if (folded.spec.solve !== undefined)
      throw new UsageError(`run ${row.run} is one of \`pawl solve\`, which has no branch to fork`, {
        hint: "ask again with `pawl solve`; its plan can be given with --plan",
      });
    refuseUnwritable(state.dir);
    refuseFullDisk(state.dir);
    const run = makeRunId(Date.now(), Math.random);
    const made = await forkRun({ folded, facts, at, run, model, stateDir: state.dir, env });
    const { spec, base, warnings, fresh } = made;
    const told = fresh === undefined ? [] : [`the conversation begins afresh: ${fresh}`];
    for (const warning of [...warnings, ...told])
      process.stderr.write(`pawl: ${oneLine(warning, { max: MAX_WARNING_CHARS })}\n`);
    try {
      await begin(state, { spec, base });
      if (say !== undefined) await state.inbox.put(run, { kind: "say", text: say, when: "next" }, { source: "cli" });
    } catch (error) {
      await made.undo();
      throw error;
    }
    const lock = lockWorkspace({ path: spec.workspace.path, stateDir: state.dir, owner: currentOwner() });
    try {
      const json = options.json === true;
      if (json) for (const fact of await state.journal.read(run)) printFact(fact);
      else if (options.quiet !== true)
        process.stderr.write(
          `${header(spec)}\n  made from snapshot ${at} of ${row.run}${fresh === undefined ? ", in the conversation as it was then" : ""}\n`,
        );
      const loudness = loudnessOf(options);
      return await driveHere({ run, start: { spec, base }, env, state, json, loudness, trustPromise: false });
    } finally {
      lock.release();
    }
  } finally {
    state.close();
  }
}

function snapshotNumber(text: string | undefined): number {
  if (text !== undefined && /^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(
    text === undefined
      ? "from where? --at is missing"
      : `--at is the number of a snapshot, not ${JSON.stringify(text)}`,
    { hint: "pawl restore RUN --list shows what there is; --at 3 is the third after the start" },
  );
}

function wordsOf(text: string | undefined, flag: string): string | undefined {
  if (text === undefined || text.trim() !== "") return text?.trim();
  throw new UsageError(`${flag} is empty`);
}

const EXAMPLES = `
The new run has the goal, checks and settings of the other, limits of its own
from the start, a branch and a worktree of its own. Where the agent can (Claude
Code, Codex, opencode, messages) it goes on in the conversation as that was
then; otherwise in a fresh one, and says why.

Examples:
  pawl fork r-20261115-k3f --at 4
  pawl fork --at 2 --model claude-opus-5-5
  pawl fork --at 4 --say "try it without the cache"
`;
