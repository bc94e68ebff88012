/**
 * Does the user still hold what was handed over? Asked before a run calls itself done: hooks, processes of the agent's
 * and other people have had time since the last hand-over. pawl's own copy tells what should be there.
 */
import type { Standing } from "../ports.ts";
import { branchTip, putHeadBack, troubleWith } from "./handover.ts";
import { getRef, treeOf, type Lane } from "./lane.ts";

export async function standing(lane: Lane): Promise<Standing> {
  const { branch } = lane.prepared;
  const delivered = getRef(lane, "head");
  if (branch === null || delivered === undefined) return { is: "whole", warnings: [] };
  const missing = (reason: string): Standing => ({
    is: "missing",
    reason,
    kept: `${lane.layout.refs}/head in ${lane.layout.privateGit}`,
  });
  const trouble = troubleWith(lane);
  if (trouble !== undefined) return missing(trouble);
  const warnings = putHeadBack(lane);
  const tip = await branchTip(lane, branch);
  if (tip === undefined) return missing(`the branch ${branch} was deleted`);
  const found = await lane.user.run(["rev-parse", "-q", "--verify", `${tip}^{tree}`]);
  if (found.code !== 0) return missing(`${tip}, where the branch ${branch} is, cannot be read`);
  // Who wrote another message for it, or put several commits into one, took nothing away.
  const sameTree = found.stdout.toString("latin1").trim() === (await treeOf(lane, delivered));
  if (tip === delivered || sameTree) return { is: "whole", warnings };
  const onTop = await lane.user.run(["merge-base", "--is-ancestor", delivered, tip]);
  if (onTop.code !== 0) return missing(`the branch ${branch} was moved to ${tip}, which is without the work`);
  return { is: "whole", warnings: [...warnings, `${branch} has commits behind ${delivered} that nobody judged`] };
}
