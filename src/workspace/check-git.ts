/**
 * A throw-away repository for checks that need git (`check-git: true`): one commit of the judged tree, without parents,
 * remotes or hooks. Never pawl's own or the user's; its objects are copied into it.
 */
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openGit, pipe } from "./git.ts";
import { commit, type Lane } from "./lane.ts";
import { removeAround } from "./dependencies.ts";

const BRANCH = "main";

/** The folder with the `.git` of a tree; the next tree's takes its place. */
export function checkRepository(lane: Lane): (tree: string) => Promise<string> {
  const root = join(lane.layout.verify, "git");
  let last: { tree: string; folder: string } | undefined;
  let n = 0;
  return async (tree) => {
    if (last?.tree === tree && existsSync(last.folder)) return last.folder;
    if (last === undefined) removeAround(Buffer.from(root), []);
    const folder = join(root, String((n += 1)));
    await makeRepository(lane, { tree, git: join(folder, ".git") });
    last = { tree, folder };
    return folder;
  };
}

async function makeRepository(lane: Lane, { tree, git }: { tree: string; git: string }): Promise<void> {
  for (const folder of ["objects/pack", "objects/info", "refs/heads", "info"])
    mkdirSync(join(git, folder), { recursive: true });
  const format = lane.prepared.objectFormat === "sha1" ? "" : "[extensions]\n\tobjectformat = sha256\n";
  const version = format === "" ? 0 : 1;
  const core = `[core]\n\trepositoryformatversion = ${version}\n\tbare = false\n\tcheckStat = minimal\n`;
  const user = "[user]\n\tname = pawl\n\temail = pawl@localhost\n[gc]\n\tauto = 0\n";
  writeFileSync(join(git, "config"), `${core}${format}${user}`);
  writeFileSync(join(git, "HEAD"), `ref: refs/heads/${BRANCH}\n`);
  const made = await commit(lane, { tree, parents: [], message: "the tree that is judged\n", at: 0 });
  const target = openGit({ ...lane.privateGit.place, gitDir: git, sync: "none" });
  await pipe(
    { git: lane.privateGit, args: ["pack-objects", "-q", "--stdout", "--revs"], input: `${made}\n` },
    { git: target, args: ["index-pack", "--stdin"] },
  );
  writeFileSync(join(git, "refs/heads", BRANCH), `${made}\n`);
  await target.at({ index: join(git, "index"), workTree: undefined }).need(["read-tree", made]);
}

export function copyRepository(from: string, to: string): void {
  rmSync(join(to, ".git"), { recursive: true, force: true });
  cpSync(join(from, ".git"), join(to, ".git"), { recursive: true });
}
