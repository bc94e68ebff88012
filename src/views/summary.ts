/** How a run ended, as permanent text: outcome, evidence, cost, what is not verified, and what to do next. */
import type { Verdict } from "../events.ts";
import { exhausted } from "../loop/budget.ts";
import { misplacedWords } from "../loop/claim.ts";
import { accepted } from "../loop/combine.ts";
import { GREEN, hasWork, PRE_EXISTING, votesOf } from "../loop/completion.ts";
import { GUARDS_ONLY, guardsOnly } from "../loop/pre-existing.ts";
import { mainLane, verdictOf, WORK_MISSING, type RunState } from "../loop/state.ts";
import { openTasks, taskCounts } from "../loop/tasks.ts";
import type { CheckSpec } from "../spec.ts";
import { treeAtEnd } from "../loop/at-end.ts";
import { benchViews, benchWords, spentRows } from "./agent-rows.ts";
import { bestWords } from "./best-words.ts";
import { columns, cost, counted, duration, grouped } from "./cli/format.ts";
import { criteriaOf, evidenceWords } from "./criteria.ts";
import { changesWords, verdictWords } from "./fact-words.ts";
import { fenceWords } from "./fence-words.ts";
import { openQuestions } from "../loop/questions.ts";
import { folderOf } from "../platform/command-folder.ts";
import { oneLine, plain } from "./plain.ts";
import { answerCommand } from "./question-words.ts";
import { verdictRows } from "./verdict-rows.ts";

const MAX_CHARS = 300;
const SHORT_OID_CHARS = 10;
const LABEL_CHARS = 12;
const MAX_OPEN_TASKS = 5;
const MAX_SUSPICIONS = 10;
const MAX_FLAGGED = 20;
const MAX_UNDOINGS = 5;
const short = (text: string): string => oneLine(text, { max: MAX_CHARS });

export interface DiffStat {
  files: number;
  added: number;
  removed: number;
  /** The diff was too long to count it all. */
  atLeast: boolean;
}

/** From a unified diff. */
export function diffStat(diff: string, { cut }: { cut: boolean }): DiffStat {
  const stat = { files: 0, added: 0, removed: 0, atLeast: cut };
  let inHunk = false;
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) {
      stat.files += 1;
      inHunk = false;
    } else if (line.startsWith("@@")) inHunk = true;
    else if (inHunk && line.startsWith("+")) stat.added += 1;
    else if (inHunk && line.startsWith("-")) stat.removed += 1;
  }
  return stat;
}

export function summary(state: RunState, { diff }: { diff: DiffStat | undefined }): string {
  const { spec, spent, outcome } = state;
  const lane = mainLane(state);
  const judged = judgedChecks(state);
  const rows: [string, string][] = [
    ...judged.map(({ check, verdict }, at): [string, string] => [at === 0 ? "checks" : "", checkLine(check, verdict)]),
    ...(judged.length === 0 ? [["checks", "none configured"] as [string, string]] : []),
    ...verdictRows(state),
    ...criteriaRows(state),
    ...taskRows(state),
    [
      "iterations",
      `${lane.iteration}${of(state.limits.iterations)}, ${counted(spent.turns, "turn")}, ${counted(spent.toolCalls, "tool call")}`,
    ],
    ["cost", cost(spent)],
    ["tokens", tokens(state)],
    ...agentRows(state),
    ["time", `${duration(state.elapsed)} of work`],
    ["branch", branchLine(state)],
    ...bestRows(state),
    ["diff", diffLine(diff)],
    ["unverified", unverified(state)],
    ...(state.endWarnings ?? []).map((text): [string, string] => ["warning", short(text)]),
    ...promiseRows(state),
    ...takenBackRows(state),
    ...protectedRows(state),
    ...loosenedRows(state),
    ...flaggedRows(state),
    ["isolation", fenceWords(spec.fence, { tense: "then" })],
  ];
  const head = outcome === undefined ? "not ended" : `${outcome.is}: ${short(outcome.reason)}`;
  const body = rows.map(([label, text]) => `  ${label.padEnd(LABEL_CHARS)}${text}`);
  const next = columns(nextCommands(state).map(([command, why]) => [`  ${command}`, `# ${why}`]));
  return [`${spec.run} ${head}`, ...body, "next", next].join("\n");
}

/** What is verified needs no other. */
function bestRows(state: RunState): [string, string][] {
  const words = state.outcome?.is === "verified" ? undefined : bestWords(state);
  return words === undefined ? [] : [["best", words]];
}

/** Who did it, for how much, and who could not. */
function agentRows(state: RunState): [string, string][] {
  const lines = [...spentRows(state), ...benchViews(state, { now: state.at }).map(benchWords)];
  return lines.map((text, at) => [at === 0 ? "agents" : "", text]);
}

/** The last promise that was no claim, where the run ended without one. */
function promiseRows({ recent, outcome }: RunState): [string, string][] {
  const last = recent.findLast(({ misplaced }) => misplaced !== undefined);
  if (last?.misplaced === undefined || outcome?.is === "verified" || outcome?.is === "claimed") return [];
  return [["promise", `iteration ${last.n}: ${short(misplacedWords(last.misplaced))}`]];
}

/** A person's own work that went with what was put back: told to whoever may have missed it. */
function takenBackRows(state: RunState): [string, string][] {
  return mainLane(state).takenBack.map(({ to, salvage, commits }, at) => {
    const named = commits.map((oid) => oid.slice(0, SHORT_OID_CHARS)).join(" ");
    const what = commits.length === 0 ? "what you changed" : `your ${named}`;
    const again = commits.length === 0 ? "" : `, git cherry-pick ${named} has it again`;
    const all = `pawl restore ${state.run} --at ${salvage} --branch NAME`;
    return [at === 0 ? "taken back" : "", `${what}, with the work after iteration ${to}${again}; all of it: ${all}`];
  });
}

/** What pawl put back of the agent's change, and where its version is; tests that were allowed to change. */
function protectedRows({ run, protected: known }: RunState): [string, string][] {
  if (known === undefined) return [];
  const { undone, testsChanged, doubts } = known;
  const last = undone.findLast(({ kept }) => kept !== undefined)?.kept;
  const restore = `pawl restore ${run} --at ${last} --branch NAME`;
  return [
    ...undone
      .slice(-MAX_UNDOINGS)
      .map(({ iteration, paths, count, kept }, at): [string, string] => [
        at === 0 ? "put back" : "",
        `iteration ${iteration}: ${short(changesWords(paths, count))}${kept === undefined ? "" : `; the agent's version: ${kept}`}`,
      ]),
    ...(last === undefined ? [] : [["", `${restore} brings it back`] as [string, string]]),
    ...(testsChanged.length === 0
      ? []
      : [
          [
            "tests",
            `differ from the base's, as allowed: ${short(changesWords(testsChanged, testsChanged.length))}`,
          ] as [string, string],
        ]),
    ...(doubts.length === 0
      ? []
      : [
          ["look at", `changed between turns, or by a commit during one: ${short(doubts.join(", "))}`] as [
            string,
            string,
          ],
        ]),
  ];
}

/** What a person took from the judge: it had a part in the outcome, whatever came of it. */
function loosenedRows({ spec: { protect } }: RunState): [string, string][] {
  const loosened = [
    ...(protect.testChanges === "allow" ? ["--allow-test-changes"] : []),
    ...(protect.except.length === 0 ? [] : [`--unprotect ${short(protect.except.join(", "))}`]),
  ];
  return loosened.length === 0 ? [] : [["loosened", loosened.join(", ")]];
}

/** What no fence can hold: it acts later, when somebody uses the branch. */
function flaggedRows({ flagged = [] }: RunState): [string, string][] {
  if (flagged.length === 0) return [];
  const more = flagged.length > MAX_FLAGGED ? ` and ${flagged.length - MAX_FLAGGED} more` : "";
  const shown = flagged.slice(0, MAX_FLAGGED).map(short).join(", ");
  return [["look at", `${shown}${more}: programs on your machine act on these; read them before you use the branch`]];
}

function criteriaRows(state: RunState): [string, string][] {
  const verdicts = new Map(judgedChecks(state).map(({ check, verdict }) => [check.name, verdict]));
  return criteriaOf(state.spec.criteria, (check) => verdicts.get(check)).map((one) => {
    const evidence = one.evidence.length === 0 ? "" : ` (${short(evidenceWords(one))})`;
    return [one.n === 1 ? "criteria" : "", `${one.n}. ${short(one.text)}: ${one.is}${evidence}`];
  });
}

function taskRows(state: RunState): [string, string][] {
  const counts = taskCounts(state);
  if (counts === undefined) return [];
  const open = openTasks(state).map(({ task }) => short(task.text));
  const left =
    open.length === 0
      ? ""
      : `; open: ${open.slice(0, MAX_OPEN_TASKS).join(", ")}${open.length > MAX_OPEN_TASKS ? ", …" : ""}`;
  const noticed = (state.tasks?.reported ?? []).slice(-MAX_SUSPICIONS);
  return [
    [
      "tasks",
      `${counts.done} of ${counts.total} done${counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`}${left}`,
    ],
    ...noticed.map(({ iteration, text }, at): [string, string] => [
      at === 0 ? "suspicions" : "",
      `iteration ${iteration}: ${short(text)}`,
    ]),
  ];
}

const of = (limit: number | undefined): string => (limit === undefined ? "" : ` of ${limit}`);

function judgedChecks(state: RunState): { check: CheckSpec; verdict: Verdict | undefined }[] {
  const tree = treeAtEnd(mainLane(state));
  return state.spec.checks.map((check) => ({
    check,
    verdict: tree === undefined ? undefined : verdictOf(state, tree, check.name),
  }));
}

function checkLine({ name, command, required }: CheckSpec, verdict: Verdict | undefined): string {
  const said = verdict === undefined ? "not run on the last change" : verdictWords(verdict);
  const isolation = verdict !== undefined && "evidence" in verdict ? `, isolation: ${verdict.evidence.isolation}` : "";
  const what = name === command ? "" : ` (${short(command)})`;
  return `${short(name)}${what}: ${said}${isolation}${required ? "" : ", not required"}`;
}

function tokens({ spent }: RunState): string {
  const { tokens: all, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = spent;
  const parts = `in ${grouped(inputTokens)}, out ${grouped(outputTokens)}, cache read ${grouped(cacheReadTokens)}, cache write ${grouped(cacheWriteTokens)}`;
  return `${grouped(all)} (${parts})`;
}

function branchLine(state: RunState): string {
  const { workspace } = state.spec;
  const { lastCommit, conflict, conflictReason } = mainLane(state);
  if (workspace.commit === "none") return "none: nothing was committed, the work is in the tree";
  if (state.branchRemoved === true)
    return `none: no commit was made, and ${short(workspace.branch ?? "it")} is removed again`;
  const name = branchOf(state) ?? "detached";
  const tip =
    lastCommit === null || lastCommit === state.base.commit ? "no commits" : lastCommit.slice(0, SHORT_OID_CHARS);
  return `${short(name)} (${tip})${conflict === undefined ? "" : `; ${short(conflictReason ?? "it moved")}, the work is kept as ${short(conflict)}`}`;
}

/** Where the work is: pawl's branch, or the one the user was on. */
export function branchOf(state: RunState): string | undefined {
  const { workspace } = state.spec;
  if (workspace.commit === "none" || state.branchRemoved === true) return undefined;
  return mainLane(state).branch ?? workspace.branch ?? state.base.branch ?? undefined;
}

function diffLine(diff: DiffStat | undefined): string {
  if (diff === undefined) return "unknown";
  if (diff.files === 0) return "no change";
  return `${diff.atLeast ? "at least " : ""}${counted(diff.files, "file")}, +${grouped(diff.added)} −${grouped(diff.removed)} against the base`;
}

/** What nobody but the agent vouches for. */
function unverified(state: RunState): string {
  const open = judgedChecks(state).filter(({ verdict }) => verdict?.is !== "pass");
  if (state.spec.checks.length === 0) return "everything: no check was configured";
  const names = open.map(({ check, verdict }) => `${short(check.name)} (${verdict?.is ?? "not run"})`);
  if (guardsOnly(state)) return [`the goal: ${GUARDS_ONLY}`, ...names].join("; ");
  return names.length === 0 ? "whatever the checks do not test" : names.join(", ");
}

function nextCommands(state: RunState): [string, string][] {
  const { run, outcome, spec } = state;
  const branch = branchOf(state);
  const look: [string, string][] = [
    [`pawl show ${run}`, "the last iteration: prompt, verdicts, decision"],
    [`pawl diff ${run}`, "what it changed"],
    ...outcomeCommands(state),
  ];
  const isDone = outcome?.is === "verified" || outcome?.is === "claimed";
  const isUnclaimed = !isDone && isGreen(state);
  const canMerge = spec.workspace.commit === "branch" && hasWork(state, mainLane(state), mainLane(state).acceptedTree);
  const merge: [string, string][] =
    (isDone || isUnclaimed) && canMerge && branch !== undefined && state.base.branch !== null
      ? [[mergeCommand(state.base, branch), "take the work"]]
      : [];
  const until: [string, string][] =
    isUnclaimed && spec.claim.required
      ? [[`${runCommand(spec)} --until-green`, "the next time: passing checks end the run, without a claim"]]
      : [];
  const open = outcome === undefined ? openQuestions(state).filter(({ turn }) => turn === null) : [];
  const answers = open.map((one): [string, string] => [answerCommand(run, one), short(`${one.question}: ${one.text}`)]);
  const resume: [string, string][] = outcome?.is === "verified" ? [] : [[resumeCommand(state), "go on"]];
  return [...look, ...merge, ...until, ...answers, ...resume];
}

/** Without a claim it went on, though what was handed over passes every check that decides. */
function isGreen(state: RunState): boolean {
  const { outcome, spec } = state;
  if (outcome?.is !== "exhausted" && outcome?.is !== "stuck" && outcome?.is !== "stopped") return false;
  return accepted(votesOf(state, { judged: mainLane(state).acceptedTree }), spec.verdicts, GREEN);
}

/** Where there was no commit before the run, the branch it began on is yet to be made. */
function mergeCommand({ branch: base, commit }: RunState["base"], branch: string): string {
  if (commit === null) return `git switch -c ${quoted(base ?? "")} ${quoted(branch)}`;
  return `git switch ${operand(base ?? "")} && git merge ${operand(branch)}`;
}

/** git takes what begins with a dash for an option. */
const operand = (name: string): string => (name.startsWith("-") ? `-- ${quoted(name)}` : quoted(name));

/** What helps with just this end. */
function outcomeCommands({ run, outcome, spec }: RunState): [string, string][] {
  switch (outcome?.is) {
    case "stuck":
      return [[`pawl memory list ${run}`, "what was tried and failed"]];
    case "needs-human":
      if (outcome.rule === PRE_EXISTING)
        return [[`${runCommand(spec)} --leave-failing`, "what failed before the run does not count"]];
      return outcome.rule === WORK_MISSING
        ? [[`pawl restore ${run} --list`, "what is kept of the work; --at N --branch NAME puts it on a branch"]]
        : [[`pawl status ${run}`, "what it needs from you"]];
    case "failed":
      // Who gave up has said why; nothing of the machine was missing.
      return outcome.rule === "claim:abort"
        ? [[`pawl logs ${run}`, "what the agent said and did"]]
        : [["pawl doctor", "is everything here that pawl needs"]];
    default:
      return [];
  }
}

/** With its checks as options where they can be: others are in pawl.yaml, and count again. */
function runCommand({ goal, checks, workspace }: RunState["spec"]): string {
  const isOption = (check: CheckSpec): boolean =>
    check.kind === "command" && check.required && check.weight === undefined && check.reports === undefined;
  const options = checks.every(isOption)
    ? checks.map(({ name, command }) => ` --check ${quoted(isGiven(name, command) ? `${name}=${command}` : command)}`)
    : [];
  // Given in a folder they have it in them: said again there they would be led into it twice.
  const isLed = options.length > 0 && checks.some(({ command }) => folderOf(command).folder !== "");
  return `${isLed ? `cd ${quoted(workspace.repository)} && ` : ""}pawl run ${quoted(short(goal))}${options.join("")}`;
}

/** Without a name of its own a check is called as its command begins. */
const isGiven = (name: string, command: string): boolean => /^[A-Za-z][\w.-]*$/.test(name) && name !== command;

/** Safe to paste into a shell, whatever a branch is called. */
export const quoted = (name: string): string =>
  /^[\w./-]+$/.test(name) ? name : `'${plain(name).replaceAll("'", "'\\''")}'`;

/** With the limits to raise, where some were reached: it may be more than the one that ended the run. */
export function resumeCommand(state: RunState): string {
  const { run, outcome } = state;
  const flags = new Map<string, string>();
  let { limits } = state;
  const overRule = (): string | undefined => {
    const over = exhausted({ ...state, limits }, { iteration: mainLane(state).iteration, elapsed: state.elapsed });
    return over === undefined ? undefined : `budget:${over.which}`;
  };
  let rule = outcome?.is === "exhausted" ? outcome.rule : outcome?.rule === PRE_EXISTING ? overRule() : undefined;
  while (rule !== undefined) {
    const raise = RAISE[rule];
    if (raise === undefined || flags.has(raise.flag)) break;
    const reached = limits[raise.limit];
    flags.set(raise.flag, reached === undefined ? "MORE" : raise.say(reached * 2));
    limits = { ...limits, [raise.limit]: reached === undefined ? Infinity : reached * 2 };
    rule = overRule();
  }
  return ["pawl resume", run, ...[...flags].flat()].join(" ");
}

const plainNumber = (n: number): string => String(n);
const RAISE: Readonly<Record<string, { flag: string; limit: keyof RunState["limits"]; say: (n: number) => string }>> = {
  "budget:iterations": { flag: "--max-iterations", limit: "iterations", say: plainNumber },
  "budget:turns": { flag: "--max-turns", limit: "turns", say: plainNumber },
  "budget:tool-calls": { flag: "--max-tool-calls", limit: "toolCalls", say: plainNumber },
  "budget:tokens": { flag: "--max-tokens", limit: "tokens", say: plainNumber },
  "budget:usd": { flag: "--max-cost", limit: "usd", say: plainNumber },
  "budget:usd-unknown": { flag: "--max-tokens", limit: "tokens", say: plainNumber },
  "budget:time": { flag: "--max-time", limit: "drivenMs", say: (ms) => `${Math.ceil(ms / 1_000)}s` },
};
