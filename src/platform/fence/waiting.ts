/**
 * The next command's sandbox, made ahead of time: it has its namespaces, mounts, limits and control group, and inside
 * waits a process to be told what to become. Making it takes the kernel some ten milliseconds, while another command
 * runs. What is only known later, the files to judge, is mounted by the keeper and appears inside by itself. It is
 * pawl's own child like any other, leader of its group, and ends when pawl does.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, existsSync, fstatSync, readFileSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { RUN_TAG, SYSTEM_PATH } from "../environment.ts";
import { fault } from "../faults.ts";
import { returnPipes, takePipe, type Pipe } from "../pipe.ts";
import type { Inside } from "./bwrap.ts";
import { PERL } from "./keeper.ts";
import { isWithin, type Place } from "./places.ts";

/** How a command is wanted; only null and pipes can be given to a process that runs already. */
export interface Becoming {
  env: Readonly<Record<string, string | undefined>>;
  stdio: readonly unknown[];
}

export interface Became {
  child: ChildProcess;
  /** Descriptors of pipes with what it prints, instead of those that were asked for; whoever gets them closes them. */
  outputs: readonly number[];
  /** Its processes so far, which are older than the command; undefined when the system does not tell. */
  older: readonly number[] | undefined;
}

/** How a sandbox is started, and what goes with it. */
export interface Making {
  words: readonly string[];
  /** Given to it from descriptor 3 on, and closed once it has been started. */
  fds: readonly number[];
  /** Of everything it was made with, unless a command has taken it over. */
  release(): void;
}

/** Of a command that takes it over. */
export interface Taken<M> {
  made: M;
  /** undefined: it cannot be this one, which has been ended; to be started in the ordinary way. */
  become(words: readonly string[], request: Becoming & { cwd: string }): Became | undefined;
  /** Ends it, unless it has become something. Repeatable. */
  dismiss(): void;
}

export interface WaitingPool<M> {
  /** One that was made for this, if there is one. What it was made with is the taker's to release. */
  take(inside: Inside): Taken<M> | undefined;
  /** Begins to make the next one, once nothing more urgent is to be done; a command in `now` runs meanwhile. */
  prepare(next: () => Inside, now: Inside): void;
  close(): void;
}

/**
 * Arguments: where words come from. The words, each ended by a zero byte: how many follow, the folder, where standard
 * output and error go, the number of variables, these, the command. Fewer than there should be, or none, mean that pawl
 * has died.
 */
const SCRIPT = `
open my $in, "<&=", $ARGV[0] or exit 125;
my $all = do { local $/; <$in> };
my @words = split /\\0/, $all // "", -1; pop @words;
my $total = shift @words;
exit 125 if !defined $total || $total != @words;
my ($cwd, $out, $err, $count) = splice @words, 0, 4;
if ($out eq "null") { open STDOUT, ">", "/dev/null" or exit 125 }
if ($err eq "null") { open STDERR, ">", "/dev/null" or exit 125 }
if ($err eq "output") { open STDERR, ">&", STDOUT or exit 125 }
%ENV = splice @words, 0, 2 * $count;
close $in;
chdir $cwd or do { print STDERR "pawl-fence: $cwd: $!\\n"; exit 1 };
exec { $words[0] } @words; print STDERR "pawl-fence: $words[0]: $!\\n"; exit 1;
`;
/** To start a program holds this process up for some milliseconds: a command that ends sooner is not to be noticed later. */
const DELAY_MS = 15;
/** How long a process may take to stand still: what it is at in the kernel, on a machine with much to do. */
const STILL_LIMIT_MS = 2_000;
const STILL_POLL_MS = 0.2;
const AGAIN = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
/** Linux takes 128 KiB for a word, and for all of them a quarter of the stack, 2 MB as a rule. */
const MAX_WORD_BYTES = 100 * 1024;
const MAX_WORDS_BYTES = 1024 * 1024;
/** Standard output, standard error. */
const OUTPUTS = 2;

/** The command that waits, and the descriptor that it is told by. */
export const waiter = (fd: number): string[] => [PERL, "-e", SCRIPT, String(fd)];

interface About<M extends Making> {
  run: string;
  /** Throws when it cannot be. */
  make: (inside: Inside) => M;
  /** The descriptor after those that every sandbox is given. */
  wordsFd: number;
}

interface Spare<M> {
  taken: Taken<M>;
  key: unknown;
}

export function openWaitingPool<M extends Making>({ run, make, wordsFd }: About<M>): WaitingPool<M> {
  let spare: Spare<M> | undefined;
  let isOpen = true;
  let isMaking = false;
  const drop = ({ taken }: Spare<M>): void => {
    taken.dismiss();
    taken.made.release();
  };
  const fill = async (next: () => Inside, now: Inside): Promise<void> => {
    // Neither rejects.
    const pipes = [await takePipe(), await takePipe()].filter((pipe) => pipe !== undefined);
    let isGiven = false;
    try {
      const inside = isOpen && pipes.length === OUTPUTS ? next() : undefined;
      if (inside === undefined || isExposed(inside.places, now.places)) return;
      const key = keyOf(inside);
      spare = { key, taken: startWaiting(make(inside), { run, pipes, wordsFd }) };
      isGiven = true;
    } catch {
      // Then the next command is started in the ordinary way, and told what is wrong.
    } finally {
      if (isGiven) for (const { writer } of pipes) closeSync(writer);
      else returnPipes(pipes);
    }
  };
  return {
    take(inside) {
      if (spare === undefined) return undefined;
      const before = spare;
      spare = undefined;
      try {
        if (isDeepStrictEqual(before.key, keyOf(inside))) return before.taken;
      } catch {
        // A place is gone: the ordinary way will say so.
      }
      drop(before);
      return undefined;
    },
    prepare(next, now) {
      setTimeout(() => {
        if (!isOpen || isMaking || spare !== undefined) return;
        isMaking = true;
        void fill(next, now).finally(() => (isMaking = false));
      }, DELAY_MS).unref();
    },
    close() {
      isOpen = false;
      if (spare !== undefined) drop(spare);
      spare = undefined;
    },
  };
}

/**
 * What a sandbox is made of. Places are mounted once: a folder that was removed and made again since is another. Where a
 * layer will be is mounted; what will be in it is not.
 */
function keyOf({ places, hidden, network, limits, relay }: Inside): unknown {
  return { places: places.map(seen), hidden, network, limits, relay };
}

function seen({ path, access, at = path, layer }: Place): unknown {
  if (layer !== undefined) return { access, at, folder: layer.folder };
  const { dev, ino } = statSync(path);
  return { path, access, at, dev, ino };
}

/**
 * Whether something would be mounted from or to where the command that runs now can write: it could make a link of that
 * meanwhile.
 */
function isExposed(next: readonly Place[], now: readonly Place[]): boolean {
  const isShared = ({ path, access, layer }: Place): boolean =>
    access === "write" && layer === undefined && now.some((other) => other.path === path && other.access === "write");
  const isBelow = (one: Place, other: Place): boolean =>
    (one.path !== other.path && isWithin(one.path, other.path)) || isWithin(one.at ?? one.path, other.at ?? other.path);
  return next.some((one) => next.some((other) => one !== other && isShared(other) && isBelow(one, other)));
}

interface Start {
  run: string;
  /** For its output and its errors. */
  pipes: readonly Pipe[];
  wordsFd: number;
}

function startWaiting<M extends Making>(made: M, { run, pipes, wordsFd }: Start): Taken<M> {
  try {
    const [command = "", ...args] = made.words;
    fault("spawn");
    const child = spawn(command, args, {
      stdio: ["ignore", ...pipes.map(({ writer }) => writer), ...made.fds, "pipe"],
      env: { PATH: SYSTEM_PATH, [RUN_TAG]: run },
      cwd: "/",
      detached: true,
    });
    child.on("error", () => undefined);
    if (child.pid === undefined) throw new Error("no process");
    const readers = pipes.map(({ reader }) => reader);
    return { made, ...asTaken(child, { line: child.stdio[wordsFd as 3] as Socket, readers }) };
  } catch (error) {
    made.release();
    throw error;
  } finally {
    for (const fd of made.fds) closeSync(fd);
  }
}

function asTaken(
  child: ChildProcess,
  { line, readers }: { line: Socket; readers: readonly number[] },
): Pick<Taken<unknown>, "become" | "dismiss"> {
  line.on("error", () => undefined);
  child.unref();
  line.unref();
  let isWaiting = true;
  const dismiss = (): void => {
    if (!isWaiting) return;
    isWaiting = false;
    line.destroy();
    endSandbox(child);
    for (const fd of readers) closeSync(fd);
  };
  return {
    dismiss,
    become(words, { env, stdio, cwd }) {
      const isThere = isWaiting && child.exitCode === null && child.signalCode === null;
      const ways = isThere ? waysOf(stdio) : undefined;
      const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
      if (ways === undefined || !canBeGiven([...variables.map((pair) => pair.join("=")), ...words])) {
        dismiss();
        return undefined;
      }
      isWaiting = false;
      const said = [cwd, ...ways, variables.length, ...variables.flat(), ...words];
      const older = processesOf(child.pid ?? 0);
      child.ref();
      line.ref();
      line.resume();
      line.end([said.length, ...said].map((word) => `${word}\0`).join(""));
      const isUsed = (_: number, at: number): boolean => ways[at] === "own";
      for (const fd of readers.filter((one, at) => !isUsed(one, at))) closeSync(fd);
      return { child, outputs: readers.filter(isUsed), older };
    },
  };
}

/** What the system refuses to start a program with is refused in the ordinary way, where its words are heard. */
function canBeGiven(words: readonly string[]): boolean {
  const sizes = words.map((word) => Buffer.byteLength(word));
  const isSmall = Math.max(...sizes) < MAX_WORD_BYTES && sizes.reduce((sum, size) => sum + size, 0) < MAX_WORDS_BYTES;
  return isSmall && !words.some((word) => word.includes("\0"));
}

type Way = "null" | "own" | "output";

/** Where standard output and error go; undefined where this process cannot give them so. */
function waysOf([input, out, error, ...more]: readonly unknown[]): [out: Way, error: Way] | undefined {
  const wayOf = (one: unknown): Way | undefined => {
    if (one === "ignore") return "null";
    return typeof one === "number" && fstatSync(one).isFIFO() ? "own" : undefined;
  };
  const [first, second] = [wayOf(out), wayOf(error)];
  if (input !== "ignore" || more.length > 0 || first === undefined || second === undefined) return undefined;
  return [first, second === "own" && out === error ? "output" : second];
}

/**
 * At once, whatever it is at. To kill its first process alone is not enough: bubblewrap's second lets itself be killed with
 * it only after its first steps, and would wait for it for ever. Once the first stands still, it starts none any more.
 */
function endSandbox(child: ChildProcess): void {
  // Nobody else can have its number before its end is told.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGSTOP");
  for (const until = performance.now() + STILL_LIMIT_MS; !isStill(child.pid) && performance.now() < until;)
    Atomics.wait(AGAIN, 0, 0, STILL_POLL_MS);
  for (const pid of (processesOf(child.pid) ?? []).slice(1).toReversed()) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone by itself.
    }
  }
  child.kill("SIGKILL");
}

/** Stopped, or over: what it was asked of the kernel when it was stopped is done, too. */
function isStill(pid: number): boolean {
  try {
    return /^\d+ \(.*\) [TZX]/s.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true;
  }
}

/** A process and all below it; undefined when the system does not tell. */
function processesOf(pid: number): number[] | undefined {
  return existsSync(childrenFile(process.pid)) ? withChildren(pid) : undefined;
}

const childrenFile = (pid: number): string => `/proc/${pid}/task/${pid}/children`;

function withChildren(pid: number): number[] {
  try {
    const children = readFileSync(childrenFile(pid), "utf8").split(" ").filter(Boolean).map(Number);
    return [pid, ...children.flatMap(withChildren)];
  } catch {
    // It has ended meanwhile.
    return [];
  }
}
