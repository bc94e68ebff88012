/**
 * The folder that a judgement's listeners lie in and write to. Making one costs more than all else that a quick check
 * needs, so one that nobody has touched serves again, under a new name: what a check did to its copies no later one
 * meets, and what writes late finds nothing under the old name.
 */
import { randomUUID } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { makePrivateDir, rename } from "../../platform/files.ts";
import { ownFile } from "../../platform/own.ts";

const FILES = [
  "preload.cjs",
  "write-report.cjs",
  "vitest-report.mjs",
  "jest-results.cjs",
  "mocha-report.cjs",
  "node-report.cjs",
  "playwright-report.cjs",
];
/** The file that stands for each of these programs, first on the PATH. */
const SHIM = "shim.sh";
const SHIMMED = ["node", "python", "python3", "pytest", "py.test", "go"];
const [PLAIN, PROGRAM] = [0o644, 0o755];
/** Below the folder: what the listeners write. */
export const OUT = "out";
/** More are removed with the folder. */
const MAX_REMOVED_ONE_BY_ONE = 16;
/** No link is followed, and no pipe waited for. */
const PLAINLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

interface Kit {
  readonly folder: string;
  readonly name: string;
  /** What of it must be the same afterwards. */
  readonly mark: string | undefined;
}

export interface Kits {
  /** For one judgement. */
  take(): Kit;
  /** When nothing of the judgement runs any more. */
  giveBack(kit: Kit): Promise<void>;
}

/** Below a folder that checks can write to. `path`: the PATH of the checks; what is not on it must not seem to be. */
export function openKits(root: string, path = ""): Kits {
  const programs = SHIMMED.filter((name) => isOn(path, name));
  let all: Originals | undefined;
  const originals = (): Originals => (all ??= originalsWith(programs));
  let spare: Kit | undefined;
  return {
    take() {
      makePrivateDir(root);
      // A check may have closed it for those after it.
      chmodSync(root, constants.S_IRWXU);
      const kept = spare;
      spare = undefined;
      return (kept === undefined ? undefined : renewed(root, kept, originals())) ?? made(root, originals());
    },
    async giveBack(kit) {
      const isAsMade = kit.mark !== undefined && markOf(kit.folder, originals()) === kit.mark;
      if (spare === undefined && isAsMade && isEmptied(kit.folder)) spare = kit;
      // What a check has closed stays until the run's folder goes.
      else await rm(kit.folder, { recursive: true, force: true }).catch(() => undefined);
    },
  };
}

const isOn = (path: string, program: string): boolean =>
  path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return isAbsolute(folder);
    } catch {
      return false;
    }
  });

/** By the name in the folder. */
type Originals = ReadonlyMap<string, { text: Buffer; mode: number }>;

const textOf = (file: string): Buffer => readFileSync(ownFile(`checks/runners/${file}`));

function originalsWith(programs: readonly string[]): Originals {
  const shim = { text: textOf(SHIM), mode: PROGRAM };
  return new Map([
    ...FILES.map((file) => [file, { text: textOf(file), mode: PLAIN }] as const),
    ...programs.map((name) => [name, shim] as const),
  ]);
}

function made(root: string, originals: Originals): Kit {
  const name = randomUUID();
  const folder = join(root, name);
  makePrivateDir(folder);
  mkdirSync(join(folder, OUT));
  for (const [file, { text, mode }] of originals) writeFileSync(join(folder, file), text, { mode });
  return { folder, name, mark: markOf(folder, originals) };
}

function renewed(root: string, kept: Kit, originals: Originals): Kit | undefined {
  const name = randomUUID();
  const folder = join(root, name);
  try {
    if (markOf(kept.folder, originals) !== kept.mark || readdirSync(join(kept.folder, OUT)).length > 0)
      return undefined;
    rename(kept.folder, folder);
    return { folder, name, mark: markOf(folder, originals) };
  } catch {
    // Then it is left to whoever removes the run's folder.
    return undefined;
  }
}

/**
 * Changes with all but what is written into `out`; undefined where something is not as it is made. The time of an inode's
 * last change cannot be set by a program, and within one tick of that clock the content tells.
 */
function markOf(folder: string, originals: Originals): string | undefined {
  try {
    const names = [...originals.keys(), OUT].toSorted().join("\0");
    if (readdirSync(folder).toSorted().join("\0") !== names) return undefined;
    const out = lstatSync(join(folder, OUT), { bigint: true });
    if (!out.isDirectory()) return undefined;
    const { ino, mode, ctimeNs } = lstatSync(folder, { bigint: true });
    const marks = [...originals].map(([file, { text }]) => markOfFile(join(folder, file), text));
    if (marks.includes(undefined)) return undefined;
    return [`${ino} ${mode} ${ctimeNs}`, `${out.ino} ${out.mode}`, ...marks].join("\n");
  } catch {
    return undefined;
  }
}

function markOfFile(path: string, text: Buffer): string | undefined {
  const fd = openSync(path, PLAINLY);
  try {
    const stats = fstatSync(fd, { bigint: true });
    const isAsMade = stats.isFile() && stats.size === BigInt(text.length) && readFileSync(fd).equals(text);
    return isAsMade ? `${stats.ino} ${stats.mode} ${stats.ctimeNs}` : undefined;
  } finally {
    closeSync(fd);
  }
}

/** Only plain files, and not many, are worth it. */
function isEmptied(folder: string): boolean {
  try {
    const out = join(folder, OUT);
    const entries = readdirSync(out, { withFileTypes: true });
    if (entries.length > MAX_REMOVED_ONE_BY_ONE || entries.some((entry) => !entry.isFile())) return false;
    for (const { name } of entries) unlinkSync(join(out, name));
    return true;
  } catch {
    return false;
  }
}
