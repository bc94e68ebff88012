/** One check that is not green, as a message the next turn can work from: what fails, where, with which values, since when. */
import type { Failure, Verdict } from "../../events.ts";
import { changedSince, streakOf, type Streak } from "../../loop/failing.ts";
import { redBefore } from "../../loop/pre-existing.ts";
import { isMissing } from "../../loop/quarantine.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import { quote } from "./text.ts";

const MAX_FAILURES_SHOWN = 10;
/** Of the rest, by name only. */
const MAX_NAMED = 20;
const MAX_NAME_CHARS = 200;
const MAX_FILES_NAMED = 8;
const MAX_VALUE_CHARS = 300;
/** Below the item of a list. */
const INDENT = 6;

type Red = Extract<Verdict, { is: "fail" | "flaky" }>;

interface About {
  state: RunState;
  check: { name: string; command: string };
  verdict: Red;
  /** The session was told of the iterations before. */
  knows: boolean;
}

export function redCheck({ state, check, verdict, knows }: About): string {
  const entries = ordered(verdict.failures.map((failure) => entryOf(state, { check: check.name, failure, knows })));
  const shown = entries.slice(0, MAX_FAILURES_SHOWN);
  const rest = entries.slice(MAX_FAILURES_SHOWN);
  const needsOutput = !shown.every(({ isFolded, failure }) => isFolded || hasDetails(failure));
  return [
    heading(check, verdict),
    ...shown.map(({ text }, n) => `  ${n + 1}. ${text}`),
    ...(rest.length === 0 ? [] : [`  and ${rest.length} more: ${namesOf(rest)}`]),
    ...(verdict.failures.some(isMissing) ? [`  ${WAY_OUT}`] : []),
    ...(verdict.is === "fail" && needsOutput
      ? ["  The end of its output:", quote(verdict.excerpt, { by: INDENT })]
      : []),
  ].join("\n");
}

const WAY_OUT =
  "Every test that ran before your first turn has to run now, under its name, and not be skipped. Test files are judged as they were then, so it does not help to change them: look at what keeps the tests from being loaded or run. Of names that are made from what the code returns, as many have to run as before; if that cannot be, say so: a person can allow tests to change.";

function heading({ name, command }: About["check"], verdict: Red): string {
  const { exitCode, tests } = verdict.evidence;
  const counted =
    tests === null || tests === undefined || tests.passed + tests.failed + tests.skipped === 0
      ? ""
      : `; tests: ${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`;
  if (verdict.is === "flaky")
    return `- ${name}: flaky: of ${verdict.runs} runs on the same files some failed${counted}`;
  const end = exitCode === null ? "was ended" : `exited with ${exitCode}`;
  return `- ${name}: FAIL (\`${command}\` ${end}${counted})`;
}

interface Entry {
  failure: Failure;
  text: string;
  isFolded: boolean;
  /** New ones first, then what says something new, then the same again, then what was there before the first turn. */
  rank: number;
}

const ordered = (entries: readonly Entry[]): Entry[] => entries.toSorted((a, b) => a.rank - b.rank);

function entryOf(
  state: RunState,
  { check, failure, knows }: { check: string; failure: Failure; knows: boolean },
): Entry {
  const { failing } = mainLane(state);
  const streak = streakOf(failing, check, failure);
  const isOld = isPreExisting(state, check, failure);
  const isSame = streak !== undefined && streak.same < streak.last;
  const isFolded = knows && isSame;
  const rank = isOld ? 3 : isSame ? 2 : (streak?.times ?? 1) > 1 ? 1 : 0;
  const name = nameOf(failure);
  const since = isOld ? "it failed before your first turn too" : sinceWords(state, check, streak);
  if (isFolded)
    return {
      failure,
      isFolded,
      rank,
      text:
        `${name}: the same as in iteration ${streak.same}, ${ordinal(streak.times)} time in a row` +
        (isOld ? "; it failed before your first turn too" : ""),
    };
  const lines = [name, ...details(failure), since].filter((line) => line !== "");
  return { failure, isFolded, rank, text: lines.join(`\n${" ".repeat(INDENT)}`) };
}

const isPreExisting = (state: RunState, check: string, { fingerprint }: Failure): boolean =>
  redBefore(state, check).has(fingerprint);

const hasDetails = ({ fingerprint, file, expected, frames }: Failure): boolean =>
  isMissing({ fingerprint }) || file !== undefined || expected !== undefined || frames !== undefined;

/** For people: the id of the test, or the message where that is all there is. */
function nameOf({ fingerprint, message }: Failure): string {
  const [, kind, rest] = /^(test|tests-missing|error|output):(.*)$/s.exec(fingerprint) ?? [];
  const name = kind === "test" && rest !== undefined ? rest : message;
  return oneLine(name, MAX_NAME_CHARS);
}

function details({ fingerprint, message, file, line, expected, actual, frames = [] }: Failure): string[] {
  const isTest = fingerprint.startsWith("test:");
  const place = file === undefined ? "" : `at ${oneLine(file, MAX_NAME_CHARS)}${line === undefined ? "" : `:${line}`}`;
  const others = frames.filter((frame) => `at ${frame}` !== place && !`${place} `.startsWith(`at ${frame} `));
  return [
    isTest ? oneLine(message, MAX_VALUE_CHARS) : "",
    place,
    ...(expected === undefined || actual === undefined
      ? []
      : [`expected: ${oneLine(expected, MAX_VALUE_CHARS)}`, `actual: ${oneLine(actual, MAX_VALUE_CHARS)}`]),
    others.length === 0 ? "" : `frames: ${others.map((frame) => oneLine(frame, MAX_NAME_CHARS)).join("; ")}`,
  ];
}

function sinceWords(state: RunState, check: string, streak: Streak | undefined): string {
  if (streak === undefined) return "";
  const { since, times } = streak;
  const again = times < 2 ? "" : `red since iteration ${since}, ${ordinal(times)} time in a row`;
  const before = state.baselines.get(check)?.is;
  if (since < 2 && before !== "pass" && before !== "fail") return again;
  const { files, more } = changedSince(mainLane(state).failing, since);
  const named = files.slice(-MAX_FILES_NAMED).map((path) => oneLine(path, MAX_NAME_CHARS));
  const others = more || files.length > named.length ? " and others" : "";
  const changed = named.length === 0 ? "" : `changed since it was not red: ${named.join(", ")}${others}`;
  return [again, changed].filter((words) => words !== "").join("; ");
}

function namesOf(entries: readonly Entry[]): string {
  const names = entries.slice(0, MAX_NAMED).map(({ failure }) => nameOf(failure));
  return `${names.join("; ")}${entries.length > MAX_NAMED ? "; …" : ""}`;
}

/** What programs say is data: no line of it stands at the beginning of a line of the prompt. */
function oneLine(text: string, maxChars: number): string {
  const plain = text.replaceAll(/\s+/g, " ").trim();
  return plain.length <= maxChars ? plain : `${plain.slice(0, maxChars - 1)}…`;
}

function ordinal(n: number): string {
  const tens = n % 100;
  const suffix = tens > 10 && tens < 14 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th");
  return `${n}${suffix}`;
}
