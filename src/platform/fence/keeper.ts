/**
 * As root: a mount namespace in which the places of a fence belong to an unprivileged user, so that what is started in
 * it has that real uid, the limits on processes hold, and files it makes are root's on the disk. Made once per driver
 * by a few lines of Perl (the system calls have no command in older util-linux), held open by that process, and gone
 * with it: nothing is ever mounted on the host.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { fault } from "../faults.ts";
import { isWithin, type Place } from "./places.ts";

const PERL = "/usr/bin/perl";
/** Covered inside the keeper's namespace by the moved places; nothing of the host's own is needed from it. */
const MOVED_TO = "/run";
/** Above every range that distributions, systemd and container engines give out. */
const FIRST_UID = 1_900_000_000;
const UIDS = 100_000_000;
const READY_LIMIT_MS = 5_000;

/** A uid nobody has, the same for a run each time. */
export function uidOf(run: string): number {
  return FIRST_UID + (createHash("sha256").update(run).digest().readUInt32LE() % UIDS);
}

export interface Keeper {
  /** Before the command that shall run in the namespace. */
  readonly prefix: readonly string[];
  /** Where a place is inside the namespace. */
  moved(path: string): string;
  close(): void;
}

const SCRIPT = `
use strict; use warnings;
my ($uid, $base) = @ARGV;
my ($none, $root, $tmpfs, $empty, $mode) = ("none", "/", "tmpfs", "", "mode=755");
sub must { my ($result, $what) = @_; die "$what: $!\\n" if $result < 0; return $result }
must(syscall(SYS_UNSHARE, 0x20000), "unshare");
must(syscall(SYS_MOUNT, $none, $root, 0, 0x44000, 0), "private");
pipe(my $made, my $tell); pipe(my $wait, my $go);
my $child = fork();
if (!$child) { must(syscall(SYS_UNSHARE, 0x10000000), "user namespace"); syswrite $tell, "x"; sysread $wait, my $b, 1; exit 0 }
sysread $made, my $b, 1;
for my $kind (qw(uid gid)) { open my $map, ">", "/proc/$child/\${kind}_map" or die $!; print $map "0 $uid 1\\n"; close $map or die "$kind: $!" }
open my $ns, "<", "/proc/$child/ns/user" or die $!;
my @trees;
$/ = "\\0";
while (my $line = <STDIN>) {
  chomp $line; last if $line eq "";
  my ($how, $source) = (substr($line, 0, 1), substr($line, 1));
  my $tree = must(syscall(428, -100, $source, 0x88001), "open_tree $source");
  my $attr = pack("QQQQ", 0x00100000, 0, 0, fileno($ns));
  must(syscall(442, $tree, $empty, 0x9000, $attr, 32), "idmap $source") if $how eq "w";
  push @trees, [$tree, -d $source];
}
syswrite $go, "x"; waitpid $child, 0;
must(syscall(SYS_MOUNT, $tmpfs, $base, $tmpfs, 6, $mode), "tmpfs");
my $n = 0;
for (@trees) {
  my ($tree, $is_folder) = @$_; my $at = "$base/" . $n++;
  if ($is_folder) { mkdir $at, 0755 } else { open my $f, ">", $at }
  must(syscall(429, $tree, $empty, -100, $at, 4), "move_mount");
}
$| = 1; print "ready\\n"; <STDIN>;
`;
const CALLS: Readonly<Record<string, { unshare: number; mount: number }>> = {
  x64: { unshare: 272, mount: 165 },
  arm64: { unshare: 97, mount: 40 },
};

/**
 * undefined where it cannot be: no Perl, no such system calls, a file system without mapped mounts. Rejects when the
 * machine cannot start it now: a weaker fence must not take its place.
 */
export async function openKeeper(
  places: readonly Place[],
  { uid, nsenter }: { uid: number; nsenter: string },
): Promise<Keeper | undefined> {
  const calls = CALLS[process.arch];
  if (calls === undefined || !existsSync(PERL)) return undefined;
  const script = SCRIPT.replaceAll("SYS_UNSHARE", String(calls.unshare)).replaceAll("SYS_MOUNT", String(calls.mount));
  fault("spawn");
  const child = spawn(PERL, ["-e", script, String(uid), MOVED_TO], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
  });
  child.on("error", () => undefined);
  child.stdin.on("error", () => undefined);
  const lines = places.map(({ path, access }) => `${access === "write" && isRoots(path) ? "w" : "r"}${path}\0`);
  child.stdin.write(`${lines.join("")}\0`);
  const ready = await Promise.race([
    once(child.stdout, "data").then(() => true),
    once(child, "exit").then(() => false),
    new Promise<never>((_, reject) => child.once("error", reject)),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), READY_LIMIT_MS).unref()),
  ]);
  const { pid } = child;
  if (!ready || pid === undefined) {
    child.kill("SIGKILL");
    return undefined;
  }
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref();
  const user = ["--setuid", String(uid), "--setgid", String(uid)];
  return {
    prefix: [nsenter, `--mount=/proc/${pid}/ns/mnt`, ...user, "--wdns=/"],
    moved(path) {
      const n = places.findIndex((place) => isWithin(path, place.path));
      return n < 0 ? path : `${MOVED_TO}/${n}${path.slice(places[n]?.path.length)}`;
    },
    close: () => void child.kill("SIGKILL"),
  };
}

const isRoots = (path: string): boolean => statSync(path).uid === 0;
