/** The attempts so far, as they stand in the prompt: whole, as a line with where to find it, or counted. */
import type { PromptPart, TurnAction } from "../../loop/actions.ts";
import { fitted, pruned, wireBytes } from "../../loop/history.ts";
import { promptRoom } from "../../loop/solve-room.ts";
import { attemptsIn, solveOf, type Attempt } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import { quote } from "../parts/text.ts";
import { CHANGING_SHARE } from "./shares.ts";
import { counted } from "../../plural.ts";

/** One attempt never takes more of the history than this. */
const ATTEMPT_SHARE = 0.25;
/** What a part takes in a request beside its text. */
const BLOCK_BYTES = 100;
const MAX_NOTE_CHARS = 1_000;
const MAX_STUB_NOTE_CHARS = 60;
const MAX_STUB_RESULT_CHARS = 80;
const MAX_FILES_SHOWN = 20;

/** `before`: what stands before it in every prompt of the lane; it has all the room that this and the rest leave. */
export function history(state: RunState, { lane }: TurnAction, before: readonly PromptPart[]): PromptPart[] {
  const attempts = attemptsIn(state, lane);
  const room = promptRoom(state);
  const taken = before.reduce((sum, { text }) => sum + wireBytes(text) + BLOCK_BYTES, 0);
  const budget = Math.max(0, Math.floor(room * (1 - CHANGING_SHARE)) - taken);
  const texts = attempts.map((attempt) => ({ attempt, whole: wholeText(attempt, budget), stub: stubText(attempt) }));
  const sizes = texts.map(({ whole, stub }) => ({ whole: wireBytes(whole) + BLOCK_BYTES, stub: wireBytes(stub) }));
  const { counted, stubs } = pruned(sizes, budget);
  return [
    {
      name: "earlier",
      text: earlier(state, {
        gone: attempts.slice(0, counted),
        lines: texts.slice(counted, stubs).map(({ stub }) => stub),
      }),
      capBytes: budget,
      stable: true,
    },
    ...texts.map(({ attempt, whole }, at): PromptPart => {
      const name = `attempt-${attempt.turn}`;
      if (at >= stubs) return { name, text: whole, capBytes: budget, stable: true };
      return { name, text: "", capBytes: 0, silent: at < counted ? "pruned: only counted" : "pruned: one line of it" };
    }),
  ];
}

function earlier(state: RunState, { gone, lines }: { gone: readonly Attempt[]; lines: readonly string[] }): string {
  const count = solveOf(state).forgotten + gone.length;
  const last = gone.at(-1);
  const failed = gone.filter(({ executed }) => executed !== undefined && executed.kind !== "ok").length;
  const summary =
    last === undefined
      ? []
      : [`- ${count} attempts up to number ${last.turn}, of which ${failed} failed: only in the journal`];
  if (summary.length === 0 && lines.length === 0) return "";
  const where = `What is left out here: pawl show ${state.run} --attempt NUMBER.`;
  return `## Earlier attempts, shortened\n\n${[...summary, ...lines].join("\n")}\n\n${where}`;
}

function wholeText(attempt: Attempt, budget: number): string {
  const { turn, iteration, note, code, answer, problem, executed } = attempt;
  const max = Math.floor(budget * ATTEMPT_SHARE);
  const ran = executed?.code ?? code?.kept;
  const language = executed?.language ?? code?.language ?? "";
  const parts = [
    `## Attempt ${turn} (iteration ${iteration})`,
    note.slice(0, MAX_NOTE_CHARS),
    ran === undefined ? "" : `${language}:\n\n${quote(fitted(ran.text, Math.floor(max / 2)))}`,
    answer === undefined ? "" : `Answer:\n\n${quote(fitted(answer.text, Math.floor(max / 4)))}`,
    problem === undefined ? "" : `It could not be used: ${problem}.`,
    resultText(attempt, Math.floor(max / 2)),
  ];
  return fitted(parts.filter((part) => part !== "").join("\n\n"), max);
}

/** What came of running it. */
export function resultText({ executed }: Attempt, maxBytes: number): string {
  if (executed === undefined) return "";
  const { kind, stdout, files, durationMs, message } = executed;
  const produced = files.slice(0, MAX_FILES_SHOWN).map(({ path, bytes }) => `${path} (${counted(bytes, "byte")})`);
  const more = files.length > MAX_FILES_SHOWN ? ` and ${files.length - MAX_FILES_SHOWN} more` : "";
  const wrote = files.length === 0 ? "" : `\n\nFiles it wrote: ${produced.join(", ")}${more}`;
  if (kind !== "ok") return `${fitted(message, maxBytes)}${wrote}`;
  const odd = message === "" ? "" : `\n\n${fitted(message, Math.floor(maxBytes / 4))}`;
  const printed =
    stdout.text.trim() === ""
      ? "It printed nothing."
      : `It printed:\n\n${quote(fitted(stdout.text.trimEnd(), Math.floor(maxBytes / 2)))}`;
  const long = stdout.isCut === true ? `\n\nIt printed ${stdout.bytes} bytes, too many for an answer: print less.` : "";
  return `It ended well in ${(durationMs / 1_000).toFixed(1)} s.\n\n${printed}${long}${odd}${wrote}`;
}

function stubText({ turn, iteration, note, does, executed, answer, problem }: Attempt): string {
  const result =
    problem ??
    (answer !== undefined
      ? `answer ${oneLine(answer.text, MAX_STUB_RESULT_CHARS)}`
      : executed === undefined
        ? does
        : executed.kind === "ok"
          ? `printed ${oneLine(executed.stdout.text, MAX_STUB_RESULT_CHARS)}`
          : oneLine(executed.message, MAX_STUB_RESULT_CHARS));
  return `- attempt ${turn} (iteration ${iteration}): ${oneLine(note, MAX_STUB_NOTE_CHARS)} → ${result}`;
}

function oneLine(text: string, max: number): string {
  const line = text.trim().replaceAll(/\s+/g, " ");
  return line.length <= max ? line : `${line.slice(0, max)}…`;
}
