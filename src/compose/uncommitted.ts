/**
 * Which files of the user's repository are not committed: asked before anything is changed, so that a run on a dirty
 * tree is refused in one line. Preparing the workspace looks again, more closely.
 */
import { userGit } from "../workspace/user-git.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface Place {
  /** Top level of the work tree. */
  cwd: string;
  environment: Environment;
  /** HEAD, or null when there is no commit yet. */
  commit: string | null;
}

export async function uncommitted({ commit, ...place }: Place): Promise<string[]> {
  const staged = commit === null ? ["ls-files", "-z", "-c"] : ["diff-index", "--cached", "--name-only", "-z", commit];
  const [inTree, inIndex] = await Promise.all([
    userGit(["ls-files", "-z", "-m", "-o", "-d", "--exclude-standard"], place),
    userGit(staged, place),
  ]);
  const names = [inTree, inIndex].flatMap(({ stdout }) => stdout.toString("utf8").split("\0"));
  return [...new Set(names.filter((name) => name !== ""))];
}
