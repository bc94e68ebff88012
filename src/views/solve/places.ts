/** Where a run that solves shall leave something: looked at before anything is spent. Nothing that is there is written over. */
import { accessSync, constants, lstatSync, readdirSync, statSync, type Stats } from "node:fs";
import { dirname, resolve } from "node:path";
import { UsageError } from "../../errors.ts";

export interface Wanted {
  /** A folder. */
  out: string | undefined;
  /** A file. */
  save: string | undefined;
}

/** They must be places that can be written to. */
export function refusePlaces({ out, save }: Wanted): void {
  if (out !== undefined) readable(`--out ${out}`, () => refuseOut(out));
  if (save !== undefined) readable(`--save ${save}`, () => refuseSave(save));
}

/** A name that is too long, links in a circle, a folder that nobody may look into. */
function readable(what: string, look: () => void): void {
  try {
    look();
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${what}: it cannot be written to: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  }
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
const behind = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });

function refuseOut(out: string): void {
  if (out === "") throw new UsageError("--out: it is empty", { hint: "name a folder" });
  const found = behind(out);
  if (found === undefined) {
    if (isThere(out)) throw new UsageError(`--out ${out}: it is a link that leads nowhere`);
    return refuseBelow(`--out ${out}`, dirname(resolve(out)));
  }
  if (!found.isDirectory())
    throw new UsageError(`--out ${out}: it is a file`, { hint: "name a folder; it is made where there is none" });
  if (readdirSync(out).length > 0)
    throw new UsageError(`--out ${out}: the folder is not empty`, {
      hint: "name another; it is made where there is none",
    });
  accessSync(out, constants.W_OK | constants.X_OK);
}

function refuseSave(save: string): void {
  if (save === "") throw new UsageError("--save: it is empty", { hint: "name a file, such as solution.py" });
  if (behind(save)?.isDirectory() === true)
    throw new UsageError(`--save ${save}: it is a directory`, { hint: "name a file, such as solution.py" });
  if (isThere(save))
    throw new UsageError(`--save ${save}: it is there already`, { hint: "name another, or remove it" });
  const folder = dirname(resolve(save));
  if (behind(folder) === undefined)
    throw new UsageError(`--save ${save}: there is no folder ${dirname(save)}`, { hint: "make it first" });
  refuseBelow(`--save ${save}`, folder);
}

/** The nearest that is there must be a folder that can be written to. */
function refuseBelow(what: string, folder: string): void {
  const found = behind(folder);
  if (found === undefined && dirname(folder) !== folder) return refuseBelow(what, dirname(folder));
  if (found?.isDirectory() !== true) throw new UsageError(`${what}: ${folder} is no folder`);
  accessSync(folder, constants.W_OK | constants.X_OK);
}
