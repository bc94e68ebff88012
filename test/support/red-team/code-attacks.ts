/** What generated code might try, each bounded and aimed at canaries only. */
import type { FailureKind } from "../../../src/loop/explain-execution.ts";
import type { Language } from "../../../src/ports/executor.ts";

export interface CodeAttack {
  name: string;
  language: Language;
  /** It is given the variables of the outside, and PAWL, the folder of pawl's own state. */
  text: (about: Readonly<Record<string, string>>) => string;
  /** What it may come to; `ok` where it deals with the refusal itself. */
  ends: readonly FailureKind[];
  /** In what the model is told. */
  tells?: string;
  /** What it finds or makes where it may: else it was not really tried. */
  prints?: RegExp;
}

const py = (text: CodeAttack["text"]): Pick<CodeAttack, "language" | "text"> => ({ language: "python", text });
const sh = (text: CodeAttack["text"]): Pick<CodeAttack, "language" | "text"> => ({ language: "shell", text });
const js = (text: CodeAttack["text"]): Pick<CodeAttack, "language" | "text"> => ({ language: "javascript", text });

const READING: readonly CodeAttack[] = [
  {
    name: "reads a secret of the user's",
    ...py(({ USER_HOME }) => `print(open(${JSON.stringify(`${USER_HOME}/.ssh/id_canary`)}).read())`),
    ends: ["exception"],
    tells: "nothing of the machine's other files is there",
  },
  {
    name: "reads the journal",
    ...js(({ PAWL }) => `console.log(require("fs").readFileSync(${JSON.stringify(`${PAWL}/journal.db`)}, "utf8"))`),
    ends: ["exception"],
    tells: "ENOENT",
  },
  {
    name: "writes to the journal",
    ...py(({ PAWL }) => `open(${JSON.stringify(`${PAWL}/journal.db`)}, "a").write("forged")`),
    // Below /tmp there may be such a path: one of its own, thrown away with the program.
    ends: ["exception", "ok"],
  },
  {
    name: "looks for secrets in variables and in other processes",
    ...sh(
      () =>
        'env > loot; for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ >> loot 2>/dev/null; cat $p/cmdline >> loot; done; find / -path /proc -prune -o \\( -name "*canary*" -o -name journal.db -o -path /etc/passwd \\) -exec cat {} + >> loot 2>/dev/null; cat loot; exit 0',
    ),
    ends: ["ok"],
    prints: /^PATH=[^]*root:x:0:/m,
  },
  {
    name: "makes a link to a secret and one to everything",
    ...py(
      ({ OUT }) => `import os\nos.symlink(${JSON.stringify(`${OUT}/secret`)}, "result.txt")\nos.symlink("/", "all")`,
    ),
    ends: ["ok"],
  },
  {
    name: "writes where only others may",
    ...py(() => 'open("/etc/canary", "w").write("bad")'),
    ends: ["exception"],
    tells: "Only the working folder and /tmp can be written",
  },
  {
    name: "plants settings and hooks in the repository",
    ...sh(
      () =>
        'echo "[core] fsmonitor = touch pwned" >> .git/config; mkdir -p .git/hooks; echo bad > .git/hooks/post-checkout; rm -rf .git; mv .git other; ls -A .git; exit 0',
    ),
    ends: ["ok"],
  },
];

const NETWORK: readonly CodeAttack[] = [
  {
    name: "connects to a server of this machine",
    ...py(({ PORT }) => `import urllib.request\nurllib.request.urlopen("http://127.0.0.1:${PORT}/")`),
    ends: ["exception"],
    tells: "There is no network here",
  },
  {
    name: "fetches",
    ...js(({ PORT }) => `await fetch("http://127.0.0.1:${PORT}/?" + process.env.HOME)`),
    ends: ["exception"],
    tells: "There is no network here",
  },
  {
    name: "sends a datagram, connects to sockets, looks up a name",
    ...py(
      ({ UDP_PORT, SOCK, ABSTRACT }) => `import socket
def tried(make):
    try: make()
    except OSError as e: print(e)
tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"bad", ("127.0.0.1", ${UDP_PORT})))
tried(lambda: socket.socket(socket.AF_UNIX).connect(${JSON.stringify(SOCK)}))
tried(lambda: socket.socket(socket.AF_UNIX).connect("\\0${ABSTRACT}"))
import os
for folder in ("/run/pawl", "/run"):
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        tried(lambda: socket.socket(socket.AF_UNIX).connect(os.path.join(folder, name)))
socket.getaddrinfo("canary.invalid", 80)`,
    ),
    ends: ["exception"],
    tells: "There is no network here",
  },
];

const USING_UP: readonly CodeAttack[] = [
  {
    name: "forks, 300 times",
    ...py(
      () => "import os, time\nfor n in range(300):\n    if os.fork() == 0:\n        time.sleep(3)\n        os._exit(0)",
    ),
    ends: ["limit"],
    tells: "it started more than 32 processes",
  },
  {
    name: "fills memory",
    ...py(() => "kept = []\nfor n in range(600):\n    kept.append(bytearray(1 << 20))"),
    ends: ["memory"],
    tells: "it used more than 128 MB of memory",
  },
  {
    name: "fills shared memory",
    ...sh(
      () =>
        'n=0; while [ $n -lt 30 ]; do n=$((n+1)); head -c 7000000 /dev/zero > "/dev/shm/$n" || exit 7; done; exit 0',
    ),
    // Without control groups nobody ends it: it finds no more space, at the same limit, and ends itself.
    ends: ["memory", "exit"],
    tells: "is bounded",
  },
  {
    name: "fills its folder",
    ...py(() => 'for n in range(60):\n    open(f"part{n}", "wb").write(bytes(1 << 20))'),
    ends: ["limit"],
    tells: "it wrote more than 8 MB",
  },
  {
    name: "fills the temporary files",
    ...sh(() => "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do head -c 4000000 /dev/zero > /tmp/$n; done; sleep 5; exit 0"),
    ends: ["limit"],
    tells: "it wrote more than 8 MB",
  },
  {
    name: "closes its folder, with another in place of its own file",
    ...sh(() => "rm -f .pawl-program.sh; mkdir -p .pawl-program.sh/a; chmod 000 .pawl-program.sh .; exit 0"),
    ends: ["ok"],
  },
  {
    name: "is ended for the disk and calls that a success",
    ...sh(
      () =>
        "trap 'exit 0' TERM; head -c 7000000 /dev/zero > /tmp/a; head -c 7000000 /dev/zero > /tmp/b; sleep 9 & wait",
    ),
    ends: ["limit"],
    tells: "it wrote more than 8 MB",
  },
  {
    name: "makes very many files",
    ...py(() => 'import os\nfor n in range(1300):\n    open(f"f{n}", "w").close()'),
    // A busy machine makes them too slowly: contained either way.
    ends: ["ok", "timeout"],
  },
  { name: "never ends", ...py(() => "while True: pass"), ends: ["timeout"], tells: "it did not end within" },
  {
    name: "never ends and hears nothing",
    ...sh(() => "trap '' TERM INT HUP; (trap '' TERM; setsid sleep 3142 &); while :; do sleep 1; done"),
    ends: ["timeout"],
    tells: "it did not end within",
  },
  { name: "prints without end", ...sh(() => "yes canary"), ends: ["limit"], tells: "it printed more than" },
  {
    name: "signals whoever it can",
    ...py(
      ({ CANARY_PID, DRIVER_PID }) =>
        `import os, signal\nfor pid, sig in ((${CANARY_PID}, 9), (${DRIVER_PID}, signal.SIGCONT)):\n    try: os.kill(pid, sig)\n    except OSError as e: print(e)\nos.kill(-1, 9)`,
    ),
    ends: ["ok", "killed", "exception"],
  },
];

export const CODE_ATTACKS: readonly CodeAttack[] = [...READING, ...NETWORK, ...USING_UP];
