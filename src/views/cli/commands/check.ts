/** `pawl check`: the configured checks on the tree as it is now, fenced as in a run, without an agent or a run. */
import type { Command } from "commander";
import { composeForRun, type Composed } from "../../../compose.ts";
import { openApart, type Apart } from "../../../compose/apart.ts";
import { judged } from "../../../compose/judge.ts";
import { UsageError } from "../../../errors.ts";
import type { Verdict } from "../../../events.ts";
import { currentOwner } from "../../../platform/owner.ts";
import { workspaceHolder } from "../../../workspace/lock.ts";
import { fenceWords } from "../../fence-words.ts";
import { plain } from "../../plain.ts";
import { abortSignals } from "../abort-signals.ts";
import { CHECK_SETTINGS, planCheck, type PlannedCheck } from "../check/plan.ts";
import { exitOf, resultText, standOf, standText, type CheckResult } from "../check/report.ts";
import { note, print, printJson } from "../output.ts";
import { wholeNumber } from "../reading.ts";
import { addSettings, flagsOf } from "../setting-options.ts";

const MAX_REPEAT = 100;
const SHORT_OID_CHARS = 10;

interface Options {
  repeat?: number;
  log?: true;
  json?: true;
  verbose?: true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command.argument("[names...]", "of checks; without any all that are configured");
  addSettings(command, CHECK_SETTINGS);
  command
    .optionsGroup("Output:")
    .option("--repeat <n>", "run each so often: pass and fail on one tree is flaky", wholeNumber("--repeat"))
    .option("--log", "the whole output of each check")
    .option("--json", "one object on stdout")
    .option("-v, --verbose", "the evidence of those that pass, too")
    .addHelpText("after", EXAMPLES)
    .action(async (names: string[], options: Options) => {
      const flags = flagsOf(command, CHECK_SETTINGS);
      const planned = await planCheck({ names, flags, env: process.env, cwd: process.cwd() });
      exit(await check(planned, options));
    });
}

async function check(planned: PlannedCheck, options: Options): Promise<number> {
  const { repository } = planned.spec.workspace;
  const repeat = options.repeat ?? 1;
  if (repeat < 1 || repeat > MAX_REPEAT) throw new UsageError(`--repeat takes 1 to ${MAX_REPEAT}, not ${repeat}`);
  const apart = await openApart(process.env, { repository });
  const signals = abortSignals(apart.run);
  try {
    const composed = await compose(planned, apart);
    try {
      const { tree, results } = await judgeAll(planned, { composed, apart, repeat, options, signal: signals.signal });
      if (signals.exitCode() !== undefined) return signals.exitCode() ?? 0;
      const is = standOf(results);
      if (options.json === true)
        printJson({ v: 1, is, repository, base: planned.base, tree, fence: planned.spec.fence, checks: results });
      else note(standText(results, apart));
      return exitOf(is);
    } finally {
      await composed.close();
    }
  } finally {
    await apart.close();
    signals.close();
  }
}

async function compose({ spec, base }: PlannedCheck, { run, state }: Apart): Promise<Composed> {
  const start = {
    spec: { ...spec, run },
    base: { commit: null, tree: base, branch: null, detached: false },
  };
  // Only a judge needs the agent.
  const agents = spec.checks.some(({ kind }) => kind === "judge") ? {} : { agents: {} };
  return await composeForRun({ run, env: process.env, state, start, ...agents });
}

interface JudgeAll {
  composed: Composed;
  apart: Apart;
  repeat: number;
  options: Options;
  signal: AbortSignal;
}

async function judgeAll(
  { spec, base, folderNote }: PlannedCheck,
  { composed: { ports }, apart, repeat, options, signal }: JudgeAll,
): Promise<{ tree: string; results: CheckResult[] }> {
  const { json = false, verbose = false, log = false } = options;
  const { tree } = await ports.workspace.prepare();
  if (!json) note(headerText({ spec, base, folderNote }, { tree, stateDir: apart.state.dir }));
  const verdicts = new Map<string, Verdict>();
  const results: CheckResult[] = [];
  for (const wanted of spec.checks) {
    const found = ports.checks.find(({ name }) => name === wanted.name);
    if (found === undefined || signal.aborted) break;
    const verdict = await judged(found, {
      ports,
      spec,
      base,
      tree,
      baseTests: undefined,
      wall: Date.now(),
      undone: [],
      baselines: new Map(),
      testsFollowed: false,
      verdicts,
      redact: apart.state.redact,
      signal,
      runs: repeat,
    });
    // Stopped in the middle it has said nothing.
    if (signal.aborted) break;
    verdicts.set(wanted.name, verdict);
    const { name, kind, command, required } = wanted;
    const text = log ? await logOf(verdict, apart) : undefined;
    const result = { check: { name, kind, command, required }, verdict, ...(text === undefined ? {} : { log: text }) };
    results.push(result);
    if (!json) print(resultText(result, { verbose }));
  }
  return { tree, results };
}

function headerText(
  { spec, base, folderNote }: Pick<PlannedCheck, "spec" | "base"> & { folderNote: string | undefined },
  { tree, stateDir }: { tree: string; stateDir: string },
): string {
  const { path } = spec.workspace;
  const what = tree === base ? "the last commit" : "with what is not committed";
  const holder = workspaceHolder({ path, stateDir });
  const isMoving = holder !== undefined && holder.pid !== currentOwner().pid;
  return [
    `tree ${tree.slice(0, SHORT_OID_CHARS)} of ${path}, ${what}; ${fenceWords(spec.fence, { tense: "now" })}`,
    ...(folderNote === undefined ? [] : [folderNote]),
    ...(isMoving ? [`a run works here now (process ${holder.pid}): this is the tree as it was a moment ago`] : []),
  ].join("\n");
}

async function logOf(verdict: Verdict, { state }: Apart): Promise<string | undefined> {
  const hash = "evidence" in verdict ? verdict.evidence.log : null;
  const bytes = hash === null ? undefined : await state.blobs.get(hash);
  return bytes === undefined ? undefined : plain(Buffer.from(bytes).toString("utf8"));
}

const EXAMPLES = `
The tree is taken as it is, with what is not committed, into pawl's own
repository; nothing of yours changes and no run begins. Checks see it as those of
a run do: in the fence, at its own path, with the same environment.

Exit code 0 when every required check passes, 1 when one fails or is flaky,
4 when one could not be judged, 2 for a wrong command line.

Examples:
  pawl check
  pawl check tests lint
  pawl check --check "npm test" --repeat 5
  pawl check --json | jq '.checks[] | select(.verdict.is != "pass")'
`;
