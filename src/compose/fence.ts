/** A run's fence, from its spec to what its agent and its checks are started with. */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { UsageError } from "../errors.ts";
import type { Attempt } from "../platform/egress.ts";
import { hostEntry, isLoopback, REGISTRIES } from "../platform/egress-rules.ts";
import { CERTIFICATE_NAMES, TOOLCHAIN_NAMES } from "../platform/environment.ts";
import { noFence, programAt, type Fence, type FenceKind } from "../platform/fence.ts";
import type { Inside } from "../platform/fence/bwrap.ts";
import { fenceAdvice } from "../platform/fence/advice.ts";
import { openFence } from "../platform/fence/open.ts";
import { hiddenFiles, isWithin, toolchainPlaces, type Place } from "../platform/fence/places.ts";
import type { FenceLimits } from "../platform/fence/limits.ts";
import type { Relay } from "../platform/fence/relay.ts";
import { makePrivateDir, writeDurably } from "../platform/files.ts";
import { judgeHome, reviewHome } from "../platform/paths.ts";
import type { Confine } from "../platform/process.ts";
import type { FenceSpec, RunSpec } from "../spec.ts";
import { slotPath, type LaneLayout } from "../workspace/layout.ts";
import type { Layers } from "../workspace/verify-tree.ts";
import type { ReportPlace } from "../checks/runners/ask.ts";
import { codeConfine } from "./fence-code.ts";
import { openScratch, removeFolder, withDrop, type Fresh } from "./fence-scratch.ts";
import { counted } from "../plural.ts";

/** Of the loopback inside; nobody else is there. */
const PROXY_PORT = 3_128;
/** Where the sockets are seen inside. */
const SOCKETS_AT = "/run/pawl";
/** Where runners of tests write reports inside. */
const REPORTS_AT = "/run/pawl-reports";
const EGRESS = "egress";
/** How the names of their folders begin. */
const SOCKETS_NAME = "pawl-";
/** Instead of the user's, which are not there inside. */
const PLACES_INSIDE = { TMPDIR: "/tmp", TMP: "/tmp", TEMP: "/tmp", XDG_RUNTIME_DIR: "/tmp" };

/** What `auto` comes to here. UsageError when a kind that was asked for cannot be had. */
export async function fenceKind(asked: FenceKind | "auto"): Promise<FenceKind> {
  if (asked === "none") return "none";
  // The others were never tested: who wants one says so.
  const kind = asked === "auto" ? "bwrap" : asked;
  const tried = await openFence(kind, { run: "probe", places: [] });
  tried?.close();
  if (tried !== undefined) return kind;
  if (asked === "auto") return "none";
  const { why, fix } = fenceAdvice();
  throw new UsageError(`--fence ${kind} does not work here${kind === "bwrap" ? `: ${why}` : ""}`, {
    hint: kind === "bwrap" ? `${fix}; \`pawl doctor --fence\` tries it` : "--fence bwrap on Linux, or --fence none",
  });
}

/** Names beside the model that may be reached. UsageError when one is none. */
export function fenceHosts(network: "off" | "registries" | "open", added: readonly string[]): string[] {
  const wrong = added.find((host) => hostEntry(host) === undefined);
  if (wrong !== undefined) {
    throw new UsageError(`not a host: ${JSON.stringify(wrong)}`, {
      hint: "example.com, *.example.com, 10.0.0.5:8080, localhost:5432; --network open for everything",
    });
  }
  return [...(network === "registries" ? REGISTRIES : []), ...added];
}

/** UsageError when what is needed to let some hosts through is missing. */
export function refuseWithoutRelay({ kind, network, hosts }: Pick<FenceSpec, "kind" | "network" | "hosts">): void {
  if (kind !== "bwrap" || network === "open" || hosts.length === 0 || programAt("socat") !== undefined) return;
  throw new UsageError(`${hosts[0]} cannot be let through the fence: socat is missing`, {
    hint: "apt install socat; or leave out --allow-host and --network",
  });
}

export interface RunFence {
  readonly level: string;
  /** undefined: unfenced. */
  readonly agent: Confine | undefined;
  /** As the agent, with a home and temporary files of its own and nothing of the agent's. Only where there is a review. */
  readonly reviewer: Confine | undefined;
  /** Runs on the verify tree that is its working directory. */
  readonly check: Confine | undefined;
  /** For a model that judges: it reaches its model and its own home, nothing of the work. */
  readonly judge: Confine | undefined;
  /** Generated code: in its working directory, the workspace or below it, which is all it can write to. */
  readonly code: ((limits: FenceLimits) => Confine) | undefined;
  /** Runs in its working directory, below the folder where dependencies are made, as if that were the workspace. */
  readonly setup: Confine | undefined;
  /** undefined: checks write into the verify tree itself. */
  readonly layers: Layers | undefined;
  readonly sockets: { folder: string; at: string } | undefined;
  /** Where the runners of a check's tests may write reports: here, and as they see it. */
  readonly reports: ReportPlace;
  /** For what goes out through the proxy. */
  readonly environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

interface Request {
  spec: Pick<RunSpec, "run" | "fence" | "review"> & { workspace: Pick<RunSpec["workspace"], "path"> };
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
  // Session files stay for whoever goes on with the run; temporary ones are gone with the driver.
  const ofPrograms = [agentHome, reviewHome(request.runDir)].map((home) => join(home, "tmp"));
  const reports = join(request.runDir, "check-reports");
  if (spec.fence.kind === "none") {
    const nothing = {
      agent: undefined,
      reviewer: undefined,
      check: undefined,
      judge: undefined,
      code: undefined,
      setup: undefined,
      layers: undefined,
    };
    const close = async () => void (await Promise.all([...ofPrograms, reports].map((folder) => removeFolder(folder))));
    const level = { level: noFence.level, sockets: undefined, environment: {} };
    return { ...nothing, ...level, reports: { folder: reports, at: reports }, close };
  }
  // Not in the home: who can write there could make a link of it, and would see where it leads to.
  const temporary = join(request.runDir, "agent-tmp");
  const review = { home: reviewHome(request.runDir), temporary: join(request.runDir, "review-tmp") };
  if (spec.review !== undefined) for (const folder of Object.values(review)) makePrivateDir(folder);
  const sockets = socketFolder(request.runDir);
  const scratch = openScratch(join(request.runDir, "check-scratch"));
  const judged = [layout.verify, layout.dependencies, layout.setups];
  for (const folder of [agentHome, checkHome, ...judged, layout.fencedGit, temporary, reports]) makePrivateDir(folder);
  const tools = toolchainPlaces({
    // A folder of the workspace is open already; links in it are the agent's to make.
    path: (environment["PATH"] ?? "")
      .split(":")
      .filter((folder) => !isWithin(folder, spec.workspace.path))
      .join(":"),
    named: [
      ...request.programs,
      process.execPath,
      ...[...TOOLCHAIN_NAMES, ...CERTIFICATE_NAMES].flatMap((name) => environment[name]?.split(":") ?? []),
    ].filter((folder) => isAbsolute(folder) && existsSync(folder)),
    closed: [homedir(), request.stateDir, spec.workspace.path],
  }).filter(({ path }) => !isWithin(path, spec.workspace.path));
  const workspace = spec.workspace.path;
  const worker = (own: { home: string; temporary: string }): Place[] => [
    { path: own.temporary, access: "write", at: "/tmp" },
    ...tools,
    // Checks alone, of a run whose worktree was removed, get by without.
    ...(existsSync(workspace) ? [{ path: workspace, access: "write" } as const] : []),
    ...gitPlaces(request),
    { path: own.home, access: "write" },
    { path: sockets.folder, access: "read", at: SOCKETS_AT },
  ];
  const places: Record<"agent" | "reviewer" | "check", Place[]> = {
    agent: worker({ home: agentHome, temporary }),
    reviewer: spec.review === undefined ? [] : worker(review),
    check: [
      ...tools,
      { path: sockets.folder, access: "read", at: SOCKETS_AT },
      { path: reports, access: "write", at: REPORTS_AT },
    ],
  };
  const judge = judgePlaces(request, { tools, sockets: sockets.folder });
  const writable = [...judged, scratch.root].map((path): Place => ({ path, access: "write" }));
  const trial = scratch.fresh();
  const fence = await openFence(spec.fence.kind, {
    run: spec.run,
    places: [...places.agent, ...places.reviewer, ...places.check, ...judge, ...writable],
    layers: { trial: trial.layer, mounts: scratch.mounts },
  });
  if (fence === undefined) {
    throw new UsageError(`the fence this run began with does not work here any more: ${spec.fence.kind}`, {
      hint: "`pawl doctor --fence` tells why",
    });
  }
  const wayOut = await openWayOut(request, sockets);
  const insideFor = (who: "agent" | "reviewer" | "check"): Inside =>
    insideOf(spec.fence, { cwd: workspace, places: places[who], relay: wayOut.relay[who === "check" ? who : "agent"] });
  const [ofAgent, ofReviewer, ofCheck] = [insideFor("agent"), insideFor("reviewer"), insideFor("check")];
  const ofJudge = insideOf(spec.fence, { cwd: judgeHome(request.runDir), places: judge, relay: undefined });
  const below = new Map<string, readonly string[]>();
  /** At the workspace's own path: what was built or installed there means the judged files. */
  const around = (tree: Place, { temporary: files, home, layer }: Fresh, shownReports: string): Inside => {
    const first: Place = { path: files, access: "write", at: "/tmp" };
    const shown = tree.layer === undefined ? tree : { ...tree, layer: { ...tree.layer, folder: layer } };
    const others = ofCheck.places.map((place) => (place.path === reports ? { ...place, path: shownReports } : place));
    return { ...ofCheck, places: [first, ...others, shown, { path: home, access: "write", at: checkHome }] };
  };
  const over = (tree: Place, shownReports = reports): Confine => {
    return (command, args, variables = []) => {
      const fresh = scratch.fresh();
      try {
        const inside = { ...around(tree, fresh, shownReports), variables, isRepeated: true };
        return withDrop(fence.wrap(command, args, inside), fresh.drop);
      } catch (error) {
        fresh.drop();
        throw error;
      }
    };
  };
  const treeAt = (cwd: string): Place => {
    const path = isWithin(cwd, layout.verify) && cwd !== layout.verify ? cwd : slotPath(layout, 0);
    makePrivateDir(path);
    const place: Place = { path, access: "write", at: workspace };
    return fence.layered ? { ...place, layer: { over: below.get(path) ?? [], folder: "" } } : place;
  };
  return {
    level: levelOf(fence, spec.fence),
    agent: (command, args, variables = []) => fence.wrap(command, args, { ...ofAgent, variables }),
    reviewer:
      spec.review === undefined
        ? undefined
        : (command, args, variables = []) => fence.wrap(command, args, { ...ofReviewer, variables }),
    check: (command, args, variables, cwd = "") => over(treeAt(cwd))(command, args, variables),
    judge: (command, args, variables = []) => fence.wrap(command, args, { ...ofJudge, variables }),
    code: codeConfine({ fence, scratch, inside: ofCheck, home: checkHome, without: [REPORTS_AT, SOCKETS_AT] }),
    setup: (command, args, variables, cwd = "") =>
      over({ path: cwd, access: "write", at: workspace })(command, args, variables),
    layers: fence.layered ? { show: (path, folders) => void below.set(path, folders) } : undefined,
    sockets:
      spec.fence.network === "open"
        ? undefined
        : { folder: sockets.folder, at: fence.kind === "seatbelt" ? sockets.folder : SOCKETS_AT },
    // Where a folder cannot be shown in another place, all see the same.
    reports:
      fence.kind === "seatbelt"
        ? { folder: reports, at: reports }
        : {
            folder: reports,
            at: REPORTS_AT,
            showing:
              (own) =>
              (command, args, variables, cwd = "") =>
                over(treeAt(cwd), own)(command, args, variables),
          },
    environment: { ...wayOut.environment, ...PLACES_INSIDE },
    async close() {
      await wayOut.close();
      fence.close();
      rmSync(sockets.root, { recursive: true, force: true });
      const gone = [temporary, review.temporary, ...ofPrograms, reports];
      await Promise.all([scratch.close(), ...gone.map((folder) => removeFolder(folder))]);
    },
  };
}

/** A model that judges has no tools: its program needs a home, a place for temporary files, and the way to its model. */
function judgePlaces({ runDir }: Request, { tools, sockets }: { tools: readonly Place[]; sockets: string }): Place[] {
  const home = judgeHome(runDir);
  const temporary = join(home, "tmp");
  for (const folder of [home, temporary]) makePrivateDir(folder);
  return [
    { path: temporary, access: "write", at: "/tmp" },
    ...tools,
    { path: home, access: "write" },
    { path: sockets, access: "read", at: SOCKETS_AT },
  ];
}

/** Short, because a socket's path may have 107 bytes; reachable for the uid inside, but for no other user outside. */
function socketFolder(runDir: string): { root: string; folder: string } {
  makePrivateDir(runDir);
  const note = join(runDir, "sockets");
  const before = existsSync(note) ? readFileSync(note, "utf8") : "";
  // Of a driver that was killed.
  if (before.startsWith(join(tmpdir(), SOCKETS_NAME))) rmSync(before, { recursive: true, force: true });
  const root = mkdtempSync(join(tmpdir(), SOCKETS_NAME));
  writeDurably(note, root);
  const folder = join(root, "s");
  mkdirSync(folder, { mode: 0o755 });
  return { root, folder };
}

function levelOf({ level }: Fence, { network, hosts }: FenceSpec): string {
  const reach =
    network === "open"
      ? "open network"
      : hosts.length === 0
        ? "no network"
        : `network: ${counted(hosts.length, "host")}`;
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
  /** undefined: no network at all. */
  relay: Record<"agent" | "check", Relay | undefined>;
  environment: Record<string, string>;
  close(): Promise<void>;
}

async function openWayOut({ spec, environment, onAttempt }: Request, { folder }: { folder: string }): Promise<WayOut> {
  const { network, hosts } = spec.fence;
  refuseWithoutRelay(spec.fence);
  const nothing = { relay: { agent: undefined, check: undefined }, close: () => Promise.resolve() };
  if (network === "open") return { ...nothing, environment: {} };
  const socat = programAt("socat");
  // The user's own proxy cannot be reached from inside, and its address may hold a password.
  if (socat === undefined) return { ...nothing, environment: proxyNames("") };
  const { openEgress } = await import("../platform/egress.ts");
  const egress = await openEgress({ socket: join(folder, EGRESS), hosts, environment, onAttempt });
  const programs = { socat, perl: programAt("perl") };
  const relay = { ...programs, port: PROXY_PORT, socket: join(SOCKETS_AT, EGRESS), hostPorts: hostPorts(hosts) };
  return {
    // With no host on the list it is there to tell the agent why; a check gets by without.
    relay: { agent: relay, check: hosts.length === 0 ? undefined : relay },
    environment: proxyNames(`http://127.0.0.1:${PROXY_PORT}`),
    close: () => egress.close(),
  };
}

/** Ports of the host's loopback that were named: they are found on the loopback inside, whatever is spoken there. */
function hostPorts(hosts: readonly string[]): Relay["hostPorts"] {
  const named = hosts.flatMap((text) => {
    const { name = "", port = PROXY_PORT } = hostEntry(text) ?? {};
    // A colon would be another word of the relay's.
    return port !== PROXY_PORT && isLoopback(name) && !name.includes(":") ? [{ host: name, port }] : [];
  });
  return [...new Map(named.map((one) => [one.port, one])).values()];
}

function proxyNames(proxy: string): Record<string, string> {
  const names = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: "localhost,127.0.0.1,::1" };
  const lower = Object.entries(names).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...names, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: proxy === "" ? "" : "1" };
}
