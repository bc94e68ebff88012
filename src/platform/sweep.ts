/**
 * Ends what an earlier driver of a run left behind, before the run is driven again: a killed agent's child was seen
 * writing into the tree after the kill.
 */
import { RUN_TAG } from "./environment.ts";
import { endAll, kin, living, TERM_GRACE_MS, withDescendants } from "./process-tree.ts";
import { pids, variableOfEach } from "./process-table.ts";
import type { ProcessInfo } from "./process-table.ts";

interface Options {
  /** Left alone, with everything below them. */
  except?: readonly number[];
  graceMs?: number;
}

/** Returns how many processes were ended. Never this process, its ancestors, or processes of other runs. */
export function sweep(run: string, { except = [], graceMs = TERM_GRACE_MS }: Options = {}): Promise<number> {
  return endAll(() => leftovers(run, except), { graceMs });
}

/** Living processes of a run: those that carry its tag, and those below them that carry no other. */
function leftovers(run: string, except: readonly number[]): ProcessInfo[] {
  const all = pids();
  const runs = variableOfEach(RUN_TAG, all);
  const ours = new Set(all.filter((pid) => runs.get(pid) === run));
  if (ours.size === 0) return [];
  const table = living(all);
  const others = [...runs.keys()].filter((pid) => !ours.has(pid));
  const excepted = withDescendants(
    table.filter((info) => except.includes(info.pid)),
    { table, spare: new Set() },
  );
  const spare = new Set([...kin(), ...others, ...excepted.map((info) => info.pid)]);
  const seeds = table.filter((info) => ours.has(info.pid));
  return withDescendants(seeds, { table, spare });
}
