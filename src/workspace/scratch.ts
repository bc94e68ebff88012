/** A workspace for a run that has no repository: a new and private one, with copies of the files that were given. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "../errors.ts";
import { makePrivateDir } from "../platform/files.ts";
import type { Base } from "../ports.ts";
import { EMPTY_TREE } from "./objects.ts";

const BRANCH = "main";
/** What its user has git leave out or turn elsewhere says nothing here: an answer is seen as it is. */
const CONFIG = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	ignorecase = false
	autocrlf = false
	excludesFile = /dev/null
	attributesFile = /dev/null
`;

/** Nor does what lies in it say how its files are to be read. */
const ATTRIBUTES = "* -text -ident !filter !eol !working-tree-encoding\n";

export interface ScratchFile {
  /** In the workspace. */
  path: string;
  /** Where it is copied from. */
  from: string;
  sha256: string;
}

/** Without a commit: what was given is what the run begins with. UsageError when a file is not as it was looked at. */
export function makeScratch(path: string, files: readonly ScratchFile[]): Base {
  makePrivateDir(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  const git = join(path, ".git");
  for (const folder of ["objects/info", "objects/pack", "refs/heads", "refs/tags"])
    mkdirSync(join(git, folder), { recursive: true });
  writeFileSync(join(git, "HEAD"), `ref: refs/heads/${BRANCH}\n`);
  writeFileSync(join(git, "config"), CONFIG);
  mkdirSync(join(git, "info"));
  writeFileSync(join(git, "info/attributes"), ATTRIBUTES);
  for (const file of files) copy(path, file);
  return { commit: null, tree: EMPTY_TREE.sha1, branch: BRANCH, detached: false };
}

function copy(root: string, { path, from, sha256 }: ScratchFile): void {
  const bytes = readFileSync(from);
  if (createHash("sha256").update(bytes).digest("hex") !== sha256)
    throw new UsageError(`${from} changed while it was read`, { hint: "try again once nobody writes to it" });
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), bytes, { mode: 0o644 });
}
