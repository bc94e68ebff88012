/** What whoever drives a run again means by it: a pause, a stop or a question that holds it up is taken back. */
import type { Directive } from "../events.ts";
import { heldQuestions } from "../loop/questions.ts";
import type { RunState } from "../loop/state.ts";
import type { Inbox } from "../ports.ts";
import type { Limits } from "../spec.ts";

export interface Change {
  limits: Limits;
  model?: string;
}

export function directivesOf({ limits, model }: Change, { held }: { held: boolean }): Directive[] {
  return [
    ...(Object.keys(limits).length === 0 ? [] : [{ kind: "budget" as const, limits }]),
    ...(model === undefined ? [] : [{ kind: "model" as const, model }]),
    ...(held ? [{ kind: "resume" as const }] : []),
  ];
}

/** By what a dead driver left, or by what waits in the inbox. */
export async function isHeld(inbox: Pick<Inbox, "queued">, state: RunState): Promise<boolean> {
  const { run, paused, stop } = state;
  if (paused || stop !== undefined || heldQuestions(state).length > 0) return true;
  return (await inbox.queued(run)).some(({ directive: { kind } }) => kind === "pause" || kind === "stop");
}
