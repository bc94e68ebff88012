/** Where the code of a run is run: the workspace, and for each step of a plan a folder below it with what it builds on. */
import { copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, type Dirent } from "node:fs";
import { dirname, join } from "node:path";
import { localExecutor } from "../executors/local.ts";
import { rename } from "../platform/files.ts";
import type { CodeRoom, Executor } from "../ports/executor.ts";
import type { SolveSpec } from "../spec/solve.ts";
import type { RunFence } from "./fence.ts";

/** Below the workspace. */
const STEPS = "steps";
const HALF = ".pawl-half";
/** Beside the workspace: what a step's folder held before the program that runs there. */
const BEFORE = "-before";
/** Of all that is copied for one step. */
const MAX_COPIED_FILES = 1_000;
/** Looked at for them, folders included. */
const MAX_ENTRIES = 50_000;
const REPOSITORY = ".git";

interface About {
  workspace: string;
  fence: Pick<RunFence, "code">;
  environment: Readonly<Record<string, string>>;
  /** The program's own. */
  executor: Executor | undefined;
}

export function codeRoom({ files }: SolveSpec, { workspace, fence, environment, executor }: About): CodeRoom {
  const given = files.map(({ path }) => path);
  const take = (name: string): void => rmSync(join(workspace, name), { recursive: true, force: true });
  return {
    executor: executor ?? localExecutor({ environment, confine: fence.code }),
    async folder({ step, needs, turn, isFirst }) {
      if (step === undefined) return workspace;
      const before = join(`${workspace}${BEFORE}`, step);
      const folder = realFolder(workspace, [STEPS, step], { afresh: isFirst });
      if (!isFirst) undo(folder, join(before, String(turn)));
      for (const path of given) bring(path, { from: workspace, to: folder });
      for (const need of needs) {
        const from = realFolder(workspace, [STEPS, need], { afresh: false });
        for (const path of plainFiles(from).paths) bring(path, { from, to: folder });
      }
      rmSync(before, { recursive: true, force: true });
      if (!isFirst) keep(folder, { before, turn });
      return folder;
    },
    makeWay(names) {
      for (const name of names) if (!isPlain(join(workspace, name))) take(name);
    },
    remove(names) {
      for (const name of names) take(name);
    },
  };
}

/** Made of folders alone: a link that a program put in the place of one would lead pawl out of its reach. */
function realFolder(root: string, names: readonly string[], { afresh }: { afresh: boolean }): string {
  let path = root;
  for (const [at, name] of names.entries()) {
    path = join(path, name);
    const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (!isFolder || (afresh && at === names.length - 1)) rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
  }
  return path;
}

/** As it was before a program that nobody saw the end of. */
function undo(folder: string, before: string): void {
  if (!existsSync(before)) return;
  rmSync(folder, { recursive: true, force: true });
  rename(before, folder);
}

/** A copy that is not whole would lose what it lacks. */
function keep(folder: string, { before, turn }: { before: string; turn: number }): void {
  const { paths, isWhole } = plainFiles(folder);
  if (!isWhole) return;
  const half = join(before, HALF);
  mkdirSync(half, { recursive: true });
  for (const path of paths) {
    mkdirSync(dirname(join(half, path)), { recursive: true });
    copyFileSync(join(folder, path), join(half, path));
  }
  rename(half, join(before, String(turn)));
}

/** What the step has already is its own. */
function bring(path: string, { from, to }: { from: string; to: string }): void {
  const target = join(to, path);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined || !isPlain(join(from, path))) return;
  realFolder(to, dirname(path) === "." ? [] : dirname(path).split("/"), { afresh: false });
  // Half a copy must not stand for the file, whoever is killed meanwhile.
  const half = `${target}${HALF}`;
  copyFileSync(join(from, path), half);
  rename(half, target);
}

const isPlain = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

export interface PlainFiles {
  /** Below the folder, with `/`. */
  paths: string[];
  /** False: there are more, or some that nobody can look at. */
  isWhole: boolean;
}

/** Never through a link: a program could have made one that leads out. Nor into a repository: opening one runs what it says. */
export function plainFiles(root: string): PlainFiles {
  const paths: string[] = [];
  const folders = [""];
  let looked = 0;
  let isWhole = true;
  for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
    const entries = entriesOf(join(root, below));
    isWhole &&= entries !== undefined;
    for (const entry of entries ?? []) {
      looked += 1;
      if (looked > MAX_ENTRIES || paths.length >= MAX_COPIED_FILES) return { paths, isWhole: false };
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory() && entry.name !== REPOSITORY) folders.push(path);
      else if (entry.isFile() && !path.endsWith(HALF)) paths.push(path);
    }
  }
  return { paths, isWhole };
}

/** Undefined of one that is closed, or has too long a path. */
function entriesOf(folder: string): Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}
