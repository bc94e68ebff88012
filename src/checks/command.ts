/**
 * A command as a check: exit 0 on the verify tree is a pass, any other exit a failure with fingerprints, and whatever
 * keeps it from answering (timeout, a limit, a signal from outside, no such program, no space for the log) is
 * `unverifiable`.
 */
import type { Evidence, Verdict } from "../events.ts";
import type { Blobs, BlobWriter, Check, VerifyTree } from "../ports.ts";
import type { CheckSpecOf } from "../spec.ts";
import { RUN_TAG } from "../platform/environment.ts";
import { runProcess } from "../platform/process.ts";
import type { Confine, ProcessRecord } from "../platform/process.ts";
import { missingProgram } from "./command-words.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { endOf, plain, tailOf } from "./tail.ts";

const SHELL = "/bin/sh";
/** `$0` of the shell, so that its own complaints can be told from those of shells inside the command. */
const SHELL_NAME = "pawl-check";
/** Kept of the log; the writer keeps both ends. */
const MAX_LOG_BYTES = 8 * 1024 * 1024;
/** Searched for the names of failing tests. */
const MAX_TAIL_BYTES = 256 * 1024;
const MAX_EXCERPT_BYTES = 4 * 1024;
const MAX_LAST_WORDS_CHARS = 200;
const NOT_EXECUTABLE = 126;
const NOT_FOUND = 127;
/** Sent by people, supervisors and the kernel when memory is short; a program's own crash has other signals. */
const OUTSIDE_SIGNALS: readonly string[] = ["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"];

interface Options {
  run: string;
  /** The whole environment the command gets. */
  environment: Readonly<Record<string, string>>;
  blobs: Blobs;
  /** How far the command is from the rest of the machine; without it, not at all. */
  fence?: { confine: Confine; level: string } | undefined;
  /** A command that prints more than this is ended. */
  maxOutputBytes?: number;
}

export function commandCheck(
  spec: CheckSpecOf<"command">,
  { run, environment, blobs, fence, maxOutputBytes }: Options,
): Check {
  const env = { ...environment, [RUN_TAG]: run };

  async function judge(tree: VerifyTree, signal: AbortSignal): Promise<Verdict> {
    const tail = tailOf(MAX_TAIL_BYTES);
    const log = lazyLog(blobs);
    const ended = runProcess({
      command: SHELL,
      args: ["-c", spec.command, SHELL_NAME],
      cwd: tree.path,
      confine: fence?.confine,
      env,
      timeoutMs: spec.timeoutMs,
      ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
      signal,
      onOutput(chunk) {
        tail.write(chunk);
        log.write(chunk);
      },
    });
    const [record, kept] = await Promise.all([ended, ended.then(log.end, log.end)]);
    const evidence: Evidence = {
      tree: tree.tree,
      command: spec.command,
      exitCode: record.exitCode,
      signal: record.signal,
      durationMs: record.durationMs,
      log: kept?.hash ?? null,
      logBytes: kept?.bytes ?? 0,
      isolation: fence === undefined ? tree.isolation : `${tree.isolation} at the workspace's path, ${fence.level}`,
      suspicions: [],
    };
    return verdictOf(record, { evidence, output: tail.text(), timeoutMs: spec.timeoutMs });
  }

  return {
    name: spec.name,
    required: spec.required,
    cost: "slow",
    judge: (tree, signal) => judge(tree, signal).catch((error: unknown) => unverifiable(`broke: ${messageOf(error)}`)),
  };
}

/** Made with the first byte: a silent command costs no file. */
function lazyLog(blobs: Blobs) {
  let writer: BlobWriter | undefined;
  return {
    write(chunk: Uint8Array) {
      writer ??= blobs.writer(MAX_LOG_BYTES);
      writer.write(chunk);
    },
    end: async () => writer?.end(),
  };
}

/** Pure: what a command's end means. */
function verdictOf(
  record: ProcessRecord,
  { evidence, output, timeoutMs }: { evidence: Evidence; output: string; timeoutMs: number },
): Verdict {
  if (record.startError !== null) return unverifiable(`could not start: ${record.startError.message}`);
  if (record.aborted) return unverifiable("aborted");
  if (record.timedOut !== null) return unverifiable(`no answer within ${timeoutMs} ms${lastWords(output)}`);
  if (record.signal !== null && record.limits.length === 0 && OUTSIDE_SIGNALS.includes(record.signal)) {
    return unverifiable(`ended from outside by ${record.signal}`);
  }
  if (record.exitCode === 0) return { is: "pass", evidence };
  // It says nothing about the work: with more room it might have passed.
  if (record.limits.length > 0) return unverifiable(record.limits.join(", "));
  const text = plain(output);
  if (record.exitCode === NOT_FOUND || record.exitCode === NOT_EXECUTABLE) {
    const program = missingProgram(text, { shellName: SHELL_NAME });
    if (program !== undefined) return unverifiable(`command not found: ${program}`);
  }
  return { is: "fail", evidence, failures: fingerprintsOf(text), excerpt: endOf(text, MAX_EXCERPT_BYTES) };
}

/** Where it hung, for the reader of the reason. */
function lastWords(output: string): string {
  const last = endOf(plain(output), MAX_EXCERPT_BYTES).split("\n").at(-1)?.trim() ?? "";
  return last === "" ? ", nothing was printed" : `, last output: ${last.slice(0, MAX_LAST_WORDS_CHARS)}`;
}

const unverifiable = (reason: string): Verdict => ({ is: "unverifiable", reason });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
