/** The fence of generated code: closer than that of a check, and with nothing of any repository in it. */
import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Fence } from "../platform/fence.ts";
import type { Inside } from "../platform/fence/bwrap.ts";
import type { FenceLimits } from "../platform/fence/limits.ts";
import type { Place } from "../platform/fence/places.ts";
import type { Confine } from "../platform/process.ts";
import { withDrop, type Fresh, type Scratch } from "./fence-scratch.ts";

interface Parts {
  fence: Fence;
  scratch: Scratch;
  /** What a check sees beside its files, and its way out. */
  inside: Inside;
  /** Where the new home of every program appears. */
  home: string;
  /** Places that only checks have: their reports, and the folder with all sockets, the model's too. */
  without: readonly string[];
}

/** Home and temporary files are new for every program, and thrown away after it. */
export function codeConfine({ fence, scratch, inside, home, without }: Parts): (limits: FenceLimits) => Confine {
  const shared = [...inside.places.filter(({ at = "" }) => !without.includes(at)), ...wayOut(inside)];
  return (wanted) =>
    (command, args, variables = [], cwd = inside.cwd) => {
      const limits = lowerOf(wanted, inside.limits);
      const around = (own: Fresh): Inside => {
        const places: Place[] = [
          { path: own.temporary, access: "write", at: "/tmp" },
          ...shared,
          { path: cwd, access: "write" },
          ...gitCover(cwd, own.layer),
          { path: own.home, access: "write", at: home },
        ];
        return { ...inside, cwd, places, limits };
      };
      const fresh = scratch.fresh();
      try {
        return withDrop(fence.wrap(command, args, { ...around(fresh), variables, isRepeated: true }), fresh.drop);
      } catch (error) {
        fresh.drop();
        throw error;
      }
    };
}

/** The one socket that leads to the hosts it may reach. */
function wayOut({ relay, places }: Inside): Place[] {
  const folder = places.find(({ at }) => relay !== undefined && at === dirname(relay.socket))?.path;
  if (relay === undefined || folder === undefined) return [];
  return [{ path: join(folder, basename(relay.socket)), access: "read", at: relay.socket }];
}

/** Nothing of a repository is generated code's business; a folder that is none is not made one. */
function gitCover(cwd: string, empty: string): Place[] {
  const at = join(cwd, ".git");
  const found = lstatSync(at, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) return [{ path: empty, access: "read", at }];
  return found?.isFile() === true ? [{ path: "/dev/null", access: "read", at }] : [];
}

/** An execution may be held closer than the run, never looser. */
function lowerOf(wanted: FenceLimits, most: FenceLimits): FenceLimits {
  const least = (a: number, b: number | undefined): number => Math.min(a, b ?? a);
  return {
    ...(wanted.mappedBytes === undefined ? {} : { mappedBytes: wanted.mappedBytes }),
    memoryBytes: least(wanted.memoryBytes, most.memoryBytes),
    processes: least(wanted.processes, most.processes),
    fileBytes: least(wanted.fileBytes, most.fileBytes),
    diskBytes: least(wanted.diskBytes ?? wanted.fileBytes, most.diskBytes),
  };
}
