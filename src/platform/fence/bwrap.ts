/** The words of a bubblewrap call. Pure. */
import type { Identity } from "./identity.ts";
import type { FenceLimits } from "./limits.ts";
import { limitWords } from "./limits.ts";
import type { Place, SystemPlaces } from "./places.ts";

const NAMESPACES = [
  ["--unshare-all", "--unshare-user", "--disable-userns"],
  // A name that every machine can look up without a network.
  ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "localhost"],
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
  /** Names of its environment, for kinds that do not pass it on by themselves. */
  variables?: readonly string[];
  relay?: Relay | undefined;
}

/** Where the way out listens: a port of the inner loopback, led to a unix socket that is one of the places. */
export interface Relay {
  socat: string;
  port: number;
  socket: string;
  /** Ports of the inner loopback that mean the host's, through that way out. */
  hostPorts: readonly { host: string; port: number }[];
}

interface About {
  system: SystemPlaces;
  /** Who the process is inside. Outside it is the user, or a uid of its own when pawl is root. */
  identity: Identity;
  moved: (path: string) => string;
  /** undefined: the limits are set already. */
  prlimit: string | undefined;
  /** Number of the descriptor with the filter. */
  seccompFd: number | undefined;
}

export function bwrapWords({ cwd, places, hidden, network, limits, relay }: Inside, about: About): string[] {
  const { system, identity, moved, prlimit, seccompFd } = about;
  const bind = ({ path, access, at }: Place): string[] => [
    access === "write" ? "--bind" : "--ro-bind",
    moved(path),
    at ?? path,
  ];
  return [
    ...NAMESPACES,
    "--uid",
    String(identity.uid),
    "--gid",
    String(identity.gid),
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
    ...(prlimit === undefined ? [] : [prlimit, ...limitWords(limits)]),
    ...(relay === undefined ? [] : relayWords(relay)),
  ];
}

/** Seconds that one side of a connection may go on after the other has ended. */
const HALF_CLOSED_S = 60;
/** Up to a second, in steps: nothing may be asked before there is someone to answer. */
const READY_TRIES = 200;
/** `$1` socat, `$2` number of legs, then three words for each, then the command, which replaces the shell. */
const RELAY_SCRIPT = `
listens() { while read -r _ at _ state _; do case $at in *:$1) [ "$state" != 0A ] || return 0 ;; esac; done </proc/net/tcp; return 1; }
socat=$1 legs=$2 ports=; shift 2
while [ "$legs" -gt 0 ]; do
  "$socat" -t${HALF_CLOSED_S} "TCP-LISTEN:$1,bind=127.0.0.1,fork,reuseaddr" "$3" >/dev/null 2>&1 </dev/null &
  ports="$ports $2"; shift 3; legs=$((legs-1))
done
for port in $ports; do n=0; until listens "$port" || [ $n -ge ${READY_TRIES} ]; do n=$((n+1)); sleep 0.005; done; done
exec "$@"`;

/** The relay lives as long as the namespace. A port is also told as the kernel lists it. */
export function relayWords({ socat, port, socket, hostPorts }: Relay): string[] {
  const legs = [
    { port, to: `UNIX-CONNECT:${socket}` },
    ...hostPorts.map((one) => ({ port: one.port, to: `PROXY:127.0.0.1:${one.host}:${one.port},proxyport=${port}` })),
  ];
  const hex = (n: number): string => n.toString(16).toUpperCase().padStart(4, "0");
  const words = legs.flatMap((leg) => [String(leg.port), hex(leg.port), leg.to]);
  return ["/bin/sh", "-c", RELAY_SCRIPT, "pawl-fence", socat, String(legs.length), ...words];
}
