/**
 * The words that start a command in a copy of a mould: in namespaces of its own, with the mounts that the mould has and
 * those that are this command's alone, with no right, its limits and the filter. What bubblewrap does for one command,
 * in one program and without what a mould has done already. Pure.
 */
import { PERL } from "../perl.ts";

const NEW = { mounts: 0x20000, groups: 0x02000000, queues: 0x08000000, processes: 0x20000000, network: 0x40000000 };
const ALL_BUT_NETWORK = NEW.mounts | NEW.groups | NEW.queues | NEW.processes;
/** By the kernel's numbers. */
const RESOURCES = { fsize: 1, data: 2, core: 4, nproc: 6 } as const;

/** How the outer process ends when it could not do so much: nobody inside can end it so. */
export const SET_UP_FAILED = "SIGUSR2";
/** How it ends when all was done and the command could not be started: it is not there, or no program. */
export const NOT_STARTED = "SIGUSR1";

/**
 * Words: see `startWords`, `restWords`. Three processes, as bubblewrap has them: one outside, whose end is that of all; the
 * first inside, which reaps; the command. Folders are opened where the keeper has them, and mounted where the command is:
 * of what is shown, no link is followed at the end of a name, and root sees it as the user would. All that is open and
 * every right is given up before the command begins, so that nobody sees a process of ours that has more than he. What
 * cannot be ends it by `SET_UP_FAILED` or `NOT_STARTED`, with words on standard error.
 */
export const COPY = `
my ($parent, $uid, $words) = splice @ARGV, 0, 3;
my ($owner, $keeper, $mould, $inner, $names, $filter) = splice @ARGV, 0, 6;
my @close = splice @ARGV, 0, shift;
my @doors = splice @ARGV, 0, shift;
my ($none, $empty, $tmpfs, $proc, $proc_at) = ("none", "", "tmpfs", "proc", "/proc");
my ($devpts, $devpts_at, $devpts_mode) = ("devpts", "/dev/pts", "newinstance,ptmxmode=0666,mode=620");
my ($told, $tell, $status, $report, $inside);
sub failed {
  print STDERR "pawl-fence: $_[0]\\n";
  kill "${SET_UP_FAILED.slice(3)}", $$ unless $inside;
  syswrite $report, "f" if $report;
  exit 125;
}
sub not_started {
  print STDERR "pawl-fence: $_[0]: $!\\n";
  syswrite $report, "e" if defined fileno $report;
  exit 1;
}
sub must { return $_[0] if $_[0] >= 0; failed("$_[1]: $!") }
sub shut { syscall(SYS_CLOSE, $_[0] + 0) }
sub enter { must(syscall(SYS_SETNS, $_[0] + 0, $_[1]), "setns"); shut($_[0]) }
sub bare {
  for (0 .. 63) { last if syscall(SYS_PRCTL, 24, $_, 0, 0, 0) < 0 }
  must(syscall(SYS_PRCTL, 38, 1, 0, 0, 0), "no new rights");
  my ($head, $rights) = (pack("LL", 0x20080522, 0), pack("L6", (0) x 6));
  must(syscall(SYS_CAPSET, $head, $rights), "capset");
}
sub die_with_parent { must(syscall(SYS_PRCTL, 1, 9, 0, 0, 0), "prctl"); failed("no parent") if $_[0] && getppid != $_[0] }
sub as_seen_by { my $who = $_[0] + 0; syscall(SYS_SETFSGID, $who); syscall(SYS_SETFSUID, $who) }
sub seen { must(syscall(SYS_PRCTL, 4, $_[0], 0, 0, 0), "prctl") }
sub code { return $? & 127 ? 128 + ($? & 127) : $? >> 8 }
sub quit { syscall(SYS_EXIT, $_[0] + 0) }

sub opened { sysopen(my $folder, $_[0], 0x200000) or must(-1, $_[0]); return $folder }
sub layer {
  my ($options, @open) = (shift, map { opened($_) } @_);
  my @names = map { "/proc/self/fd/" . fileno $_ } @open;
  my ($work, $upper, $type) = (pop @names, pop @names, "overlay");
  my $made = must(syscall(SYS_FSOPEN, $type, 1), $type);
  my @given = ("lowerdir=" . join(":", @names), "upperdir=$upper", "workdir=$work", split /,/, $options);
  for my $one (@given) {
    my ($name, $value) = split /=/, $one, 2;
    must(syscall(SYS_FSCONFIG, $made, defined $value ? 1 : 0, $name, $value // 0, 0), "$type: $name");
  }
  must(syscall(SYS_FSCONFIG, $made, 6, 0, 0, 0), $type);
  my $tree = must(syscall(SYS_FSMOUNT, $made, 1, 6), $type);
  must(syscall(SYS_FACCESSAT2, $tree, $empty, 2, 0x1000), "$type: read-only");
  shut($made);
  return $tree;
}
shut($_) for @close;
for (@doors) { my $door; open($door, ">", $_) && defined(syswrite($door, $$)) && close($door) or must(-1, $_) }
if (length $words) {
  die_with_parent($parent);
  open(my $line, "+<&=", $words) or must(-1, "words");
  my $all = do { local $/; <$line> };
  @ARGV = split /\\0/, $all // "", -1;
  pop @ARGV;
  failed("words") unless @ARGV && shift == @ARGV;
  my ($out, $err) = map { length $_ ? "/proc/$parent/fd/$_" : "/dev/null" } splice @ARGV, 0, 2;
  open STDOUT, ">", $out or must(-1, $out);
  $err eq $out ? open(STDERR, ">&", STDOUT) : open(STDERR, ">", $err) or must(-1, $err);
  syswrite $line, "x";
  close $line;
  %ENV = splice @ARGV, 0, 2 * shift;
}
my $program = "";
if (length $filter) {
  open(my $from, "<&=", $filter) or must(-1, "filter");
  $program = do { local $/; <$from> };
  close $from;
  failed("filter") unless length $program;
}
sub filtered {
  return unless length $program;
  my $about = pack("S x6 P", length($program) / 8, $program);
  must(syscall(SYS_PRCTL, 22, 2, $about, 0, 0), "seccomp");
}

enter($owner, 0x10000000) if length $owner;
enter($keeper, 0x20000);
must(syscall(SYS_SETGROUPS, 0, 0), "setgroups") if length $uid;
my ($cwd, $new, $before) = splice @ARGV, 0, 3;
my @limits = splice @ARGV, 0, 2 * shift;
my @mounts;
for (1 .. shift) {
  my ($kind, $what, $at) = splice @ARGV, 0, 3;
  if ($kind eq "memory") { push @mounts, [undef, $what, $at, 1]; next }
  if ($kind eq "layer") { push @mounts, [layer($what, splice @ARGV, 0, shift), undef, $at, 1]; next }
  as_seen_by($uid) if length $uid;
  my ($tree, $is_folder) = (must(syscall(SYS_OPEN_TREE, -100, $what, 0x88101), $what), -d $what);
  as_seen_by(0) if length $uid;
  my $flags = pack("QQQQ", $kind eq "write" ? 6 : 7, 0, 0, 0);
  must(syscall(SYS_MOUNT_SETATTR, $tree, $empty, 0x9000, $flags, 32), $what);
  push @mounts, [$tree, undef, $at, $is_folder, $kind];
}
if (length $uid) {
  must(syscall(SYS_SETRESGID, $uid + 0, $uid + 0, $uid + 0), "setresgid");
  must(syscall(SYS_SETRESUID, $uid + 0, $uid + 0, $uid + 0), "setresuid");
}
open(my $of, "<&=", $mould) or must(-1, "mould");
enter(ioctl($of, 0xb701, 0) || must(-1, "mould"), 0x10000000);
must(syscall(SYS_SETNS, fileno $of, 0x20000), "setns");
close $of;
enter($names, 0x04000000);
must(syscall(SYS_UNSHARE, $new + 0), "unshare");
for (@mounts) {
  my ($tree, $options, $at, $is_folder, $kind) = @$_;
  my $is_cover = ($kind // "") eq "cover";
  next if $is_cover && !-f $at;
  if (!-e $at) {
    my ($path, @parts) = ("", split m{/}, substr $at, 1);
    my $last = $is_folder ? undef : pop @parts;
    mkdir $path .= "/$_", 0755 for @parts;
    sysopen(my $file, "$path/$last", 0xc1, 0644) if defined $last;
  }
  if (!defined $tree) { must(syscall(SYS_MOUNT, $tmpfs, $at, $tmpfs, 6, $options), $at); next }
  must(syscall(SYS_MOVE_MOUNT, $tree, $empty, -100, $at, $is_cover ? 0x14 : 4), $at);
  must(syscall(SYS_MOUNT, $none, $at, 0, 0x84000, 0), $at);
  shut($tree);
}
must(syscall(SYS_MOUNT, $devpts, $devpts_at, $devpts, 10, $devpts_mode), $devpts_at);
if ($new & ${NEW.network}) {
  my ($any, $up) = (undef, pack("a16 s x22", "lo", 1));
  socket($any, 2, 2, 0) && ioctl($any, 0x8914, $up) or must(-1, "loopback");
}
delete $ENV{PERL_BADLANG};
$ENV{PWD} = $cwd;
pipe($told, $tell) && pipe($status, $report) or must(-1, "pipe");
my $first = fork;
must(-1, "fork") unless defined $first;
if ($first) {
  close $told; close $report; undef $report;
  shut($inner);
  bare();
  seen(1);
  die_with_parent($parent);
  my $armed = "";
  sysread $status, $armed, 1;
  $SIG{PIPE} = "IGNORE";
  syswrite $tell, "x" if $armed eq "a";
  close $tell;
  waitpid $first, 0;
  my $code = code();
  my $word = "";
  sysread $status, $word, 1;
  failed("not set up") if $armed ne "a" || $word eq "f";
  kill "${NOT_STARTED.slice(3)}", $$ if $word eq "e";
  quit($code);
}
$inside = 1;
close $tell; close $status;
must(syscall(SYS_MOUNT, $proc, $proc_at, $proc, 14, 0), "proc");
enter($inner, 0x10000000);
bare();
die_with_parent();
syswrite $report, "a";
sysread($told, my $word, 1) or exit 125;
close $told;
syscall(SYS_SETSID);
seen(0);
filtered();
my $command = fork;
must(-1, "fork") unless defined $command;
if (!$command) {
  while (my ($resource, $most) = splice @limits, 0, 2) {
    my $both = pack("QQ", $most, $most);
    must(syscall(SYS_PRLIMIT, 0, $resource + 0, $both, 0), "limit");
  }
  chdir $cwd or not_started($cwd);
  # What it starts beside the command is not to have it.
  if (length $before) { close $report; eval $before }
  exec { $ARGV[0] } @ARGV; not_started($ARGV[0]);
}
close $report;
while ((my $ended = wait) > 0) { quit(code()) if $ended == $command }
exit 125;
`;

/** Perl says so on standard error when it does not know somebody's language; what it runs in is not told. */
export const COPY_ENV = { PERL_BADLANG: "0" };

/** What is mounted for one command alone, in order. */
export type Mount =
  | { is: "memory"; at: string; bytes: number }
  /** Names of the keeper's namespace. */
  | { is: "read" | "write"; at: string; source: string }
  /** With nothing that can be read, if there is something. */
  | { is: "cover"; at: string }
  | ({ is: "layer"; at: string } & LayerWords);

/** Folders shown as one, the upper ones first; what is written goes to the last but one. */
export interface LayerWords {
  options: string;
  folders: readonly string[];
}

/** The kernel takes 255 bytes for the names of all that is below. */
export const MAX_LOWER_FOLDERS = 10;

/** Numbers of descriptors in the child. */
export interface CopyFds {
  /** Of an ordinary user's keeper. */
  owner: number | undefined;
  keeper: number;
  /** Of the mould: its mounts, the user who has no rights, its name. */
  mould: number;
  inner: number;
  names: number;
  filter: number | undefined;
}

export interface CopyStart {
  /** `COPY`, with its calls. */
  script: string;
  fds: CopyFds;
  /** It dies with this process. */
  parent: number;
  /** Where it is told the rest, once it waits in its control groups; without it, the rest follows. */
  wordsFd: number | undefined;
  /** Who it is outside, when pawl is root. */
  uid: number | undefined;
  /** Given to this process by whoever started it. */
  close: readonly number[];
  /** Of its control groups. */
  doors: readonly string[];
}

/** How it begins. */
export function startWords({ script, fds, parent, wordsFd, uid, close, doors }: CopyStart): string[] {
  const word = (value: number | undefined): string => (value === undefined ? "" : String(value));
  return [
    PERL,
    "-e",
    script,
    ...[parent, uid, wordsFd].map(word),
    ...[fds.owner, fds.keeper, fds.mould, fds.inner, fds.names, fds.filter].map(word),
    ...counted(close.map((fd) => [fd])),
    ...counted(doors.map((door) => [door])),
  ];
}

export interface CopyRest {
  cwd: string;
  /** Perl, to be run before the command by the process that will be it, with the words before the command's. */
  before: string;
  network: "none" | "host";
  limits: Readonly<Partial<Record<keyof typeof RESOURCES, number>>>;
  mounts: readonly Mount[];
}

/** What it need not know to begin; the command follows. */
export function restWords({ cwd, before, network, limits, mounts }: CopyRest): string[] {
  const isNew = ALL_BUT_NETWORK | (network === "none" ? NEW.network : 0);
  const resources = Object.keys(limits) as (keyof typeof RESOURCES)[];
  return [
    cwd,
    String(isNew),
    before,
    ...counted(resources.map((name) => [RESOURCES[name], limits[name] ?? 0])),
    ...counted(mounts.map(mountWords)),
  ];
}

/** Where output and errors go: descriptors of the parent; undefined: nowhere. */
export type Ways = readonly [out: number | undefined, errors: number | undefined];

/** What one that waits is told before the rest. It answers, and closes the line, when it has opened those. */
export const toldWords = (ways: Ways, variables: [string, string][]): string[] => [
  ...ways.map((fd) => (fd === undefined ? "" : String(fd))),
  ...counted(variables),
];

const counted = (parts: readonly (readonly (string | number)[])[]): string[] =>
  [parts.length, ...parts.flat()].map(String);

function mountWords(mount: Mount): (string | number)[] {
  switch (mount.is) {
    case "memory":
      return [mount.is, `mode=1777,size=${mount.bytes}`, mount.at];
    case "layer":
      return [mount.is, mount.options, mount.at, mount.folders.length, ...mount.folders];
    case "cover":
      return [mount.is, "/dev/null", mount.at];
    case "read":
    case "write":
      return [mount.is, mount.source, mount.at];
  }
}
