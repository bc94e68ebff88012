/** One iteration as text, by section: prompt, verdicts, decision, or all in short. Pure. */
import type { Evidence, FactOf, Verdict } from "../../events.ts";
import { noControlWords } from "../../loop/control.ts";
import type { Manifest } from "../../loop/prompt.ts";
import {
  claimWords,
  factWords,
  flaggedWords,
  outcomeWords,
  protectedWords,
  usageWords,
  verdictWords,
} from "../fact-words.ts";
import { evidenceWords } from "../criteria.ts";
import { fenceWords } from "../fence-words.ts";
import { oneLine, plain } from "../plain.ts";
import { toolName } from "../tool-name.ts";
import { columns, duration, counted } from "./format.ts";
import type { IterationView } from "./iteration-view.ts";

const MAX_CHARS = 200;
const MAX_FILES = 30;
const MAX_FAILURES = 50;
const short = (text: string): string => oneLine(text, { max: MAX_CHARS });
const indented = (text: string): string => text.replaceAll(/^/gm, "  ");

export function overviewText(view: IterationView): string {
  const { turns, change, checks, decision, accepted, restored } = view;
  const files = change?.files
    .slice(0, MAX_FILES)
    .map((file) => [file.status, `+${file.added} -${file.removed}`, short(file.path)]);
  const more = (change?.fileCount ?? 0) - (files?.length ?? 0);
  return sections([
    `Iteration ${view.iteration} of ${view.run}${view.fence === null ? "" : `\n  ${fenceWords(view.fence, { tense: "then" })}`}`,
    view.criteria.length === 0
      ? ""
      : `Acceptance criteria\n${indented(columns(view.criteria.map((one) => [`${one.n}.`, one.is, short(one.text), short(evidenceWords(one))])))}`,
    ...turns.map(({ start, end }) => {
      const about = `Turn ${start.turn}, attempt ${start.attempt}, ${start.session.mode} session, prompt of ${start.prompt.bytes} bytes`;
      if (end === null) return `${about}\n  under way`;
      const tools = end.tools.map(([name, times]) => `${toolName(name, { max: MAX_CHARS })} × ${times}`).join(", ");
      const said = plain(end.text).trim();
      return `${about}\n  ${outcomeWords(end.outcome)} after ${duration(end.durationMs)}, ${usageWords(end.usage)}${claimWords(end.claim)}\n  ${tools === "" ? "no tools" : tools}${said === "" ? "" : `\n${indented(indented(said))}`}`;
    }),
    ...[...view.proposals, ...view.executions].map((fact) => factWords(fact) ?? ""),
    change === null
      ? ""
      : `Change (snapshot ${change.snapshot}): ${counted(change.fileCount, "file")} +${change.added} -${change.removed}\n${indented(columns(files ?? []))}${more > 0 ? `\n  and ${more} more` : ""}${[...change.warnings, ...flaggedWords(change.flagged), ...protectedWords(change)].map((text) => `\n  warning: ${short(text)}`).join("")}`.trimEnd(),
    checks.length === 0
      ? ""
      : `Checks\n${indented(columns(checks.map(({ check, verdict }) => [short(check), verdictWords(verdict)])))}`,
    tasksText(view),
    decision === null ? "" : decisionText(decision),
    accepted === null
      ? ""
      : `Handed over: ${accepted.commit ?? "nothing committed"}${accepted.branch === null ? "" : ` on ${short(accepted.branch)}`}`,
    restored === null ? "" : `Restored: snapshot ${restored.to}; what was there is ${short(restored.salvage)}`,
  ]);
}

function tasksText({ tasks }: IterationView): string {
  if (tasks === null) return "";
  const settled = tasks.tasks.filter(({ is }) => is === "done" || is === "skipped").length;
  const noticed = tasks.suspicions.map((text) => `\n  noticed: ${short(text)}`).join("");
  return `Tasks: ${settled} of ${tasks.tasks.length} ticked${noticed}`;
}

export function decisionText({ rule, next, reason, numbers, outcome }: FactOf<"decision-made">): string {
  const seen = Object.entries(numbers).map(([name, value]) => [name, String(value)]);
  return [
    `Decision: ${rule} → ${next}${outcome === undefined ? "" : ` (${outcome.is})`}`,
    `  ${short(reason)}`,
    ...(seen.length === 0 ? [] : [indented(columns(seen))]),
  ].join("\n");
}

/** The manifest: what was included, what was left out, and why. */
export function manifestText({ prompt, turn }: FactOf<"turn-start">, parts: Manifest): string {
  const rows = parts.map(({ name, bytes, cut, included, why }) => [
    name,
    included ? `${bytes} bytes` : `left out: ${why ?? (cut > 0 ? "no room" : "empty")}`,
    cut === 0 ? "" : included ? `${cut} bytes cut` : `${cut} bytes`,
  ]);
  return `Prompt of turn ${turn}: ${prompt.bytes} bytes\n${indented(columns(rows))}`;
}

export function verdictText({ check, verdict }: Pick<FactOf<"check-end">, "check" | "verdict">): string {
  return sections([`${short(check)}: ${verdictWords(verdict)}`, evidenceText(verdict), failuresText(verdict)]);
}

function evidenceText(verdict: Verdict): string {
  if (!("evidence" in verdict)) return "";
  const { tree, command, exitCode, signal, durationMs, log, logBytes, isolation, suspicions } = verdict.evidence;
  const { tests, runs, control } = verdict.evidence;
  return indented(
    columns([
      ["command", short(command)],
      ["exit code", exitCode === null ? "none" : String(exitCode)],
      ...(signal === null ? [] : [["signal", signal]]),
      ["duration", duration(durationMs)],
      ...(tests === undefined ? [] : [["tests", testWords(tests)]]),
      ...(runs === undefined ? [] : [["runs", String(runs)]]),
      ...(control === undefined ? [] : [["planted failure", controlWords(verdict.evidence)]]),
      ["judged tree", tree],
      ["log", log === null ? "none" : `${counted(logBytes, "byte")}, sha-256 ${log}`],
      ["isolation", short(isolation)],
      ["suspicions", suspicions.length === 0 ? "none" : suspicions.map(short).join("; ")],
    ]),
  );
}

function controlWords(evidence: Evidence): string {
  switch (evidence.control) {
    case "seen":
      return "seen";
    case "not-seen":
      return "not seen";
    case "none":
    case undefined:
      return short(noControlWords(evidence));
  }
}

function testWords(tests: NonNullable<Evidence["tests"]> | null): string {
  if (tests === null) return "no report: only the exit code speaks";
  const { passed, failed, skipped, broken = 0 } = tests;
  return `${passed} passed, ${failed} failed, ${skipped} skipped${broken === 0 ? "" : `, ${broken} could not be loaded`}`;
}

function failuresText(verdict: Verdict): string {
  if (verdict.is !== "fail" && verdict.is !== "flaky") return "";
  const rows = verdict.failures
    .slice(0, MAX_FAILURES)
    .map(({ fingerprint, message }) => [short(fingerprint), short(message)]);
  const excerpt = verdict.is === "fail" ? plain(verdict.excerpt).trim() : "";
  return sections([
    indented(`Failures\n${indented(columns(rows))}`),
    excerpt === "" ? "" : indented(`Last output\n${indented(excerpt)}`),
  ]);
}

const sections = (texts: readonly string[]): string => texts.filter((text) => text !== "").join("\n\n");
