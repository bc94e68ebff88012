/** The status of a run as text: a few labelled lines, the last iterations, what waits for whom. Pure. */
import type { IterationRecord } from "../../loop/state.ts";
import { agentSpentWords, benchWords } from "../agent-rows.ts";
import { evidenceWords } from "../criteria.ts";
import { fenceWords } from "../fence-words.ts";
import { oneLine } from "../plain.ts";
import { toolName } from "../tool-name.ts";
import { questionText } from "../question-words.ts";
import { attemptCells, planCells } from "../solve/status.ts";
import { directiveCells } from "./directive-view.ts";
import { columns, cost, counted, dollars, duration, grouped } from "./format.ts";
import type { StatusView } from "./status-view.ts";
import { tasksWords } from "./task-lines.ts";

const MAX_GOAL_CHARS = 200;
const MAX_CELL_CHARS = 60;
const SHORT_OID_CHARS = 10;
const MAX_SUSPICIONS = 10;
const MAX_WARNING_CHARS = 300;

export function statusText(view: StatusView): string {
  const sections = [
    statusHead(view),
    section(
      "Criteria",
      view.criteria.map((one) => [
        `${one.n}.`,
        one.is,
        oneLine(one.text, { max: MAX_GOAL_CHARS }),
        oneLine(evidenceWords(one), { max: MAX_GOAL_CHARS }),
      ]),
    ),
    section("Plan", planCells(view.solve)),
    section("Attempts", attemptCells(view.solve)),
    section("Agents", agentLines(view)),
    section("Last iterations", view.recent.map(iterationCells)),
    section("Suspicions", (view.tasks?.suspicions ?? []).slice(-MAX_SUSPICIONS).map(suspicionCells)),
    section(
      "Warnings",
      view.warnings.map((text) => [oneLine(text, { max: MAX_WARNING_CHARS })]),
    ),
    section("Struggle", struggleRows(view)),
    section("Directives", view.directives.map(directiveCells)),
    questions(view),
    nextSteps(view),
  ];
  return sections.filter((text) => text !== "").join("\n\n");
}

/** The first lines, also of `pawl watch`. */
export function statusHead(view: StatusView): string {
  return columns([
    ["run", view.run],
    ["goal", oneLine(view.goal, { max: MAX_GOAL_CHARS })],
    ["state", view.state],
    ...driverRow(view),
    ["branch", branchWords(view)],
    ...row("best", view.best ?? ""),
    ...row("checks", view.checks.map(({ check, is }) => `${cell(check)}: ${is}`).join(", ")),
    ...row("tasks", view.tasks === null ? "" : tasksWords(view.tasks)),
    ["spent", spentWords(view)],
    ...row("limits", limitWords(view)),
    ["isolation", fenceWords(view.fence, { tense: view.phase.is === "ended" ? "then" : "now" })],
  ]);
}

/** Nothing where one agent with one model does it all. */
function agentLines({ agents, benched }: StatusView): string[][] {
  const rows = agents.length < 2 && benched.length === 0 ? [] : agents.map(agentSpentWords);
  return [...rows, ...benched.map(benchWords)].map((text) => [text]);
}

const suspicionCells = ({ iteration, text }: { iteration: number; text: string }): string[] => [
  `iteration ${iteration}`,
  oneLine(text, { max: MAX_GOAL_CHARS }),
];
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

const SIGNAL_WORDS: Readonly<Record<string, string>> = {
  unchanged: "nothing was changed",
  "same-failure": "the same checks fail in the same way",
  oscillation: "it goes back and forth between two states",
  "short-turn": "very short turns",
  "same-output": "it says the same again",
  "repeated-calls": "it repeats the same tool call",
};

function struggleRows({ struggle }: StatusView): string[][] {
  const { signals, rung, failing } = struggle;
  return [
    ...Object.entries(signals).map(([signal, times]) => [
      SIGNAL_WORDS[signal] ?? signal,
      `${counted(times, "iteration")} in a row`,
    ]),
    ...(failing.length === 0 ? [] : [["failures over time", failing.join(" → ")]]),
    ...(rung === null ? [] : [["last done about it", rung]]),
  ];
}

function spentWords({ spent, drivenMs }: StatusView): string {
  return [
    cost(spent),
    counted(spent.turns, "turn"),
    counted(spent.toolCalls, "tool call"),
    `${grouped(spent.tokens)} tokens`,
    `${duration(drivenMs)} of work`,
  ].join(", ");
}

function limitWords({ budget, spent }: StatusView): string {
  return Object.entries(budget)
    .map(([name, { used, limit, left }]) => {
      const show = (value: number): string =>
        name === "usd" ? dollars(value) : name === "drivenMs" ? duration(value) : grouped(value);
      // How much is left of it nobody knows.
      if (name === "usd" && spent.unknownTurns > 0) return `${limitName(name)} ${cost(spent)} of ${show(limit)}`;
      return `${limitName(name)} ${show(used)} of ${show(limit)} (${show(left)} left)`;
    })
    .join(", ");
}

function limitName(name: string): string {
  const names: Record<string, string> = { usd: "cost", drivenMs: "time", toolCalls: "tool calls" };
  return names[name] ?? name;
}

function iterationCells(it: IterationRecord): string[] {
  const tools = it.tools.map(([name, times]) => `${toolName(name, { max: MAX_CELL_CHARS })} × ${times}`).join(", ");
  const verdicts = it.verdicts.map(({ check, is }) => `${cell(check)}: ${is}`).join(", ");
  const money = it.usd === null ? "cost unknown" : `${it.estimated ? "~" : ""}${dollars(it.usd)}`;
  return [
    String(it.n),
    duration(it.durationMs),
    tools === "" ? "no tools" : tools,
    `${counted(it.files, "file")} +${it.added} -${it.removed}`,
    verdicts === "" ? "no checks" : verdicts,
    ...(it.tasks === undefined ? [] : [`tasks ${it.tasks.done}/${it.tasks.total}`]),
    money,
    ...(it.agents === undefined ? [] : [it.agents.map(cell).join(", ")]),
    cell(it.rule),
  ];
}

function nextSteps(view: StatusView): string {
  const { run, questions } = view;
  const steps: [string, string][] = [
    ...questions.map(({ question }): [string, string] => [
      `pawl answer ${run} ${cell(question)} "…"`,
      "answer the question",
    ]),
    ...phaseSteps(view),
  ];
  return `Next\n${columns(steps.map(([command, why]) => [command, `# ${why}`])).replaceAll(/^/gm, "  ")}`;
}

function phaseSteps({ run, phase, resume, inTheWay }: StatusView): [string, string][] {
  const goOn: [string, string][] = [
    ...(inTheWay === null
      ? []
      : [[inTheWay.command, oneLine(inTheWay.why, { max: MAX_WARNING_CHARS })] as [string, string]]),
    ...(resume === null ? [] : [[resume, "go on"] as [string, string]]),
  ];
  switch (phase.is) {
    case "ended":
      return phase.outcome.is === "verified"
        ? [[`pawl diff ${run}`, "see what was changed"]]
        : [[`pawl show ${run}`, "why it ended"], ...goOn];
    case "not-driven":
    case "paused":
      return goOn;
    case "suspended":
      return [[`kill -CONT ${phase.pid}`, "let it go on"]];
    case "asking":
      return [];
    case "waiting":
      return [
        [`pawl resume ${run}`, "do not wait any longer"],
        [`pawl watch ${run}`, "follow it live"],
      ];
    case "turn":
    case "checking":
    case "proving":
    case "between":
      return [
        [`pawl watch ${run}`, "follow it live"],
        [`pawl steer ${run} "…"`, "tell the agent something"],
      ];
  }
}
