/**
 * Limits on a program that no fence holds, as far as the system's own go: memory of each process, size of a file, what
 * is added to its folder. The number of processes is not one of them: it would count the user's others too.
 */
import { watchDisk } from "../../platform/fence/disk.ts";
import { programAt } from "../../platform/fence.ts";
import type { FenceLimits } from "../../platform/fence/limits.ts";
import type { Confine } from "../../platform/process.ts";

/** `$1` folder, then the command. */
const ENTER = 'cd "$1" || exit 126; shift; exec "$@"';

export function confineBare({ memoryBytes, mappedBytes = 0, fileBytes, diskBytes }: FenceLimits): Confine {
  return (command, args, _variables, cwd = "/") => {
    const prlimit = programAt("prlimit");
    const limits =
      prlimit === undefined
        ? []
        : [prlimit, `--data=${memoryBytes + mappedBytes}`, `--fsize=${fileBytes}`, "--core=0", "--"];
    const disk = diskBytes === undefined ? undefined : watchDisk({ folders: [cwd], maxBytes: diskBytes });
    return {
      command: "/bin/sh",
      args: ["-c", ENTER, "pawl-code", cwd, ...limits, command, ...args],
      fds: [],
      held: {
        breaches: () => [],
        tooMuch: disk?.tooMuch ?? new Promise(() => undefined),
        release: () => disk?.close(),
      },
    };
  };
}
