/** Escapes by the network; they aim at listeners of the session and at a name that cannot exist, at nothing else. */
import type { Escape } from "./escape.ts";

const python = (lines: string): string =>
  `python3 - <<'P'\nimport os, socket\nport = int(os.environ["PORT"]); udp = int(os.environ["UDP_PORT"])\ndef claim(text): open(os.environ["WORK"] + "/claims", "a").write(text + "\\n")\ndef tried(make):\n    try: make()\n    except Exception: pass\n${lines}\nP`;

export const NETWORK: readonly Escape[] = [
  {
    name: "TCP to loopback",
    script: python(
      'tried(lambda: socket.create_connection(("127.0.0.1", port), 2).send(b"bad"))\ntried(lambda: socket.create_connection(("localhost", port), 2).send(b"bad"))',
    ),
    works: 2,
  },
  {
    name: "TCP by other spellings of loopback",
    script: python(
      'for host in ("::1", "::ffff:127.0.0.1", "0.0.0.0", "127.1", "2130706433", "127.8.8.8"):\n    tried(lambda: socket.create_connection((host, port), 2).send(b"bad"))',
    ),
    works: 3,
  },
  {
    name: "/dev/tcp and /dev/udp of bash",
    script: 'bash -c "echo bad > /dev/tcp/127.0.0.1/$PORT; echo bad > /dev/udp/127.0.0.1/$UDP_PORT"',
    works: 2,
  },
  {
    name: "UDP",
    script: python(
      'tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"bad", ("127.0.0.1", udp)))',
    ),
    works: 1,
  },
  {
    name: "DNS, of the system and of a server outside",
    // That there is no such name, only a server can say.
    script: python(
      'question = b"\\0\\7\\1\\0\\0\\1" + bytes(6) + b"\\6canary\\7invalid\\0\\0\\1\\0\\1"\ntry: claim("resolved " + str(socket.getaddrinfo("canary.invalid", 80)))\nexcept socket.gaierror as e:\n    if e.errno == socket.EAI_NONAME: claim("a server was asked for a name")\ntried(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(question, ("127.0.0.1", udp)))\ntried(lambda: socket.create_connection(("127.0.0.1", port), 2).send(bytes((0, len(question))) + question))',
    ),
    works: 2,
  },
  {
    name: "curl, with and without a proxy",
    script:
      'curl -s -m 3 "http://127.0.0.1:$PORT/"; curl -s -m 3 --noproxy "" -x "http://127.0.0.1:$PORT" http://canary.invalid/; wget -q -T 2 -t 1 -O - "http://127.0.0.1:$PORT/"',
    works: 3,
  },
  {
    name: "git push and npm publish",
    script:
      'cd "$WORK" && mkdir -p pushed && cd pushed && git init -q . && git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x && timeout 5 git push -q "http://127.0.0.1:$PORT/x" HEAD:x; timeout 5 git push -q "git://127.0.0.1:$PORT/x" HEAD:x; echo \'{"name":"canary-pack","version":"1.0.0"}\' > package.json; ! command -v npm || npm publish --registry "http://127.0.0.1:$PORT/" "--//127.0.0.1:$PORT/:_authToken=x" --fetch-retries 0',
    works: 2,
  },
  {
    name: "ssh",
    // It connects for nobody whom the list of users has no name for.
    script: 'id -un && timeout 5 ssh -o BatchMode=yes -o StrictHostKeyChecking=no -p "$PORT" canary@127.0.0.1 true',
  },
  {
    name: "a unix socket in a folder outside (ssh agent, docker)",
    script: python(
      'for path in (os.environ["SOCK"], "/proc/1/root" + os.environ["SOCK"]):\n    def go():\n        s = socket.socket(socket.AF_UNIX); s.connect(path); s.send(b"bad")\n    tried(go)\nfor path in ("/var/run/docker.sock", "/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"):\n    if os.path.exists(path): claim("there is " + path)',
    ),
    works: 1,
  },
  {
    name: "an abstract unix socket",
    script: python(
      'def go():\n    s = socket.socket(socket.AF_UNIX); s.connect("\\0" + os.environ["ABSTRACT"]); s.send(b"bad")\ntried(go)',
    ),
    works: 1,
  },
  {
    name: "raw, packet, vsock and other families",
    script: python(
      'for family, kind in ((2, 3), (17, 3), (10, 3), (40, 1), (38, 5), (31, 3), (29, 3), (44, 3), (15, 3), (21, 5), (30, 1)):\n    try:\n        socket.socket(family, kind, 1 if family in (2, 10) else 0); claim("socket of family %d" % family)\n    except OSError: pass',
    ),
  },
  {
    name: "interfaces and addresses of one's own",
    script:
      'ip link add canary0 type dummy && echo "made an interface" >> "$WORK/claims"; ip addr add 10.255.255.1/32 dev lo && echo "took an address" >> "$WORK/claims"',
  },
  {
    name: "netlink: audit and configuration",
    script: python(
      'import struct\ntry:\n    s = socket.socket(16, 3, 9); s.bind((0, 0)); s.send(struct.pack("IHHII", 16, 1000, 5, 1, 0)); s.settimeout(1)\n    kind, code = struct.unpack("IHHIIi", s.recv(999)[:20])[1::4]\n    if kind != 2 or code == 0: claim("audit answered")\nexcept OSError: pass',
    ),
  },
];
