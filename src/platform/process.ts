/**
 * Runs a program to its end as the leader of its own group, and leaves nothing of it behind: on timeout, on abort, and
 * also after a normal end. What became of it is a record; a child's failure is never an exception.
 */
import { spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions, StdioOptions } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { closeSync, existsSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { begun } from "./begun.ts";
import { systemClock } from "./clock.ts";
import { PROCESS_TAG } from "./environment.ts";
import { fault } from "./faults.ts";
import type { Wrapped } from "./fence.ts";
import type { Held } from "./fence/held.ts";
import { sizeWords } from "./fence/held.ts";
import type { Became } from "./fence/waiting.ts";
import { prepareSparePipe, takePipe } from "./pipe.ts";
import { readOutput } from "./process-output.ts";
import type { OnOutput, Output } from "./process-output.ts";
import { lastPid } from "./process-table.ts";
import { endTree, membersOf, TERM_GRACE_MS } from "./process-tree.ts";
import type { Since, Tree } from "./process-tree.ts";

/** How long children may outlive the program that started them before they are ended. */
const LINGER_MS = 500;
const LINGER_POLL_MS = 10;
/** How long the end of the output is waited for once every known process of the tree is gone. */
const DRAIN_LIMIT_MS = 2_000;
/** Up to here the pids since the start tell which processes can belong to the tree; later they may have wrapped. */
const QUICK_LOOK_MS = 10_000;

export interface ProcessRequest {
  command: string;
  args?: readonly string[];
  cwd: string;
  /** The whole environment; nothing is inherited. */
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
  /** Ends it after this long without output. */
  idleMs?: number;
  /** Between SIGTERM and SIGKILL. */
  graceMs?: number;
  signal?: AbortSignal;
  confine?: Confine | undefined;
  /** Without it the program reads an empty standard input. */
  input?: string | Uint8Array;
  /** Ends it after so much output. */
  maxOutputBytes?: number;
  /** Standard output and error, in the order they were written. Awaited before more is read. */
  onOutput?: OnOutput;
  /** `onOutput` is told which of the two it was (0, 1), and `maxOutputBytes` counts for each; their common order is lost. */
  apart?: boolean;
  /**
   * Once nothing of it runs any more, with the folder that holds the files it wrote below `cwd`: that itself, or where
   * a fence lets them go, which is thrown away afterwards.
   */
  onWritten?: (folder: string) => void | Promise<void>;
}

export interface ProcessRecord {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  timedOut: "total" | "idle" | null;
  aborted: boolean;
  durationMs: number;
  outputBytes: number;
  /** Processes of its tree that outlived a normal end and had to be ended. */
  leftBehind: number;
  /** Set when there never was a process: not found, not executable, no more processes allowed. */
  startError: { code: string; message: string } | null;
  /** Limits that it met, in words for people. */
  limits: string[];
}

type Stdio = Extract<StdioOptions, readonly unknown[]>;

/** Turns a command into one that runs inside a fence; without it, on the machine as it is. */
export type Confine = (
  command: string,
  args: readonly string[],
  variables?: readonly string[],
  /** Where it shall run, as seen from outside. */
  cwd?: string,
) => Wrapped;

/** What the loader and the shells of a fence's own programs act on, which run outside it. */
const FOR_LOADERS = /^(LD_|GCONV_|GLIBC_|LOCPATH$|NLSPATH$|MALLOC_|ENV$|BASH_|PERL)/;
const EXPORT = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@"';

interface StartedProgram {
  child: ChildProcess;
  /** Released by the caller once nothing of it runs. */
  held?: Held | undefined;
  /** Of a process that waited: it is older than the command, and opens by itself what it prints to. */
  became?: Omit<Became, "child">;
}

/**
 * The one way to start a program that may start others: leader of its own group. Throws when it cannot start.
 */
export function start(
  command: string,
  args: readonly string[],
  { confine, env = {}, ...options }: SpawnOptions & { stdio: Stdio; confine?: Confine | undefined },
): StartedProgram {
  fault("spawn");
  if (confine === undefined) return { child: begun(spawn(command, args, { ...options, env, detached: true })) };
  const variables = Object.entries(env).filter(([, value]) => value !== undefined);
  const late = variables.filter(([name]) => FOR_LOADERS.test(name)).map(([name, value]) => `${name}=${value}`);
  const outer = Object.fromEntries(variables.filter(([name]) => !FOR_LOADERS.test(name)));
  const [first, ...rest]: [string, ...string[]] =
    late.length === 0 ? [command, ...args] : ["/bin/sh", "-c", EXPORT, "pawl-fence", ...late, "--", command, ...args];
  const {
    command: program,
    args: words,
    env: own,
    fds,
    held,
    become,
  } = confine(
    first,
    rest,
    variables.map(([name]) => name),
    options.cwd?.toString(),
  );
  try {
    const waited = become?.({ env: outer, stdio: options.stdio });
    if (waited !== undefined) {
      const { child, ...became } = waited;
      return { child, held, became };
    }
    const stdio: Stdio = options.stdio.concat(fds);
    return {
      child: begun(spawn(program, words, { ...options, env: { ...outer, ...own }, cwd: "/", stdio, detached: true })),
      held,
    };
  } catch (error) {
    held?.release();
    throw error;
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}

/** Of a fenced command that never began: by one that waited, by another copy, by bubblewrap. */
const MAX_TRIES = 3;

/** Rejects only when `onOutput` or `onWritten` does, after the tree has been ended. */
export async function runProcess(request: ProcessRequest): Promise<ProcessRecord> {
  for (let tries = 1; ; tries += 1) {
    const { isToBeTriedAgain, ...record } = await runOnce(request);
    if (!isToBeTriedAgain || tries === MAX_TRIES) return record;
  }
}

async function runOnce(request: ProcessRequest): Promise<ProcessRecord & { isToBeTriedAgain: boolean }> {
  const record = newRecord();
  if (request.signal?.aborted === true) return { ...record, aborted: true, isToBeTriedAgain: false };
  const startedAt = performance.now();
  const tag = randomUUID();
  const since = lastPid();
  const { child, held, streams, became, startError } = await startChild(request, { tag });
  if (child === undefined) {
    const durationMs = Math.ceil(performance.now() - startedAt);
    return { ...record, startError, durationMs, isToBeTriedAgain: false };
  }

  const output = readOutput(streams, request);
  const exited = once(child, "exit");
  prepareSparePipe();
  const tree = { root: child.pid as number, tag };
  const end = await firstEnd(request, { output, exited, held });
  if (end === "exit") {
    const isQuick = performance.now() - startedAt < QUICK_LOOK_MS;
    const look = isQuick ? { since, older: became?.older } : {};
    record.leftBehind = await endLeftBehind(tree, { look, graceMs: request.graceMs });
  } else {
    await endTree(tree, { graceMs: request.graceMs ?? TERM_GRACE_MS, wrapped: request.confine !== undefined });
    await within(DRAIN_LIMIT_MS, exited);
  }
  await output.finish(DRAIN_LIMIT_MS);
  const isTold = became === undefined || (end === "exit" && (await became.opened));
  const unfit =
    end === "exit" ? held?.unfit?.({ exitCode: child.exitCode, signalCode: child.signalCode, isTold }) : undefined;
  const limits = [...(typeof end === "object" ? [end.limit] : []), ...(held?.breaches(child) ?? [])];
  try {
    if (unfit === undefined) await request.onWritten?.(held?.written ?? request.cwd);
  } finally {
    held?.release();
  }
  return {
    ...record,
    limits,
    isToBeTriedAgain: unfit === "again",
    startError: unfit === undefined ? null : { code: "FENCE", message: "its fence could not start it" },
    exitCode: child.exitCode,
    signal: child.signalCode,
    timedOut: end === "total" || end === "idle" ? end : null,
    aborted: end === "abort",
    durationMs: Math.ceil(performance.now() - startedAt),
    outputBytes: output.bytes(),
  };
}

type End = "exit" | "total" | "idle" | "abort" | "output" | { limit: string };

interface About {
  output: Output;
  exited: Promise<unknown>;
  held: Held | undefined;
}

async function firstEnd(request: ProcessRequest, about: About): Promise<End> {
  const over = new AbortController();
  const { signal } = over;
  const ends: Promise<End>[] = [
    about.exited.then(() => "exit"),
    systemClock.sleep(request.timeoutMs, signal).then(() => "total"),
    new Promise((resolve) => void about.output.done.catch(() => resolve("output"))),
  ];
  if (about.held !== undefined) ends.push(about.held.tooMuch.then((limit) => ({ limit })));
  const { maxOutputBytes } = request;
  if (maxOutputBytes !== undefined) {
    const limit = `more than ${sizeWords(maxOutputBytes)} of output`;
    ends.push(about.output.over(maxOutputBytes).then(() => ({ limit })));
  }
  if (request.idleMs !== undefined) ends.push(about.output.silent(request.idleMs, signal).then(() => "idle"));
  const aborted = request.signal;
  if (aborted !== undefined) {
    ends.push(
      new Promise((resolve) => {
        // It may have come while the program was being started.
        if (aborted.aborted) resolve("abort");
        aborted.addEventListener("abort", () => resolve("abort"), { once: true, signal });
      }),
    );
  }
  return Promise.race(ends).finally(() => over.abort());
}

type Started =
  | (StartedProgram & { streams: Readable[]; startError?: never })
  | { child?: never; held?: never; became?: never; streams?: never; startError: { code: string; message: string } };

async function startChild(request: ProcessRequest, { tag }: { tag: string }): Promise<Started> {
  const pipe = await takePipe();
  const second = request.apart === true && pipe !== undefined ? await takePipe() : undefined;
  const pipes = [pipe, second].filter((one) => one !== undefined);
  let opened: Promise<unknown> | undefined;
  const closeWriters = (): void => {
    for (const { writer } of pipes) closeSync(writer);
  };
  try {
    const stdin = request.input === undefined ? "ignore" : "pipe";
    const out = pipe?.writer ?? "pipe";
    const env = { ...request.env, [PROCESS_TAG]: tag };
    const stdio = [stdin, out, request.apart === true ? (second?.writer ?? "pipe") : out] as const;
    const { cwd, confine } = request;
    const program = start(request.command, request.args ?? [], { cwd, env, stdio: [...stdio], confine });
    const { child, held } = program;
    if (child.pid === undefined) {
      held?.release();
      throw (await once(child, "error"))[0];
    }
    child.on("error", () => {});
    // A program that does not read its input breaks the pipe; that is its right.
    child.stdin?.on("error", () => {});
    child.stdin?.end(request.input);
    opened = program.became?.opened;
    const sockets = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const read = pipes.map(({ reader }) => new Socket({ fd: reader, readable: true, writable: false }));
    return { ...program, streams: [...read, ...sockets] };
  } catch (error) {
    for (const { reader } of pipes) closeSync(reader);
    const { code = "UNKNOWN", message } = error as NodeJS.ErrnoException;
    const noFolder = code === "ENOENT" && !existsSync(request.cwd);
    return { startError: { code, message: noFolder ? `no such folder: ${request.cwd}` : message } };
  } finally {
    // Else the reader never sees the end.
    if (opened === undefined) closeWriters();
    else void opened.then(closeWriters);
  }
}

/** Lets children that are about to end do so, then ends the rest. */
async function endLeftBehind(
  tree: Tree,
  { look, graceMs = TERM_GRACE_MS }: { look: Since; graceMs: number | undefined },
): Promise<number> {
  const until = performance.now() + LINGER_MS;
  while (membersOf(tree, look).length > 0) {
    if (performance.now() > until) return endTree(tree, { graceMs });
    await new Promise((resolve) => setTimeout(resolve, LINGER_POLL_MS));
  }
  return 0;
}

async function within(ms: number, event: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  await Promise.race([event, systemClock.sleep(ms, over.signal)]).finally(() => over.abort());
}

function newRecord(): ProcessRecord {
  return {
    exitCode: null,
    signal: null,
    timedOut: null,
    aborted: false,
    durationMs: 0,
    outputBytes: 0,
    leftBehind: 0,
    startError: null,
    limits: [],
  };
}
