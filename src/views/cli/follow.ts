/** A run from another process's point of view: where it is, then everything that happens, until it ends. */
import type { Outcome } from "../../events.ts";
import { apply, fold } from "../../loop/fold.ts";
import { MAIN_LANE, type RunState } from "../../loop/state.ts";
import { isSuspended } from "../../platform/owner.ts";
import { branchOf, summary, type DiffStat } from "../summary.ts";
import type { Loudness } from "../terminal.ts";
import { comingLines, pastLines, type LogLine } from "./log-lines.ts";
import { note, printJson } from "./output.ts";
import type { Opened } from "./reading.ts";
import { runView } from "./run-view.ts";
import { statusHead } from "./status-text.ts";
import { statusView } from "./status-view.ts";

/** How often it is looked whether somebody drives the run. */
const DRIVER_POLL_MS = 1_000;
/** A driver that has just ended its run is not missed. */
const LOOKS_UNTIL_SAID = 2;
const MAX_DIFF_BYTES = 8 * 1024 * 1024;

export interface Follow {
  /** The first fact to show; undefined: only what comes. */
  from: number | undefined;
  /** Do not wait for a driver. */
  once: boolean;
  json: boolean;
  loudness: Loudness;
}

export type Followed =
  | { is: "ended"; outcome: Outcome; branch: string | undefined }
  | { is: "left" }
  | { is: "not-driven" };

export async function follow(opened: Opened, asked: Follow): Promise<Followed> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  // Before the first line: whoever has read one may press Ctrl-C.
  process.once("SIGINT", leave);
  try {
    return await followUntil(leaving, opened, asked);
  } finally {
    process.off("SIGINT", leave);
  }
}

async function followUntil(
  leaving: AbortController,
  opened: Opened,
  { from, once, json, loudness }: Follow,
): Promise<Followed> {
  const { state, row } = opened;
  const facts = await state.journal.read(row.run);
  const begin = Math.min(from ?? facts.length, facts.length);
  const request = { run: row.run, facts: true, trace: !json, turn: undefined };
  const { lines, after } = pastLines(state, { request, facts, from: begin });
  const now = fold(facts);
  const view = runView({
    json,
    loudness,
    redact: state.redact,
    root: now.spec.workspace.path,
    answers: now.spec.solve !== undefined,
  });
  let folded: RunState | undefined;
  for (const fact of facts.slice(0, begin)) {
    folded = apply(folded, fact);
    view.past(fact, folded);
  }
  const show = (line: LogLine): void => {
    if (line.is === "trace") return view.trace(line.line);
    folded = apply(folded, line.fact);
    if (json) printJson(line.fact);
    view.fact(line.fact, folded);
  };
  const suspended = row.owner !== undefined && isSuspended(row.owner);
  if (!json) note(statusHead(statusView(now, { row, facts, queued: [], now: Date.now(), suspended })));
  for await (const line of lines) {
    if (leaving.signal.aborted) break;
    show(line);
  }
  const watch = watchDriver(opened, { once, leaving, isOver: () => folded?.outcome !== undefined });
  try {
    if (folded?.outcome === undefined && !(once && row.owner === undefined)) {
      for await (const line of comingLines(state, { request, after, signal: watch.signal })) show(line);
    }
    if (folded?.outcome === undefined) return left(watch, { run: row.run, once });
    if (!json) note(summary(folded, { diff: await wholeDiff(opened, folded) }));
    return { is: "ended", outcome: folded.outcome, branch: branchOf(folded) };
  } finally {
    watch.close();
    view.close();
  }
}

function left({ interrupted, isDriven }: DriverWatch, { run, once }: { run: string; once: boolean }): Followed {
  if (interrupted() || !once) {
    note(
      isDriven()
        ? `no longer watched; the run itself goes on\n  pawl watch ${run}  # again\n  pawl stop ${run}   # end it`
        : `no longer watched; nobody drives the run\n  pawl resume ${run}  # drive it`,
    );
    return { is: "left" };
  }
  return { is: "not-driven" };
}

interface DriverWatch {
  readonly signal: AbortSignal;
  /** By Ctrl-C. */
  readonly interrupted: () => boolean;
  readonly isDriven: () => boolean;
  close(): void;
}

/** Says when nobody drives the run, and when somebody does again. */
function watchDriver(
  { state, row }: Opened,
  { once, leaving, isOver }: { once: boolean; leaving: AbortController; isOver: () => boolean },
): DriverWatch {
  const { run } = row;
  let isGivenUp = false;
  let isDriven = true;
  let looksWithout = row.owner === undefined ? LOOKS_UNTIL_SAID : 0;
  const look = (): void => {
    const now = looksWithout < LOOKS_UNTIL_SAID;
    if (now === isDriven || isOver()) return;
    isDriven = now;
    if (now) return note("somebody drives it again");
    note(`nobody drives this run now${once ? "" : "; waiting until somebody does"}\n  pawl resume ${run}  # drive it`);
    if (!once) return;
    isGivenUp = true;
    leaving.abort();
  };
  const poll = async (): Promise<void> => {
    const found = (await state.journal.runs()).find((one) => one.run === run);
    looksWithout = found?.owner === undefined ? looksWithout + 1 : 0;
    look();
  };
  look();
  const timer = setInterval(() => void poll().catch(() => undefined), DRIVER_POLL_MS);
  return {
    signal: leaving.signal,
    interrupted: () => leaving.signal.aborted && !isGivenUp,
    isDriven: () => isDriven,
    close() {
      clearInterval(timer);
    },
  };
}

/** undefined when it cannot be read: how the run ended is said all the same. */
async function wholeDiff({ state, row }: Opened, { spec }: RunState): Promise<DiffStat | undefined> {
  try {
    const { diffRun } = await import("../../workspace/runs.ts");
    const place = { spec: spec.workspace, run: row.run, lane: MAIN_LANE, stateDir: state.dir };
    const { fileCount, added, removed } = await diffRun({ ...place, maxBytes: MAX_DIFF_BYTES });
    return { files: fileCount, added, removed, atLeast: false };
  } catch {
    return undefined;
  }
}
