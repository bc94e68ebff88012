/**
 * As whoever it was started: commands in sandboxes of bubblewrap's and in copies of one, told apart by what their first
 * process is. Says what each found. With `die` it is killed while copies run.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeFolder } from "../../src/compose/fence-scratch.ts";
import { bwrapFence, type Fence } from "../../src/platform/fence.ts";
import type { Inside } from "../../src/platform/fence/bwrap.ts";
import { USUAL_LIMITS } from "../../src/platform/fence/limits.ts";
import type { Place } from "../../src/platform/fence/places.ts";
import { runProcess } from "../../src/platform/process.ts";
import { taggedProcesses } from "./processes.ts";
import { waitFor } from "./temp.ts";

const LIMIT_MS = 60_000;
const [id = "r-mould", how = "tell"] = process.argv.slice(2);
const root = mkdtempSync(join(tmpdir(), "pawl-mould-"));
const folder = (name: string): string => {
  const path = join(root, name);
  mkdirSync(path, { recursive: true, mode: 0o755 });
  return path;
};
const [work, tools, tree] = [folder("work"), folder("tools"), folder("tree")];
writeFileSync(join(tools, "word"), "old\n");
writeFileSync(join(tools, "secret"), "canary\n");
writeFileSync(join(tree, "file"), "judged\n");

async function opened(run: string): Promise<Fence> {
  const layers = { trial: folder(`trial-${run}`), mounts: folder(`mounts-${run}`) };
  const fence = await bwrapFence({ run, places: [{ path: root, access: "write" }], layers });
  if (fence === undefined) throw new Error("bubblewrap does not work here");
  return fence;
}
const fence = await opened(id);

let n = 0;
function inside(about: Partial<Inside> = {}): Inside {
  const layer = { over: [], folder: folder(`layer-${(n += 1)}`) };
  const places: Place[] = [
    { path: folder(`tmp-${n}`), access: "write", at: "/tmp" },
    { path: tools, access: "read" },
    { path: tools, access: "read", at: "/tools" },
    { path: work, access: "write" },
    { path: tools, access: "read", at: join(work, "again") },
    { path: tree, access: "write", at: "/judged/tree", layer },
  ];
  return {
    cwd: work,
    places,
    hidden: [join(tools, "secret"), "/tools/secret"],
    network: "none",
    limits: USUAL_LIMITS,
    ...about,
  };
}

interface How {
  about?: Partial<Inside>;
  /** Which it must be; without it, as it comes. */
  way?: "bwrap" | "copy";
  env?: Record<string, string>;
  signal?: AbortSignal;
  words?: string[];
  within?: Fence;
}

/** One that waited is left out, so that both ways are seen by themselves. */
async function run(script: string, { about = {}, way, env = {}, signal, words, within = fence }: How = {}) {
  const given = inside(about);
  let [output, used] = ["", ""];
  const [command = "", ...args] = words ?? ["/bin/sh", "-c", script];
  const record = await runProcess({
    command,
    args,
    cwd: work,
    env: { PATH: "/usr/bin:/bin", LANG: "xx_YY.UTF-8", ...env },
    timeoutMs: LIMIT_MS,
    graceMs: 100,
    ...(signal === undefined ? {} : { signal }),
    confine(first, rest) {
      const { become: _, ...wrapped } = within.wrap(first, rest, { ...given, isRepeated: way !== "bwrap" });
      used += wrapped.args.some((word) => word.includes("open(my $of")) ? "copy" : "bwrap";
      return wrapped;
    },
    onOutput: (chunk) => void (output += Buffer.from(chunk).toString()),
  });
  return { ...record, output, used };
}

async function copied(script: string, given: How = {}) {
  return await waitFor(
    async () => {
      const done = await run(script, { ...given, way: "copy" });
      return done.used.startsWith("copy") ? done : undefined;
    },
    { what: "a copy" },
  );
}

const LOOK = `env | grep -vE '^(PAWL_|SHLVL)' | sort; id; pwd; ls -A . / /tmp /run /var/tmp /dev /dev/shm /judged/tree; cat again/word
  grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|Threads)' /proc/self/status; cat /proc/self/limits; ls /proc/self/fd
  cat /proc/self/stat | cut -d' ' -f1-8 | sed 's/([^)]*)//'; readlink /proc/self/fd/0; umask; trap; hostname; cat /proc/net/dev | cut -d: -f1
  sed 's/[0-9]*$//' /proc/self/cgroup; df --output=target,size /dev/shm /var/tmp /run | cat; cat /proc/sys/kernel/hostname
  for at in /tmp /usr /etc /proc /dev /dev/shm /dev/pts /tools /run . again /judged/tree; do tac /proc/self/mountinfo | cut -d' ' -f5,6 | sed 's/,idmapped//' | grep "^$(readlink -f $at) " | head -1; done
  echo x > /new; echo x > again/word; echo x > /etc/x; mkdir /judged/other; unshare -r true; mount -t tmpfs x /tmp; umount /proc; umount -l /dev/shm; kill -0 1 && echo seen`;

async function looked(name: string, about: Partial<Inside>) {
  const [bwrap, copy] = [await run(LOOK, { about, way: "bwrap" }), await copied(LOOK, { about })];
  // Who is told that it may not reads a message of the system, with the numbers of processes in it.
  const text = ({ output }: { output: string }): string => output.replaceAll(root, "ROOT");
  return { name, bwrap: text(bwrap), copy: text(copy) };
}

/** The rest of a sandbox that has ended, from the next one. */
async function left(): Promise<string> {
  const listen = `import socket; s = socket.socket(); s.bind(("127.0.0.1", 4567)); s.listen(); c = socket.create_connection(s.getsockname()); s.accept()[0].close(); c.recv(1)`;
  await copied(
    `python3 -c '${listen}'; for at in /dev/shm /var/tmp /run /tmp; do echo x > $at/x; done; ipcmk -Q -S 1 >/dev/null; echo file > shared`,
  );
  const look = `python3 -c '${listen.slice(0, listen.indexOf("; s.listen"))}' && echo port free; ls /dev/shm /var/tmp /run /tmp | grep -x x; ipcs -q -s | grep 0x; printf "shared "; cat shared`;
  return (await copied(look)).output;
}

/** Two at once: neither sees the processes, queues, memory, sockets or terminals of the other. */
async function beside(): Promise<string> {
  const over = new AbortController();
  const other = copied(
    `ipcmk -Q >/dev/null; echo x > /dev/shm/x; python3 -c 'import socket, time, pty; s = socket.socket(socket.AF_UNIX); s.bind(chr(0) + "canary"); s.listen(); p = pty.openpty(); open("up", "w"); time.sleep(60)'`,
    { signal: over.signal },
  );
  await waitFor(() => existsSync(join(work, "up")), { what: "the other" });
  const connect = `import socket; socket.socket(socket.AF_UNIX).connect(chr(0) + "canary")`;
  const { output } = await copied(
    `python3 -c '${connect}' 2>/dev/null && echo socket; ls /dev/shm; ipcs -q | grep 0x; ls /dev/pts | grep -v ptmx; ls /proc | grep -c '^[0-9]' | grep -vE '^[1-6]$'; echo none of "the other's"`,
  );
  over.abort();
  await other;
  unlinkSync(join(work, "up"));
  return output;
}

/** What Perl would load or do for whoever gives it variables, outside. */
async function planted(): Promise<unknown[]> {
  const mark = join(root, "ran-outside");
  writeFileSync(join(folder("plant"), "Plant.pm"), `open my $f, ">", "${mark}"; 1`);
  const { output } = await copied("true", { env: { PERL5LIB: join(root, "plant"), PERL5OPT: "-MPlant" } });
  return [output, existsSync(mark)];
}

/** Also when it is saved as editors do, by a new file in its place, and when it is gone. */
async function hidden(): Promise<string[]> {
  const look = async (): Promise<string> => (await copied(`cat ${tools}/secret /tools/secret 2>/dev/null`)).output;
  const before = await look();
  writeFileSync(join(tools, "new"), "canary two\n");
  renameSync(join(tools, "new"), join(tools, "secret"));
  const saved = await look();
  unlinkSync(join(tools, "secret"));
  writeFileSync(join(tools, "real"), "canary three\n");
  symlinkSync("real", join(tools, "secret"));
  const linkedTo = [];
  for (const way of ["bwrap", "copy"] as const) {
    const { output } = await (way === "copy" ? copied : run)(`cat ${tools}/real 2>/dev/null`, { way });
    linkedTo.push(output);
  }
  unlinkSync(join(tools, "secret"));
  const gone = await look();
  const goneToo = await run("echo begun", { way: "bwrap" });
  mkdirSync(join(tools, "secret"));
  const folded = await copied("echo begun");
  rmSync(join(tools, "secret"), { recursive: true });
  writeFileSync(join(tools, "secret"), "canary\n");
  return [before, `saved anew: ${saved}`, ...linkedTo, `gone: ${gone}`, goneToo.output, folded.output];
}

/** In a fence of its own: what could not be made once is not trusted again. */
async function untrusted(name: string, changed: (places: readonly Place[]) => Place[]): Promise<unknown[]> {
  const other = await opened(`${id}-${name}`);
  try {
    const about = { places: changed(inside().places) };
    const { used, startError, output } = await copied("cat /tools/word", { within: other, about });
    const later = await run("true", { within: other });
    return [used, startError?.message ?? output, later.used];
  } finally {
    other.close();
  }
}

/** What is to be judged is gone. */
const unfit = (): Promise<unknown[]> =>
  untrusted("unfit", (places) =>
    places.map((place) => (place.layer === undefined ? place : { ...place, path: join(root, "none") })),
  );

/** A toolchain that is found by a link, below what is new for each. */
async function followed(): Promise<string> {
  const link = join(tmpdir(), `pawl-link-${process.pid}`);
  symlinkSync(tools, link);
  try {
    const places: Place[] = [...inside().places, { path: link, access: "read" }];
    return (await copied(`cat ${link}/word`, { about: { places } })).output;
  } finally {
    unlinkSync(link);
  }
}

/** A program that is not there, or none; a folder to begin in that is not there. */
async function unstarted(): Promise<unknown[]> {
  const ends = [];
  for (const how of [{ words: ["no-such-program"] }, { words: ["/etc/passwd"] }, { about: { cwd: "/nowhere" } }])
    for (const way of [run("true", { ...how, way: "bwrap" }), copied("true", how)]) {
      const { startError, used, exitCode } = await way;
      ends.push([used, startError?.code ?? exitCode]);
    }
  return ends;
}

/** A place where programs share memory. */
async function shared(): Promise<string> {
  const given = inside();
  const at = "/dev/shm/place";
  writeFileSync(join(folder("shared"), "word"), "in memory\n");
  const places: Place[] = [...given.places, { path: join(root, "shared"), access: "read", at }];
  return (await copied(`cat ${at}/word`, { about: { places } })).output;
}

async function anew(): Promise<string[]> {
  rmSync(tools, { recursive: true });
  mkdirSync(tools);
  writeFileSync(join(tools, "word"), "new\n");
  writeFileSync(join(tools, "secret"), "canary\n");
  const { used, output } = await run("cat /tools/word");
  return [used, output];
}

function linked(): string {
  const given = inside();
  symlinkSync("/etc", join(work, "link"));
  const places: Place[] = [...given.places, { path: join(work, "link"), access: "write", at: "/linked" }];
  try {
    fence.wrap("true", [], { ...given, places });
    return "";
  } catch (error) {
    return /has become a link/.exec(String(error))?.[0] ?? String(error);
  } finally {
    unlinkSync(join(work, "link"));
  }
}

async function interrupted(): Promise<unknown[]> {
  const over = new AbortController();
  const script = "(setsid sh -c 'sleep 300' &) ; touch up; sleep 300";
  const going = copied(script, { signal: over.signal, env: { PAWL_RUN: `${id}-on` } });
  await waitFor(() => existsSync(join(work, "up")), { what: "it" });
  over.abort();
  const { aborted } = await going;
  return [aborted, taggedProcesses("PAWL_RUN", `${id}-on`).length];
}

try {
  const first = await run("true");
  const ways = [first.used, (await copied("true")).used];
  if (how === "die") {
    void copied("touch up; sleep 300", { env: { PAWL_RUN: id } });
    await waitFor(() => existsSync(join(work, "up")), { what: "a copy" });
    process.kill(process.pid, "SIGKILL");
  }
  const looks = [
    await looked("no network", {}),
    await looked("the machine's network", { network: "host" }),
    await looked("no limits on the whole", { limits: { ...USUAL_LIMITS, memoryBytes: 2 ** 31, mappedBytes: 2 ** 33 } }),
  ];
  const codes: (number | null)[] = [];
  for (const script of ["true", "exit 7", "kill -TERM $$", "kill -KILL $$"])
    codes.push((await copied(script)).exitCode);
  const missing = await copied("", { words: ["no-such-program"] });
  const told = {
    uid: process.getuid?.(),
    ways,
    looks,
    codes,
    missing: missing.output,
    nowhere: (await copied("true", { about: { cwd: "/nowhere" } })).output,
    left: await left(),
    beside: await beside(),
    hidden: await hidden(),
    unfit: await unfit(),
    unstarted: await unstarted(),
    followed: await followed(),
    shared: await shared(),
    closed: (await copied("ls /proc/self/fd")).output,
    first: (await copied("grep -E '^(NoNew|Seccomp:|CapBnd)' /proc/1/status; cat /proc/1/environ; ls /proc/1/fd"))
      .output,
    planted: await planted(),
    linked: linked(),
    interrupted: await interrupted(),
    anew: await anew(),
  };
  fence.close();
  const atTheEnd = await waitFor(() => (taggedProcesses("PAWL_RUN", id).length === 0 ? ([0] as const) : undefined), {
    what: "the end of everything",
  });
  console.log(JSON.stringify({ ...told, atTheEnd: atTheEnd[0] }));
} finally {
  fence.close();
  await removeFolder(root);
}
