/** A verdict of the journal beside one that was just made on the same tree: what differs, in words. Pure. */
import type { Evidence, Failure, Verdict } from "../../../events.ts";
import { oneLine } from "../../plain.ts";

const MAX_NAMED = 5;
const MAX_CHARS = 120;

/** Test ids with what each came to; undefined where a check has no report. */
export type Tests = ReadonlyMap<string, string> | undefined;

interface Pair<T> {
  was: T;
  now: T;
}

/** None: the same verdict on the same evidence. Times, logs and places are not compared. */
export function differences(verdicts: Pair<Verdict>, tests: Pair<Tests>): string[] {
  const { was, now } = verdicts;
  const evidence = { was: evidenceOf(was), now: evidenceOf(now) };
  return [
    ...(was.is === now.is ? [] : [`${was.is} then, ${now.is} now${reasonOf(now)}`]),
    ...exits(evidence),
    ...changedSet("failing", { was: failing(was), now: failing(now) }),
    ...counts(evidence),
    ...testIds(tests),
    ...(evidence.now?.suspicions ?? [])
      .filter((text) => evidence.was?.suspicions.includes(text) === false)
      .map((text) => `suspicious now: ${short(text)}`),
  ];
}

const short = (text: string): string => oneLine(text, { max: MAX_CHARS });
const evidenceOf = (verdict: Verdict): Evidence | undefined => ("evidence" in verdict ? verdict.evidence : undefined);
const failing = (verdict: Verdict): string[] =>
  "failures" in verdict ? verdict.failures.map(({ fingerprint }: Failure) => fingerprint) : [];
const reasonOf = (verdict: Verdict): string => ("reason" in verdict ? ` (${short(verdict.reason)})` : "");

function exits({ was, now }: Pair<Evidence | undefined>): string[] {
  if (was === undefined || now === undefined) return [];
  const say = ({ exitCode, signal }: Evidence): string => (exitCode === null ? (signal ?? "none") : String(exitCode));
  return say(was) === say(now) ? [] : [`exit code ${say(was)} then, ${say(now)} now`];
}

function counts({ was, now }: Pair<Evidence | undefined>): string[] {
  const say = (evidence: Evidence | undefined): string | undefined => {
    const tests = evidence?.tests;
    if (tests === undefined || tests === null) return undefined;
    return `${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped`;
  };
  const [before, after] = [say(was), say(now)];
  if (before === after || was === undefined || now === undefined) return [];
  return [`tests: ${before ?? "no report"} then, ${after ?? "no report"} now`];
}

function testIds({ was, now }: Pair<Tests>): string[] {
  if (was === undefined || now === undefined) return [];
  const changed = [...now].filter(([id, is]) => was.has(id) && was.get(id) !== is);
  const isSame = isOtherwiseNamed({ was, now });
  return [
    ...(isSame ? [] : changedSet("tests", { was: [...was.keys()], now: [...now.keys()] })),
    ...(changed.length === 0 ? [] : [`changed: ${named(changed.map(([id, is]) => `${id} ${was.get(id)} → ${is}`))}`]),
  ];
}

/** Names may be made while the tests run: as many of the same file, or test, came to the same. */
function isOtherwiseNamed({ was, now }: Pair<NonNullable<Tests>>): boolean {
  const alone = (one: NonNullable<Tests>, other: NonNullable<Tests>): string[] =>
    [...one].filter(([id]) => !other.has(id)).map(([id, is]) => `${id.split(/ > |\[/)[0] ?? id} ${is}`);
  const [gone, added] = [alone(was, now).toSorted(), alone(now, was).toSorted()];
  return gone.length === added.length && gone.every((key, n) => key === added[n]);
}

function changedSet(what: string, { was, now }: Pair<readonly string[]>): string[] {
  const [gone, added] = [was.filter((one) => !now.includes(one)), now.filter((one) => !was.includes(one))];
  return [
    ...(gone.length === 0 ? [] : [`${what} then and not now: ${named(gone)}`]),
    ...(added.length === 0 ? [] : [`${what} now and not then: ${named(added)}`]),
  ];
}

function named(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_NAMED).map(short).join(", ");
  return texts.length > MAX_NAMED ? `${shown} and ${texts.length - MAX_NAMED} more` : shown;
}

/** Of the blob that evidence names: JSON by test id. What is no such thing has no tests. */
export function testsIn(text: string | undefined): Tests {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    return new Map(Object.entries(value).map(([id, is]) => [id, typeof is === "string" ? is : JSON.stringify(is)]));
  } catch {
    return undefined;
  }
}
