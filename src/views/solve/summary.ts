/** How a run that solves ended, as permanent text. */
import { solveOf } from "../../loop/solve-state.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import { cost, counted, columns, duration } from "../cli/format.ts";
import { verdictWords } from "../fact-words.ts";
import { fenceWords } from "../fence-words.ts";
import { oneLine } from "../plain.ts";
import { resumeCommand } from "../summary.ts";
import { verdictOf } from "../../loop/state.ts";
import type { Written } from "./artifacts.ts";

const MAX_CHARS = 300;
const LABEL_CHARS = 12;
const short = (text: string): string => oneLine(text, { max: MAX_CHARS });

export function solveSummary(state: RunState, { written, missing }: Written): string {
  const { outcome, spec, spent, run } = state;
  const lane = mainLane(state);
  const tree = lane.change?.judged ?? "";
  const checks = spec.checks.map(({ name }): [string, string] => {
    const verdict = verdictOf(state, tree, name);
    return ["check", `${short(name)}: ${verdict === undefined ? "not run on the last answer" : verdictWords(verdict)}`];
  });
  const of = state.limits.iterations === undefined ? "" : ` of ${state.limits.iterations}`;
  const rows: [string, string][] = [
    ...(outcome === undefined ? [] : [["rule", outcome.rule] as [string, string]]),
    ...checks,
    ["iterations", `${lane.iteration}${of}, ${counted(spent.turns, "turn")}, ${programWords(state)}`],
    ...planRows(state),
    ["cost", cost(spent)],
    ["time", `${duration(state.elapsed)} of work`],
    [
      "unverified",
      spec.checks.length === 0 ? "everything: no check was configured" : "whatever the checks do not test",
    ],
    ["code ran", where(state)],
    ...written.map((text): [string, string] => ["written", short(text)]),
    ...missing.map((text): [string, string] => ["missing", short(text)]),
    ...(state.endWarnings ?? []).map((text): [string, string] => ["warning", short(text)]),
  ];
  const head = outcome === undefined ? "not ended" : `${outcome.is}: ${short(outcome.reason)}`;
  const body = rows.map(([label, text]) => `  ${label.padEnd(LABEL_CHARS)}${text}`);
  const next: [string, string][] = [
    [`pawl show ${run} --attempts`, "what was tried, and what came of it"],
    ...(outcome?.is === "verified" ? [] : [[resumeCommand(state), "go on"] as [string, string]]),
  ];
  const lines = columns(next.map(([command, why]) => [`  ${command}`, `# ${why}`]));
  return [`${run} ${head}`, ...body, "next", lines].join("\n");
}

function programWords(state: RunState): string {
  const ran = solveOf(state).attempts.filter(({ executed }) => executed !== undefined);
  const failed = ran.filter(({ executed }) => executed?.kind !== "ok").length;
  return `${counted(ran.length, "program")} run${failed === 0 ? "" : `, ${failed} of them failed`}`;
}

function planRows(state: RunState): [string, string][] {
  const { plan } = solveOf(state);
  if (plan === undefined) return [];
  const done = plan.steps.filter(({ is }) => is === "done").length;
  return [["plan", `${done} of ${counted(plan.steps.length, "step")} done, revision ${plan.revision}`]];
}

const where = ({ spec }: RunState): string =>
  spec.solve?.executor === "claude" ? "in the provider's container" : fenceWords(spec.fence, { tense: "then" });
