/**
 * Before a command that reads or writes files of a folder which others change meanwhile: it gets a view of the mounts of
 * its own, in which no link below that folder is followed. git looks whether a path leads out, and opens it a moment
 * later; whatever is swapped in between, nothing outside is reached. Listing and reading links is as ever.
 *
 * Where the kernel cannot (before 5.12, no namespaces, no Perl) the command runs as it is. A few lines of Perl: the system
 * calls have no command.
 */
import { PERL, withCalls } from "./perl.ts";

const NEW_MOUNTS = 0x20000;
const NEW_USER = 0x10000000;

/** An ordinary user is alone in a user namespace, under his own number; who cannot get that far must not go on as nobody. */
const SCRIPT = `
my ($new, $uid, $gid, $folder) = splice @ARGV, 0, 4;
my ($none, $root, $attributes) = ("none", "/", pack("QQQQ", 0x00200000, 0, 0, 0));
sub put { my ($file, $text, $to) = @_; open $to, ">", "/proc/self/$file" and print $to $text and close $to or exit 125 }
if (syscall(SYS_UNSHARE, $new + 0) == 0) {
  if ($new & ${NEW_USER}) { put("setgroups", "deny"); put("uid_map", "$uid $uid 1"); put("gid_map", "$gid $gid 1") }
  if (syscall(SYS_MOUNT, $none, $root, 0, 0x44000, 0) == 0 && syscall(SYS_MOUNT, $folder, $folder, 0, 0x5000, 0) == 0) {
    syscall(SYS_MOUNT_SETATTR, -100, $folder, 0x8000, $attributes, 32);
  }
  chdir $folder or exit 125;
}
exec { $ARGV[0] } @ARGV; exit 127;
`;

interface Who {
  uid: number;
  gid: number;
}
const self = (): Who => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });

/** Words to stand before the command; [] where it cannot be. `folder` is the command's working directory, without links. */
export function unfollowed(folder: string, { uid, gid }: Who = self()): string[] {
  const script = withCalls(SCRIPT);
  if (script === undefined) return [];
  const fresh = uid === 0 ? NEW_MOUNTS : NEW_MOUNTS + NEW_USER;
  return [PERL, "-e", script, ...[fresh, uid, gid].map(String), folder];
}
