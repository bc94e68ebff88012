/**
 * macOS's own sandbox as a fence: a profile that forbids everything but the places. It cannot show a file at another
 * path, so checks work where their tree lies, the user's `.git` is read-only instead of replaced, and there are no
 * namespaces. Untested: written from the documentation, never run by its authors.
 */
import { existsSync } from "node:fs";
import { works, type Fence } from "../fence.ts";
import type { Inside } from "./bwrap.ts";
import { isWithin } from "./places.ts";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
const SYSTEM = ["/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/private/etc", "/private/var/db", "/dev"];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/fd"];
/** What programs ask the system for at their start; nothing that starts others or opens files for them. */
const SERVICES = [
  "com.apple.system.logger",
  "com.apple.system.notification_center",
  "com.apple.system.opendirectoryd.libinfo",
  "com.apple.SystemConfiguration.configd",
  "com.apple.trustd.agent",
];
/** `$1` folder, `$2` processes, `$3` blocks of a file, `$4` temporary files; then the command. */
const START =
  'cd "$1" || exit 126; ulimit -u "$2"; ulimit -f "$3"; ulimit -c 0; export TMPDIR="$4"; shift 4; exec "$@"';
const BLOCK_BYTES = 512;

/** In the profile's language; the last rule that fits counts. Pure. */
export function seatbeltProfile({ places, hidden, network }: Inside): string {
  const rule = (verdict: "allow" | "deny", what: string, where: readonly string[]): string =>
    where.length === 0 ? "" : `(${verdict} ${what} ${where.join(" ")})`;
  const below = (path: string): string => `(subpath ${quoted(path)})`;
  const writable = places.filter(({ access }) => access === "write").map(({ path }) => path);
  // What another file lies over elsewhere can only be kept from being changed here.
  const covered = places.flatMap(({ at }) =>
    at !== undefined && writable.some((path) => isWithin(at, path)) ? [at] : [],
  );
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-exec process-fork sysctl-read)",
    "(allow signal process-info* (target same-sandbox))",
    rule(
      "allow",
      "mach-lookup",
      SERVICES.map((name) => `(global-name ${quoted(name)})`),
    ),
    "(allow file-read-metadata)",
    rule("allow", "file-read*", ['(literal "/")', ...SYSTEM.map(below)]),
    rule("allow", "file-write-data file-ioctl", DEVICES.map(below)),
    ...places.map(({ path, access }) =>
      rule("allow", access === "write" ? "file-read* file-write*" : "file-read*", [below(path)]),
    ),
    rule("deny", "file-write*", covered.map(below)),
    rule(
      "deny",
      "file-read* file-write*",
      hidden.map((path) => `(literal ${quoted(path)})`),
    ),
    network === "host"
      ? "(allow network*)"
      : rule(
          "allow",
          "network-outbound",
          places.map(({ path }) => below(path)),
        ),
    network === "host" ? "" : '(allow network-bind network-inbound network-outbound (local ip "localhost:*"))',
  ]
    .filter((line) => line !== "")
    .join("\n");
}

const quoted = (text: string): string => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** The words after `sandbox-exec`, up to the command. Pure. */
export function seatbeltWords(inside: Inside): string[] {
  const { cwd, places, limits } = inside;
  const realPath = (at: string): string => places.find((place) => place.at === at)?.path ?? at;
  const blocks = Math.ceil(limits.fileBytes / BLOCK_BYTES);
  const start = ["/bin/sh", "-c", START, "pawl-fence", realPath(cwd), String(limits.processes), String(blocks)];
  return ["-p", seatbeltProfile(inside), ...start, realPath("/tmp")];
}

/** undefined where there is no such thing. */
export function seatbeltFence(): Fence | undefined {
  if (process.platform !== "darwin" || !existsSync(SANDBOX_EXEC)) return undefined;
  const fence: Fence = {
    kind: "seatbelt",
    level: "seatbelt (untested): a profile, your uid, .git read-only",
    layered: false,
    wrap: (command, args, inside) => ({
      command: SANDBOX_EXEC,
      args: [...seatbeltWords(inside), command, ...args],
      fds: [],
    }),
    close: () => undefined,
  };
  return works(fence) ? fence : undefined;
}
