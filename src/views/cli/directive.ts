/**
 * Steering: a command puts a directive into the inbox and prints its receipt; it never touches the run itself. Whether
 * the driver and the agent have taken it is read from the journal.
 */
import type { Command } from "commander";
import { EXIT, UsageError } from "../../errors.ts";
import type { Directive } from "../../events.ts";
import { fold } from "../../loop/fold.ts";
import type { RunState } from "../../loop/state.ts";
import type { Receipt, RunRow } from "../../ports.ts";
import type { State } from "../../compose.ts";
import { directiveWords, finalReceipt, type ReceiptState } from "../directive-words.ts";
import { oneLine } from "../plain.ts";
import { note, print, printJson } from "./output.ts";
import { withState } from "./reading.ts";
import { resolveRun, runsHere } from "./run-id.ts";

const DEFAULT_WAIT_S = 60;
const MAX_WAIT_S = 86_400;
const MS_PER_SECOND = 1_000;
const MAX_HOW_CHARS = 200;

export interface SteerOptions {
  json?: boolean;
  /** Seconds; true: the default. */
  wait?: number | true;
}

/** The options every steering command has. */
export function steering(command: Command): Command {
  return command
    .option(
      "--wait [seconds]",
      `until it is delivered, and for words until they are answered (${DEFAULT_WAIT_S} s)`,
      waitTime,
    )
    .option("--json", "the receipt as one object on stdout");
}

function waitTime(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds > 0 && seconds <= MAX_WAIT_S) return seconds;
  throw new UsageError(`--wait takes seconds, not ${JSON.stringify(text)}`, {
    hint: "write --wait=30, or put --wait last",
  });
}

interface Delivered {
  receipt: ReceiptState;
  how: string | null;
  /** The run ended first. */
  ended: boolean;
}

/** Returns the exit code: 0 when queued, and with `--wait` when it came to its last state in time, else 1. */
export async function steer(
  asked: string | undefined,
  wanted: Directive | ((read: { folded: RunState }) => Directive),
  options: SteerOptions,
): Promise<number> {
  return withState(async (state) => {
    const row = await liveRun(state, asked);
    const folded = fold(await state.journal.read(row.run));
    refuseEnded(folded);
    const directive = typeof wanted === "function" ? wanted({ folded }) : wanted;
    const receipt = await state.inbox.put(row.run, directive, { source: "cli" });
    const driven = row.owner !== undefined;
    const waited =
      options.wait === undefined || !driven
        ? undefined
        : await watch(state, { row, receipt, seconds: options.wait === true ? DEFAULT_WAIT_S : options.wait });
    const result = waited ?? { receipt: "queued" as const, how: null, ended: false };
    tell({ row, receipt, result, driven, json: options.json ?? false });
    const enough = options.wait === undefined || result.receipt === finalReceipt(directive);
    return enough ? EXIT.ok : EXIT.unverified;
  });
}

/** Without a name: the one run of this repository that is driven now, else its newest. */
async function liveRun({ journal }: State, asked: string | undefined): Promise<RunRow> {
  const cwd = process.cwd();
  if (asked !== undefined) return resolveRun(journal, { asked, cwd });
  const live = runsHere(await journal.runs(), cwd).filter((row) => row.owner !== undefined);
  const [only] = live;
  if (live.length > 1) {
    throw new UsageError(`${live.length} runs of this repository are driven: which one?`, {
      hint: `one of: ${live.map(({ run }) => run).join(", ")}`,
    });
  }
  return only ?? resolveRun(journal, { asked, cwd });
}

function refuseEnded({ run, outcome }: RunState): void {
  if (outcome === undefined) return;
  throw new UsageError(`run ${run} has ended: ${outcome.is}`, {
    hint:
      outcome.is === "verified"
        ? 'it is verified and cannot be reopened; start another with `pawl run "…"`'
        : `reopen it with \`pawl resume ${run}\``,
  });
}

/** Follows the facts until the directive has come to its last state, the run has ended, or the time is over. */
async function watch(
  { journal }: State,
  { row, receipt, seconds }: { row: RunRow; receipt: Receipt; seconds: number },
): Promise<Delivered> {
  const last = finalReceipt(receipt.directive);
  const seen: Delivered = { receipt: "queued", how: null, ended: false };
  const signal = AbortSignal.timeout(seconds * MS_PER_SECOND);
  for await (const fact of journal.follow(row.run, { from: row.lastSeq + 1, signal })) {
    if (fact.type === "directive-delivered" && fact.id === receipt.id) {
      seen.receipt = "delivered";
      seen.how = fact.how;
    } else if (fact.type === "directive-acknowledged" && fact.id === receipt.id) {
      seen.receipt = "acknowledged";
    } else if (fact.type === "run-end") {
      seen.ended = true;
    }
    if (seen.receipt === last || seen.ended) break;
  }
  return seen;
}

interface Told {
  row: RunRow;
  receipt: Receipt;
  result: Delivered;
  driven: boolean;
  json: boolean;
}

function tell({ row: { run }, receipt, result, driven, json }: Told): void {
  const { id, directive } = receipt;
  if (json) printJson({ v: 1, run, id, directive, receipt: result.receipt, how: result.how, driven });
  else
    print(`${id} ${result.receipt}${result.how === null ? "" : ` (${oneLine(result.how, { max: MAX_HOW_CHARS })})`}`);
  note(`${run}: ${directiveWords(directive)}`);
  if (!driven) note(`nobody drives this run now; it is taken up with \`pawl resume ${run}\``);
  else if (result.ended && result.receipt === "queued") note("the run ended before it was delivered");
}
