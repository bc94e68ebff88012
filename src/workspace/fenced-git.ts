/**
 * The repository a fenced agent sees in place of the user's: the base commit alone, without history, other branches or
 * settings that run anything. It may commit there and ruin it; pawl never reads it back, and the user's is out of reach.
 */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeDurably } from "../platform/files.ts";
import { openGit, pipe } from "./git.ts";
import type { Lane } from "./lane.ts";
import { copyIndex } from "./user-index.ts";

const FALLBACK_BRANCH = "main";
/** Beside it, not in it: who can write there could have it filled again, through links. */
const DONE = ".filled";

/** Fills the folder that a fence has already mounted. Repeatable; done when it says so. */
export async function fillFencedGit(lane: Lane): Promise<void> {
  const { layout, prepared } = lane;
  const git = layout.fencedGit;
  if (!existsSync(git) || existsSync(`${git}${DONE}`)) return;
  for (const folder of ["objects/pack", "objects/info", "refs/heads", "info"])
    mkdirSync(join(git, folder), { recursive: true });
  const branch = prepared.branch ?? prepared.base.branch ?? FALLBACK_BRANCH;
  const { commit } = prepared.base;
  writeDurably(join(git, "config"), configOf(lane), READABLE);
  writeDurably(join(git, "HEAD"), `ref: refs/heads/${branch}\n`, READABLE);
  if (commit !== null) {
    writeDurably(join(git, "shallow"), `${commit}\n`, READABLE);
    const fenced = openGit({ ...lane.privateGit.place, gitDir: git, sync: "none" });
    await pipe(
      {
        git: lane.privateGit,
        args: ["pack-objects", "-q", "--stdout", "--revs", "--shallow"],
        input: `--shallow ${commit}\n${commit}\n`,
      },
      { git: fenced, args: ["index-pack", "--stdin"] },
    );
    mkdirSync(join(git, "refs/heads", branch, ".."), { recursive: true });
    writeDurably(join(git, "refs/heads", branch), `${commit}\n`, READABLE);
  }
  if (existsSync(layout.index)) copyIndex(layout.index, join(git, "index"));
  writeDurably(`${git}${DONE}`, "", READABLE);
}

const READABLE = 0o644;

function configOf({ prepared }: Lane): string {
  const { name, email } = prepared.author;
  const quoted = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&").replace(/[^ -~\u00a0-\uffff]/g, "")}"`;
  const format = prepared.objectFormat === "sha1" ? "" : "[extensions]\n\tobjectformat = sha256\n";
  return [
    `[core]\n\trepositoryformatversion = ${format === "" ? 0 : 1}\n\tbare = false\n\tcheckStat = minimal\n`,
    format,
    `[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n`,
    "[gc]\n\tauto = 0\n",
  ].join("");
}
