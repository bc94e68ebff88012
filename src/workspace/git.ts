/**
 * Runs git for pawl: no shell, nothing of the user's environment or settings but what was frozen, bounded output, and
 * the `-c` set that keeps an agent-written repository from running code. Every git process of this folder starts here.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { rmSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { begun } from "../platform/begun.ts";
import { RUN_TAG } from "../platform/environment.ts";
import { fault } from "../platform/faults.ts";
import { unfollowed } from "../platform/unfollowed.ts";
import { TerminalError } from "../errors.ts";

const GIT_TIMEOUT_MS = 600_000;
const MAX_STDOUT_BYTES = 256 * 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
/** A file that shrinks while git has it mapped ends that git with SIGBUS; the next look finds it in another state. */
const MAX_SHRUNK_RETRIES = 3;
const SHRUNK_WAIT_MS = 50;

/** A path below a plain file: nothing can ever be put there. */
const NOWHERE = "/dev/null/none";

const HARDENED = [
  "core.fsmonitor=false",
  `core.hooksPath=${NOWHERE}`,
  "core.pager=cat",
  "core.editor=true",
  "core.askPass=true",
  "core.sshCommand=false",
  "core.alternateRefsCommand=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "index.sparse=false",
  "diff.external=",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "gpg.program=false",
  "protocol.allow=never",
  "protocol.ext.allow=never",
  "submodule.recurse=false",
  "safe.bareRepository=explicit",
  "gc.auto=0",
  "maintenance.auto=false",
  "credential.helper=",
].flatMap((setting) => ["-c", setting]);

/** `many` pays for a temporary object directory once and then hardly per file; for a few files it is the slower one. */
const SYNC = {
  few: ["-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"],
  many: ["-c", "core.fsync=all", "-c", "core.fsyncMethod=batch"],
  none: ["-c", "core.fsync=none"],
} as const;

export interface GitPlace {
  /** Never found by discovery. */
  gitDir: string;
  /** For a linked worktree of the user: its `commondir` file is not to be trusted. */
  commonDir?: string | undefined;
  workTree?: string | undefined;
  /** Where objects are read and written when that is not `gitDir/objects`. */
  objects?: string | undefined;
  index?: string | undefined;
  /** A private, real directory and file: git and filters may write there. */
  home: string;
  globalConfig: string;
  /** PATH for git and the frozen filter programs. */
  path: string;
  /** So that a sweep finds what a killed driver left. */
  run?: string | undefined;
  /** How much will be written; `none` for what is thrown away anyway. `many` unless said. */
  sync?: keyof typeof SYNC;
}

export interface GitOptions {
  input?: string | Uint8Array;
  /** Beyond it the process is ended and `truncated` is set. */
  maxBytes?: number;
}

export interface GitResult {
  /** null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: string;
  truncated: boolean;
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

export interface Git {
  readonly place: GitPlace;
  /** Any exit code is an answer; TerminalError when git was killed, unless a file shrank under it (SIGBUS). */
  run(args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** The trimmed output; TerminalError when git failed. */
  need(args: readonly string[], options?: GitOptions): Promise<string>;
  /** The same settings in another place. */
  at(change: Partial<GitPlace>): Git;
}

export function openGit(place: GitPlace): Git {
  const once = async (args: readonly string[], options: GitOptions): Promise<GitResult> => {
    const child = start(place, args, options.input === undefined ? "ignore" : "pipe");
    feed(child, options.input);
    return await collect(child, options.maxBytes ?? MAX_STDOUT_BYTES);
  };
  const run = async (args: readonly string[], options: GitOptions = {}): Promise<GitResult> => {
    for (let attempt = 0; ; attempt += 1) {
      const result = await once(args, options);
      if (result.signal !== "SIGBUS") return answered(args, result);
      // An index that is named is pawl's own and has one user at a time.
      if (place.index !== undefined) rmSync(`${place.index}.lock`, { force: true });
      if (attempt === MAX_SHRUNK_RETRIES) return result;
      await sleep(SHRUNK_WAIT_MS);
    }
  };
  return {
    place,
    run,
    async need(args, options) {
      const result = await run(args, options);
      if (result.code !== 0) throw gitFailed(args, result);
      return result.stdout.toString("utf8").trimEnd();
    },
    at: (change) => openGit({ ...place, ...change }),
  };
}

/** `left | right`; both must succeed. Returns what the right one said. */
export async function pipe(
  left: { git: Git; args: readonly string[]; input: string },
  right: { git: Git; args: readonly string[] },
): Promise<string> {
  const source = start(left.git.place, left.args);
  const sink = startAfter(source, right);
  feed(source, left.input);
  if (sink.stdin !== null) source.stdout.pipe(sink.stdin);
  // Who pipes into an input that has gone stops reading, with or without an error: then the left one would never end.
  for (const gone of ["error", "close"]) sink.stdin?.on(gone, () => source.stdout.resume());
  const [from, to] = await Promise.all([collect(source, 0, { output: "elsewhere" }), collect(sink, MAX_STDOUT_BYTES)]);
  if (from.code !== 0) throw gitFailed(left.args, from);
  if (to.code !== 0) throw gitFailed(right.args, to);
  return to.stdout.toString("utf8").trimEnd();
}

function startAfter(source: Child, { git, args }: { git: Git; args: readonly string[] }): Child {
  try {
    return start(git.place, args);
  } catch (error) {
    source.kill("SIGKILL");
    throw error;
  }
}

/** A git that was killed has said nothing: no output must not be taken for "there is none". */
export function answered(args: readonly string[], result: GitResult): GitResult {
  if (result.signal !== null && !result.truncated) throw gitFailed(args, result);
  return result;
}

/** What git was told by the system, in the words of the C library. */
const SYSTEM_WORDS: readonly (readonly [code: string, words: string])[] = [
  ["ENOSPC", "No space left on device"],
  ["EDQUOT", "Disk quota exceeded"],
  ["EROFS", "Read-only file system"],
  ["EIO", "Input/output error"],
  ["EMFILE", "Too many open files"],
  ["ENOMEM", "Cannot allocate memory"],
  ["EAGAIN", "Resource temporarily unavailable"],
];

function machineTrouble(stderr: string): Error | undefined {
  const [code, words] = SYSTEM_WORDS.find(([, said]) => stderr.includes(`: ${said}`)) ?? [];
  return code === undefined ? undefined : Object.assign(new Error(words), { code });
}

export function gitFailed(args: readonly string[], result: GitResult): TerminalError {
  const lines = result.stderr.trim().split("\n");
  // Advice follows: of a lock, six lines of it.
  const named = lines.filter((line) => /^(fatal|error): /.test(line));
  const said = (named.length === 0 ? lines : named).slice(-3).join("; ") || (result.signal ?? `exit ${result.code}`);
  return new TerminalError(`git ${args[0]} failed: ${said}`, {
    hint: "Nothing was lost: snapshots are in pawl's own repository. Look at the disk and the repository, then resume.",
    cause: machineTrouble(result.stderr),
  });
}

function start(place: GitPlace, args: readonly string[], stdin: "pipe" | "ignore" = "pipe"): Child {
  fault("spawn");
  const placed = [
    `--git-dir=${place.gitDir}`,
    ...(place.workTree === undefined ? [] : [`--work-tree=${place.workTree}`]),
  ];
  // In a group of its own: a Ctrl-C or a closed terminal is told to pawl, which lets its git finish.
  const options = { cwd: place.workTree ?? place.home, env: environmentOf(place), detached: true };
  const whole = [...HARDENED, ...SYNC[place.sync ?? "many"], "--literal-pathspecs", ...placed, ...args];
  const before = place.workTree !== undefined && touchesFiles(args) ? unfollowed(place.workTree) : [];
  const [command = "git", ...words] = [...before, "git", ...whole];
  // Two calls, for the types tell apart by the literal whether there is a stdin.
  if (stdin === "ignore") return begun(spawn(command, words, { ...options, stdio: ["ignore", "pipe", "pipe"] }));
  return begun(spawn(command, words, { ...options, stdio: ["pipe", "pipe", "pipe"] }));
}

/** Stores files of the work tree, or writes to it. */
function touchesFiles([command, ...args]: readonly string[]): boolean {
  if (command === "read-tree") return args.includes("-u");
  return command === "update-index" && !args.some((arg) => arg === "--force-remove" || arg === "--index-info");
}

function environmentOf(place: GitPlace): Record<string, string> {
  return {
    PATH: place.path,
    HOME: place.home,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: place.globalConfig,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_COMMITTER_NAME: "pawl",
    GIT_COMMITTER_EMAIL: "pawl@localhost",
    ...(place.run === undefined ? {} : { [RUN_TAG]: place.run }),
    ...(place.commonDir === undefined ? {} : { GIT_COMMON_DIR: place.commonDir }),
    ...(place.objects === undefined ? {} : { GIT_OBJECT_DIRECTORY: place.objects }),
    ...(place.index === undefined ? {} : { GIT_INDEX_FILE: place.index }),
  };
}

function feed(child: Child, input: string | Uint8Array | undefined): void {
  // A git that ends early closes its input; its exit code tells, not EPIPE here.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input ?? "");
}

export async function collect(
  child: { stdout: Readable; stderr: Readable } & NodeJS.EventEmitter & { kill(signal: NodeJS.Signals): boolean },
  maxBytes: number,
  { output = "here" }: { output?: "here" | "elsewhere" } = {},
): Promise<GitResult> {
  const chunks: Buffer[] = [];
  const errors: Buffer[] = [];
  let size = 0;
  let errorSize = 0;
  let truncated = false;
  const take = (chunk: Buffer) => {
    if (truncated) return;
    chunks.push(size + chunk.length > maxBytes ? chunk.subarray(0, maxBytes - size) : chunk);
    size += chunk.length;
    if (size <= maxBytes) return;
    truncated = true;
    child.kill("SIGKILL");
  };
  if (output === "here") child.stdout.on("data", take);
  child.stderr.on("data", (chunk: Buffer) => {
    if (errorSize < MAX_STDERR_BYTES) errors.push(chunk);
    errorSize += chunk.length;
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), GIT_TIMEOUT_MS);
  try {
    const { code, signal } = await new Promise<Pick<GitResult, "code" | "signal">>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code: number | null, signal: NodeJS.Signals | null) => resolve({ code, signal }));
    });
    return { code, signal, stdout: Buffer.concat(chunks), stderr: Buffer.concat(errors).toString("utf8"), truncated };
  } catch (error) {
    throw new TerminalError(`git could not be started: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "Install git 2.36 or newer and see that the workspace still exists.",
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}
