/** The plan as it stands, and for whoever works on a step of it what that is and what it builds on. */
import type { PromptPart } from "../../loop/actions.ts";
import { fitted } from "../../loop/history.ts";
import { promptRoom } from "../../loop/solve-room.ts";
import { solveOf, type PlanState, type StepState } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import { quote } from "../parts/text.ts";
import { PLAN_SHARE } from "./shares.ts";

const MAX_EXPECT_CHARS = 200;
const room = (state: RunState): number => Math.floor(promptRoom(state) * PLAN_SHARE);

export function plan(state: RunState): PromptPart {
  const { plan: made, settled } = solveOf(state);
  const max = room(state);
  const text = made === undefined ? "" : planText(made, { settled, max });
  return { name: "plan", text: fitted(text, max), capBytes: max };
}

function planText(
  { revision, steps }: PlanState,
  { settled, max }: { settled: readonly StepState[]; max: number },
): string {
  const each = Math.floor(max / (2 * (steps.length + settled.length)));
  const lines = steps.map((step) => sayStep(step, each));
  const before = settled.map((step) => sayStep(step, each));
  const more = before.length === 0 ? "" : `\n\nResults of plans before it:\n\n${before.join("\n")}`;
  return `## The plan (revision ${revision})\n\n${lines.join("\n")}${more}`;
}

/** With what was expected, where there is something to compare with it. */
function sayStep({ id, title, needs, expect, is, result }: StepState, max: number): string {
  const after = needs.length === 0 ? "" : ` (needs ${needs.join(", ")})`;
  const came = result === undefined ? "" : `\n\n${quote(fitted(result.text.trim(), max))}\n`;
  const wanted = result === undefined || expect === "" ? "" : ` (expected: ${expect.slice(0, MAX_EXPECT_CHARS)})`;
  return `- ${id}${after}: ${title}: ${is}${wanted}${came}`;
}

/** Files of a step that another needs lie beside its own. */
export function step(state: RunState, id: string): PromptPart {
  const { plan: made } = solveOf(state);
  const max = room(state);
  const own = made?.steps.find((one) => one.id === id);
  const needed = (made?.steps ?? []).filter((one) => own?.needs.includes(one.id) === true);
  const each = Math.floor(max / (2 * Math.max(1, needed.length)));
  const before = needed.map((one) => sayStep(one, each)).join("\n");
  const text =
    own === undefined
      ? ""
      : [
          `## Your step: ${id}`,
          own.title,
          own.expect === "" ? "" : `What is expected of it: ${own.expect}`,
          before === "" ? "" : `What it builds on; the files that these steps wrote are in your folder:\n\n${before}`,
        ]
          .filter((part) => part !== "")
          .join("\n\n");
  return { name: "step", text: fitted(text, max), capBytes: max };
}
