/** The words of a bubblewrap call. Pure. */
import type { Identity } from "./identity.ts";
import type { FenceLimits } from "./limits.ts";
import { limitWords } from "./limits.ts";
import type { Place, SystemPlaces } from "./places.ts";
import { relayWords, type Relay } from "./relay.ts";

const NAMESPACES = [
  ["--unshare-all", "--unshare-user", "--disable-userns"],
  // A name that every machine can look up without a network.
  ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "localhost"],
].flat();
/** Memory, not disk: for the few sockets and locks that programs expect to be able to make. */
const SMALL_BYTES = 16 * 1024 ** 2;
/** Browsers and parallel Python want more of it than of the others. */
const SHARED_BYTES = 512 * 1024 ** 2;
/** Never larger than what one process may have: where no control group counts it, nothing else would hold it. */
const sizeOf = (bytes: number, { memoryBytes }: FenceLimits): number => Math.min(bytes, memoryBytes);
export const SHARED = "/dev/shm";
/** Empty, and gone with the command, where no place lies over them. */
export const EMPTY = ["/tmp", "/var/tmp", "/run"];

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
  /** Others like it will follow: what they have in common is made ahead of time. */
  isRepeated?: boolean;
}

interface About {
  system: SystemPlaces;
  /** Who the process is inside. Outside it is the user, or a uid of its own when pawl is root. */
  identity: Identity;
  /** Where a place is to be found. */
  moved: (place: Place) => string;
  /** undefined: the limits are set already. */
  prlimit: string | undefined;
  /** Number of the descriptor with the filter. */
  seccompFd: number | undefined;
  /** To be there for something that is mounted later. */
  folders?: readonly string[];
}

interface Memory {
  at: string;
  bytes: number;
}

/** New for every command: what programs share, and what no place lies over. */
export function memoryOf({ places, limits }: Pick<Inside, "places" | "limits">): { shared: Memory; empty: Memory[] } {
  const isFree = (folder: string): boolean => !places.some(({ path, at = path }) => at === folder);
  return {
    shared: { at: SHARED, bytes: sizeOf(SHARED_BYTES, limits) },
    empty: EMPTY.filter(isFree).map((at) => ({ at, bytes: sizeOf(SMALL_BYTES, limits) })),
  };
}

const memoryWords = ({ at, bytes }: Memory): string[] => ["--size", String(bytes), "--perms", "1777", "--tmpfs", at];

export function bwrapWords(inside: Inside, about: About): string[] {
  const { cwd, places, hidden, network, limits, relay } = inside;
  const { system, identity, moved, prlimit, seccompFd, folders = [] } = about;
  const { shared, empty } = memoryOf(inside);
  const bind = (place: Place): string[] => [
    place.access === "write" ? "--bind" : "--ro-bind",
    moved(place),
    place.at ?? place.path,
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
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...memoryWords(shared),
    // Else it were memory without a limit.
    "--remount-ro",
    "/dev",
    ...empty.flatMap(memoryWords),
    ...places.flatMap(bind),
    ...folders.flatMap((folder) => ["--dir", folder]),
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
