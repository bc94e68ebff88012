/** What is kept of verdicts: by tree, so that no tree is judged twice, and by check, so that change can be told. */
import type { FactOf, Verdict } from "../events.ts";
import { charge as pay } from "./fold-seats.ts";
import { verdictKey, type RunState } from "./state.ts";

const MAX_KEPT_VERDICTS = 256;
const MAX_KEPT_FLAKES = 50;

/** One that could not judge says nothing about the tree: only the others stand for it. */
export function recordBaseline(state: RunState, { check, tree, verdict }: FactOf<"baseline-recorded">): void {
  state.baselines.set(check, verdict);
  charge(state, check, verdict);
  noteFlake(state, check, verdict);
  if (verdict.is !== "pass" && verdict.is !== "fail") return;
  keep(state, verdictKey(tree, check), verdict);
  // It may come late, and is of the oldest tree.
  if (!state.latest.has(check)) state.latest.set(check, verdict);
}

export function recordVerdict(state: RunState, { check, tree, verdict }: FactOf<"check-end">): void {
  keep(state, verdictKey(tree, check), verdict);
  charge(state, check, verdict);
  if (verdict.is === "pass" || verdict.is === "fail") state.latest.set(check, verdict);
  noteFlake(state, check, verdict);
}

function noteFlake(state: RunState, check: string, verdict: Verdict): void {
  if (verdict.is !== "flaky") return;
  const known = state.flakes.get(check) ?? [];
  const seen = verdict.failures.map(({ fingerprint }) => fingerprint);
  state.flakes.set(check, [...new Set([...known, ...seen])].slice(-MAX_KEPT_FLAKES));
}

function keep(state: RunState, key: string, verdict: Verdict): void {
  state.verdicts.delete(key);
  state.verdicts.set(key, verdict);
  const oldest = state.verdicts.size > MAX_KEPT_VERDICTS ? state.verdicts.keys().next().value : undefined;
  if (oldest !== undefined) state.verdicts.delete(oldest);
}

/** A model that judges is paid like one that works. */
function charge(state: RunState, check: string, verdict: Verdict): void {
  const usage =
    "evidence" in verdict ? verdict.evidence.usage : verdict.is === "unverifiable" ? verdict.usage : undefined;
  if (usage === undefined) return;
  const { agent, checks } = state.spec;
  const judge = checks.find(({ name }) => name === check);
  const model = (judge?.kind === "judge" ? judge.model : undefined) ?? agent.model ?? null;
  pay(state, { agent: agent.name, model, usage, turns: 0 });
}
