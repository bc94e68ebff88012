/** Dependencies of what is judged: from the spec to how trees get them, and from a setup that fails to a verdict. */
import type { Verdict } from "../events.ts";
import type { Blobs, Check, FailedSetup, Ready, VerifyTree } from "../ports.ts";
import type { CheckSpec, RunSpec } from "../spec.ts";
import type { VerifyOptions } from "../workspace/verify-tree.ts";
import type { RunFence } from "./fence.ts";
import { whatWentWrong } from "./installer-words.ts";

const MAX_LOG_BYTES = 64 * 1024;

export function verifyOptions(
  spec: Pick<RunSpec, "setup" | "checkGit" | "fence">,
  { fence, environment }: { fence: RunFence; environment: Readonly<Record<string, string>> },
): VerifyOptions {
  const { setup } = spec;
  return {
    layers: fence.layers,
    git: spec.checkGit,
    setup:
      setup === undefined
        ? undefined
        : { spec: setup, environment, confine: fence.setup, maxOutputBytes: spec.fence.outputBytes },
  };
}

/** Where a kind of check runs something; the others only read. */
const RUNS: Readonly<Record<CheckSpec["kind"], "fenced" | "apart" | undefined>> = {
  command: "fenced",
  metric: "fenced",
  custom: "apart",
  requirement: undefined,
  guard: undefined,
  judge: undefined,
};

/** The check, with the dependencies of the tree in place before it begins. */
export function withDependencies(check: Check, { kind, blobs }: { kind: CheckSpec["kind"]; blobs: Blobs }): Check {
  const how = RUNS[kind];
  if (how === undefined) return check;
  return {
    ...check,
    async judge(tree, signal, about) {
      let ready: Ready;
      try {
        ready = (await tree.ready?.(signal, how)) ?? { is: "ready", tree, stale: [] };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return { is: "unverifiable", reason: `its dependencies could not be brought: ${reason}` };
      }
      if (ready.is === "failed") return await failed(ready.setup, { tree, blobs });
      try {
        return withMissing(withDependencyWords(await check.judge(ready.tree, signal, about), ready), ready.missing);
      } finally {
        if (ready.tree !== tree) await ready.tree.release();
      }
    },
  };
}

const MAX_COMMAND_CHARS = 80;
const brief = (command: string): string =>
  command.length > MAX_COMMAND_CHARS ? `${command.slice(0, MAX_COMMAND_CHARS)}…` : command;

const said = (output: string): string => {
  const words = whatWentWrong(output);
  return words === "" ? "" : `: ${words}`;
};

/** The agent's fault only where it changed what decides about the dependencies. */
async function failed(setup: FailedSetup, { tree, blobs }: { tree: VerifyTree; blobs: Blobs }): Promise<Verdict> {
  const { command, exitCode, signal, durationMs, output, reason, touched } = setup;
  const how = reason ?? `exit ${exitCode}`;
  if (reason !== undefined || touched.length === 0)
    return { is: "unverifiable", reason: `the setup ${brief(command)} failed: ${how}${said(output)}` };
  const log = blobs.writer(MAX_LOG_BYTES);
  log.write(Buffer.from(output));
  const { hash, bytes } = await log.end();
  const message = `${command} failed (${how}) with the change of ${touched.join(", ")}: the dependencies cannot be installed as they are written there${said(output)}`;
  const { isolation } = tree;
  const evidence = { tree: tree.tree, command, exitCode, signal, durationMs, isolation, suspicions: [] };
  return {
    is: "fail",
    evidence: { ...evidence, log: hash, logBytes: bytes },
    failures: [{ fingerprint: `setup:${command}`, message }],
    excerpt: `${message}\n${output}`,
  };
}

/** Told with every verdict; it suspects nobody. Where they are out of date, that is the likely reason of a failure. */
function withDependencyWords(
  verdict: Verdict,
  { stale, changed = [] }: { stale: readonly string[]; changed?: readonly string[] },
): Verdict {
  if ((stale.length === 0 && changed.length === 0) || !("evidence" in verdict)) return verdict;
  const names = stale.join(", ");
  const words =
    stale.length === 0
      ? `dependencies made anew, for the change has another ${changed.join(", ")}`
      : `dependencies of before the run, though ${names} changed`;
  const evidence = { ...verdict.evidence, isolation: `${verdict.evidence.isolation}; ${words}` };
  if (verdict.is !== "fail" || stale.length === 0) return { ...verdict, evidence };
  const note = `${names} changed, but this was run with the dependencies of before the run; with --setup, as in --setup "npm ci", they are made anew for each change`;
  return { ...verdict, evidence, excerpt: `${verdict.excerpt}\n\n[pawl] ${note}` };
}

/** Only where something went wrong: what needs no packages passes without. */
function withMissing(verdict: Verdict, missing: string | undefined): Verdict {
  if (missing === undefined) return verdict;
  if (verdict.is === "unverifiable") return { ...verdict, reason: `${verdict.reason}; ${missing}` };
  return verdict.is === "fail" ? { ...verdict, excerpt: `${verdict.excerpt}\n\n[pawl] ${missing}` } : verdict;
}
