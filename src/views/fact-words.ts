/** A fact in one line for people. Exhaustive: a new fact without words does not compile. */
import type { Claim, Evidence, Fact, FactOf, PathChange, TurnOutcome, Usage, Verdict } from "../events.ts";
import { misplacedWords } from "../loop/claim.ts";
import { counted, zonedMoment } from "./cli/format.ts";
import { NO_CONTROL } from "../loop/control.ts";
import { directiveWords } from "./directive-words.ts";
import { oneLine } from "./plain.ts";
import { partWords } from "./proof-words.ts";
import { executionWords, proposalWords } from "./solve/fact-words.ts";
import { toolName } from "./tool-name.ts";

const MAX_CHARS = 160;
/** Of what kept a check from judging, which is for a person to put right. */
const MAX_REASON_CHARS = 600;
const MAX_SHOWN_PATHS = 5;
const SHORT_OID_CHARS = 10;
const MS_PER_SECOND = 1_000;

const short = (text: string): string => oneLine(text, { max: MAX_CHARS });
const oid = (name: string | null): string => (name === null ? "none" : name.slice(0, SHORT_OID_CHARS));
const seconds = (ms: number): string => `${(ms / MS_PER_SECOND).toFixed(1)} s`;

/** undefined for a type this pawl does not know. */
export function factWords(fact: Fact): string | undefined {
  switch (fact.type) {
    case "run-start":
      return `run started: ${short(fact.spec.goal)}`;
    case "run-reopened":
      return `run reopened (it was ${fact.was.is})`;
    case "run-end":
      return `run ended: ${fact.outcome.is} (${short(fact.outcome.reason)})${(fact.warnings ?? []).map((text) => `; ${short(text)}`).join("")}`;
    case "lease-changed":
      return `worked on by process ${fact.pid} on ${short(fact.host)}${fact.swept === 0 ? "" : `; ended ${fact.swept} left behind`}`;
    case "lane-start":
      return `workspace ready (${short(fact.why)})`;
    case "lane-end":
      return `lane ended (${short(fact.why)})`;
    case "iteration-start":
      return `iteration ${fact.n}`;
    case "turn-start": {
      const left = fact.prompt.cut;
      const model = fact.model === null ? "" : `, model ${short(fact.model)}`;
      const who = fact.seat === undefined ? "" : ` by ${short(fact.seat)}`;
      const what = fact.role === "review" ? `review, turn ${fact.turn}` : `turn ${fact.turn}`;
      return `${what}${who}, ${fact.session.mode} session, prompt of ${counted(fact.prompt.bytes, "byte")}${left.length === 0 ? "" : ` (cut: ${left.join(", ")})`}${model}`;
    }
    case "session-opened":
      return `session ${short(fact.ref)}${fact.model === null ? "" : `, model ${short(fact.model)}`}`;
    case "turn-end":
      return `turn ${fact.turn} ${outcomeWords(fact.outcome)} after ${seconds(fact.durationMs)}, ${toolWords(fact.tools)}, ${usageWords(fact.usage)}${claimWords(fact.claim)}${fact.misplaced === undefined ? "" : `; ${short(misplacedWords(fact.misplaced))}`}${fact.foundOut ? " (found out afterwards)" : ""}`;
    case "agent-benched":
      return `${short(fact.seat)} is left alone${fact.until === null ? ` for ${seconds(fact.untilElapsed - fact.elapsed)}` : ` until ${zonedMoment(fact.until, { now: fact.at })}`}: ${short(fact.reason)}`;
    case "change-recorded":
      return `snapshot ${fact.snapshot} by the ${fact.by}: ${counted(fact.fileCount, "file")} +${fact.added} -${fact.removed}${[...fact.warnings, ...flaggedWords(fact.flagged), ...protectedWords(fact), ...(fact.refused === undefined ? [] : [fact.refused])].map((text) => `; ${short(text)}`).join("")}`;
    case "baseline-recorded":
      return `before the run ${short(fact.check)}: ${verdictWords(fact.verdict)}${fact.note === undefined ? "" : `; ${fact.note}`}`;
    case "check-start":
      return `check ${short(fact.check)} on ${oid(fact.tree)}`;
    case "check-end":
      return `check ${short(fact.check)}: ${verdictWords(fact.verdict)}`;
    case "proof-start":
      return `proof of ${short(fact.check)}: ${partWords(fact.part)}`;
    case "proof-end":
      return `proof of ${short(fact.check)}: ${partWords(fact.part)}: ${verdictWords(fact.verdict)}`;
    case "failure-recorded":
      return `remembered ${short(fact.approach)}: ${short(fact.summary)}, ${counted(fact.fingerprints.length, "failure")}`;
    case "decision-made":
      return `decision ${fact.rule} → ${fact.next}: ${short(fact.reason)}`;
    case "effect-intended":
      return `about to ${fact.kind} ${oid(fact.tree)}`;
    case "change-accepted":
      return `handed over ${oid(fact.commit)}${fact.branch === null ? "" : ` on ${short(fact.branch)}`}${fact.conflict === undefined ? "" : `; conflict, kept as ${short(fact.conflict)}`}${fact.warnings.map((text) => `; ${short(text)}`).join("")}`;
    case "change-restored":
      if (fact.failed !== undefined) return `not put back: ${short(fact.failed)}`;
      return `restored snapshot ${fact.to}, what was there is ${short(fact.salvage)}: ${short(fact.why)}`;
    case "directive-received":
      return `directive ${fact.id} from ${short(fact.source)}: ${directiveWords(fact.directive)}`;
    case "directive-delivered":
      return `directive ${fact.id} delivered: ${short(fact.how)}`;
    case "directive-acknowledged":
      return `directive ${fact.id} acknowledged in turn ${fact.turn}`;
    case "human-requested":
      return `question ${short(fact.question)}: ${short(fact.text)}`;
    case "human-answered":
      return `answer to ${short(fact.question)}${fact.by === "person" ? "" : ` (${fact.by})`}: ${short(fact.text)}`;
    case "hook-end": {
      const end = fact.ok ? "done" : `FAILED${fact.exitCode === null ? "" : ` with ${fact.exitCode}`}`;
      const said = fact.output.trim() === "" ? "" : `: ${short(fact.output.trim())}`;
      return `hook ${short(fact.hook)} at ${fact.on} ${end} in ${seconds(fact.durationMs)}${said}`;
    }
    case "tasks-recorded": {
      const settled = fact.tasks.filter(({ is }) => is === "done" || is === "skipped").length;
      return `tasks seen (changed by ${fact.by === "person" ? "a person" : fact.by === "agent" ? "the agent" : "pawl"}): ${settled} of ${fact.tasks.length} ticked${fact.suspicions.map((text) => `; ${short(text)}`).join("")}`;
    }
    case "wait-start":
      return `waiting: ${short(fact.reason)}${fact.until === null ? "" : `, until ${zonedMoment(fact.until, { now: fact.at })}`}`;
    case "wait-end":
      return fact.why === "over" ? "the wait is over" : `the wait is over: ${short(fact.why)}`;
    case "proposal-made":
      return proposalWords(fact);
    case "execution-recorded":
      return executionWords(fact);
    case "plan-made":
      return `plan ${fact.revision} by ${fact.by === "person" ? "a person" : "the model"}: ${short(fact.steps.map(({ id }) => id).join(", "))}`;
    case "step-end":
      return `step ${fact.step} ${fact.is}: ${short(fact.result.text)}`;
    default:
      return undefined;
  }
}

/** What pawl undid, allowed and followed of protected files. */
export function protectedWords(
  fact: Pick<FactOf<"change-recorded">, "protected" | "kept" | "testsChanged" | "followed">,
): string[] {
  const { protected: undone = [], kept, testsChanged = [], followed = [] } = fact;
  const named = (changes: readonly PathChange[]): string => changesWords(changes, changes.length);
  return [
    ...(undone.length === 0
      ? []
      : [
          `put back, for it judges the work: ${named(undone)}${kept === undefined ? "" : `; the agent's version is kept as ${kept}`}`,
        ]),
    ...(testsChanged.length === 0 ? [] : [`tests that differ from the base's, as allowed: ${named(testsChanged)}`]),
    ...(followed.length === 0
      ? []
      : [`protected files that changed between turns, or by a commit during one: ${named(followed)}`]),
  ];
}

/** The first few, with how each changed. */
export function changesWords(changes: readonly PathChange[], count: number): string {
  const shown = changes.slice(0, MAX_SHOWN_PATHS).map(({ path, how }) => `${path} (${how})`);
  return `${shown.join(", ")}${count > shown.length ? ` and ${count - shown.length} more` : ""}`;
}

/** For a change that programs outside the fence would act on. */
export function flaggedWords(flagged: readonly string[] = []): string[] {
  return flagged.length === 0 ? [] : [`runs on your machine later, look at it first: ${flagged.join(", ")}`];
}

export function claimWords(claim: Claim | null): string {
  switch (claim?.is) {
    case undefined:
      return "";
    case "done":
      return ", claims to be done";
    case "task":
      return ", claims that its task is done";
    case "abort":
      return ", gives up";
  }
}

export function outcomeWords(outcome: TurnOutcome): string {
  switch (outcome.is) {
    case "done":
      return "done";
    case "interrupted":
      return `interrupted by ${short(outcome.by)}`;
    case "cut":
      return `cut (${short(outcome.reason)})`;
    case "limited":
      return `refused by a ${outcome.kind} limit (${short(outcome.message)})`;
    case "timeout":
      return `out of time (${outcome.which}, ${seconds(outcome.afterMs)})`;
    case "failed":
      return `failed: ${outcome.kind} (${short(outcome.message)})`;
  }
}

export function verdictWords(verdict: Verdict): string {
  switch (verdict.is) {
    case "pass":
      return `pass in ${seconds(verdict.evidence.durationMs)}${numberWords(verdict)}${passWords(verdict.evidence)}`;
    case "fail":
      return `FAIL${exitWords(verdict.evidence)} in ${seconds(verdict.evidence.durationMs)}${numberWords(verdict)}: ${short(verdict.failures[0].message)}${verdict.failures.length === 1 ? "" : ` and ${verdict.failures.length - 1} more`}`;
    case "flaky":
      return `flaky over ${verdict.runs} runs: ${short(verdict.failures[0].message)}`;
    case "unverifiable":
      return `unverifiable (${oneLine(verdict.reason, { max: MAX_REASON_CHARS })})`;
    case "skipped":
      return `skipped (${short(verdict.reason)})`;
  }
}

/** What a person should know of a pass beside that it is one. */
function passWords({ runs, control, quarantined = [], suspicions }: Evidence): string {
  return [
    ...(runs === undefined ? [] : [`${runs} times in a row`]),
    ...(quarantined.length === 0 ? [] : [`in quarantine and failing: ${short(quarantined.join(", "))}`]),
    ...(control === "seen" ? ["a planted failure is seen"] : []),
    ...(control === "none" ? [NO_CONTROL] : []),
    ...suspicions.map((text) => `SUSPICIOUS: ${short(text)}`),
  ]
    .map((words) => `, ${words}`)
    .join("");
}

/** Nothing for a check that runs no command. */
function exitWords({ exitCode, signal }: Evidence): string {
  if (exitCode !== null) return ` (exit ${exitCode})`;
  return signal === null ? "" : ` (${signal})`;
}

/** What a judge gave, what a metric measured. */
function numberWords({ score, evidence }: Extract<Verdict, { is: "pass" | "fail" }>): string {
  const { value } = evidence;
  return `${score === undefined ? "" : `, score ${score}`}${value === undefined ? "" : `, measured ${value}`}`;
}

export function usageWords(usage: Usage): string {
  const tokens = usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const money = usage.usd === null ? "cost unknown" : `${usage.estimated ? "~" : ""}$${usage.usd.toFixed(4)}`;
  return `${counted(tokens, "token")}, ${money}`;
}

function toolWords(tools: readonly [string, number][]): string {
  return tools.length === 0
    ? "no tools"
    : tools.map(([name, times]) => `${toolName(name, { max: MAX_CHARS })} × ${times}`).join(", ");
}
