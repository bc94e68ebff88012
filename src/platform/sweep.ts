/**
 * Ends what an earlier driver of a run left behind, before the run is driven again: a killed agent's child was seen
 * writing into the tree after the kill. All are frozen first and killed then, so that none sees another die: an agent
 * that was asked to end wrote the death of its tool into its conversation as the tool's answer.
 */
import { RUN_TAG } from "./environment.ts";
import { endAll, freezeAll, kin, living, withDescendants } from "./process-tree.ts";
import { lookFor } from "./process-look.ts";
import type { ProcessInfo } from "./process-table.ts";

interface Options {
  /** Left alone, with everything below them. */
  except?: readonly number[];
}

/** Returns how many processes were ended. Never this process, its ancestors, or processes of other runs. */
export async function sweep(run: string, { except = [] }: Options = {}): Promise<number> {
  const find = (): ProcessInfo[] => leftovers(run, except);
  freezeAll(find);
  return await endAll(find, { graceMs: 0 });
}

/** Living processes of a run: those that carry its tag, and those below them that carry no other. */
function leftovers(run: string, except: readonly number[]): ProcessInfo[] {
  const { all, values: runs } = lookFor(RUN_TAG);
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
