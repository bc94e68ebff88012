/** Where it stands: what the checks said, which error keeps coming, what people say, and which iteration this is. */
import type { PromptPart, TurnAction } from "../../loop/actions.ts";
import { judged } from "../../loop/decide.ts";
import { fitted } from "../../loop/history.ts";
import { lastJudgement } from "../../loop/prompt.ts";
import { promptRoom } from "../../loop/solve-room.ts";
import { attemptsIn, solveOf } from "../../loop/solve-state.ts";
import { mainLane, pendingSays, type RunState } from "../../loop/state.ts";
import { KIB, quote } from "../parts/text.ts";
import { EXPECT_CHECK } from "./question.ts";
import { DIRECTIVE_SHARE, VERDICT_SHARE } from "./shares.ts";

const MAX_FAILURES = 5;
const REPEATED = 2;

const share = (state: RunState, of: number): number => Math.floor(promptRoom(state) * of);

export function verdicts(state: RunState, turn: TurnAction): PromptPart {
  const max = share(state, VERDICT_SHARE);
  const last = lastJudgement(mainLane(state), turn);
  const red =
    last === undefined
      ? []
      : judged(state, last).filter(
          ({ verdict }) => verdict !== undefined && verdict.is !== "pass" && verdict.is !== "skipped",
        );
  const lines = red.map(({ check: { name }, verdict }) => {
    if (name === EXPECT_CHECK) return "- it is not the right answer";
    if (verdict?.is !== "fail" && verdict?.is !== "flaky") return `- ${name}: could not be judged`;
    const said = verdict.failures.slice(0, MAX_FAILURES).map(({ message }) => `  - ${message}`);
    return `- ${name} fails:\n${said.join("\n")}\n\n${quote(verdict.is === "fail" ? verdict.excerpt : "")}`;
  });
  const text = lines.length === 0 ? "" : `## What the checks said of the last answer\n\n${lines.join("\n")}`;
  return { name: "verdicts", text: fitted(text, max), capBytes: max };
}

/** The same failure again and again: another way is needed. */
export function repeatedFailure(state: RunState, { lane }: TurnAction): PromptPart {
  const last = attemptsIn(state, lane).at(-1)?.executed;
  const times =
    last?.fingerprint === null || last === undefined ? 0 : (solveOf(state).errors.get(last.fingerprint) ?? 0);
  const text =
    times < REPEATED
      ? ""
      : `This very failure has come ${times} times by now. Do not try the same again: take another way.`;
  return { name: "repeated-failure", text, capBytes: 1 * KIB };
}

export function directives(state: RunState): PromptPart {
  const max = share(state, DIRECTIVE_SHARE);
  const says = pendingSays(state).map(({ text }) => text);
  const text = says.length === 0 ? "" : `## Orchestrator directive (priority)\n\n${says.join("\n\n")}`;
  return { name: "directives", text: fitted(text, max), capBytes: max, always: true };
}

export function header(
  state: RunState,
  { iteration, attempt, lane }: TurnAction,
  step: string | undefined,
): PromptPart {
  const max = step === undefined ? state.limits.iterations : state.spec.solve?.stepTries;
  const tried = attemptsIn(state, lane).length;
  const where = step === undefined ? `Iteration ${iteration}` : `Step ${step}, attempt ${iteration}`;
  const again = attempt > 1 ? ` (try ${attempt})` : "";
  const last = max !== undefined && iteration >= max ? " It is the last: give the best answer you have." : "";
  const text = `${where}${max === undefined ? "" : ` of ${max}`}${again}. ${tried === 0 ? "Nothing has been tried yet." : "What do you do next?"}${last}`;
  return { name: "header", text, capBytes: 1 * KIB };
}
