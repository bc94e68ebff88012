/** Why there is no fence here, and what a person can do about it. */
import { existsSync, readFileSync } from "node:fs";
import { programAt } from "../fence.ts";

export interface Advice {
  why: string;
  fix: string;
}

interface Machine {
  platform: NodeJS.Platform;
  /** Whether a program is in one of the system's own folders. */
  has: (program: string) => boolean;
  /** A setting of the kernel; undefined where it does not know it. */
  setting: (name: string) => string | undefined;
  inContainer: boolean;
}

const thisMachine = (): Machine => ({
  platform: process.platform,
  has: (program) => programAt(program) !== undefined,
  setting: (name) => {
    const path = `/proc/sys/${name.replaceAll(".", "/")}`;
    return existsSync(path) ? readFileSync(path, "utf8").trim() : undefined;
  },
  inContainer: existsSync("/.dockerenv") || existsSync("/run/.containerenv"),
});

/** Settings that keep programs of ordinary users from making namespaces, with the value that lets them. */
const SETTINGS = [
  { name: "kernel.unprivileged_userns_clone", forbids: "0", allows: "1" },
  { name: "kernel.apparmor_restrict_unprivileged_userns", forbids: "1", allows: "0" },
  { name: "user.max_user_namespaces", forbids: "0", allows: "15000" },
] as const;

/** To be asked when none works. */
export function fenceAdvice(machine: Machine = thisMachine()): Advice {
  if (machine.platform !== "linux") {
    const fix = "try --fence seatbelt (untested), or run pawl in a container or a virtual machine";
    return { why: "bubblewrap is for Linux only", fix: machine.platform === "darwin" ? fix : "run pawl in WSL 2" };
  }
  if (!machine.has("bwrap"))
    return { why: "bubblewrap is not installed", fix: "apt install bubblewrap socat, or the same of your system" };
  if (!machine.has("prlimit")) return { why: "prlimit is not installed", fix: "apt install util-linux" };
  const wrong = SETTINGS.find(({ name, forbids }) => machine.setting(name) === forbids);
  if (wrong !== undefined)
    return { why: `${wrong.name} is ${wrong.forbids}`, fix: `sudo sysctl -w ${wrong.name}=${wrong.allows}` };
  if (machine.inContainer) {
    const fix = "start the container with --security-opt seccomp=unconfined --security-opt apparmor=unconfined";
    return { why: "this container may not make namespaces", fix };
  }
  return { why: "bubblewrap may not make namespaces here", fix: "bwrap --unshare-all --ro-bind / / true says why" };
}
