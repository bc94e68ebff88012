/** What a trial of a fence aims at: made for it, watched from outside, and gone with it. */
import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fault } from "../platform/faults.ts";
import { processInfo } from "../platform/process-table.ts";

/** The canary process ends by itself, whatever becomes of the trial. */
const CANARY_LIFE_S = "120";
const MAX_HOME_FILES = 50;

export interface Canaries {
  readonly root: string;
  readonly workspace: string;
  readonly outside: string;
  readonly state: string;
  /** In files, environment and arguments of canaries; never in the environment of what is inside. */
  readonly secret: string;
  readonly process: ChildProcess;
  /** What arrived. */
  readonly seen: { tcp: number; udp: number; unix: number };
  /** For the probes. */
  readonly environment: Readonly<Record<string, string>>;
  close(): void;
}

/** As the system has it: that a child has ended is told to its parent a little later. */
export const isAlive = ({ process: child }: Canaries): boolean =>
  child.pid !== undefined && processInfo(child.pid)?.zombie === false;

export async function openCanaries(): Promise<Canaries> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-trial-")));
  const [workspace, outside, state] = [join(root, "workspace"), join(root, "outside"), join(root, "state")];
  const secret = `canary-${randomBytes(8).toString("hex")}`;
  for (const folder of [join(workspace, ".git/hooks"), outside, state]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(workspace, ".git/config"), "");
  writeFileSync(join(workspace, ".git/canary"), "");
  for (const file of [join(outside, "secret"), join(state, "canary")]) writeFileSync(file, secret);
  const seen = { tcp: 0, udp: 0, unix: 0 };
  const tcp = await listening(() => (seen.tcp += 1), { port: 0, host: "127.0.0.1" });
  const unix = await listening(() => (seen.unix += 1), { path: join(outside, "s") });
  const udp = createSocket("udp4", () => (seen.udp += 1));
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  fault("spawn");
  const child = spawn("sleep", [CANARY_LIFE_S], { argv0: secret, env: { CANARY: secret }, stdio: "ignore" });
  await once(child, "spawn");
  return {
    root,
    workspace,
    outside,
    state,
    secret,
    process: child,
    seen,
    environment: {
      OUTSIDE: outside,
      STATE: state,
      HOME_FILES: homeFiles().join(":"),
      PID: String(child.pid),
      TCP_PORT: String((tcp.address() as AddressInfo).port),
      UDP_PORT: String(udp.address().port),
      SOCKET: join(outside, "s"),
    },
    close() {
      child.kill("SIGKILL");
      for (const server of [tcp, unix]) server.close();
      udp.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function listening(
  onConnection: () => void,
  where: { port: number; host: string } | { path: string },
): Promise<Server> {
  const server = createServer((socket) => {
    onConnection();
    socket.destroy();
  });
  server.listen(where);
  await once(server, "listening");
  return server;
}

/** Plain files right in the user's home: no toolchain needs one of them. */
function homeFiles(): string[] {
  try {
    return readdirSync(homedir(), { withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.includes(":"))
      .slice(0, MAX_HOME_FILES)
      .map(({ name }) => join(homedir(), name));
  } catch {
    return [];
  }
}
