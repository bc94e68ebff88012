/** What the record of a process means for the program that ran in it. Pure. */
import { constants } from "node:os";
import type { ProcessRecord } from "../../platform/process.ts";
import { sizeWords } from "../../platform/fence/held.ts";
import type { ExecutionEnd, ExecutionLimits } from "../../ports/executor.ts";

type Limit = Extract<ExecutionEnd, { is: "limit" }>;

interface About {
  limits: ExecutionLimits;
  /** What it added to its folder, on the disk. */
  producedBytes: number;
  fenced: boolean;
  /** The end of what it printed as errors. */
  lastWords: string;
}

/** An interpreter that was given no more memory says so before it ends. */
const OUT_OF_MEMORY = /^MemoryError\b|heap out of memory|Fatal process out of memory|: Cannot allocate memory$/m;

/** A fence's first program, like a shell, ends with this and the number of the signal. */
const SIGNAL_BASE = 128;
/** Where no control group counts them, the program is only told that it cannot have another. */
const NO_MORE_PROCESSES =
  /fork: (retry: )?Resource temporarily unavailable|^BlockingIOError: \[Errno 11\]|spawn \S+ EAGAIN|can't start new thread/m;

export function endOf(record: ProcessRecord, about: About): ExecutionEnd {
  if (record.startError?.code === "FENCE")
    return { is: "unavailable", reason: `the fence could not start it: ${about.lastWords.trim()}` };
  if (record.startError !== null)
    return { is: "unavailable", reason: `it could not be started: ${record.startError.message}` };
  if (record.aborted) return { is: "unavailable", reason: "it was stopped from outside before its end" };
  const met = limitOf(record, about);
  if (met !== undefined) return met;
  if (record.timedOut !== null) return { is: "timeout", afterMs: about.limits.timeoutMs };
  const signal = record.signal ?? (about.fenced ? signalOfExit(record.exitCode) : undefined);
  if (signal !== undefined) return { is: "signal", signal };
  return { is: "exit", code: record.exitCode ?? SIGNAL_BASE };
}

type Which = Limit["which"];

/** The fence's words for a limit, told apart by their kind. */
const KINDS: readonly [Which, RegExp][] = [
  ["output", /of output$/],
  ["disk", /max-disk|^a file met its limit|disk is nearly full/],
  ["memory", /memory limit/],
  ["processes", /processes met$/],
];
/** It was ended for it, whatever it made of that. */
const ENDED_FOR = /of output$|max-disk|disk is nearly full/;
const SIZE = /(?:limit of|more than) (\d+(?:\.\d+)? (?:bytes|[KMGT]B))/;

/** One that it met and got over, ending well, is none. */
function limitOf({ limits: met, exitCode, timedOut }: ProcessRecord, about: About): Limit | undefined {
  const { limits, producedBytes, lastWords } = about;
  const isWell = exitCode === 0 && timedOut === null;
  const counted = isWell ? met.filter((words) => ENDED_FOR.test(words)) : met;
  const [which, pattern] = KINDS.find(([, kind]) => counted.some((words) => kind.test(words))) ?? [];
  if (which !== undefined && pattern !== undefined)
    return limit(which, { limits, words: counted.find((words) => pattern.test(words)) });
  // A single file stops exactly at the limit, and the program may take that for an error of its own.
  if (producedBytes > limits.diskBytes || (!isWell && producedBytes >= limits.diskBytes))
    return limit("disk", { limits });
  if (isWell || timedOut !== null) return undefined;
  if (OUT_OF_MEMORY.test(lastWords)) return limit("memory", { limits });
  return NO_MORE_PROCESSES.test(lastWords) ? limit("processes", { limits }) : undefined;
}

/** The run's own limit may be the lower one; then the fence's words have it. */
function limit(which: Which, { limits, words = "" }: { limits: ExecutionLimits; words?: string | undefined }): Limit {
  const size = (bytes: number): string => SIZE.exec(words)?.[1] ?? sizeWords(bytes);
  const messages: Readonly<Record<Which, string>> = {
    output: `it printed more than ${size(limits.outputBytes)}`,
    disk: words.includes("nearly full") ? words : `it wrote more than ${size(limits.diskBytes)}`,
    memory: `it used more than ${size(limits.memoryBytes)} of memory`,
    processes: `it started more than ${limits.processes} processes`,
  };
  return { is: "limit", which, message: messages[which] };
}

function signalOfExit(exitCode: number | null): string | undefined {
  if (exitCode === null || exitCode <= SIGNAL_BASE) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === exitCode - SIGNAL_BASE)?.[0];
}
