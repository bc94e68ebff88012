/** `pawl verify`: runs the evidence of a finished run again, and compares with the record, for who trusts neither. */
import type { Command } from "commander";
import { openApart, type Apart } from "../../../compose/apart.ts";
import { TerminalError, UsageError } from "../../../errors.ts";
import type { Fact } from "../../../events.ts";
import { currentOwner } from "../../../platform/owner.ts";
import type { RunRow } from "../../../ports.ts";
import { lockWorkspace } from "../../../workspace/lock.ts";
import { abortSignals } from "../abort-signals.ts";
import { counted } from "../format.ts";
import { note, print, printJson } from "../output.ts";
import { wholeNumber, withRun, type Opened } from "../reading.ts";
import {
  deliveryFindings,
  environmentFindings,
  noticedFindings,
  outcomeFinding,
  textFinding,
  type Finding,
} from "../verify/findings.ts";
import { recordOf, type Record } from "../verify/record.ts";
import { repeatChecks, type Repeated } from "../verify/repeat.ts";
import { answerText, answerTo, exitOf, findingText, repeatedText } from "../verify/report.ts";

interface Options {
  at?: number;
  judges?: true;
  json?: true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[run]", "a run or the beginning of its name; without it the newest of this repository")
    .option("--at <n>", "the judged tree of this snapshot; without it what was delivered", wholeNumber("--at"))
    .option("--judges", "ask models that judged again, too, which costs")
    .option("--json", "one object on stdout")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: Options) => {
      await withRun(asked, async (opened) => exit(await verify(opened, options)));
    });
}

async function verify(opened: Opened, options: Options): Promise<number> {
  const { row, state } = opened;
  refuseDriven(row);
  const findings: Finding[] = [];
  const tell = (found: readonly Finding[]): void => {
    findings.push(...found);
    if (options.json !== true) for (const one of found) print(findingText(one));
  };
  const facts = await journalOf(opened, tell);
  if (facts === undefined) return answer({ run: row.run, findings, repeated: [] }, { options, record: undefined });
  const record = recordOf(facts, { at: options.at });
  tell([await textFinding(facts, state.blobs)]);
  // Another tree than the delivered one has no part in the outcome.
  if (options.at === undefined) tell([outcomeFinding(record)]);
  tell(await deliveryFindings(record, { stateDir: state.dir }));
  tell([...environmentFindings(record, process.env), ...noticedFindings(record)]);
  const apart = await openApart(process.env, { repository: record.spec.workspace.repository });
  const signals = abortSignals(row.run);
  try {
    const { signal } = signals;
    const repeated = await inLock(record, { apart, opened, signal, options });
    return signals.exitCode() ?? answer({ run: row.run, findings, repeated }, { options, record });
  } finally {
    await apart.close();
    signals.close();
  }
}

/** Reading checks the chain of hashes from the first fact to the last. */
async function journalOf(
  { row, state }: Opened,
  tell: (found: readonly Finding[]) => void,
): Promise<Fact[] | undefined> {
  try {
    const facts = await state.journal.read(row.run);
    tell([
      {
        name: "journal",
        is: "same",
        says: `${counted(facts.length, "fact")} of ${row.run}, the chain of hashes is whole`,
      },
    ]);
    return facts;
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    tell([{ name: "journal", is: "differs", says: `${error.message}: nothing it says can be believed` }]);
    return undefined;
  }
}

interface InLock {
  apart: Apart;
  opened: Opened;
  signal: AbortSignal;
  options: Options;
}

/** A driver uses the same folders. */
async function inLock(record: Record, { apart, opened, signal, options }: InLock): Promise<Repeated[]> {
  const { state } = opened;
  const { path } = record.spec.workspace;
  const lock = lockWorkspace({ path, stateDir: state.dir, owner: currentOwner() });
  try {
    return await repeatChecks(record, {
      state,
      apart,
      judges: options.judges === true,
      signal,
      onRepeated: (one) => {
        if (options.json !== true) print(repeatedText(one, record));
      },
    });
  } finally {
    lock.release();
  }
}

function answer(
  { run, findings, repeated }: { run: string; findings: Finding[]; repeated: Repeated[] },
  { options, record }: { options: Options; record: Record | undefined },
): number {
  const is = answerTo(findings, repeated, record);
  if (options.json === true) printJson(asJson({ run, is, findings, repeated }, record));
  else note(answerText(is, repeated));
  return exitOf(is);
}

function asJson(
  { run, is, findings, repeated }: { run: string; is: string; findings: Finding[]; repeated: Repeated[] },
  record: Record | undefined,
): unknown {
  const checks = repeated.map(({ check, tree, verdict, iteration, now, is: compared, says }) => ({
    check: check.name,
    required: check.required,
    is: compared,
    says,
    tree,
    iteration,
    was: verdict,
    now: now ?? null,
  }));
  const { outcome, tree, accepted } = record ?? {};
  const delivery = { commit: accepted?.commit ?? null, branch: accepted?.branch ?? null };
  return { v: 1, run, is, outcome: outcome ?? null, tree: tree ?? null, ...delivery, findings, checks };
}

function refuseDriven({ run, owner }: RunRow): void {
  if (owner === undefined) return;
  throw new UsageError(`run ${run} is driven by process ${owner.pid} on ${owner.host}`, {
    hint: `wait for its end (pawl watch ${run}), or stop it: pawl stop ${run} --now --wait`,
  });
}

const EXAMPLES = `
Looks whether the journal is whole, the logs are what was written, the delivered
commit is there and holds the judged tree, and the branch holds the commit; then
runs each check again on that tree, taken from pawl's own repository, with the
commands, environment and fence of the run, and compares verdict, exit code,
failures and tests with the record. Nothing is written to the record.

Exit code 0 when everything is as recorded, 1 when something differs, 4 when it
cannot be judged.

Examples:
  pawl verify
  pawl verify r-20261115-k3f --at 3
  pawl verify --json | jq '.checks[] | select(.is != "same")'
`;
