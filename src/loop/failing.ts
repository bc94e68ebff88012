/**
 * Since when each failure is there, how often it came back the same, and which files changed meanwhile: what the next
 * prompt says of it beside the failure itself. Pure and bounded; a fold.
 */
import type { Failure, FileChange, Verdict } from "../events.ts";

const MAX_STREAKS = 400;
const MAX_KEPT_CHANGES = 20;
const MAX_KEPT_FILES = 20;

export interface Streak {
  /** The iteration after which it was first seen; before that its check was judged without it, or never. */
  since: number;
  /** And last. */
  last: number;
  /** Iterations in a row. */
  times: number;
  /** The iteration since which it also says the same. */
  same: number;
  said: string;
}

interface Changed {
  iteration: number;
  files: string[];
  /** Files that are not listed. */
  more: number;
}

export interface Failing {
  /** By check and fingerprint. */
  streaks: Map<string, Streak>;
  changes: Changed[];
}

export const noneFailing = (): Failing => ({ streaks: new Map(), changes: [] });

const keyOf = (check: string, fingerprint: string): string => `${check}\n${fingerprint}`;

export const streakOf = ({ streaks }: Failing, check: string, { fingerprint }: Failure): Streak | undefined =>
  streaks.get(keyOf(check, fingerprint));

const saidBy = ({ message, expected = "", actual = "" }: Failure): string => [message, expected, actual].join("\n");

export function recordChanged(failing: Failing, iteration: number, files: readonly FileChange[]): void {
  const paths = files.map(({ path }) => path);
  failing.changes.push({
    iteration,
    files: paths.slice(0, MAX_KEPT_FILES),
    more: Math.max(0, paths.length - MAX_KEPT_FILES),
  });
  if (failing.changes.length > MAX_KEPT_CHANGES) failing.changes.shift();
}

/** Once per iteration and check. One that could not judge says nothing about its failures. */
export function recordFailing(
  failing: Failing,
  check: string,
  { iteration, verdict }: { iteration: number; verdict: Verdict },
): void {
  if (verdict.is === "unverifiable" || verdict.is === "skipped") return;
  const now = new Map(
    (verdict.is === "pass" ? [] : verdict.failures).map((one) => [keyOf(check, one.fingerprint), one]),
  );
  for (const key of failing.streaks.keys())
    if (key.startsWith(`${check}\n`) && !now.has(key)) failing.streaks.delete(key);
  for (const [key, failure] of now) {
    const known = failing.streaks.get(key);
    if (known === undefined && failing.streaks.size >= MAX_STREAKS) continue;
    if (known?.last === iteration) continue;
    const said = saidBy(failure);
    failing.streaks.set(key, {
      since: known?.since ?? iteration,
      last: iteration,
      times: (known?.times ?? 0) + 1,
      same: known?.said === said ? known.same : iteration,
      said,
    });
  }
}

/** What changed in iterations from `since` on, the latest last; `more` where not all is known. */
export function changedSince({ changes }: Failing, since: number): { files: string[]; more: boolean } {
  const meant = changes.filter(({ iteration }) => iteration >= since);
  const isCut = (changes[0]?.iteration ?? 0) > since || meant.some(({ more }) => more > 0);
  return { files: [...new Set(meant.flatMap(({ files }) => files))], more: isCut };
}
