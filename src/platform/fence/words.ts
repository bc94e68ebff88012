/** The words that lead into a sandbox: of bubblewrap, or of a copy of what it has made once. */
import { closeSync, openSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { bwrapWords, memoryOf, type Inside } from "./bwrap.ts";
import { restWords, startWords, type LayerWords, type Mount } from "./copy.ts";
import type { Group, Groups } from "./groups.ts";
import type { Identity } from "./identity.ts";
import type { Keeper } from "./keeper.ts";
import { limitsOf } from "./limits.ts";
import { parted, type Mould } from "./mould.ts";
import { outerWords } from "./outer.ts";
import { isWithin, type Place, type SystemPlaces } from "./places.ts";
import { relayBefore } from "./relay.ts";

/** The first that is not standard input, output or error. */
const FIRST_FD = 3;
/** Where it tells which processes it has. */
const MOULD_OPTIONS = ["--info-fd", String(FIRST_FD)];

/** Of a fence. */
export interface Parts {
  bwrap: string;
  prlimit: string;
  keeper: Keeper | undefined;
  isRoot: boolean;
  system: SystemPlaces;
  identity: Identity;
  bash: string | undefined;
  /** File with the program. */
  filter: string | undefined;
  groups: Groups | undefined;
  /** Passed on by this process, to be closed. */
  inherited: readonly number[];
  /** Of a copy; undefined where there can be none. */
  copy: string | undefined;
}

export interface Around {
  parts: Parts;
  group: Group | undefined;
  /** Where a place is in the keeper's namespace, if it is a layer that is mounted there. */
  placeAt: (place: Place) => string | undefined;
  /** In a copy: if it is one that the copy mounts for itself. */
  partsOf?: (place: Place) => LayerWords | undefined;
}

export interface Leading {
  words: string[];
  /** To be given to the child from descriptor 3 on. */
  fds: number[];
}

/** Where a place is to be found. */
const sourceOf =
  ({ parts, placeAt }: Pick<Around, "parts" | "placeAt">) =>
  (place: Place): string =>
    placeAt(place) ?? parts.keeper?.moved(place.path) ?? place.path;

/** Whether there is one to hide, on the host, of what is seen inside under that name. */
function isThere(path: string, { places }: Pick<Inside, "places">): boolean {
  const around = places.findLast((place) => isWithin(path, place.at ?? place.path));
  const host = around === undefined ? path : join(around.path, path.slice((around.at ?? around.path).length));
  return statSync(host, { throwIfNoEntry: false })?.isFile() === true;
}

/**
 * Of a command that bubblewrap starts. `status`: a file, open here, that is told how the command ended,
 * if it began at all.
 */
export function bwrapped(inside: Inside, around: Around & { status: number }): Leading {
  const { parts, group, placeAt } = around;
  const { bwrap, prlimit, keeper, isRoot, system, identity, filter, groups } = parts;
  const isLayered = inside.places.some((place) => placeAt(place) !== undefined);
  const prefix = keeper !== undefined && (isRoot || isLayered) ? keeper.prefix : [];
  const limits = groups?.isWhole === true ? inside.limits : undefined;
  const fds = [openSync(`/proc/self/fd/${around.status}`, "r+")];
  if (filter !== undefined) fds.push(openSync(filter, "r"));
  const close = toClose(parts, fds.length);
  const moved = sourceOf(around);
  const seccompFd = filter === undefined ? undefined : FIRST_FD + 1;
  const inner = limits === undefined ? prlimit : undefined;
  const about = { system, identity, moved, prlimit: inner, seccompFd };
  const words = [
    ...outerWords({ doors: group?.doors ?? [], close, bash: parts.bash, limits }),
    ...prefix,
    bwrap,
    "--json-status-fd",
    String(FIRST_FD),
    // What is gone cannot be covered.
    ...bwrapWords({ ...inside, hidden: inside.hidden.filter((path) => isThere(path, inside)) }, about),
  ];
  return { words, fds };
}

interface Copied extends Pick<Around, "parts" | "group"> {
  mould: Mould;
  /** It waits to be told the rest. */
  waits: boolean;
}

/** How a copy begins. */
export function copyStart({ parts, group, mould, waits }: Copied): Leading & { wordsFd: number } {
  const { fds, given } = opened(mould, parts.filter);
  const wordsFd = FIRST_FD + fds.length;
  const words = startWords({
    script: parts.copy ?? "",
    fds: given,
    parent: process.pid,
    wordsFd: waits ? wordsFd : undefined,
    uid: parts.keeper?.uid,
    close: toClose(parts, fds.length + Number(waits)),
    doors: group?.doors ?? [],
  });
  return { words, fds, wordsFd };
}

/** What a copy is told besides; the command follows. */
export function copyRest(inside: Inside, around: Omit<Around, "group">): string[] {
  const { cwd, network, limits, relay } = inside;
  const held = limitsOf(limits, around.parts.groups?.isWhole === true);
  const { before, words } = relayBefore(relay);
  return [...restWords({ cwd, before, network, limits: held, mounts: mountsOf(inside, around) }), ...words];
}

/** Anew for every process: each reads the filter from its beginning. Throws when one cannot be, with none left open. */
function opened(mould: Mould, filter: string | undefined) {
  const fds: number[] = [];
  const give = (path: string): number => FIRST_FD - 1 + fds.push(openSync(path, "r"));
  const again = (fd: number): number => give(`/proc/self/fd/${fd}`);
  try {
    const given = {
      owner: mould.owner === undefined ? undefined : again(mould.owner),
      keeper: again(mould.keeper),
      mould: again(mould.mounts),
      inner: again(mould.inner),
      names: again(mould.names),
      filter: filter === undefined ? undefined : give(filter),
    };
    return { fds, given };
  } catch (error) {
    for (const fd of fds) closeSync(fd);
    throw error;
  }
}

/** Of bubblewrap, for a sandbox that has these folders besides. */
export function mouldWords(inside: Inside, { parts, folders }: { parts: Parts; folders: readonly string[] }): string[] {
  const { bwrap, keeper, system, identity } = parts;
  const moved = ({ path }: Place): string => keeper?.moved(path) ?? path;
  const about = { system, identity, moved, prlimit: undefined, seccompFd: undefined, folders };
  return [...(keeper?.prefix ?? []), bwrap, ...MOULD_OPTIONS, ...bwrapWords(inside, about)];
}

interface Trial {
  parts: Parts;
  mould: Mould;
  folders: readonly string[];
  layer: LayerWords | undefined;
}

/** A command that does nothing, in a copy with something in each of these folders. */
export function trialWords({ parts, mould, folders, layer }: Trial): Leading {
  const mounts: Mount[] = folders.map((at) => ({ is: "read", source: "/usr", at }));
  if (layer !== undefined) mounts.push({ is: "layer", ...layer, at: "/run" });
  const { words, fds } = copyStart({ parts, mould, group: undefined, waits: false });
  return {
    words: [...words, ...restWords({ cwd: "/", before: "", network: "none", limits: {}, mounts }), "true"],
    fds,
  };
}

function mountsOf(inside: Inside, around: Omit<Around, "group">): Mount[] {
  const { shared, empty } = memoryOf(inside);
  const source = sourceOf(around);
  const mountOf = (place: Place): Mount => {
    const { path, access: is, at = path } = place;
    const layer = around.partsOf?.(place);
    if (layer !== undefined) return { is: "layer", ...layer, at };
    // What a link leads to is shown, as bubblewrap does; as root the keeper has followed it.
    const isFollowed = is === "read" && around.parts.keeper?.uid === undefined;
    return { is, source: isFollowed ? followed(source(place)) : source(place), at };
  };
  return [
    ...[shared, ...empty].map((memory) => ({ is: "memory", ...memory }) as const),
    ...(parted(inside)?.late ?? []).map(mountOf),
    // Anew for each: who saves such a file puts another in its place, and what lies over it is gone with the old one.
    ...inside.hidden.map((at) => ({ is: "cover", at }) as const),
  ];
}

function followed(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Gone: whoever mounts it will say so.
    return path;
  }
}

/** Lower ones are replaced by what the child is given. */
const toClose = ({ inherited }: Parts, given: number): number[] => inherited.filter((fd) => fd >= FIRST_FD + given);
