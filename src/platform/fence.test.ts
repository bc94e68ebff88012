/** The fence from inside, tried for real; canaries are files and processes of these tests alone. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { bwrapFence, type Fence } from "./fence.ts";
import { USUAL_LIMITS } from "./fence/limits.ts";
import { hiddenFiles, toolchainPlaces, type Place } from "./fence/places.ts";
import { runProcess, start, type ProcessRecord } from "./process.ts";

const SECRET = "canary-8b1f";
/** Against a hang alone. */
const LIMIT_MS = 120_000;
let fence: Fence;
let root: string;
let places: Place[];

beforeAll(async () => {
  root = tempDir("fence");
  for (const folder of ["work", "home", "outside", "tools/bin"]) mkdirSync(join(root, folder), { recursive: true });
  mkdirSync(join(root, "private"), { mode: 0o700 });
  writeFileSync(join(root, "private/own"), "#!/bin/sh\necho own\n", { mode: 0o700 });
  writeFileSync(join(root, "outside/secret"), SECRET);
  writeFileSync(join(root, "tools/bin/hello"), "#!/bin/sh\necho hello\n", { mode: 0o755 });
  writeFileSync(join(root, "tools/credentials"), SECRET);
  writeFileSync(join(root, "tools/readme"), "plain");
  const path = `${join(root, "tools/bin")}:${process.env["PATH"] ?? ""}`;
  places = [
    ...toolchainPlaces({ path, named: [], closed: [root] }),
    { path: join(root, "tools"), access: "read" },
    { path: join(root, "work"), access: "write" },
    { path: join(root, "home"), access: "write" },
    { path: join(root, "private"), access: "read" },
  ];
  const opened = await bwrapFence({ run: "r-fence", places });
  if (opened === undefined) throw new Error("bubblewrap does not work here: install it with scripts/install-system.sh");
  fence = opened;
});
afterAll(() => fence.close());

async function inside(script: string, limits = USUAL_LIMITS): Promise<ProcessRecord & { output: string }> {
  let output = "";
  const record = await runProcess({
    command: "/bin/sh",
    args: ["-c", script],
    cwd: join(root, "work"),
    env: {
      PATH: `${join(root, "tools/bin")}:${process.env["PATH"] ?? ""}`,
      HOME: join(root, "home"),
      OUT: join(root, "outside"),
      TOOLS: join(root, "tools"),
    },
    timeoutMs: LIMIT_MS,
    confine: (command, args) =>
      fence.wrap(command, args, {
        cwd: join(root, "work"),
        places,
        hidden: hiddenFiles(places),
        network: "none",
        limits,
      }),
    onOutput: (chunk) => void (output += Buffer.from(chunk).toString()),
  });
  return { ...record, output };
}

it("lets work be done: files written inside are the user's outside", async () => {
  const { exitCode, output } = await inside("echo made > made && mkdir -p a/b && node --version && hello");
  expect(output).toMatch(/^v\d+.*\nhello\n$/s);
  expect(exitCode).toBe(0);
  expect(readFileSync(join(root, "work/made"), "utf8")).toBe("made\n");
  expect(statSync(join(root, "work/made")).uid).toBe(process.getuid?.());
});

it("shows a place that its owner alone may read, to read", async () => {
  const own = join(root, "private/own");
  const { output } = await inside(`${own}; echo bad >> ${own}; rm -f ${own}; chmod 777 ${own}; ${own}`);
  expect(output.match(/^own$/gm)).toHaveLength(2);
  expect(readFileSync(own, "utf8")).toBe("#!/bin/sh\necho own\n");
  expect(statSync(own)).toMatchObject({ uid: process.getuid?.(), mode: 0o100700 });
});

it("hides everything that was not opened, also by its full path", async () => {
  const { output } = await inside(
    'cat "$OUT/secret"; ls "$OUT"; cat "$OUT/../outside/secret"; find / -name secret 2>/dev/null; echo ran',
  );
  expect(output).not.toContain(SECRET);
  expect(output).not.toMatch(/\/outside\/secret$/m);
  expect(output).toMatch(/^ran$/m);
});

it("hides secrets inside opened toolchains", async () => {
  expect(hiddenFiles(places)).toContain(join(root, "tools/credentials"));
  const { output } = await inside('cat "$TOOLS/credentials" "$TOOLS/readme"');
  expect(output).not.toContain(SECRET);
  expect(output).toMatch(/plain$/);
});

it("writes nowhere else", async () => {
  const { output } = await inside(
    'echo bad > "$OUT/new"; echo bad > /etc/pawl-canary; echo bad > "$TOOLS/bin/hello"; echo x > /new',
  );
  for (const path of ["/etc/pawl-canary", join(root, "tools/bin/hello"), "/new"])
    expect(output).toContain(`cannot create ${path}: Read-only file system`);
  expect(output).toContain(`cannot create ${join(root, "outside/new")}: Directory nonexistent`);
  expect(existsSync(join(root, "outside/new"))).toBe(false);
  expect(existsSync("/etc/pawl-canary")).toBe(false);
  expect(readFileSync(join(root, "tools/bin/hello"), "utf8")).toContain("echo hello");
});

it("has no rights, no way to new ones, and no network but its own", async () => {
  const { output } = await inside(
    "grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status; unshare -Ur true && echo NESTED; mount -t tmpfs x /tmp && echo MOUNTED; cat /proc/net/dev | tail -n +3 | cut -d: -f1",
  );
  expect(output).toMatch(/CapBnd:\s+0+\n/);
  expect(output).toMatch(/CapEff:\s+0+\n/);
  expect(output).toMatch(/NoNewPrivs:\s+1/);
  expect(output).toMatch(/Seccomp:\s+2/);
  expect(output).not.toMatch(/NESTED|MOUNTED/);
  expect(output.trim().split("\n").at(-1)?.trim()).toBe("lo");
});

it("sees no process but its own, so that a signal to all reaches nobody else", async () => {
  const canary = spawn("sleep", ["60"]);
  try {
    const { output } = await inside("ls /proc | grep -c '^[0-9]'; kill -9 -1; echo unreachable");
    expect(Number(output.split("\n")[0])).toBeLessThan(12);
    expect([canary.exitCode, canary.signalCode]).toEqual([null, null]);
    expect(existsSync(`/proc/${canary.pid}`)).toBe(true);
  } finally {
    canary.kill("SIGKILL");
  }
});

/** Of the next test, as the whole machine sees them. */
const sleepers = (): string[] =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.startsWith("sleep 5") && line.endsWith(`.${process.pid}`))
    .toSorted();

it("ends with everything it started, whatever sessions they moved to", async () => {
  const until = join(root, "work/seen");
  const [one, other] = [`500.${process.pid}`, `501.${process.pid}`];
  const ending = inside(
    `setsid sleep ${one} & (setsid sleep ${other} &); while [ ! -e "${until}" ]; do sleep 0.05; done`,
  );
  await vi.waitFor(() => expect(sleepers()).toEqual([`sleep ${one}`, `sleep ${other}`]), { timeout: LIMIT_MS });
  writeFileSync(until, "");
  expect((await ending).exitCode).toBe(0);
  expect(sleepers()).toEqual([]);
});

it("holds a bounded fork bomb by its limit on processes", async () => {
  // They outlive the loop however slow it is, and do not hold up `tail`.
  const script =
    "i=0; while [ $i -lt 300 ]; do sleep 100 > /dev/null 2>&1 & i=$((i+1)); done 2>&1 | tail -1; echo over";
  const { output } = await inside(script, { ...USUAL_LIMITS, processes: 40 });
  expect(output).toMatch(/fork|Resource temporarily unavailable/i);
});

it("holds memory and files by their limits", async () => {
  const limits = { ...USUAL_LIMITS, memoryBytes: 256 * 1024 ** 2, fileBytes: 1024 ** 2 };
  const { output } = await inside(
    "python3 -c 'x = b\"x\" * (600 << 20)' 2>&1; echo ended with $?; head -c 5000000 /dev/zero > big; stat -c %s big",
    limits,
  );
  // Refused to it, or ended by its control group.
  expect(output).toMatch(/MemoryError\nended with 1\n|ended with 137\n/);
  expect(output).toContain(String(1024 ** 2));
});

it("refuses to open a place that has become a link below a writable one", () => {
  const home = join(root, "home");
  symlinkSync(join(root, "outside"), join(home, "tmp"));
  const linked: Place[] = [
    { path: home, access: "write" },
    { path: join(home, "tmp"), access: "write", at: "/tmp" },
  ];
  const about = { cwd: "/", places: linked, hidden: [], network: "none", limits: USUAL_LIMITS } as const;
  expect(() => fence.wrap("true", [], about)).toThrow("has become a link");
});

it("gives loaders' variables to what is inside, never to the fence's own programs outside", async () => {
  const seen: { command: string; args: readonly string[] }[] = [];
  const { child } = start("/bin/sh", ["-c", 'echo "$LD_LIBRARY_PATH=$BASH_ENV"'], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: "/usr/bin:/bin", LD_LIBRARY_PATH: "/canary", BASH_ENV: "a b" },
    confine: (command, args) => {
      seen.push({ command, args });
      return { command: "/usr/bin/env", args: ["sh", "-c", 'env >&2; exec "$@"', "x", command, ...args], fds: [] };
    },
  });
  const [inner, outer] = await Promise.all([text(child.stdout as Readable), text(child.stderr as Readable)]);
  expect(inner).toBe("/canary=a b\n");
  expect(outer).not.toMatch(/LD_LIBRARY_PATH|BASH_ENV/);
  expect(seen).toHaveLength(1);
});

it("opens of the user's home what an installer made, not what a person keeps there", () => {
  const home = join(root, "someone");
  for (const folder of [".config/bin", "work/bin", ".tool/bin", ".tool/lib", "bin"])
    mkdirSync(join(home, folder), { recursive: true });
  const path = [".config/bin", "work/bin", ".tool/bin", "bin"].map((folder) => join(home, folder)).join(":");
  const opened = toolchainPlaces({ path, named: [], closed: [home] }).map((place) => place.path.slice(home.length + 1));
  expect(opened.toSorted()).toEqual([".config/bin", ".tool", "bin", "work/bin"]);
});
