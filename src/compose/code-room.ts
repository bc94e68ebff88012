/** Where the code of a run is run: the workspace, and for each step of a plan a folder below it with what it builds on. */
import { copyFileSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { localExecutor } from "../executors/local.ts";
import { rename } from "../platform/files.ts";
import type { CodeRoom, Executor } from "../ports/executor.ts";
import type { SolveSpec } from "../spec/solve.ts";
import type { RunFence } from "./fence.ts";

/** Below the workspace. */
const STEPS = "steps";
const HALF = ".pawl-half";
/** Of all that is copied for one step. */
const MAX_COPIED_FILES = 1_000;

interface About {
  workspace: string;
  fence: Pick<RunFence, "code">;
  environment: Readonly<Record<string, string>>;
  /** The program's own. */
  executor: Executor | undefined;
}

export function codeRoom({ files }: SolveSpec, { workspace, fence, environment, executor }: About): CodeRoom {
  const given = files.map(({ path }) => path);
  return {
    executor: executor ?? localExecutor({ environment, confine: fence.code }),
    async folder({ step, needs, afresh }) {
      if (step === undefined) return workspace;
      const folder = realFolder(workspace, [STEPS, step], { afresh });
      for (const path of given) bring(path, { from: workspace, to: folder });
      for (const need of needs) {
        const from = realFolder(workspace, [STEPS, need], { afresh: false });
        for (const path of plainFiles(from)) bring(path, { from, to: folder });
      }
      return folder;
    },
    makeWay(names) {
      for (const name of names)
        if (!isPlain(join(workspace, name))) rmSync(join(workspace, name), { recursive: true, force: true });
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

/** Never through a link: a program could have made one that leads out. */
export function plainFiles(root: string, below = ""): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(root, below), { withFileTypes: true })) {
    if (found.length >= MAX_COPIED_FILES) break;
    const path = below === "" ? entry.name : join(below, entry.name);
    if (entry.isDirectory()) found.push(...plainFiles(root, path));
    else if (entry.isFile() && !path.endsWith(HALF)) found.push(path);
  }
  return found.slice(0, MAX_COPIED_FILES);
}
