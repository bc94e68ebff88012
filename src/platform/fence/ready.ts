/**
 * The next command's first process, started ahead of time: it has entered its control group, which takes the kernel
 * some ten milliseconds, and waits to be told what to become. It is pawl's own child like any other, leader of its
 * group, and ends by itself when pawl does. A few lines of Perl, as for the keeper.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, constants, existsSync, fstatSync, openSync, statSync } from "node:fs";
import type { Socket } from "node:net";
import { isDeepStrictEqual } from "node:util";
import { fault } from "../faults.ts";
import type { Group, Groups } from "./groups.ts";
import { PERL } from "./keeper.ts";
import type { FenceLimits } from "./limits.ts";

/** How a command is wanted; only null and pipes can be given to a process that runs already. */
export interface Becoming {
  env: Readonly<Record<string, string | undefined>>;
  stdio: readonly unknown[];
}

export interface Ready {
  readonly group: Group | undefined;
  /** undefined: it cannot be this one, which has been ended; to be started in the ordinary way, in the same group. */
  become(words: readonly string[], request: Becoming & { entered: boolean }): ChildProcess | undefined;
  /** Ends it, unless it has become something. Repeatable. */
  dismiss(): void;
}

export interface ReadyPool {
  /** One with these limits, if there is one. */
  take(limits: FenceLimits): Ready | undefined;
  /** Begins to start the next one, once nothing more urgent is to be done. */
  prepare(limits: FenceLimits): void;
  close(): void;
}

/** What the process needs of its fence. */
export interface ReadyAbout {
  groups: Groups | undefined;
  /** File with the filter, which becomes the first descriptor after the standard ones. */
  filter: string | undefined;
  /** Passed on by this process, to be closed. */
  inherited: readonly number[];
  /** Of the keeper, in the order to be entered. */
  namespaces: readonly string[];
  /** To become; undefined: who it is. */
  uid: number | undefined;
}

type Call = "SYS_CLOSE" | "SYS_PRLIMIT" | "SYS_SETNS" | "SYS_SETGROUPS" | "SYS_SETGID" | "SYS_SETUID";
const CALLS: Readonly<Record<string, Readonly<Record<Call, number>>>> = {
  x64: { SYS_CLOSE: 3, SYS_PRLIMIT: 302, SYS_SETNS: 308, SYS_SETGROUPS: 116, SYS_SETGID: 106, SYS_SETUID: 105 },
  arm64: { SYS_CLOSE: 57, SYS_PRLIMIT: 261, SYS_SETNS: 268, SYS_SETGROUPS: 159, SYS_SETGID: 144, SYS_SETUID: 146 },
};
/**
 * Arguments: where words come from, limit on a file's bytes or -1, uid or -1, then three lists, each after its length:
 * descriptors to close, groups to enter, namespaces. The words, each ended by a zero byte: how many follow, whether to
 * enter the namespaces, what standard output and error are, the number of variables, these, the command. Fewer than
 * there should be, or none, mean that pawl has died.
 */
const SCRIPT = `
my ($fd, $bytes, $uid) = splice @ARGV, 0, 3;
my ($close, $doors, $spaces) = map { [splice @ARGV, 0, shift @ARGV] } 1 .. 3;
sub must { my ($result, $what) = @_; return $result if defined $result && $result >= 0; print STDERR "$what: $!\\n"; exit 125 }
syscall(SYS_CLOSE, $_ + 0) for @$close;
for (@$doors) { open my $door, ">", $_ or must(-1, $_); syswrite $door, $$ or must(-1, $_); close $door }
if ($bytes >= 0) {
  my ($none, $file) = (pack("QQ", 0, 0), pack("QQ", $bytes, $bytes));
  must(syscall(SYS_PRLIMIT, 0, 4, $none, 0), "core");
  must(syscall(SYS_PRLIMIT, 0, 1, $file, 0), "fsize");
}
my @spaces = map { open my $space, "<", $_ or must(-1, $_); $space } @$spaces;
open my $in, "<&=", $fd or must(-1, "words");
my $all = do { local $/; <$in> };
my @words = split /\\0/, $all // "", -1; pop @words;
my $total = shift @words;
exit 125 if !defined $total || $total != @words;
my ($enter, $out, $err, $count) = splice @words, 0, 4;
if ($out ne "") { open STDOUT, ">>", $out or must(-1, "output") }
if ($err ne "") { open STDERR, ">>", $err or must(-1, "output") }
%ENV = splice @words, 0, 2 * $count;
if ($enter) {
  must(syscall(SYS_SETNS, fileno $_, 0), "namespace") for @spaces;
  chdir "/" or must(-1, "/");
}
if ($uid >= 0) {
  must(syscall(SYS_SETGROUPS, 0, 0), "groups"); must(syscall(SYS_SETGID, $uid + 0), "gid"); must(syscall(SYS_SETUID, $uid + 0), "uid");
}
close $_ for @spaces, $in;
exec { $words[0] } @words; must(-1, $words[0]);
`;
/** Not before the command that is being started has been. */
const DELAY_MS = 1;
const FIRST_FD = 3;

/** undefined where no such process can be. */
export function openReadyPool(about: ReadyAbout): ReadyPool | undefined {
  const calls = CALLS[process.arch];
  // A process whose files are root's alone cannot hand its pipes over.
  if (calls === undefined || !existsSync(PERL) || statSync("/proc/self").uid !== process.getuid?.()) return undefined;
  const script = SCRIPT.replaceAll(/SYS_[A-Z]+/g, (name) => String(calls[name as Call]));
  let spare: { ready: Ready; limits: FenceLimits } | undefined;
  let isOpen = true;
  return {
    take(limits) {
      if (spare === undefined || !isDeepStrictEqual(spare.limits, limits)) return undefined;
      const { ready } = spare;
      spare = undefined;
      return ready;
    },
    prepare(limits) {
      setTimeout(() => {
        if (!isOpen || spare !== undefined) return;
        const ready = startReady(script, { ...about, limits });
        if (ready !== undefined) spare = { ready, limits };
      }, DELAY_MS).unref();
    },
    close() {
      isOpen = false;
      spare?.ready.dismiss();
      spare = undefined;
    },
  };
}

/** Without one, everything is started in the ordinary way. */
function startReady(script: string, about: ReadyAbout & { limits: FenceLimits }): Ready | undefined {
  const { groups, filter, inherited, namespaces, uid, limits } = about;
  let group: Group | undefined;
  let fd: number | undefined;
  try {
    group = groups?.make(limits);
    fd = filter === undefined ? undefined : openSync(filter, "r");
    const wordsFd = fd === undefined ? FIRST_FD : FIRST_FD + 1;
    const lists = [inherited.filter((one) => one !== wordsFd), group?.doors ?? [], namespaces];
    const numbers = [wordsFd, groups?.isWhole === true ? limits.fileBytes : -1, uid ?? -1];
    const words = [...numbers, ...lists.flatMap((list) => [list.length, ...list])].map(String);
    fault("spawn");
    const child = spawn(PERL, ["-e", script, ...words], {
      stdio: ["ignore", "ignore", "ignore", ...(fd === undefined ? [] : [fd]), "pipe"],
      env: { PATH: "/usr/bin:/bin" },
      cwd: "/",
      detached: true,
    });
    if (child.pid === undefined) throw new Error("no process");
    return readyOf(child, { words: child.stdio[wordsFd as 3] as Socket, group });
  } catch {
    group?.release();
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readyOf(child: ChildProcess, { words: line, group }: { words: Socket; group: Group | undefined }): Ready {
  child.on("error", () => undefined);
  line.on("error", () => undefined);
  child.unref();
  line.unref();
  let isWaiting = true;
  const dismiss = (): void => {
    if (!isWaiting) return;
    isWaiting = false;
    line.destroy();
    child.kill("SIGKILL");
  };
  return {
    group,
    dismiss,
    become(words, { entered, env, stdio }) {
      const outputs = isWaiting && child.exitCode === null && child.signalCode === null ? outputsOf(stdio) : undefined;
      if (outputs === undefined) {
        dismiss();
        return undefined;
      }
      isWaiting = false;
      const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const said = [entered ? "1" : "0", ...outputs.paths, variables.length, ...variables.flat(), ...words];
      child.ref();
      line.ref();
      // It is let go of once the process has opened what it was told to.
      line.once("close", () => outputs.close());
      line.resume();
      line.end([said.length, ...said].map((word) => `${word}\0`).join(""));
      return child;
    },
  };
}

interface Outputs {
  /** As another process of ours can open them; empty for null. */
  paths: [out: string, error: string];
  close(): void;
}

/** Held open under numbers of their own: whoever asked may close theirs at once. */
function outputsOf(stdio: readonly unknown[]): Outputs | undefined {
  const [input, ...outputs] = stdio;
  const isFit = (one: unknown): boolean => one === "ignore" || (typeof one === "number" && fstatSync(one).isFIFO());
  if (input !== "ignore" || outputs.length !== 2 || !outputs.every(isFit)) return undefined;
  const held = new Map<number, number>();
  for (const fd of outputs) {
    if (typeof fd !== "number" || held.has(fd)) continue;
    held.set(fd, openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY));
  }
  const pathOf = (one: unknown): string => (typeof one === "number" ? `/proc/${process.pid}/fd/${held.get(one)}` : "");
  return {
    paths: [pathOf(outputs[0]), pathOf(outputs[1])],
    close: () => {
      for (const fd of held.values()) closeSync(fd);
    },
  };
}
