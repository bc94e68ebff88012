/** Hooks: the user's own commands at points of the loop, each once per occasion. Pure. */
import type { FactOf } from "../events.ts";
import type { HookEvent } from "../spec.ts";
import type { RunState } from "./state.ts";

const MAX_KEPT_HOOKS = 200;

export interface HookState {
  /** What has run, by `hookKey`; bounded. */
  done: Map<string, FactOf<"hook-end">>;
  /** For the next prompt, oldest first. */
  said: { hook: string; text: string }[];
}

export const noHooks = (): HookState => ({ done: new Map(), said: [] });

export const hookKey = ({ hook, on, occasion }: { hook: string; on: HookEvent; occasion: string }): string =>
  `hook/${hook}/${on}/${occasion}`;

export function recordHook(state: RunState, fact: FactOf<"hook-end">): void {
  const { hooks, spec } = state;
  hooks.done.set(hookKey(fact), fact);
  for (const old of hooks.done.keys()) {
    if (hooks.done.size <= MAX_KEPT_HOOKS) break;
    hooks.done.delete(old);
  }
  const isSaid = spec.hooks.some(({ name, toPrompt }) => name === fact.hook && toPrompt);
  if (isSaid && fact.output !== "") hooks.said.push({ hook: fact.hook, text: fact.output });
}
