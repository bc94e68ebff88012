/**
 * Dependencies that a command makes (`--setup "npm ci"`): run once for each key, in a folder of its own that looks like
 * the workspace, inside the fence where there is one. What it leaves beside the tracked files is kept under pawl's state
 * and shown to every check whose tree asks for the same.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { RUN_TAG } from "../platform/environment.ts";
import { rename } from "../platform/files.ts";
import { runProcess, type Confine, type ProcessRecord } from "../platform/process.ts";
import type { FailedSetup } from "../ports.ts";
import type { SetupSpec } from "../spec.ts";
import { removeAround } from "./dependencies.ts";
import type { Lane } from "./lane.ts";
import { keysOf, type Asked } from "./setup-key.ts";

const SHELL = "/bin/sh";
const MAX_OUTPUT_CHARS = 8_192;
/** What no run has used for so long is removed when another is made. */
const KEPT_UNUSED_MS = 14 * 24 * 3_600_000;
const FILES = "files";
const FOLDERS = "folders.json";
const LEFTOVERS = ["ls-files", "-z", "-o", "--directory", "--no-empty-directory"];

export interface SetupRequest {
  spec: SetupSpec;
  /** The whole environment of the command. */
  environment: Readonly<Record<string, string>>;
  /** undefined: on the machine as it is. */
  confine: Confine | undefined;
  maxOutputBytes?: number;
}

/** Folders and files, relative to `from`, that belong into a tree. */
export interface Dependencies {
  from: string;
  folders: readonly string[];
}

export interface Setup {
  of(
    tree: string,
    signal: AbortSignal,
  ): Promise<{ is: "made"; made: Dependencies; changed: readonly string[] } | { is: "failed"; setup: FailedSetup }>;
}

/** `inPlace`: where it must run when nothing can show it elsewhere. */
export function openSetup(lane: Lane, about: SetupRequest & { inPlace?: string | undefined }): Setup {
  const { spec, environment, inPlace } = about;
  const asked = keysOf(lane, { spec, environment, seenAt: inPlace ?? lane.spec.path });
  let last: Promise<unknown> = Promise.resolve();
  const made = async (tree: string, signal: AbortSignal) => {
    const wanted = await asked(tree);
    const kept = join(lane.layout.setups, wanted.key);
    return {
      kept,
      changed: wanted.touched,
      setup: existsSync(kept) ? undefined : await make(lane, { ...about, wanted, kept, signal }),
    };
  };
  /** Where it fails for the base too, no change is at fault. */
  const blamed = async (setup: FailedSetup, signal: AbortSignal): Promise<FailedSetup> => {
    if (setup.reason !== undefined || setup.touched.length === 0) return setup;
    const { setup: ofBase } = await made(lane.prepared.base.tree, signal);
    return ofBase === undefined ? setup : { ...setup, touched: [] };
  };
  return {
    of(tree, signal) {
      const result = last.then(async () => {
        const { kept, changed, setup } = await made(tree, signal);
        if (setup !== undefined) return { is: "failed" as const, setup: await blamed(setup, signal) };
        const folders = JSON.parse(readFileSync(join(kept, FOLDERS), "utf8")) as string[];
        const now = new Date();
        utimesSync(kept, now, now);
        return { is: "made" as const, made: { from: join(kept, FILES), folders }, changed };
      });
      last = result.catch(() => undefined);
      return result;
    },
  };
}

interface Making extends SetupRequest {
  inPlace?: string | undefined;
  wanted: Asked;
  kept: string;
  signal: AbortSignal;
}

async function make(lane: Lane, about: Making): Promise<FailedSetup | undefined> {
  const { wanted, kept, spec } = about;
  removeUnused(lane.layout.setups);
  const making = `${kept}.making-${lane.run}`;
  const place = about.inPlace ?? join(making, "place");
  const index = join(making, "index");
  for (const folder of [making, place]) removeAround(Buffer.from(folder), []);
  for (const folder of [place, join(making, FILES)]) mkdirSync(folder, { recursive: true });
  try {
    const git = lane.view.at({ workTree: place, index, sync: "none" });
    await git.need(["read-tree", "--reset", "-u", wanted.tree]);
    const { record, output } = await run(lane, { ...about, place });
    const failed = failureOf(record, { spec, output, wanted });
    if (failed !== undefined) return failed;
    const left = (await git.run(LEFTOVERS)).stdout.toString("utf8").split("\0").filter(Boolean);
    const folders = left.map((path) => path.replace(/\/$/, "")).filter((path) => path !== ".git");
    for (const folder of folders) {
      const to = join(making, FILES, folder);
      mkdirSync(dirname(to), { recursive: true });
      rename(join(place, folder), to);
    }
    writeFileSync(join(making, FOLDERS), JSON.stringify(folders));
    for (const done of [place, index]) removeAround(Buffer.from(done), []);
    // Another run may have made the same meanwhile.
    if (!existsSync(kept)) rename(making, kept);
    return undefined;
  } finally {
    for (const left of [making, place]) removeAround(Buffer.from(left), []);
  }
}

async function run(lane: Lane, about: Making & { place: string }): Promise<{ record: ProcessRecord; output: string }> {
  const { spec, environment, confine, maxOutputBytes, signal, place } = about;
  let output = "";
  const record = await runProcess({
    command: SHELL,
    args: ["-c", spec.command, "pawl-setup"],
    cwd: place,
    confine,
    env: { ...environment, [RUN_TAG]: lane.run },
    timeoutMs: spec.timeoutMs,
    signal,
    ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
    onOutput: (chunk) => void (output = (output + Buffer.from(chunk).toString("utf8")).slice(-MAX_OUTPUT_CHARS)),
  });
  return { record, output };
}

function failureOf(
  record: ProcessRecord,
  { spec, output, wanted }: { spec: SetupSpec; output: string; wanted: Asked },
): FailedSetup | undefined {
  const { exitCode, signal, durationMs, startError, aborted, timedOut, limits } = record;
  const reason =
    startError?.message ??
    (aborted ? "aborted" : undefined) ??
    (timedOut === null ? undefined : `no end within ${spec.timeoutMs} ms`) ??
    (limits.length > 0 ? limits.join(", ") : undefined) ??
    (signal === null ? undefined : `ended from outside by ${signal}`);
  if (exitCode === 0 && reason === undefined) return undefined;
  return { command: spec.command, exitCode, signal, durationMs, output, reason, touched: wanted.touched };
}

function removeUnused(setups: string): void {
  if (!existsSync(setups)) return;
  for (const name of readdirSync(setups)) {
    const path = join(setups, name);
    const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (at < Date.now() - KEPT_UNUSED_MS) removeAround(Buffer.from(path), []);
  }
}
