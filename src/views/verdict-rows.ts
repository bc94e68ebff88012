/** Rows of the summary about what the verdicts left open: old failures, flaky tests, quarantine, tests that do not run. */
import type { Evidence, Failure, Verdict } from "../events.ts";
import { treeAtEnd } from "../loop/at-end.ts";
import { oldFailures } from "../loop/pre-existing.ts";
import { isMissing } from "../loop/quarantine.ts";
import { mainLane, verdictOf, type RunState } from "../loop/state.ts";
import { oneLine } from "./plain.ts";

const MAX_NAMED = 10;
const MAX_CHARS = 120;

type Row = [string, string];

export function verdictRows(state: RunState): Row[] {
  const tree = treeAtEnd(mainLane(state));
  const verdicts = state.spec.checks.map(({ name }) => ({
    name,
    verdict: tree === undefined ? undefined : verdictOf(state, tree, name),
  }));
  const old = verdicts.flatMap(({ name, verdict }) =>
    row("red before", name, oldFailures(state, name, verdict).map(wordsOf), "failed before the run, too"),
  );
  const flaky = [...state.flakes].flatMap(([name, tests]) =>
    row("flaky", name, tests, "passed and failed on the same files in this run"),
  );
  const aside = verdicts.flatMap(({ name, verdict }) =>
    row(
      "quarantine",
      name,
      verdict?.is === "pass" ? (verdict.evidence.quarantined ?? []) : [],
      "failed and was not counted",
    ),
  );
  const skipped = verdicts.flatMap(({ name, verdict }) =>
    row(
      "skipped",
      name,
      evidenceOf(verdict)?.skips ?? [],
      "skipped or expected to fail, and not seen so before the run",
    ),
  );
  const gone = verdicts.flatMap(({ name, verdict }) =>
    row("tests gone", name, verdict?.is === "fail" ? verdict.failures.filter(isMissing).map(wordsOf) : [], WAY_OUT),
  );
  const unbased = [...state.baselines].flatMap(([name, base]) =>
    base.is === "unverifiable"
      ? row(
          "no baseline",
          name,
          [base.reason],
          "the tree before the run could not be judged, nothing was compared with it",
        )
      : [],
  );
  return [...old, ...flaky, ...aside, ...skipped, ...gone, ...unbased];
}

const WAY_OUT =
  "they have to run as they did before the run; where the tests themselves should change, begin a run with --allow-test-changes, and give tests names that stay the same";

const evidenceOf = (verdict: Verdict | undefined): Evidence | undefined =>
  verdict !== undefined && "evidence" in verdict ? verdict.evidence : undefined;

const wordsOf = ({ message }: Failure): string => message;

function row(label: string, check: string, names: readonly string[], says: string): Row[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, MAX_NAMED).map((name) => oneLine(name, { max: MAX_CHARS }));
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return [[label, `${oneLine(check, { max: MAX_CHARS })}: ${shown.join(", ")}${more}: ${says}`]];
}
