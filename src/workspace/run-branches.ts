/** Branches that ended runs left: those go that hold nothing of their own, or nothing that another branch has not. */
import { userGit, type Environment } from "./user-git.ts";

interface Asked {
  repository: string;
  environment: Environment;
  branch: string;
  /** Where the run began. */
  base: string | null;
  /** Of all runs: one that only another run's branch holds is not merged. */
  ofRuns: ReadonlySet<string>;
  dryRun: boolean;
}

export type BranchEnd = { is: "removed" | "kept"; why: string };

/** undefined where there is no such branch. */
export async function cleanBranch(asked: Asked): Promise<BranchEnd | undefined> {
  const { repository, environment, branch, base } = asked;
  const git = async (...args: string[]): Promise<string> =>
    (await userGit(args, { cwd: repository, environment })).stdout.toString("utf8").trim();
  const ref = `refs/heads/${branch}`;
  const tip = await git("rev-parse", "-q", "--verify", ref);
  if (tip === "") return undefined;
  const place = checkedOut(await git("worktree", "list", "--porcelain"), ref);
  if (place !== undefined) return { is: "kept", why: `it is checked out in ${place}` };
  const why = tip === base ? "no commit of its own" : await mergedInto(asked, await git(...CONTAINING, tip, ...WHERE));
  if (why === undefined) return { is: "kept", why: "it is not merged" };
  if (asked.dryRun) return { is: "removed", why };
  // Only while it is where it was looked at.
  const removed = await userGit(["update-ref", "-d", ref, tip], { cwd: repository, environment });
  return removed.code === 0 ? { is: "removed", why } : { is: "kept", why: removed.stderr.trim() };
}

const CONTAINING = ["for-each-ref", "--format=%(refname)", "--contains"];
const WHERE = ["refs/heads", "refs/remotes"];

function checkedOut(worktrees: string, ref: string): string | undefined {
  const record = worktrees.split("\n\n").find((one) => one.split("\n").includes(`branch ${ref}`));
  return record?.split("\n")[0]?.replace(/^worktree /, "");
}

/** A copy of it on a server is the same branch. */
async function mergedInto({ ofRuns }: Asked, refs: string): Promise<string | undefined> {
  const isOfRun = (ref: string): boolean =>
    [...ofRuns].some(
      (name) => ref === `refs/heads/${name}` || (ref.startsWith("refs/remotes/") && ref.endsWith(`/${name}`)),
    );
  const into = refs.split("\n").find((ref) => ref !== "" && !isOfRun(ref));
  return into === undefined ? undefined : `merged into ${into.replace(/^refs\/(heads|remotes)\//, "")}`;
}
