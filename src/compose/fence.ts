/** A run's fence, from its spec to what its agent and its checks are started with. */
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { UsageError } from "../errors.ts";
import { openEgress, REGISTRIES, type Attempt } from "../platform/egress.ts";
import { TOOLCHAIN_NAMES } from "../platform/environment.ts";
import { bwrapFence, noFence, programAt, type Fence, type FenceKind } from "../platform/fence.ts";
import type { Inside } from "../platform/fence/bwrap.ts";
import { hiddenFiles, isWithin, toolchainPlaces, type Place } from "../platform/fence/places.ts";
import { makePrivateDir, writeDurably } from "../platform/files.ts";
import type { Confine } from "../platform/process.ts";
import type { FenceSpec, RunSpec } from "../spec.ts";
import { removeAround } from "../workspace/dependencies.ts";
import type { LaneLayout } from "../workspace/layout.ts";

/** Of the loopback inside; nobody else is there. */
const PROXY_PORT = 3_128;
/** Where the sockets are seen inside. */
const SOCKETS_AT = "/run/pawl";
const EGRESS = "egress";
/** Of a check's home, what package managers fetched; all else is gone before the next check, or it could be rigged. */
const CACHES = [".cache", ".npm/_cacache", "go/pkg/mod", ".cargo/registry", ".gradle/caches", ".m2/repository"];

/** What `auto` comes to here. UsageError when a kind that was asked for cannot be had. */
export async function fenceKind(asked: FenceKind | "auto"): Promise<FenceKind> {
  if (asked === "none") return "none";
  if (asked === "docker" || asked === "seatbelt") {
    throw new UsageError(`--fence ${asked} does not work here`, { hint: "--fence bwrap on Linux, or --fence none" });
  }
  const tried = process.platform === "linux" ? await bwrapFence({ run: "probe", places: [] }) : undefined;
  tried?.close();
  if (tried !== undefined) return "bwrap";
  if (asked === "auto") return "none";
  throw new UsageError("--fence bwrap does not work here: bubblewrap is missing or may not make namespaces", {
    hint: "apt install bubblewrap socat; `pawl doctor --fence` tells more",
  });
}

/** Names beside the model that may be reached. */
export const fenceHosts = (network: "off" | "registries" | "open", added: readonly string[]): string[] => [
  ...(network === "registries" ? REGISTRIES : []),
  ...added,
];

export interface RunFence {
  readonly level: string;
  /** undefined: unfenced. */
  readonly agent: Confine | undefined;
  readonly check: Confine | undefined;
  readonly sockets: { folder: string; at: string } | undefined;
  /** For what goes out through the proxy. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

interface Request {
  spec: RunSpec;
  layout: LaneLayout;
  stateDir: string;
  /** The run's own folder in the state. */
  runDir: string;
  agentHome: string;
  checkHome: string;
  /** Where the agent's program lies. */
  programs: readonly string[];
  environment: Readonly<Record<string, string>>;
  onAttempt: (attempt: Attempt) => void;
}

export async function openRunFence(request: Request): Promise<RunFence> {
  const { spec, layout, agentHome, checkHome, environment } = request;
  if (spec.fence.kind === "none") {
    const nothing = { level: noFence.level, agent: undefined, check: undefined, sockets: undefined, environment: {} };
    return { ...nothing, close: () => Promise.resolve() };
  }
  const sockets = socketFolder();
  // Beside the homes, not in them: who can write there could make a link of it.
  const temporary = { agent: join(request.runDir, "tmp", "agent"), check: join(request.runDir, "tmp", "check") };
  for (const folder of [agentHome, checkHome, layout.verify, layout.fencedGit, ...Object.values(temporary)])
    makePrivateDir(folder);
  const tools = toolchainPlaces({
    path: environment["PATH"] ?? "",
    named: [...request.programs, ...TOOLCHAIN_NAMES.flatMap((name) => environment[name]?.split(":") ?? [])].filter(
      (folder) => isAbsolute(folder) && lstatSync(folder, { throwIfNoEntry: false }) !== undefined,
    ),
    closed: [homedir(), request.stateDir, spec.workspace.path],
  }).filter(({ path }) => !isWithin(path, spec.workspace.path));
  const workspace = spec.workspace.path;
  const places: Record<"agent" | "check", Place[]> = {
    agent: [
      { path: temporary.agent, access: "write", at: "/tmp" },
      ...tools,
      { path: workspace, access: "write" },
      ...gitPlaces(request),
      { path: agentHome, access: "write" },
      { path: sockets.folder, access: "read", at: SOCKETS_AT },
    ],
    check: [
      { path: temporary.check, access: "write", at: "/tmp" },
      ...tools,
      // At the workspace's own path: what was built or installed there means the judged files.
      { path: layout.verify, access: "write", at: workspace },
      { path: checkHome, access: "write" },
      { path: sockets.folder, access: "read", at: SOCKETS_AT },
    ],
  };
  const fence = await bwrapFence({ run: spec.run, places: [...places.agent, ...places.check] });
  if (fence === undefined) {
    throw new UsageError("the fence this run began with does not work here any more: bwrap", {
      hint: "`pawl doctor --fence` tells why",
    });
  }
  const wayOut = await openWayOut(spec.fence, { folder: sockets.folder, onAttempt: request.onAttempt });
  const confine = (who: "agent" | "check"): Confine => {
    const inside = insideOf(spec.fence, { cwd: workspace, places: places[who], relay: wayOut?.relay });
    return (command, args) => {
      if (who === "check") for (const folder of [checkHome, temporary.check]) clear(folder);
      return fence.wrap(command, args, inside);
    };
  };
  return {
    level: levelOf(fence, spec.fence),
    agent: confine("agent"),
    check: confine("check"),
    sockets: spec.fence.network === "open" ? undefined : { folder: sockets.folder, at: SOCKETS_AT },
    environment: wayOut?.environment ?? {},
    async close() {
      await wayOut?.close();
      fence.close();
      rmSync(sockets.root, { recursive: true, force: true });
    },
  };
}

/** Short, because a socket's path may have 107 bytes; reachable for the uid inside, but for no other user outside. */
function socketFolder(): { root: string; folder: string } {
  const root = mkdtempSync(join(tmpdir(), "pawl-"));
  const folder = join(root, "s");
  mkdirSync(folder, { mode: 0o755 });
  return { root, folder };
}

function levelOf({ level }: Fence, { network, hosts }: FenceSpec): string {
  const reach =
    network === "open" ? "open network" : hosts.length === 0 ? "no network" : `network: ${hosts.length} hosts`;
  return `${level}, ${reach}`;
}

function insideOf(
  { network, memoryBytes, processes, fileBytes, diskBytes }: FenceSpec,
  about: Pick<Inside, "cwd" | "places" | "relay">,
): Inside {
  return {
    ...about,
    hidden: hiddenFiles(about.places),
    network: network === "open" ? "host" : "none",
    limits: { memoryBytes, processes, fileBytes, diskBytes },
  };
}

/** Checks run one after the other, and nothing of one outlives it. */
function clear(folder: string): void {
  const kept = CACHES.map((cache) => Buffer.from(join(folder, cache)));
  for (const name of readdirSync(folder)) removeAround(Buffer.from(join(folder, name)), kept);
}

/** A repository of its own in place of the user's, whether that is a folder or, in a worktree, a file. */
function gitPlaces({ spec, layout, runDir }: Request): Place[] {
  const at = join(spec.workspace.path, ".git");
  if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== false)
    return [{ path: layout.fencedGit, access: "write", at }];
  const link = join(runDir, "fenced-git-link");
  mkdirSync(dirname(link), { recursive: true });
  writeDurably(link, `gitdir: ${layout.fencedGit}\n`, 0o644);
  return [
    { path: layout.fencedGit, access: "write" },
    { path: link, access: "read", at },
  ];
}

interface WayOut {
  relay: NonNullable<Inside["relay"]>;
  environment: Record<string, string>;
  close(): Promise<void>;
}

async function openWayOut(
  { network, hosts }: FenceSpec,
  { folder, onAttempt }: { folder: string; onAttempt: (attempt: Attempt) => void },
): Promise<WayOut | undefined> {
  const socat = programAt("socat");
  if (network === "open" || socat === undefined) return undefined;
  const egress = await openEgress({ socket: join(folder, EGRESS), hosts, onAttempt });
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const local = "localhost,127.0.0.1,::1";
  const names = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: local, NODE_USE_ENV_PROXY: "1" };
  const lower = { http_proxy: proxy, https_proxy: proxy, no_proxy: local };
  return {
    relay: { socat, port: PROXY_PORT, socket: join(SOCKETS_AT, EGRESS) },
    environment: { ...names, ...lower },
    close: () => egress.close(),
  };
}
