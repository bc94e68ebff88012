/** The status of a run as text: a few labelled lines, the last iterations, what waits for whom. Pure. */
import type { IterationRecord } from "../../loop/state.ts";
import { directiveWords } from "../directive-words.ts";
import { oneLine } from "../plain.ts";
import { questionText } from "../question-words.ts";
import { columns, cost, counted, dollars, duration, grouped } from "./format.ts";
import type { StatusView } from "./status-view.ts";

const MAX_GOAL_CHARS = 200;
const MAX_CELL_CHARS = 60;
const SHORT_OID_CHARS = 10;

export function statusText(view: StatusView): string {
  const rows: [string, string][] = [
    ["run", view.run],
    ["goal", oneLine(view.goal, { max: MAX_GOAL_CHARS })],
    ["state", view.state],
    ...driverRow(view),
    ["branch", branchWords(view)],
    ...row("checks", view.checks.map(({ check, is }) => `${cell(check)}: ${is}`).join(", ")),
    ...row("struggle", struggleWords(view)),
    ["spent", spentWords(view)],
    ...row("limits", limitWords(view)),
  ];
  const sections = [
    columns(rows),
    section("Last iterations", view.recent.map(iterationCells)),
    section(
      "Directives",
      view.directives.map((it) => [it.id, it.receipt, directiveWords(it.directive), cell(it.how ?? "")]),
    ),
    questions(view),
    nextSteps(view),
  ];
  return sections.filter((text) => text !== "").join("\n\n");
}

const cell = (text: string): string => oneLine(text, { max: MAX_CELL_CHARS });
const row = (name: string, value: string): [string, string][] => (value === "" ? [] : [[name, value]]);

function section(title: string, rows: string[][]): string {
  if (rows.length === 0) return "";
  return `${title}\n${columns(rows).replaceAll(/^/gm, "  ")}`;
}

function questions({ run, questions: open }: StatusView): string {
  if (open.length === 0) return "";
  const texts = open.map((it) => questionText(run, it, { left: it.leftMs }).replaceAll(/^/gm, "  "));
  return ["Questions", ...texts].join("\n");
}

function driverRow({ driver }: StatusView): [string, string][] {
  return driver === null ? [] : [["driver", `process ${driver.pid} on ${cell(driver.host)}`]];
}

function branchWords({ branch, lastCommit, conflict }: StatusView): string {
  if (conflict !== null) return `moved away from pawl's; the work is kept as ${cell(conflict)}`;
  const commit = lastCommit === null ? "no commit yet" : `last commit ${lastCommit.slice(0, SHORT_OID_CHARS)}`;
  return branch === null ? commit : `${cell(branch)}, ${commit}`;
}

function struggleWords({ struggle }: StatusView): string {
  const signals = Object.entries(struggle.signals).map(([signal, times]) => `${signal} × ${times}`);
  const parts = [
    ...signals,
    ...(struggle.rung === null ? [] : [`last rung: ${struggle.rung}`]),
    ...(struggle.failing.length === 0 ? [] : [`failing ${struggle.failing.join(" > ")}`]),
  ];
  return parts.join(", ");
}

function spentWords({ spent, drivenMs }: StatusView): string {
  return [
    cost(spent),
    counted(spent.turns, "turn"),
    counted(spent.toolCalls, "tool call"),
    `${grouped(spent.tokens)} tokens`,
    `${duration(drivenMs)} driven`,
  ].join(", ");
}

function limitWords({ budget }: StatusView): string {
  return Object.entries(budget)
    .map(([name, { used, limit }]) => {
      const show = (value: number): string =>
        name === "usd" ? dollars(value) : name === "drivenMs" ? duration(value) : grouped(value);
      const left = Math.max(0, limit - used);
      return `${limitName(name)} ${show(used)} of ${show(limit)} (${show(left)} left)`;
    })
    .join(", ");
}

function limitName(name: string): string {
  const names: Record<string, string> = { usd: "cost", drivenMs: "time", toolCalls: "tool calls" };
  return names[name] ?? name;
}

function iterationCells(it: IterationRecord): string[] {
  const tools = it.tools.map(([name, times]) => `${cell(name)} × ${times}`).join(", ");
  const verdicts = it.verdicts.map(({ check, is }) => `${cell(check)}: ${is}`).join(", ");
  const money = it.usd === null ? "cost unknown" : `${it.estimated ? "~" : ""}${dollars(it.usd)}`;
  return [
    String(it.n),
    duration(it.durationMs),
    tools === "" ? "no tools" : tools,
    `${counted(it.files, "file")} +${it.added} -${it.removed}`,
    verdicts === "" ? "no checks" : verdicts,
    money,
    cell(it.rule),
  ];
}

function nextSteps({ run, phase }: StatusView): string {
  switch (phase.is) {
    case "ended":
      return phase.outcome.is === "verified" ? `see it: pawl diff ${run}` : `go on: pawl resume ${run}`;
    case "not-driven":
    case "paused":
      return `go on: pawl resume ${run}`;
    case "asking":
      return `answer: pawl answer ${run} ${phase.question} …`;
    case "waiting":
    case "turn":
    case "checking":
    case "between":
      return `follow: pawl logs ${run} --follow`;
  }
}
