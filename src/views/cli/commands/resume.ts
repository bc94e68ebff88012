/**
 * `pawl resume`: un-pauses a run that is driven, else drives it; a run that ended goes on from where it was, under a
 * new limit where one was reached.
 */
import type { Command } from "commander";
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { openDriverState, type State } from "../../../compose.ts";
import { parsedFlags, resolveSettings } from "../../../config.ts";
import { refuseDifferences } from "../../../config/frozen.ts";
import { toLimits } from "../../../config/run-spec.ts";
import type { Flags, SettingName } from "../../../config/settings.ts";
import { EXIT, UsageError } from "../../../errors.ts";
import type { Directive } from "../../../events.ts";
import { exhausted } from "../../../loop/budget.ts";
import { PRE_EXISTING } from "../../../loop/completion.ts";
import { fold } from "../../../loop/fold.ts";
import { mainLane, type RunState } from "../../../loop/state.ts";
import { currentOwner } from "../../../platform/owner.ts";
import { configDir } from "../../../platform/paths.ts";
import type { WorkspaceSpec } from "../../../spec.ts";
import { lockWorkspace } from "../../../workspace/lock.ts";
import { directivesOf, isHeld, type Change } from "../../going-on.ts";
import { resumeCommand } from "../../summary.ts";
import { driveHere } from "../drive.ts";
import { header } from "../header.ts";
import { loudnessOf } from "../loudness.ts";
import { refuseFullDisk } from "../start-run.ts";
import { refuseUnwritable } from "../state-place.ts";
import { commandsIn, folderIn } from "../given-folder.ts";
import { repositoriesOf, resolveRun } from "../run-id.ts";
import { addPlaceOptions, placeFlags, type PlaceOptions } from "../place-options.ts";
import { addSettings, CHANGEABLE, flagsOf, RUN_SETTINGS, sayValue, SOLVE_SETTINGS } from "../setting-options.ts";

const OTHERS = [...new Set([...RUN_SETTINGS, ...SOLVE_SETTINGS])].filter((name) => !CHANGEABLE.includes(name));

interface Options extends PlaceOptions {
  json?: true;
  quiet?: true;
  verbose?: true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command.argument("[run]", "any unique beginning of its name; without it the newest run of this repository");
  addSettings(command, CHANGEABLE, { group: "What may change:" });
  command
    .optionsGroup("Output:")
    .option("--json", "new facts as JSON lines on stdout")
    .option("-q, --quiet", "only the summary")
    .option("-v, --verbose", "every fact, and what the agent thinks");
  // So that the line that started a run can be used again: what says the same is welcome, all else refused.
  addSettings(command, OTHERS, { hidden: true });
  addPlaceOptions(command, { hidden: true });
  command.addHelpText("after", EXAMPLES).action(async (asked: string | undefined, options: Options) => {
    const frozen = { ...flagsOf(command, OTHERS), ...placeFlags(options) };
    exit(await resume(asked, { flags: flagsOf(command, CHANGEABLE), frozen, options }));
  });
}

async function resume(
  asked: string | undefined,
  { flags, frozen, options }: { flags: Flags; frozen: Flags; options: Options },
): Promise<number> {
  const { env } = process;
  const cwd = process.cwd();
  const { change, trustPromise } = changeOf(flags);
  const state = await openDriverState(env);
  try {
    const row = await resolveRun(state.journal, { asked, cwd });
    const folded = fold(await state.journal.read(row.run));
    const { spec } = folded;
    const [topLevel = cwd] = repositoriesOf(cwd);
    refuseDifferences(commandsIn(parsedFlags(frozen), folderIn(topLevel, cwd)), { spec, say: sayValue });
    refuseOtherPlace(options, spec.workspace);
    if (row.owner !== undefined) return await tellDriver(state, { run: row.run, pid: row.owner.pid, change });
    refuse(folded, change);
    if (!existsSync(spec.workspace.path)) {
      throw new UsageError(`the workspace of run ${row.run} is gone: ${spec.workspace.path}`, {
        hint: `its work is kept: pawl restore ${row.run} --at N --branch NAME, with N of: pawl restore ${row.run} --list`,
      });
    }
    refuseUnwritable(state.dir);
    refuseFullDisk(state.dir);
    const lock = lockWorkspace({ path: spec.workspace.path, stateDir: state.dir, owner: currentOwner() });
    try {
      const begin = async (): Promise<void> => {
        if (folded.outcome === undefined) {
          const held = await isHeld(state.inbox, folded);
          await queue(state, { run: row.run, directives: directivesOf(change, { held }) });
        }
        if (options.json !== true && options.quiet !== true)
          process.stderr.write(`${header({ ...spec, limits: { ...folded.limits, ...change.limits } })}\n`);
      };
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
        begin,
        ...reopen,
        ...(await presenting({ spec, state, json: options.json === true, trustPromise })),
      });
    } finally {
      lock.release();
    }
  } finally {
    state.close();
  }
}

/** A run that solves ends with an answer. */
async function presenting({
  spec,
  state,
  json,
  trustPromise,
}: {
  spec: RunState["spec"];
  state: State;
  json: boolean;
  trustPromise: boolean;
}): Promise<Pick<Parameters<typeof driveHere>[0], "present">> {
  if (spec.solve === undefined || json) return {};
  const { presentAnswer } = await import("../../solve/present.ts");
  const { blobs } = state;
  return {
    present: (ended) => presentAnswer(ended, { blobs, json: false, trustPromise }),
  };
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

/** A worktree is not a setting, but a place. */
function refuseOtherPlace({ worktree }: PlaceOptions, { repository, path }: WorkspaceSpec): void {
  if (worktree === undefined || (path !== repository && (worktree === true || basename(path) === worktree))) return;
  const has = path === repository ? "none" : JSON.stringify(basename(path));
  throw new UsageError(`--worktree${worktree === true ? "" : `=${worktree}`} differs: the run has ${has}`, {
    hint: "a run goes on where it was; for another place start a new run",
  });
}

function refuse(state: RunState, { limits }: Change): void {
  const { run, outcome } = state;
  if (outcome === undefined) return;
  if (outcome.is === "verified") {
    throw new UsageError(`run ${run} is verified: there is nothing left to do`, {
      hint:
        state.spec.solve === undefined
          ? 'start another with `pawl run "…"`'
          : `what it made: pawl show ${run} --out FOLDER`,
    });
  }
  if (outcome.is !== "exhausted" && outcome.rule !== PRE_EXISTING) return;
  const raised = { ...state, limits: { ...state.limits, ...limits } };
  const over = exhausted(raised, { iteration: mainLane(state).iteration, elapsed: state.elapsed });
  if (over === undefined) return;
  // It may be another one than it ended at: what was raised is not all that is used up.
  const atIt = { ...raised, outcome: { ...outcome, rule: `budget:${over.which}` } };
  throw new UsageError(`run ${run} ended at its limit on ${over.which}`, { hint: `raise it: ${resumeCommand(atIt)}` });
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
A run that is driven is un-paused; one that is not is driven in this terminal;
one that ended is reopened, unless it is verified. Flags of \`pawl run\` that say
what the run says already are accepted; others are refused.

Examples:
  pawl resume
  pawl resume r-20261115 --max-iterations 40
  pawl resume --max-cost 10 --model claude-opus-5-5
`;
