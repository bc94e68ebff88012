/**
 * A process that waits to be told which command to be, in a copy of a mould: it is in its control group already, which takes
 * the kernel some ten milliseconds, and has read its script. It has entered no sandbox yet, and what the command will have
 * is only known when it is told. It is pawl's own child like any other, leader of its group, and ends when pawl does.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, fstatSync } from "node:fs";
import type { Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { RUN_TAG, SYSTEM_PATH } from "../environment.ts";
import { fault } from "../faults.ts";
import { toldWords, type Ways } from "./copy.ts";
import type { FenceLimits } from "./limits.ts";
import type { Mould } from "./mould.ts";

/** How a command is wanted; only null and named pipes can be given to a process that runs already. */
export interface Becoming {
  env: Readonly<Record<string, string | undefined>>;
  stdio: readonly unknown[];
}

export interface Became {
  child: ChildProcess;
  /** Its processes so far, which are older than the command. */
  older: readonly number[];
  /**
   * Whether it has opened what it prints to, or has ended before: until then these must stay open here. With false, the
   * command never began.
   */
  opened: Promise<boolean>;
}

/** How one is started, and what goes with it. */
export interface Making {
  words: readonly string[];
  /** Given to it from descriptor 3 on, and closed once it has been started. */
  fds: readonly number[];
  /** The descriptor after those, that it is told by. */
  wordsFd: number;
  /** Of everything it was made with, unless a command has taken it over. */
  release(): void;
}

/** Of a command that takes it over. */
export interface Taken<M> {
  made: M;
  /** `rest`: see `restWords`. undefined: it cannot be this one, which has been ended; to be started in the ordinary way. */
  become(rest: readonly string[], request: Becoming): Became | undefined;
  /** Ends it, unless it has become something. Repeatable. */
  dismiss(): void;
}

/** What must be known before. */
export interface Kind {
  mould: Mould;
  limits: FenceLimits;
}

export interface WaitingPool<M> {
  /** For good: none can be told what to be here. */
  close(): void;
  /** One of this kind, if there is one. What it was made with is the taker's to release. */
  take(kind: Kind): Taken<M> | undefined;
  /** Begins to make the next one, once nothing more urgent is to be done. */
  prepare(kind: Kind): void;
}

/** Once the command that is being started has been: this process is held up by it for a millisecond or two. */
const DELAY_MS = 1;
/** Linux takes 128 KiB for a word, and for all of them a quarter of the stack, 2 MB as a rule. */
const MAX_WORD_BYTES = 100 * 1024;
const MAX_WORDS_BYTES = 1024 * 1024;
interface About<M extends Making> {
  run: string;
  /** Throws when it cannot be. */
  make: (kind: Kind) => M;
}

interface Spare<M> {
  taken: Taken<M>;
  kind: Kind;
}

export function openWaitingPool<M extends Making>({ run, make }: About<M>): WaitingPool<M> {
  let spare: Spare<M> | undefined;
  let isOpen = true;
  const drop = ({ taken }: Spare<M>): void => {
    taken.dismiss();
    taken.made.release();
  };
  return {
    take({ mould, limits }) {
      if (spare === undefined) return undefined;
      const before = spare;
      spare = undefined;
      if (before.kind.mould === mould && isDeepStrictEqual(before.kind.limits, limits)) return before.taken;
      drop(before);
      return undefined;
    },
    prepare(kind) {
      setTimeout(() => {
        if (!isOpen || spare !== undefined) return;
        try {
          spare = { kind, taken: startWaiting(make(kind), run) };
        } catch {
          // Then the next command is started when it is wanted, and told what is wrong.
        }
      }, DELAY_MS).unref();
    },
    close() {
      isOpen = false;
      if (spare !== undefined) drop(spare);
      spare = undefined;
    },
  };
}

function startWaiting<M extends Making>(made: M, run: string): Taken<M> {
  try {
    const [command = "", ...args] = made.words;
    fault("spawn");
    const child = spawn(command, args, {
      stdio: ["ignore", "ignore", "ignore", ...made.fds, "pipe"],
      env: { PATH: SYSTEM_PATH, [RUN_TAG]: run },
      cwd: "/",
      detached: true,
    });
    child.on("error", () => undefined);
    if (child.pid === undefined) throw new Error("no process");
    return { made, ...asTaken(child, child.stdio[made.wordsFd as 3] as Socket) };
  } catch (error) {
    made.release();
    throw error;
  } finally {
    for (const fd of made.fds) closeSync(fd);
  }
}

function asTaken(child: ChildProcess, line: Socket): Pick<Taken<unknown>, "become" | "dismiss"> {
  line.on("error", () => undefined);
  child.unref();
  line.unref();
  let isWaiting = true;
  const dismiss = (): void => {
    if (!isWaiting) return;
    isWaiting = false;
    line.destroy();
    // It is alone until it is told what to be.
    child.kill("SIGKILL");
  };
  return {
    dismiss,
    become(rest, { env, stdio }) {
      const isThere = isWaiting && child.exitCode === null && child.signalCode === null;
      const ways = isThere ? waysOf(stdio) : undefined;
      const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
      if (ways === undefined || !canBeGiven([...variables.map((pair) => pair.join("=")), ...rest])) {
        dismiss();
        return undefined;
      }
      isWaiting = false;
      const said = [...toldWords(ways, variables), ...rest];
      child.ref();
      line.ref();
      line.resume();
      let isTold = false;
      line.once("data", () => (isTold = true));
      const opened = new Promise<boolean>((resolve) => void line.once("close", () => resolve(isTold)));
      line.end([said.length, ...said].map((word) => `${word}\0`).join(""));
      return { child, older: [child.pid ?? 0], opened };
    },
  };
}

/** What the system refuses to start a program with is refused in the ordinary way, where its words are heard. */
function canBeGiven(words: readonly string[]): boolean {
  const sizes = words.map((word) => Buffer.byteLength(word));
  const isSmall =
    sizes.every((size) => size < MAX_WORD_BYTES) && sizes.reduce((sum, size) => sum + size, 0) < MAX_WORDS_BYTES;
  return isSmall && !words.some((word) => word.includes("\0"));
}

/** Where standard output and error go; undefined where this process cannot give them so. */
function waysOf([input, out, error, ...more]: readonly unknown[]): Ways | undefined {
  const isPipe = (one: unknown): one is number => typeof one === "number" && fstatSync(one).isFIFO();
  if (input !== "ignore" || more.length > 0) return undefined;
  if (![out, error].every((one) => one === "ignore" || isPipe(one))) return undefined;
  return [out, error].map((one) => (typeof one === "number" ? one : undefined)) as unknown as Ways;
}
