/**
 * A container as a fence: an empty image with the same places as in bubblewrap, so that the machine's own programs run in
 * it. Linux only. Untested: written from the documentation, never run by its authors. A container does not die with the
 * driver as bubblewrap does; it carries the run's id as a label and is removed when the fence is closed.
 */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { fault } from "../faults.ts";
import { programAt, works, type Fence } from "../fence.ts";
import type { Inside } from "./bwrap.ts";
import { relayWords } from "./relay.ts";
import { limitWords } from "./limits.ts";
import { systemPlaces, type SystemPlaces } from "./places.ts";

const IMAGE = "pawl-fence:empty";
const LABEL = "pawl.run";
const DOCKER_LIMIT_MS = 30_000;
const SMALL_BYTES = 16 * 1024 ** 2;
/** The end of an archive with nothing in it. */
const EMPTY_ARCHIVE = Buffer.alloc(10 * 1024);

interface About {
  run: string;
  system: SystemPlaces;
  /** Where a link of the system's leads: an image has none. */
  target: (path: string) => string;
  user: { uid: number; gid: number };
  prlimit: string;
}

/** The words after `docker`, up to the command. Pure. */
export function dockerWords(inside: Inside, { run, system, target, user, prlimit }: About): string[] {
  const { cwd, places, hidden, network, limits, relay, variables = [] } = inside;
  const mounts = new Map<string, string>();
  for (const folder of ["/tmp", "/var/tmp", "/run"]) mounts.set(folder, `type=tmpfs,tmpfs-size=${SMALL_BYTES}`);
  for (const { path } of system.places) mounts.set(path, bound(path, "read"));
  for (const { at } of system.links) mounts.set(at, bound(target(at), "read"));
  for (const { path, access, at } of places) mounts.set(at ?? path, bound(path, access));
  for (const file of hidden) mounts.set(file, bound("/dev/null", "read"));
  return [
    ["run", "--rm", "--init", "--interactive", "--label", `${LABEL}=${run}`, "--hostname", "fence"],
    ["--network", network === "host" ? "host" : "none", "--read-only", "--cap-drop", "ALL"],
    ["--security-opt", "no-new-privileges", "--user", `${user.uid}:${user.gid}`],
    ["--pids-limit", String(limits.processes), "--memory", String(limits.memoryBytes)],
    [...mounts].flatMap(([at, words]) => ["--mount", `${words},${field("target", at)}`]),
    // Without a value it is taken from the environment of the command itself.
    variables.flatMap((name) => ["--env", name]),
    ["--workdir", cwd, IMAGE, prlimit, ...limitWords(limits)],
    relay === undefined ? [] : relayWords(relay),
  ].flat();
}

const bound = (path: string, access: "read" | "write"): string =>
  `type=bind,${field("source", path)}${access === "read" ? ",readonly" : ""}`;

/** Of a line of comma-separated values, as docker reads it. */
function field(name: string, value: string): string {
  const text = `${name}=${value}`;
  return /[,"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** undefined when docker is missing or may not be used here. */
export function dockerFence({ run }: { run: string }): Fence | undefined {
  const [docker, prlimit] = [programAt("docker"), programAt("prlimit")];
  if (docker === undefined || prlimit === undefined || process.platform !== "linux") return undefined;
  const call = (args: string[], input?: Buffer): string | undefined => {
    fault("spawn");
    const { status, stdout } = spawnSync(docker, args, { input, timeout: DOCKER_LIMIT_MS, encoding: "utf8" });
    return status === 0 ? stdout.trim() : undefined;
  };
  if (call(["import", "-", IMAGE], EMPTY_ARCHIVE) === undefined) return undefined;
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const about = { run, system: systemPlaces(), target: (path: string) => realpathSync(path), user, prlimit };
  const fence: Fence = {
    kind: "docker",
    level: "docker (untested): a container, your uid",
    layered: false,
    wrap: (command, args, inside) => ({
      command: docker,
      args: [...dockerWords(inside, about), command, ...args],
      fds: [],
    }),
    close() {
      const left = call(["ps", "--all", "--quiet", "--filter", `label=${LABEL}=${run}`]) ?? "";
      if (left !== "") call(["rm", "--force", ...left.split("\n")]);
    },
  };
  return works(fence) ? fence : undefined;
}
