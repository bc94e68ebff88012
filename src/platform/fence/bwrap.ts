/** The words of a bubblewrap call. Pure. */
import type { FenceLimits } from "./limits.ts";
import { limitWords } from "./limits.ts";
import type { Place, SystemPlaces } from "./places.ts";

/** Who the process is inside. Outside it is the user, or a uid of its own when pawl is root. */
const INNER_ID = 1_000;

const NAMESPACES = [
  ["--unshare-all", "--unshare-user", "--uid", String(INNER_ID), "--gid", String(INNER_ID), "--disable-userns"],
  ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "fence"],
].flat();
/** Memory, not disk: for the few sockets and locks that programs expect to be able to make. */
const SMALL_BYTES = String(16 * 1024 ** 2);
/** Browsers and parallel Python want more of it than of the others. */
const SHARED_BYTES = String(512 * 1024 ** 2);
const memory = (folder: string, bytes: string): string[] => ["--size", bytes, "--perms", "1777", "--tmpfs", folder];
const EMPTY = [
  ["--proc", "/proc", "--dev", "/dev"],
  memory("/dev/shm", SHARED_BYTES),
  // Else it were memory without a limit.
  ["--remount-ro", "/dev"],
  ...["/tmp", "/var/tmp", "/run"].map((folder) => memory(folder, SMALL_BYTES)),
].flat();

export interface Inside {
  cwd: string;
  /** Later ones lie over earlier ones. */
  places: readonly Place[];
  /** Files that must not be readable although what they lie in is. */
  hidden: readonly string[];
  /** `host`: the machine's own network; `none`: a loopback of its own. */
  network: "none" | "host";
  limits: FenceLimits;
  /** Where the way out listens: a port of the inner loopback, led to a unix socket that is one of the places. */
  relay?: { socat: string; port: number; socket: string } | undefined;
}

interface About {
  system: SystemPlaces;
  moved: (path: string) => string;
  prlimit: string;
  /** Number of the descriptor with the filter. */
  seccompFd: number | undefined;
}

export function bwrapWords({ cwd, places, hidden, network, limits, relay }: Inside, about: About): string[] {
  const { system, moved, prlimit, seccompFd } = about;
  const bind = ({ path, access, at }: Place): string[] => [
    access === "write" ? "--bind" : "--ro-bind",
    moved(path),
    at ?? path,
  ];
  return [
    ...NAMESPACES,
    ...(network === "host" ? ["--share-net"] : []),
    ...(seccompFd === undefined ? [] : ["--seccomp", String(seccompFd)]),
    ...system.places.flatMap(({ path }) => ["--ro-bind", path, path]),
    ...system.links.flatMap(({ target, at }) => ["--symlink", target, at]),
    ...EMPTY,
    ...places.flatMap(bind),
    ...hidden.flatMap((file) => ["--ro-bind", "/dev/null", file]),
    "--remount-ro",
    "/",
    "--chdir",
    cwd,
    "--",
    prlimit,
    ...limitWords(limits),
    ...(relay === undefined ? [] : relayWords(relay)),
  ];
}

/** The relay lives as long as the namespace; the command replaces the shell. */
function relayWords({ socat, port, socket }: NonNullable<Inside["relay"]>): string[] {
  const listen = `TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr`;
  const script = '"$1" "$2" "UNIX-CONNECT:$3" >/dev/null 2>&1 </dev/null & shift 3; exec "$@"';
  return ["/bin/sh", "-c", script, "pawl-fence", socat, listen, socket];
}
