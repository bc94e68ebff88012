/** What checks that start no process of their own share: the time limit, the abort, the evidence, and how failures become a verdict. */
import type { Evidence, Failure, Verdict } from "../events.ts";
import type { Check, JudgeAbout, VerifyTree } from "../ports.ts";
import type { CheckSpec } from "../spec.ts";

const MAX_FAILURES = 50;
const MAX_EXCERPT_BYTES = 4 * 1024;
const MAX_MESSAGE_CHARS = 1_000;
/** Room for the line that says how many more there are. */
const MORE_BYTES = 64;

interface Looking {
  tree: VerifyTree;
  about: JudgeAbout;
  /** Aborted from outside, or because the time is over. */
  signal: AbortSignal;
}
/** What is wrong; nothing is a pass. A rejection means that it could not judge, and says why. */
export type Look = (looking: Looking) => Promise<readonly Failure[]>;

export function inProcessCheck(spec: CheckSpec, look: Look): Check {
  return {
    name: spec.name,
    required: spec.required,
    cost: "cheap",
    async judge(tree, signal, about) {
      const started = performance.now();
      return await within({ timeoutMs: spec.timeoutMs, graceMs: 0, signal }, async (both) => {
        const failures = await look({ tree, about, signal: both });
        return verdictOf(failures, evidenceOf({ spec, tree, durationMs: performance.now() - started }));
      });
    },
  };
}

interface Bounds {
  timeoutMs: number;
  /** How long work that was told to end may take to do so. */
  graceMs: number;
  signal: AbortSignal;
}

/** The work's verdict, or that there is none: aborted, too late, or broken. Never rejects; work is ended by its signal. */
export async function within(
  { timeoutMs, graceMs, signal }: Bounds,
  work: (signal: AbortSignal) => Promise<Verdict>,
): Promise<Verdict> {
  if (signal.aborted) return unverifiable("aborted");
  const late = new AbortController();
  const both = AbortSignal.any([signal, late.signal]);
  const why = (): string => (signal.aborted ? "aborted" : `no answer within ${timeoutMs} ms`);
  const timers = [setTimeout(() => late.abort(), timeoutMs)];
  const { promise: over, resolve } = Promise.withResolvers<Verdict>();
  const onAbort = (): void => void timers.push(setTimeout(() => resolve(unverifiable(why())), graceMs));
  both.addEventListener("abort", onAbort, { once: true });
  const working = work(both)
    .catch((error: unknown) => unverifiable(messageOf(error)))
    // What it says of its own end is less than what is known here.
    .then((verdict) => (both.aborted && verdict.is === "unverifiable" ? { ...verdict, reason: why() } : verdict));
  try {
    return await Promise.race([working, over]);
  } finally {
    // The signal lives as long as the run: what waits for it would keep the process from ending.
    both.removeEventListener("abort", onAbort);
    for (const timer of timers) clearTimeout(timer);
  }
}

export function evidenceOf({
  spec,
  tree,
  durationMs,
}: {
  spec: Pick<CheckSpec, "command">;
  tree: VerifyTree;
  durationMs: number;
}): Evidence {
  return {
    tree: tree.tree,
    command: spec.command,
    exitCode: null,
    signal: null,
    durationMs: Math.ceil(durationMs),
    log: null,
    logBytes: 0,
    isolation: tree.isolation,
    suspicions: [],
  };
}

export function verdictOf(found: readonly Failure[], evidence: Evidence, score?: number): Verdict {
  const scored = score === undefined ? {} : { score };
  const [first, ...rest] = found.slice(0, MAX_FAILURES).map((failure) => ({
    ...failure,
    message: failure.message.slice(0, MAX_MESSAGE_CHARS),
  }));
  if (first === undefined) return { is: "pass", evidence, ...scored };
  return { is: "fail", evidence, failures: [first, ...rest], excerpt: excerptOf(found), ...scored };
}

/** The first that fit, one a line. */
function excerptOf(failures: readonly Failure[]): string {
  const lines: string[] = [];
  let left = MAX_EXCERPT_BYTES - MORE_BYTES;
  for (const { message } of failures) {
    const line = message.slice(0, MAX_MESSAGE_CHARS);
    left -= Buffer.byteLength(line) + 1;
    if (left < 0) break;
    lines.push(line);
  }
  const more = failures.length - lines.length;
  return more === 0 ? lines.join("\n") : [...lines, `and ${more} more`].join("\n");
}

export const unverifiable = (reason: string): Verdict => ({ is: "unverifiable", reason });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
