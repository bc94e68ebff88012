/**
 * `pawl resume`: un-pauses a run that is driven, else drives it; a run that ended goes on from where it was, under a
 * new limit where one was reached.
 */
import type { Command } from "commander";
import { existsSync } from "node:fs";
import { openDriverState, type State } from "../../../compose.ts";
import { resolveSettings } from "../../../config.ts";
import { toLimits } from "../../../config/run-spec.ts";
import type { SettingName } from "../../../config/settings.ts";
import { EXIT, UsageError } from "../../../errors.ts";
import type { Directive } from "../../../events.ts";
import { exhausted } from "../../../loop/budget.ts";
import { fold } from "../../../loop/fold.ts";
import { heldQuestions } from "../../../loop/questions.ts";
import { mainLane, type RunState } from "../../../loop/state.ts";
import { currentOwner } from "../../../platform/owner.ts";
import { configDir } from "../../../platform/paths.ts";
import type { Limits } from "../../../spec.ts";
import { lockWorkspace } from "../../../workspace/lock.ts";
import { resumeCommand } from "../../summary.ts";
import { driveHere } from "../drive.ts";
import { header } from "../header.ts";
import { refuseFullDisk } from "../start-run.ts";
import { resolveRun } from "../run-id.ts";
import { addSettings, flagsOf, type Flags } from "../setting-options.ts";
import { loudnessOf } from "./run.ts";

/** What may change on a run; everything else was frozen at its start. */
const CHANGEABLE: readonly SettingName[] = [
  "max-iterations",
  "max-turns",
  "max-tool-calls",
  "max-tokens",
  "max-cost",
  "max-turn-cost",
  "max-time",
  "max-calls-per-hour",
  "model",
  "trust-promise",
];

interface Options {
  json?: true;
  quiet?: true;
  verbose?: true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command.argument("[run]", "any unique beginning of its name; without it the newest run of this repository");
  addSettings(command, CHANGEABLE);
  command
    .optionsGroup("Output:")
    .option("--json", "new facts as JSON lines on stdout")
    .option("-q, --quiet", "only the summary")
    .option("-v, --verbose", "every fact, and what the agent thinks")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: Options) => {
      exit(await resume(asked, { flags: flagsOf(command, CHANGEABLE), options }));
    });
}

interface Change {
  limits: Limits;
  model?: string;
}

async function resume(
  asked: string | undefined,
  { flags, options }: { flags: Flags; options: Options },
): Promise<number> {
  const { env } = process;
  const cwd = process.cwd();
  const { change, trustPromise } = changeOf(flags);
  const state = await openDriverState(env);
  try {
    const row = await resolveRun(state.journal, { asked, cwd });
    if (row.owner !== undefined) return await tellDriver(state, { run: row.run, pid: row.owner.pid, change });
    const folded = fold(await state.journal.read(row.run));
    refuse(folded, change);
    const { spec } = folded;
    if (!existsSync(spec.workspace.path)) {
      throw new UsageError(`the workspace of run ${row.run} is gone: ${spec.workspace.path}`, {
        hint: `its work is kept: pawl restore ${row.run} --at N --branch NAME`,
      });
    }
    refuseFullDisk(state.dir);
    const lock = lockWorkspace({ path: spec.workspace.path, stateDir: state.dir, owner: currentOwner() });
    try {
      if (folded.outcome === undefined) {
        const held = await isHeld(state, folded);
        await queue(state, { run: row.run, directives: directivesOf(change, { held }) });
      }
      if (options.json !== true && options.quiet !== true)
        process.stderr.write(`${header({ ...spec, limits: { ...folded.limits, ...change.limits } })}\n`);
      const reopen = folded.outcome === undefined ? {} : { reopen: change };
      const loudness = loudnessOf(options);
      return await driveHere({
        run: row.run,
        start: folded,
        env,
        state,
        json: options.json === true,
        loudness,
        trustPromise,
        ...reopen,
      });
    } finally {
      lock.release();
    }
  } finally {
    state.close();
  }
}

/**
 * Only flags change a run: a default or a file must not undo what was frozen. The repository's own file is not even
 * read: the agent may have written it.
 */
function changeOf(flags: Flags): { change: Change; trustPromise: boolean } {
  const { env } = process;
  const { settings, origins } = resolveSettings({ flags, env, repository: undefined, userDir: configDir(env) });
  const given = Object.fromEntries(
    Object.entries(settings).filter(([name]) => origins[name as SettingName]?.from === "flag"),
  );
  const model = typeof given["model"] === "string" ? { model: given["model"] } : {};
  return { change: { limits: toLimits(given), ...model }, trustPromise: settings["trust-promise"] };
}

function refuse(state: RunState, { limits }: Change): void {
  const { run, outcome } = state;
  if (outcome === undefined) return;
  if (outcome.is === "verified") {
    throw new UsageError(`run ${run} is verified: there is nothing left to do`, {
      hint: 'start another with `pawl run "…"`',
    });
  }
  if (outcome.is !== "exhausted") return;
  const raised = { ...state, limits: { ...state.limits, ...limits } };
  const over = exhausted(raised, { iteration: mainLane(state).iteration, elapsed: state.elapsed });
  if (over === undefined) return;
  throw new UsageError(`run ${run} ended at its limit on ${over.which}: ${outcome.reason}`, {
    hint: `raise it: ${resumeCommand(state)}`,
  });
}

/** Whoever resumes wants it to go on: a pause or stop that a dead driver left, or that waits in the inbox, is taken back. */
async function isHeld({ inbox }: State, held: RunState): Promise<boolean> {
  const { run, paused, stop } = held;
  if (paused || stop !== undefined || heldQuestions(held).length > 0) return true;
  return (await inbox.queued(run)).some(({ directive: { kind } }) => kind === "pause" || kind === "stop");
}

function directivesOf({ limits, model }: Change, { held }: { held: boolean }): Directive[] {
  return [
    ...(Object.keys(limits).length === 0 ? [] : [{ kind: "budget" as const, limits }]),
    ...(model === undefined ? [] : [{ kind: "model" as const, model }]),
    ...(held ? [{ kind: "resume" as const }] : []),
  ];
}

async function queue({ inbox }: State, { run, directives }: { run: string; directives: Directive[] }): Promise<void> {
  for (const directive of directives) await inbox.put(run, directive, { source: "cli" });
}

async function tellDriver(
  state: State,
  { run, pid, change }: { run: string; pid: number; change: Change },
): Promise<number> {
  await queue(state, { run, directives: directivesOf(change, { held: true }) });
  process.stderr.write(
    `${run} is driven by process ${pid}; it was told to go on\n  pawl status ${run}  # where it is\n`,
  );
  return EXIT.ok;
}

const EXAMPLES = `
Examples:
  pawl resume
  pawl resume r-20261115 --max-iterations 40
  pawl resume --max-cost 10 --model claude-opus-5-5
`;
