/**
 * Ways out of a fence, each tried from inside against canaries only: a file, a process, sockets on loopback that were made
 * for it. What would harm if it worked is not here.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, type Canaries } from "./fence-canaries.ts";

export interface Probe {
  /** For people: what is tried. */
  name: string;
  /** For /bin/sh, with the canaries in its environment. Exit 77: it could not be tried. */
  script: string;
  /** What means that it got through. */
  broken: "exit-0" | "secret-told" | ((canaries: Canaries) => boolean);
}

/** The script needs Perl for what a shell cannot do. */
const perl = (code: string): string => `command -v perl >/dev/null || exit 77; perl -e '${code}'`;
const tool = (name: string, then: string): string => `command -v ${name} >/dev/null || exit 77; ${then}`;
/** By architecture, as in the keeper. */
const PTRACE = process.arch === "arm64" ? 117 : 101;
const PTRACE_ATTACH = 16;

export const PROBES: readonly Probe[] = [
  {
    name: "write a file outside",
    script: 'mkdir -p "$OUTSIDE"; echo x > "$OUTSIDE/written"; echo x > "/proc/1/root$OUTSIDE/written"',
    broken: ({ outside }) => existsSync(join(outside, "written")),
  },
  { name: "read a file outside", script: 'cat "$OUTSIDE/secret" "/proc/1/root$OUTSIDE/secret"', broken: "secret-told" },
  {
    name: "read files of your home",
    script: '[ -z "$HOME_FILES" ] && exit 77; IFS=:; for f in $HOME_FILES; do [ -r "$f" ] && exit 0; done; exit 1',
    broken: "exit-0",
  },
  { name: "read pawl's state", script: 'cat "$STATE/canary" "$STATE"/*', broken: "secret-told" },
  {
    name: "change your git settings and hooks",
    script: "echo x >> .git/config; echo x > .git/hooks/post-commit; rm -rf .git/canary",
    broken: ({ workspace }) =>
      existsSync(join(workspace, ".git/hooks/post-commit")) ||
      readFileSync(join(workspace, ".git/config"), "utf8") !== "" ||
      !existsSync(join(workspace, ".git/canary")),
  },
  { name: "change the system", script: "[ -w /usr ] || [ -w /etc ] || [ -w /bin ]", broken: "exit-0" },
  { name: "see other processes", script: "cat /proc/[0-9]*/cmdline", broken: "secret-told" },
  { name: "read their environment", script: 'cat /proc/[0-9]*/environ "/proc/$PID/environ"', broken: "secret-told" },
  {
    name: "signal another process",
    // A process that was killed takes a moment to end.
    script: 'kill -KILL "$PID"; for n in 1 2 3 4 5 6 7 8 9; do kill -0 "$PID" || break; sleep 0.2; done',
    broken: (it) => !isAlive(it),
  },
  {
    name: "trace another process",
    script: perl(`exit(syscall(${PTRACE}, ${PTRACE_ATTACH}, $ENV{PID} + 0, 0, 0) == 0 ? 0 : 1)`),
    broken: "exit-0",
  },
  {
    name: "connect to a server on this machine",
    script: perl(
      "use Socket; socket(S, 2, 1, 0) or exit 1; exit(connect(S, pack_sockaddr_in($ENV{TCP_PORT}, inet_aton(q(127.0.0.1)))) ? 0 : 1)",
    ),
    broken: ({ seen }) => seen.tcp > 0,
  },
  {
    name: "send a datagram",
    script: perl(
      "use Socket; socket(S, 2, 2, 0) or exit 1; exit(send(S, q(x), 0, pack_sockaddr_in($ENV{UDP_PORT}, inet_aton(q(127.0.0.1)))) ? 0 : 1)",
    ),
    broken: ({ seen }) => seen.udp > 0,
  },
  {
    name: "ask for a name (DNS)",
    // A server that could be asked would say that there is no such name.
    script: perl(
      "use Socket qw(:addrinfo); my ($e) = getaddrinfo(q(pawl-probe.invalid)); exit($e == EAI_NONAME ? 0 : 1)",
    ),
    broken: "exit-0",
  },
  {
    name: "connect to another program's socket",
    script: perl("use Socket; socket(S, 1, 1, 0) or exit 1; exit(connect(S, pack_sockaddr_un($ENV{SOCKET})) ? 0 : 1)"),
    broken: ({ seen }) => seen.unix > 0,
  },
  {
    name: "find the docker socket",
    script:
      "for s in /var/run/docker.sock /run/docker.sock /run/podman/podman.sock /run/containerd/containerd.sock; do [ -e $s ] && exit 0; done; exit 1",
    broken: "exit-0",
  },
  { name: "make a namespace of its own", script: tool("unshare", "unshare -Ur true"), broken: "exit-0" },
  {
    name: "mount",
    script: tool("mount", "mount -t tmpfs none . || mount --bind . ."),
    broken: "exit-0",
  },
  {
    name: "open a raw, packet or vsock socket",
    script: perl("for ([2, 3, 1], [17, 3, 0], [40, 1, 0]) { exit 0 if socket(S, $_->[0], $_->[1], $_->[2]) } exit 1"),
    broken: "exit-0",
  },
  {
    name: "open a device",
    script: "for d in /dev/mem /dev/kmem /dev/sda /dev/vda /dev/nvme0n1 /dev/kvm; do [ -e $d ] && exit 0; done; exit 1",
    broken: "exit-0",
  },
  { name: "read a secret of your environment", script: "env; cat /proc/self/environ", broken: "secret-told" },
];
