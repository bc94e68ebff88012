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
/** Without --wait: long enough for a driver that is not busy to answer. */
const SHORT_WAIT_S = 2;
const MS_PER_SECOND = 1_000;
const MAX_HOW_CHARS = 200;

export interface SteerOptions {
  json?: boolean;
  /** Seconds; true: the default; false: not at all; undefined: shortly. */
  wait?: number | boolean;
}

/** The options every steering command has. */
export function steering(command: Command): Command {
  return command
    .option(
      "--wait [seconds]",
      `wait until it is delivered, and for words until they are answered (${DEFAULT_WAIT_S} s)`,
      waitTime,
    )
    .option("--no-wait", `do not wait at all; otherwise ${SHORT_WAIT_S} s for the receipt`)
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
  /** It came to nothing. */
  refused: boolean;
  /** The run ended first. */
  ended: boolean;
}

interface About {
  folded: RunState;
  queued: readonly Receipt[];
  driven: boolean;
}

/** Returns the exit code: 0 when queued, and with `--wait` when it came to its last state in time, else 1. */
export async function steer(
  asked: string | undefined,
  wanted: Directive | ((about: About) => Directive),
  options: SteerOptions,
): Promise<number> {
  return withState(async (state) => {
    const row = await liveRun(state, asked);
    const folded = fold(await state.journal.read(row.run));
    refuseEnded(folded);
    const driven = row.owner !== undefined;
    const about = { folded, queued: await state.inbox.queued(row.run), driven };
    const directive = typeof wanted === "function" ? wanted(about) : wanted;
    if (!driven) refuseIdle(folded, directive);
    const receipt = await state.inbox.put(row.run, directive, { source: "cli" });
    const until = patience(directive, options);
    const result =
      until === undefined || !driven
        ? { receipt: "queued" as const, how: null, refused: false, ended: false }
        : await watch(state, { row, receipt, until });
    tell({ row, receipt, result, driven, json: options.json ?? false });
    if (result.refused) return EXIT.unverified;
    const must = options.wait !== undefined && options.wait !== false;
    return must && result.receipt !== finalReceipt(directive) ? EXIT.unverified : EXIT.ok;
  });
}

interface Until {
  seconds: number;
  state: ReceiptState;
}

/** Words for the next prompt are not waited for unless asked: the running turn may take an hour. */
function patience(directive: Directive, { wait }: SteerOptions): Until | undefined {
  if (wait === false) return undefined;
  if (wait === undefined)
    return directive.kind === "say" && directive.when === "next"
      ? undefined
      : { seconds: SHORT_WAIT_S, state: "delivered" };
  return { seconds: wait === true ? DEFAULT_WAIT_S : wait, state: finalReceipt(directive) };
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
        ? 'it is verified and cannot be reopened; start another: pawl run "…"'
        : `reopen it first: pawl resume ${run}`,
  });
}

/** What is not running cannot be ended; whoever resumes it wants it to go on. */
function refuseIdle({ run }: RunState, { kind }: Directive): void {
  if (kind !== "stop" && kind !== "interrupt") return;
  throw new UsageError(`nobody drives run ${run}: there is nothing to ${kind}`, {
    hint: `it stays as it is; to go on: pawl resume ${run}`,
  });
}

/** Follows the facts until the directive has come that far, the run has ended, or the time is over. */
async function watch(
  { journal }: State,
  { row, receipt, until }: { row: RunRow; receipt: Receipt; until: Until },
): Promise<Delivered> {
  const seen: Delivered = { receipt: "queued", how: null, refused: false, ended: false };
  const signal = AbortSignal.timeout(until.seconds * MS_PER_SECOND);
  for await (const fact of journal.follow(row.run, { from: row.lastSeq + 1, signal })) {
    if (fact.type === "directive-delivered" && fact.id === receipt.id) {
      seen.receipt = "delivered";
      seen.how = fact.how;
      seen.refused = fact.refused === true;
    } else if (fact.type === "directive-acknowledged" && fact.id === receipt.id) {
      seen.receipt = "acknowledged";
    } else if (fact.type === "run-end") {
      seen.ended = true;
    }
    if (seen.receipt === until.state || seen.ended || seen.refused) break;
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
  if (json)
    printJson({ v: 1, run, id, directive, receipt: result.receipt, how: result.how, refused: result.refused, driven });
  else
    print(`${id} ${result.receipt}${result.how === null ? "" : ` (${oneLine(result.how, { max: MAX_HOW_CHARS })})`}`);
  note(`${run}: ${directiveWords(directive)}`);
  if (!driven) note(`nobody drives this run now; it is taken up with: pawl resume ${run}`);
  else if (result.ended && result.receipt === "queued") note("the run ended before it was delivered");
  else if (result.receipt === "queued" && directive.kind === "say")
    note(`not said yet; where it is: pawl steer ${run} --list; to take it back: pawl steer ${run} --cancel ${id}`);
}
