/** Hooks: the user's own commands at points of the loop, each once per occasion. Pure. */
import type { FactOf, Outcome } from "../events.ts";
import type { HookEvent, HookSpec } from "../spec.ts";
import type { Action } from "./actions.ts";
import type { LaneState, RunState } from "./state.ts";

const MAX_KEPT_HOOKS = 200;
const MAX_SAID = 20;
const MAX_REASON_CHARS = 300;

export interface HookState {
  /** What has run, by `hookKey`; bounded. */
  done: Map<string, FactOf<"hook-end">>;
  /** For the next prompt, oldest first. */
  said: { hook: string; text: string; seq: number }[];
  /** One that failed and whose policy is not to go on; until a person or a reopening settles it. */
  trouble?: FactOf<"hook-end">;
  /** One has run since the files were last looked at. */
  touched: boolean;
}

export const noHooks = (): HookState => ({ done: new Map(), said: [], touched: false });

export const hookKey = ({ hook, on, occasion }: { hook: string; on: HookEvent; occasion: string }): string =>
  `hook/${hook}/${on}/${occasion}`;

export function recordHook(state: RunState, fact: FactOf<"hook-end">): void {
  const { hooks, spec } = state;
  const known = spec.hooks.find(({ name }) => name === fact.hook);
  hooks.done.set(hookKey(fact), fact);
  for (const old of hooks.done.keys()) {
    if (hooks.done.size <= MAX_KEPT_HOOKS) break;
    hooks.done.delete(old);
  }
  hooks.touched = true;
  // At the end of a run there is nothing left to hold.
  const holds = known !== undefined && known.policy !== "warn" && fact.on !== "run-end";
  if (!fact.ok && holds) hooks.trouble = fact;
  if (known?.toPrompt !== true || fact.output.trim() === "") return;
  hooks.said.push({ hook: fact.hook, text: fact.output, seq: fact.seq });
  if (hooks.said.length > MAX_SAID) hooks.said.shift();
}

/** The prompt of this turn has reached the model, and with it what hooks had said until then. */
export function heardHooks({ hooks }: RunState, { seq }: Pick<FactOf<"turn-start">, "seq">): void {
  if (hooks.said.length > 0) hooks.said = hooks.said.filter((said) => said.seq > seq);
}

/** A part of the next prompt, once; empty without hooks. */
export function hookWords({ hooks }: RunState): string {
  return hooks.said.map(({ hook, text }) => `## From hook ${hook}\n\n${text.trim()}`).join("\n\n");
}

export interface Occasion {
  on: HookEvent;
  /** Tells it from others of its kind. */
  occasion: string;
  /** The fact it gets; undefined for the run's first, which is read from the journal. */
  fact: object | undefined;
  /** At the run's end: what the fact says of it, until it is looked at once more. */
  outcome?: Outcome;
}

/** What has happened in this lane and may have hooks of its own, oldest first. */
export function occasionsOf(state: RunState, lane: LaneState): Occasion[] {
  const { resumed } = state;
  const { ended, decision } = lane;
  const list: Occasion[] = [{ on: "run-start", occasion: "run", fact: undefined }];
  if (resumed !== undefined) list.push({ on: "resume", occasion: String(resumed.epoch), fact: resumed });
  if (ended !== undefined && isError(ended)) {
    list.push({ on: "error", occasion: `turn ${ended.turn}`, fact: ended });
  }
  if (decision !== undefined) {
    const occasion = `iteration ${decision.iteration}`;
    list.push({ on: "iteration-end", occasion, fact: decision });
    if (isStall(decision.rule)) list.push({ on: "stall", occasion, fact: decision });
  }
  return list;
}

const isStall = (rule: string): boolean => rule.startsWith("struggle:") || rule === "approach-blocked";

/** Of the agent or its connection; a limit is a wait, and what a person or a dying driver ended is none. */
function isError({ outcome, foundOut }: FactOf<"turn-end">): boolean {
  if (outcome.is === "failed") return outcome.kind !== "max-turns";
  return outcome.is === "timeout" || (outcome.is === "cut" && !foundOut);
}

export const iterationStart = (n: number): Occasion => ({
  on: "iteration-start",
  occasion: `iteration ${n}`,
  fact: { type: "iteration-start", n },
});

export const runEnd = (state: RunState, lane: LaneState, outcome: Outcome): Occasion => ({
  on: "run-end",
  occasion: `${state.reopened}/${lane.iteration}/${outcome.rule}`,
  fact: { type: "run-end", outcome },
  outcome,
});

/** The next hook that is due, one at a time and in the order of the settings. */
export function dueHook(
  { spec, hooks }: RunState,
  { lane }: LaneState,
  occasions: readonly Occasion[],
): Extract<Action, { do: "hook" }> | undefined {
  for (const { on, occasion, fact, outcome } of occasions) {
    for (const hook of spec.hooks) {
      const key = hookKey({ hook: hook.name, on, occasion });
      if (!hook.on.includes(on) || hooks.done.has(key)) continue;
      return {
        do: "hook",
        key,
        lane,
        why: on,
        hook,
        on,
        occasion,
        fact,
        ...(outcome === undefined ? {} : { outcome }),
      };
    }
  }
  return undefined;
}

export const policyOf = ({ spec }: RunState, { hook }: FactOf<"hook-end">): HookSpec["policy"] =>
  spec.hooks.find(({ name }) => name === hook)?.policy ?? "warn";

export const hookTrouble = (fact: FactOf<"hook-end">): { rule: string; reason: string } => {
  const [line = ""] = fact.output.trim().split("\n");
  const exit = fact.exitCode === null ? "it did not end by itself" : `it exited with ${fact.exitCode}`;
  const words = line.trim().slice(0, MAX_REASON_CHARS) || exit;
  return { rule: `hook:${fact.hook}`, reason: `hook ${fact.hook} (${fact.on}): ${words}` };
};
