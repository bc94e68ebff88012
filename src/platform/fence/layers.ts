/**
 * Layers: folders shown as one that can be written, while what is written goes elsewhere and is thrown away (an
 * overlay). Mounted by a keeper in its own mount namespace, on being asked and with an answer, so that the host never
 * sees one; gone with the keeper.
 */
import { mkdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { fileWithoutName } from "./nameless.ts";

/** What a process wrote, and where it finds the whole. */
export interface Layer {
  /** In the keeper's namespace. */
  at: string;
  /** On the host: only what was written, until it is thrown away. */
  written: string;
  /** Once nothing runs in it. Repeatable. */
  release(): void;
}

export interface LayerRequest {
  /** Upper ones first; never changed through the layer, and not to be changed while it is there. */
  lower: readonly string[];
  /** Empty, on a disk; thrown away by whoever asks. */
  folder: string;
}

/** What answers come to, and how questions get there. */
export interface Line {
  ask(question: string): void;
  /** Whoever answers has ended. */
  isOver(): boolean;
  answers: Answers;
  /** Where a path is in the keeper's namespace. */
  moved(path: string): string;
}

export interface Answers {
  fd: number;
  /** Bytes. */
  read: number;
  /** Questions so far: each has a number, and its answer too, so that one which comes too late is not another's. */
  asked: number;
}

/** On a machine with far too much to do; that of one which has ended is not waited for. */
const ANSWER_LIMIT_MS = 15_000;
const POLL_MS = 0.05;
const MAX_ANSWER_BYTES = 512;
const AGAIN = new Int32Array(new SharedArrayBuffer(4));

/**
 * For the end of a keeper's Perl: reads questions, each word ended by a zero byte, until nobody asks any more. Layers
 * are named by descriptors, for no name can be read as an option then. Without syncing: it is all thrown away. A layer
 * is dropped by a child, because the kernel may take its time over it, and somebody may ask for the next one.
 */
export const SERVE = `
sub word { my $word = <STDIN>; exit 0 unless defined $word; chomp $word; return $word }
sub opened { sysopen(my $folder, $_[0], 0x200000) or die "$_[0]: $!\\n"; return $folder }
sub layer {
  my $at = shift;
  my ($options, $count) = (word(), word());
  my @folders = map { word() } 1 .. $count + 2;
  my @open = eval { map { opened($_) } @folders };
  return $@ if $@;
  my @names = map { "/proc/self/fd/" . fileno($_) } @open;
  my ($work, $upper) = (pop @names, pop @names);
  my ($type, $words) = ("overlay", "lowerdir=" . join(":", @names) . ",upperdir=$upper,workdir=$work,$options");
  mkdir $at, 0755;
  return "mount: $!\\n" if syscall(SYS_MOUNT, $type, $at, $type, 6, $words) < 0;
  return "ok\\n" if syscall(SYS_ACCESS, -100, $at, 2) >= 0;
  my $why = "read-only: $!\\n"; syscall(SYS_UMOUNT, $at, 2); return $why;
}
$SIG{CHLD} = "IGNORE";
while (1) {
  my ($what, $n, $at) = (word(), word(), word());
  if ($what eq "layer") { syswrite $answers, "$n " . layer($at); next }
  my $child = fork;
  next if $child;
  syscall(SYS_UMOUNT, $at, 2); rmdir $at;
  exit 0 if defined $child;
}
`;

interface Mounting extends LayerRequest {
  /** In the keeper's namespace. */
  at: string;
  /** Of the kernel's overlay. */
  options: string;
}

/** Throws when it cannot be. */
function makeLayerFolders(folder: string): { upper: string; work: string } {
  const made = { upper: join(folder, "upper"), work: join(folder, "work") };
  for (const path of Object.values(made)) mkdirSync(path, { mode: 0o755, recursive: true });
  return made;
}

/** What the kernel is told of one: the upper ones first, then where what is written goes, and where it is prepared. */
export interface LayerParts {
  options: string;
  folders: readonly string[];
  /** On the host. */
  written: string;
}

type Described = Pick<Mounting, "lower" | "folder" | "options">;

/** For whoever mounts it himself, in the keeper's namespace. Throws when its folders cannot be made. */
export function layerParts({ lower, folder, options }: Described, { moved }: Pick<Line, "moved">): LayerParts {
  const { upper, work } = makeLayerFolders(folder);
  return { options, folders: [...lower, upper, work].map((path) => moved(path)), written: upper };
}

/** Throws, with the system's words, when it cannot be. */
export function mountLayer({ at, ...described }: Mounting, line: Line): Layer {
  const { options, folders, written } = layerParts(described, line);
  const answer = answerTo(line, ["layer", at, options, String(described.lower.length), ...folders]);
  if (answer !== "ok") {
    // It may be mounted yet.
    dropLayer(at, line);
    throw new Error(`no layer can be put over the files to check: ${answer}`);
  }
  let isThere = true;
  return {
    at,
    written,
    release() {
      if (isThere) dropLayer(at, line);
      isThere = false;
    },
  };
}

const dropLayer = (at: string, line: Line): void => void asked(line, ["drop", at]);

/** Returns its number. */
function asked(line: Line, [what = "", ...words]: readonly string[]): number {
  const number = (line.answers.asked += 1);
  line.ask([what, number, ...words].map((word) => `${word}\0`).join(""));
  return number;
}

/** Waited for on the spot, because processes are started so; it takes about a millisecond. */
function answerTo(line: Line, words: readonly string[]): string {
  const number = String(asked(line, words));
  const until = performance.now() + ANSWER_LIMIT_MS;
  for (let isLast = false; ; isLast = performance.now() > until || line.isOver()) {
    for (const text of linesOf(line.answers))
      if (text.startsWith(`${number} `)) return text.slice(number.length + 1).trim();
    if (isLast) return line.isOver() ? "what mounts it has ended" : "no answer";
    Atomics.wait(AGAIN, 0, 0, POLL_MS);
  }
}

/** What has been answered since the last look, whole lines only. */
function linesOf(answers: Answers): string[] {
  const bytes = Buffer.alloc(MAX_ANSWER_BYTES);
  const text = bytes.toString("utf8", 0, readSync(answers.fd, bytes, 0, MAX_ANSWER_BYTES, answers.read));
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  answers.read += Buffer.byteLength(whole);
  return whole.split("\n").filter((line) => line !== "");
}

/** Which a keeper writes to. */
export const openAnswers = (): Answers => ({ fd: fileWithoutName(), read: 0, asked: 0 });
