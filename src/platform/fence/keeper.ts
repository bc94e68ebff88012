/**
 * A mount namespace that a process of ours holds open, and which is gone with it: nothing is ever mounted on the host.
 * As root, the places of a fence belong to an unprivileged user in it, so that what is started there has that real uid,
 * the limits on processes hold, and files it makes are root's on the disk. For ordinary users it is there for the layers
 * only. A few lines of Perl: the system calls have no command in older util-linux.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { closeSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { TerminalError } from "../../errors.ts";
import { begun } from "../begun.ts";
import { fault } from "../faults.ts";
import { PERL, withCalls } from "../perl.ts";
import { processInfo } from "../process-table.ts";
import { layerParts, mountLayer, openAnswers, SERVE } from "./layers.ts";
import type { Layer, LayerParts, LayerRequest, Line } from "./layers.ts";
import { isWithin, type Place } from "./places.ts";

/** Covered inside the keeper's namespace by the moved places; nothing of the host's own is needed from it. */
const MOVED_TO = "/run";
/** Where layers are mounted, as root. */
const LAYERS_AT = `${MOVED_TO}/layers`;
/** What root itself is on the disk in places that belong to another: who mounts a layer must be someone there. */
const ROOT_ON_DISK = 1_899_999_999;
/** Above every range that distributions, systemd and container engines give out. */
const FIRST_UID = 1_900_000_000;
const UIDS = 100_000_000;
/** A machine with far too much to do may take seconds. */
const READY_LIMIT_MS = 30_000;

/** Not a reason for a weaker fence. */
export const tooSlow = (what: string, afterMs: number): TerminalError =>
  new TerminalError(`${what} did not start within ${afterMs / 1000} s`, {
    hint: "The machine has too much to do: try again when it has less.",
  });

/** A uid nobody has, the same for a run each time. */
export function uidOf(run: string): number {
  return FIRST_UID + (createHash("sha256").update(run).digest().readUInt32LE() % UIDS);
}

export interface Keeper {
  /** Before the command that shall run in the namespace. */
  readonly prefix: readonly string[];
  /** Files of the namespaces, the user's own first where it has one, and who runs there, where that is another. */
  readonly namespaces: { readonly user?: string; readonly mount: string };
  readonly uid?: number;
  /** Where a place is inside the namespace. */
  moved(path: string): string;
  /** Throws when it cannot be. */
  layer(request: LayerRequest): Layer;
  /** Of one that is mounted by whoever enters the namespace, for himself alone. */
  partsOf(request: LayerRequest): LayerParts;
  close(): void;
}

const BEGIN = `
use strict; use warnings;
my ($uid, $gid, $base, $layers) = @ARGV;
my ($none, $root, $tmpfs, $empty, $mode) = ("none", "/", "tmpfs", "", "mode=755");
open my $answers, ">&=", 3 or die $!;
sub must { my ($result, $what) = @_; die "$what: $!\\n" if $result < 0; return $result }
sub room_for_layers { must(syscall(SYS_MOUNT, $tmpfs, $layers, $tmpfs, 6, $mode), "tmpfs") }
`;
/** Mounts that nothing inside is shown of are left out: each is copied and listed many times for every command. */
const AS_ROOT = `
must(syscall(SYS_UNSHARE, 0x20000), "unshare");
must(syscall(SYS_MOUNT, $none, $root, 0, 0x44000, 0), "private");
open my $mounts, "<", "/proc/self/mountinfo" or die $!;
for my $at (reverse map { (split)[4] } <$mounts>) { syscall(SYS_UMOUNT, $at, 2) if $at =~ m{^/sys/} && $at !~ m{^/sys/devices} }
close $mounts;
pipe(my $made, my $tell); pipe(my $wait, my $go);
my $child = fork();
if (!$child) { must(syscall(SYS_UNSHARE, 0x10000000), "user namespace"); syswrite $tell, "x"; sysread $wait, my $b, 1; exit 0 }
close $tell;
sysread($made, my $b, 1) or die "user namespace\\n";
for my $kind (qw(uid gid)) { open my $map, ">", "/proc/$child/\${kind}_map" or die $!; print $map "0 $uid 1\\n${ROOT_ON_DISK} 0 1\\n"; close $map or die "$kind: $!" }
open my $ns, "<", "/proc/$child/ns/user" or die $!;
my @trees;
$/ = "\\0";
while (my $line = <STDIN>) {
  chomp $line; last if $line eq "";
  my ($how, $source) = (substr($line, 0, 1), substr($line, 1));
  my $tree = must(syscall(SYS_OPEN_TREE, -100, $source, 0x88001), "open_tree $source");
  my $attr = pack("QQQQ", 0x00100000, 0, 0, fileno($ns));
  my $mapped = $how eq "-" ? 0 : syscall(SYS_MOUNT_SETATTR, $tree, $empty, 0x9000, $attr, 32);
  must($mapped, "idmap $source") if $how eq "w";
  push @trees, [$tree, -d $source];
}
syswrite $go, "x"; waitpid $child, 0;
must(syscall(SYS_MOUNT, $tmpfs, $base, $tmpfs, 6, $mode), "tmpfs");
my $n = 0;
for (@trees) {
  my ($tree, $is_folder) = @$_; my $at = "$base/" . $n++;
  if ($is_folder) { mkdir $at, 0755 } else { open my $f, ">", $at }
  must(syscall(SYS_MOVE_MOUNT, $tree, $empty, -100, $at, 4), "move_mount");
}
mkdir $layers, 0755; room_for_layers();
`;
/** Alone in it, with its own rights: a name that is no other's. */
const AS_USER = `
must(syscall(SYS_UNSHARE, 0x10020000), "unshare");
sub put { my ($file, $text) = @_; open my $to, ">", "/proc/self/$file" or die "$file: $!"; print $to $text; close $to or die "$file: $!" }
put("setgroups", "deny"); put("uid_map", "$uid $uid 1"); put("gid_map", "$gid $gid 1");
must(syscall(SYS_MOUNT, $none, $root, 0, 0x44000, 0), "private");
room_for_layers();
$/ = "\\0"; while (my $line = <STDIN>) { last if $line eq "\\0" }
`;
const READY = `$| = 1; print "ready\\n";`;

/** Directories can be renamed with the first; only who is root on the host may have it. */
const LAYER_OPTIONS = { root: "volatile,redirect_dir=on", user: "volatile,userxattr" } as const;

interface Wanted {
  /** As root: whom the places belong to. undefined: for an ordinary user. */
  uid: number | undefined;
  nsenter: string;
  /** For an ordinary user: an empty folder, which in the namespace holds the layers. */
  mounts: string | undefined;
}

/**
 * undefined where it cannot be: no Perl, no such system calls, a file system without mapped mounts. Rejects when the
 * machine cannot start it now: a weaker fence must not take its place.
 */
export async function openKeeper(given: readonly Place[], wanted: Wanted): Promise<Keeper | undefined> {
  const { uid, nsenter, mounts } = wanted;
  const places = given.filter((place, n) => !given.slice(0, n).some((other) => isWithin(place.path, other.path)));
  const script = withCalls([BEGIN, uid === undefined ? AS_USER : AS_ROOT, READY, SERVE].join(""));
  if (script === undefined) return undefined;
  const who = uid === undefined ? [process.getuid?.(), process.getgid?.()] : [uid, uid];
  const layersAt = uid === undefined ? (mounts ?? "") : LAYERS_AT;
  const answers = openAnswers();
  const child = started([script, ...who.map(String), MOVED_TO, layersAt], answers.fd);
  child.on("error", () => undefined);
  const [stdin, stdout] = [child.stdin as Writable, child.stdout as Readable];
  stdin.on("error", () => undefined);
  const lines = places.map((place) => `${mappingOf(place)}${place.path}\0`);
  stdin.write(`${lines.join("")}\0`);
  const ready = await Promise.race([
    once(stdout, "data").then(() => true),
    once(child, "exit").then(() => false),
    new Promise<never>((_, reject) => child.once("error", reject)),
    new Promise<never>((_, reject) => {
      setTimeout(() => reject(tooSlow("what mounts the files of the fence", READY_LIMIT_MS)), READY_LIMIT_MS).unref();
    }),
  ]).catch((error: unknown) => {
    child.kill("SIGKILL");
    closeSync(answers.fd);
    throw error;
  });
  const { pid } = child;
  if (!ready || pid === undefined) {
    child.kill("SIGKILL");
    closeSync(answers.fd);
    return undefined;
  }
  child.unref();
  for (const stream of [stdin, stdout]) (stream as unknown as { unref(): void }).unref();
  const { options, ...kept } = uid === undefined ? ofUser({ pid, nsenter }) : ofRoot({ pid, nsenter, uid, places });
  const { moved } = kept;
  const line: Line = { ask: (question) => void stdin.write(question), isOver: () => isOver(pid), answers, moved };
  let layers = 0;
  let isOpen = true;
  return {
    ...kept,
    layer: (request) => mountLayer({ ...request, at: join(layersAt, String((layers += 1))), options }, line),
    partsOf: ({ lower, folder }) => layerParts({ lower, folder, options }, { moved }),
    close() {
      child.kill("SIGKILL");
      // A number is given out again: it must not be closed twice.
      if (isOpen) closeSync(answers.fd);
      isOpen = false;
    },
  };
}

/** Closes what its answers come to when it cannot be. */
function started(words: readonly string[], answers: number): ChildProcess {
  try {
    fault("spawn");
    return begun(
      spawn(PERL, ["-e", ...words], {
        stdio: ["pipe", "pipe", "ignore", answers],
        env: { PATH: "/usr/bin:/bin" },
        cwd: "/",
        // In a group of its own: Ctrl-C in a terminal is for pawl alone. It ends when nobody can ask it any more.
        detached: true,
      }),
    );
  } catch (error) {
    closeSync(answers);
    throw error;
  }
}

interface Kept extends Pick<Keeper, "prefix" | "namespaces" | "uid" | "moved"> {
  /** Of the kernel's overlay. */
  options: string;
}

function ofRoot(about: { pid: number; nsenter: string; uid: number; places: readonly Place[] }): Kept {
  const { pid, nsenter, uid, places } = about;
  const mount = `/proc/${pid}/ns/mnt`;
  return {
    prefix: [nsenter, `--mount=${mount}`, "--setuid", String(uid), "--setgid", String(uid), "--wdns=/"],
    namespaces: { mount },
    uid,
    moved(path) {
      const n = places.findIndex((place) => isWithin(path, place.path));
      return n < 0 ? path : `${MOVED_TO}/${n}${path.slice(places[n]?.path.length)}`;
    },
    options: LAYER_OPTIONS.root,
  };
}

function ofUser({ pid, nsenter }: { pid: number; nsenter: string }): Kept {
  const [user, mount] = [`/proc/${pid}/ns/user`, `/proc/${pid}/ns/mnt`];
  return {
    prefix: [nsenter, `--user=${user}`, `--mount=${mount}`, "--preserve-credentials", "--wdns=/"],
    namespaces: { user, mount },
    moved: (path) => path,
    options: LAYER_OPTIONS.user,
  };
}

/** Its end cannot be heard of while it is waited for on the spot. */
const isOver = (pid: number): boolean => processInfo(pid)?.zombie !== false;

const OTHERS_MAY_ENTER = 0o5;

/**
 * Whether what is root's becomes its own: `w`, it must; `r`, if the file system can, because root alone may read it and
 * it were of no use inside; `-`, it stays root's.
 */
function mappingOf({ path, access }: Place): "w" | "r" | "-" {
  const { uid, mode } = statSync(path);
  if (uid !== 0) return "-";
  if (access === "write") return "w";
  return (mode & OTHERS_MAY_ENTER) === OTHERS_MAY_ENTER ? "-" : "r";
}
