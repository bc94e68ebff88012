/**
 * A live run on a terminal or in a log: facts and the agent's stream as lines on stderr, and a heartbeat while nothing
 * comes. Without a terminal every line has its time.
 */
import { styleText } from "node:util";
import type { Fact, FactOf, Verdict } from "../events.ts";
import { laneOf, MAIN_LANE, mainLane, verdictKey, type IterationRecord, type RunState } from "../loop/state.ts";
import type { Redact, TraceLine } from "../ports.ts";
import { counted, dollars, duration, timeOfDay, zonedMoment } from "./cli/format.ts";
import { waitEnd } from "./cli/status-phase.ts";
import { factWords, protectedWords, verdictWords } from "./fact-words.ts";
import { oneLine, plain } from "./plain.ts";
import { leftMs, questionText } from "./question-words.ts";
import { heartbeat } from "./heartbeat.ts";
import { baselineWords, isAtRest, pauseWords, proofEndWords } from "./proof-words.ts";
import { toolName } from "./tool-name.ts";
import { traceWords } from "./trace-words.ts";

const MAX_LINE_CHARS = 4_000;
const MAX_REASON_CHARS = 300;
const MAX_TASK_CHARS = 80;

export type Loudness = "quiet" | "normal" | "verbose";

export interface RunView {
  fact(fact: Fact, state: RunState): void;
  /** It happened before anybody looked: not shown, but what goes on is known by it. */
  past(fact: Fact, state: RunState): void;
  trace(line: TraceLine): void;
  close(): void;
}

export interface TerminalOptions {
  write: (text: string) => void;
  /** Someone looks at it while it happens. */
  live: boolean;
  colour: boolean;
  loudness: Loudness;
  redact: Redact;
  now: () => number;
  /** Where the agent works: paths in it are shown without it. */
  root?: string;
  /** What the agent says is no text for people, but a proposal that a fact tells of. */
  answers?: boolean;
}

type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

export function terminalView({
  write,
  live,
  colour,
  loudness,
  redact,
  now,
  root,
  answers = false,
}: TerminalOptions): RunView {
  const line = (text: string, { at, style }: { at: number; style?: Style | undefined }): void => {
    beats.heard();
    for (const one of text.split("\n")) {
      const safe = redact(one.length > MAX_LINE_CHARS ? `${one.slice(0, MAX_LINE_CHARS)}…` : one);
      const shown = style !== undefined && colour ? styleText(style, safe, { validateStream: false }) : safe;
      write(live ? `${shown}\n` : `${timeOfDay(at)} ${shown}\n`);
    }
  };
  const beats = heartbeat({
    say: (words) => line(words, { at: now(), style: "dim" }),
    now,
    live,
    quiet: loudness === "quiet",
  });
  let isPaused = false;
  /** Once for each pause, when the last of what was under way has ended. */
  const beganPause = (state: RunState): boolean => {
    const before = isPaused;
    isPaused = isAtRest(state);
    return isPaused && !before;
  };
  return {
    fact(fact, state) {
      beats.fact(fact, state);
      const isPause = beganPause(state);
      // Whoever wants silence is told all the same that he is waited for.
      if (loudness !== "quiet" || fact.type === "human-requested") {
        const told = tell(fact, state) ?? (loudness === "verbose" ? verbose(fact) : undefined);
        if (told !== undefined) line(told.text, { at: fact.at, style: told.style });
      }
      if (isPause) line(pauseWords(state), { at: fact.at, style: "yellow" });
    },
    past(fact, state) {
      beats.past(fact, state);
      beganPause(state);
    },
    trace(traced) {
      beats.life();
      if (answers && traced.kind === "text" && loudness !== "verbose") return;
      if (loudness === "quiet" || (loudness === "normal" && !isForEverybody(traced))) return;
      const all = traceWords(traced);
      const words = root === undefined || traced.kind === "text" ? all : all?.replaceAll(`${root}/`, "");
      if (words !== undefined && words !== "")
        line(indented(words), { at: traced.at, style: traced.kind === "text" ? undefined : "dim" });
    },
    close: () => beats.close(),
  };
}

const indented = (text: string): string =>
  text
    .split("\n")
    .map((one) => `  ${one}`)
    .join("\n");

/** What a tool answered is shown when it failed. */
function isForEverybody({ kind, data }: TraceLine): boolean {
  if (kind === "tool-end") return (data as { ok?: unknown } | null)?.ok === false;
  return kind !== "thinking";
}

interface Told {
  text: string;
  style?: Style;
}

function verbose(fact: Fact): Told | undefined {
  const text = factWords(fact);
  return text === undefined ? undefined : { text: `  ${text}`, style: "dim" };
}

/** undefined: only when everything is asked for. */
function tell(fact: Fact, state: RunState): Told | undefined {
  switch (fact.type) {
    case "iteration-start": {
      if (fact.lane !== MAIN_LANE) return { text: `  ${fact.lane}, attempt ${fact.n}` };
      const max = state.limits.iterations;
      return { text: `iteration ${fact.n}${max === undefined ? "" : ` of ${max}`}${taskWords(state)}`, style: "bold" };
    }
    case "tasks-recorded":
      return fact.suspicions.length === 0
        ? undefined
        : {
            text: fact.suspicions.map((text) => `  noticed: ${oneLine(text, { max: MAX_REASON_CHARS })}`).join("\n"),
            style: "yellow",
          };
    case "turn-start":
      return fact.seat === undefined ? undefined : { text: `  ${factWords(fact)}`, style: "dim" };
    case "turn-end":
      return fact.outcome.is === "done" ? undefined : { text: `  ${factWords(fact)}`, style: "yellow" };
    case "check-end":
      // It was told when it passed, and part by part what came of the proof.
      if (isProven(fact, state)) return undefined;
      return {
        text: `  ${oneLine(fact.check, { max: MAX_REASON_CHARS })}: ${verdictWords(fact.verdict)}`,
        style: fact.verdict.is === "pass" ? "green" : "red",
      };
    case "baseline-recorded":
      return { text: indented(baselineWords(fact, state).join("\n")), style: "dim" };
    case "proof-end":
      return { text: `  ${proofEndWords(fact, state)}`, style: isHeld(fact) ? "green" : "red" };
    case "decision-made":
      return { text: closing(mainLane(state).record, fact), style: "cyan" };
    case "change-recorded":
      return fact.warnings.length === 0 &&
        fact.refused === undefined &&
        fact.flagged === undefined &&
        protectedWords(fact).length === 0
        ? undefined
        : { text: `  ${factWords(fact)}`, style: "yellow" };
    case "change-accepted":
      return fact.warnings.length === 0 && fact.conflict === undefined
        ? undefined
        : { text: `  ${factWords(fact)}`, style: "yellow" };
    case "lease-changed":
      return fact.swept === 0
        ? undefined
        : { text: `ended ${counted(fact.swept, "process")} that an earlier driver left behind`, style: "yellow" };
    case "human-requested": {
      const open = state.questions.get(fact.question);
      if (open === undefined) return undefined;
      const text = questionText(state.run, open, { left: leftMs(state, open, fact.elapsed) });
      return { text: indented(text), style: "yellow" };
    }
    case "hook-end":
      return fact.ok ? undefined : { text: `  ${factWords(fact)}`, style: "yellow" };
    case "proposal-made":
    case "plan-made":
    case "step-end":
      return { text: `  ${factWords(fact)}` };
    case "execution-recorded":
      return { text: `  ${factWords(fact)}`, style: fact.kind === "ok" ? "green" : "red" };
    case "wait-start":
      return { text: `  ${waitWords(fact, state)}`, style: "yellow" };
    case "agent-benched":
    case "change-restored":
    case "directive-received":
    case "directive-delivered":
    case "human-answered":
    case "wait-end":
    case "run-reopened":
      return { text: `  ${factWords(fact)}`, style: "yellow" };
    default:
      return undefined;
  }
}

/** Without its reason, where the end of the turn has just said that. */
function waitWords(fact: FactOf<"wait-start">, state: RunState): string | undefined {
  const ended = state.lanes.get(fact.lane)?.ended?.outcome;
  if (ended?.is !== "limited" || !fact.reason.includes(ended.message)) return factWords(fact);
  const end = waitEnd(fact);
  return `waiting${end === null ? "" : ` until ${zonedMoment(end, { now: fact.at })}`}`;
}

const isProven = ({ lane, tree, check, verdict }: FactOf<"check-end">, state: RunState): boolean =>
  isWell(verdict) && laneOf(state, lane).proofs.has(verdictKey(tree, check));

const isHeld = ({ part, verdict }: FactOf<"proof-end">): boolean =>
  part.is === "repetition" ? verdict.is === "pass" : isWell(verdict);

/** It came out as before, old failures and all, and raised no suspicion. */
const isWell = (verdict: Verdict): boolean =>
  (verdict.is === "pass" || verdict.is === "fail") && verdict.evidence.suspicions.length === 0;

function taskWords({ tasks }: RunState): string {
  const current = tasks?.list.find(({ id }) => id === tasks.current);
  return current === undefined ? "" : `: ${oneLine(current.text, { max: MAX_TASK_CHARS })}`;
}

/** The one line that closes an iteration, and a second where the decision needs words. */
function closing(record: IterationRecord, { rule, reason }: Pick<FactOf<"decision-made">, "rule" | "reason">): string {
  const tools = record.tools.map(([name, n]) => `${toolName(name, { max: 40 })} ×${n}`).join(", ");
  const files =
    record.files === 0 ? "no change" : `${counted(record.files, "file")} (+${record.added} −${record.removed})`;
  const verdicts = record.verdicts.map(({ check, is }) => `${oneLine(check, { max: 40 })} ${is}`).join(", ");
  const money = record.usd === null ? "cost unknown" : `${record.estimated ? "~" : ""}${dollars(record.usd)}`;
  const tasks = record.tasks === undefined ? [] : [`tasks ${record.tasks.done}/${record.tasks.total}`];
  const parts = [duration(record.durationMs), tools || "no tools", files, verdicts || "no checks", ...tasks, money];
  const words =
    rule === "continue" || rule === "green-unclaimed"
      ? ""
      : `\n  ${rule}: ${oneLine(plain(reason), { max: MAX_REASON_CHARS })}`;
  return `iteration ${record.n} closed: ${parts.join(" · ")}${words}`;
}
